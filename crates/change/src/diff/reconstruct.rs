//! Files before and after a change, reconstructed from a diff alone: [`reconstruct`].

use std::collections::BTreeMap;

use super::Content;
use super::parser::{LineKind, Parser};

/// The files on both sides of a diff, by their paths.
///
/// Lines between hunks are unknown. They are empty, so that all known lines have their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReconstructedFiles {
    /// The files before the change.
    pub before: BTreeMap<String, String>,
    /// The files after the change.
    pub after: BTreeMap<String, String>,
}

/// The error of a diff that cannot be reconstructed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the diff: {reason}")]
pub struct ReconstructError {
    /// The line of the diff, from 1.
    pub line: usize,
    /// The reason, as a text.
    pub reason: &'static str,
}

/// The maximum number of a line: all lines before it are created too.
const MAX_LINE_NUMBER: u32 = 10_000_000;

/// A side of a file during the reconstruction.
#[derive(Debug, Default)]
struct FileSide {
    text: String,
    lines: u32,
}

impl FileSide {
    /// Adds a line with a number, and empty lines up to it.
    fn push(&mut self, number: u32, line: &str) {
        while self.lines + 1 < number {
            self.text.push('\n');
            self.lines += 1;
        }
        self.text.push_str(line);
        self.text.push('\n');
        self.lines += 1;
    }
}

/// Reconstructs the files of a unified diff.
///
/// Fails if the diff changes no text, or if a hunk does not have as many lines as its header
/// states.
pub fn reconstruct(diff: &str) -> Result<ReconstructedFiles, ReconstructError> {
    let mut parser = Parser::with_lines();
    parser.feed(diff.as_bytes());
    let (files, lines) = parser.finish_with_lines();
    let lines =
        lines.map_err(|fault| ReconstructError { line: fault.line, reason: fault.reason })?;
    let mut sides: Vec<(FileSide, FileSide)> = files.iter().map(|_| Default::default()).collect();
    for line in &lines {
        let Some((old, new)) = sides.get_mut(line.file) else { continue };
        let (old_number, new_number) = line.numbers;
        if old_number.max(new_number) > MAX_LINE_NUMBER {
            let reason = "the line number is too high";
            return Err(ReconstructError { line: line.line, reason });
        }
        let text = String::from_utf8_lossy(&line.text);
        let text = text.strip_suffix('\r').unwrap_or(&text);
        if line.kind != LineKind::Added {
            old.push(old_number, text);
        }
        if line.kind != LineKind::Removed {
            new.push(new_number, text);
        }
    }
    let mut sketch = ReconstructedFiles::default();
    for (file, (old, new)) in files.into_iter().zip(sides) {
        if file.hunks.is_empty() || !matches!(file.content, Content::Text | Content::Link) {
            continue;
        }
        sketch.before.extend(file.old_path.map(|path| (path, old.text)));
        sketch.after.extend(file.new_path.map(|path| (path, new.text)));
    }
    match sketch.before.is_empty() && sketch.after.is_empty() {
        true => Err(ReconstructError { line: 1, reason: "the diff changes no text" }),
        false => Ok(sketch),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hunk_behind_a_blank_line_is_read() {
        let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\n@@ -3 +3 @@\n-c\n+d\n";
        let ReconstructedFiles { before, after } = reconstruct(diff).unwrap();
        assert_eq!((before["x"].as_str(), after["x"].as_str()), ("a\n\nc\n", "b\n\nd\n"));
        assert!(reconstruct(&diff.replace("@@ -3", "@@ 3")).is_err());
    }

    #[test]
    fn known_lines_keep_their_numbers() {
        let diff = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -3,2 +3,3 @@ def f\n a\n-b\n+c\n+--- d\n";
        let ReconstructedFiles { before, after } = reconstruct(diff).unwrap();
        assert_eq!(before["x.py"], "\n\na\nb\n");
        assert_eq!(after["x.py"], "\n\na\nc\n--- d\n");
    }

    #[test]
    fn new_and_deleted_files_have_one_side() {
        let diff = "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n";
        let ReconstructedFiles { before, after } = reconstruct(diff).unwrap();
        assert_eq!(before.keys().collect::<Vec<_>>(), ["old"]);
        assert_eq!(after.keys().collect::<Vec<_>>(), ["new"]);
    }

    #[test]
    fn a_broken_diff_is_refused_with_its_line() {
        for (diff, line) in [
            ("no diff", 1),
            ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n", 4),
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n+a\n+b\n", 5),
            ("--- a/x\n+++ b/x\n@@ -1 @@\n", 3),
        ] {
            assert_eq!(reconstruct(diff).map_err(|error| error.line), Err(line), "{diff}");
        }
    }
}
