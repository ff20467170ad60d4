//! Files before and after a change of which only a diff is known: [`sketch`].

use std::collections::BTreeMap;

/// The files on both sides of a diff, by their paths.
///
/// Lines between hunks are not known; they are empty, so that all known lines keep their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sketch {
    /// The files before the change.
    pub before: BTreeMap<String, String>,
    /// The files after the change.
    pub after: BTreeMap<String, String>,
}

/// A diff that cannot be laid out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the diff: {reason}")]
pub struct SketchError {
    /// The line, counted from one.
    pub line: usize,
    /// The reason in words.
    pub reason: &'static str,
}

/// One side of a file while a diff is read.
#[derive(Debug, Default)]
struct Side {
    path: Option<String>,
    text: String,
    lines: usize,
}

impl Side {
    /// Adds empty lines up to a line, which is counted from one.
    fn skip_to(&mut self, line: usize) {
        while self.lines + 1 < line {
            self.push("");
        }
    }

    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.lines += 1;
    }

    fn store(self, files: &mut BTreeMap<String, String>) {
        if let Some(path) = self.path {
            files.insert(path, self.text);
        }
    }
}

/// Lays out the files of a unified diff.
///
/// Fails if the diff changes no text, or if a hunk does not hold as many lines as its head says.
pub fn sketch(diff: &str) -> Result<Sketch, SketchError> {
    let mut sketch = Sketch::default();
    let (mut old, mut new) = (Side::default(), Side::default());
    let (mut old_left, mut new_left) = (0, 0);
    for (at, line) in diff.lines().enumerate() {
        let error = |reason| SketchError { line: at + 1, reason };
        if old_left > 0 || new_left > 0 {
            let (sign, text) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
            let (takes_old, takes_new) = match sign {
                " " | "" => (true, true),
                "-" => (true, false),
                "+" => (false, true),
                "\\" => continue,
                _ => return Err(error("the hunk ends before its last line")),
            };
            if (takes_old && old_left == 0) || (takes_new && new_left == 0) {
                return Err(error("the hunk has more lines than its head says"));
            }
            if takes_old {
                old.push(text);
                old_left -= 1;
            }
            if takes_new {
                new.push(text);
                new_left -= 1;
            }
        } else if let Some(path) = line.strip_prefix("--- ") {
            std::mem::take(&mut old).store(&mut sketch.before);
            std::mem::take(&mut new).store(&mut sketch.after);
            old.path = path_of(path);
        } else if let Some(path) = line.strip_prefix("+++ ") {
            new.path = path_of(path);
        } else if line.starts_with("@@ ") {
            let (old_span, new_span) = head(line).ok_or(error("the head of the hunk is broken"))?;
            old.skip_to(old_span.0);
            new.skip_to(new_span.0);
            (old_left, new_left) = (old_span.1, new_span.1);
        }
    }
    if old_left > 0 || new_left > 0 {
        let reason = "the hunk ends before its last line";
        return Err(SketchError { line: diff.lines().count(), reason });
    }
    old.store(&mut sketch.before);
    new.store(&mut sketch.after);
    match sketch.before.is_empty() && sketch.after.is_empty() {
        true => Err(SketchError { line: 1, reason: "the diff changes no text" }),
        false => Ok(sketch),
    }
}

fn path_of(text: &str) -> Option<String> {
    let path = text.split('\t').next().unwrap_or(text);
    let path = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
    (path != "/dev/null").then(|| path.to_owned())
}

/// Reads `@@ -1,2 +3,4 @@`: first line and number of lines on both sides.
fn head(line: &str) -> Option<((usize, usize), (usize, usize))> {
    let mut parts = line.split(' ').skip(1);
    let mut span = |sign: char| {
        let text = parts.next()?.strip_prefix(sign)?;
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        start.parse().ok().zip(count.parse().ok())
    };
    Some((span('-')?, span('+')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_lines_keep_their_numbers() {
        let diff = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -3,2 +3,3 @@ def f\n a\n-b\n+c\n+--- d\n";
        let Sketch { before, after } = sketch(diff).unwrap();
        assert_eq!(before["x.py"], "\n\na\nb\n");
        assert_eq!(after["x.py"], "\n\na\nc\n--- d\n");
    }

    #[test]
    fn new_and_deleted_files_have_one_side() {
        let diff = "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n";
        let Sketch { before, after } = sketch(diff).unwrap();
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
            assert_eq!(sketch(diff).map_err(|error| error.line), Err(line), "{diff}");
        }
    }
}
