//! A plain parser of diffs that shares no code with assay's: names from the header lines, counts
//! from the headers of hunks.

use super::{ChangedLines, ParsedFile};

/// Parses the files of a diff made by `git diff`, in order.
pub(super) fn read(diff: &[u8]) -> Vec<ParsedFile> {
    let text = String::from_utf8_lossy(diff);
    let mut files: Vec<Section<'_>> = Vec::new();
    let mut lines = text.split('\n');
    while let Some(line) = lines.next() {
        if let Some(names) = line.strip_prefix("diff --git ") {
            files.push(Section::new(names));
        } else if let Some(file) = files.last_mut() {
            match line.strip_prefix("@@ ").and_then(announced) {
                Some((old, new)) => file.read_hunk(old, new, &mut lines),
                None => file.read_header(line),
            }
        }
    }
    files.iter().map(Section::parsed_file).collect()
}

/// The section of one file in a diff.
struct Section<'d> {
    old: Option<&'d str>,
    new: Option<&'d str>,
    is_binary: bool,
    added: usize,
    removed: usize,
}

impl<'d> Section<'d> {
    /// Reads the names of a file that is not renamed, `a/x b/x`: both halves are the same.
    fn new(names: &'d str) -> Section<'d> {
        let half = names.get(..names.len() / 2).unwrap_or(names);
        let name = half.split_once('/').map(|(_, name)| name);
        Section { old: name, new: name, is_binary: false, added: 0, removed: 0 }
    }

    fn read_header(&mut self, line: &'d str) {
        let line = line.trim_end_matches('\r');
        let side = |name: &'d str| match name.trim_end_matches('\t') {
            "/dev/null" => None,
            name => name.split_once('/').map(|(_, name)| name),
        };
        if let Some(name) = line.strip_prefix("--- ") {
            self.old = side(name);
        } else if let Some(name) = line.strip_prefix("+++ ") {
            self.new = side(name);
        } else if let Some(name) = after(line, ["rename from ", "copy from "]) {
            self.old = Some(name);
        } else if let Some(name) = after(line, ["rename to ", "copy to "]) {
            self.new = Some(name);
        } else if line.starts_with("new file mode ") {
            self.old = None;
        } else if line.starts_with("deleted file mode ") {
            self.new = None;
        } else if line.starts_with("Binary files ") || line == "GIT binary patch" {
            self.is_binary = true;
        }
    }

    /// Counts the lines of a hunk until it has the announced number.
    fn read_hunk(
        &mut self,
        mut old: usize,
        mut new: usize,
        lines: &mut impl Iterator<Item = &'d str>,
    ) {
        while old > 0 || new > 0 {
            let Some(line) = lines.next() else { return };
            match line.as_bytes().first() {
                Some(b'+') => {
                    self.added += 1;
                    new = new.saturating_sub(1);
                }
                Some(b'-') => {
                    self.removed += 1;
                    old = old.saturating_sub(1);
                }
                Some(b'\\') => {}
                _ => {
                    old = old.saturating_sub(1);
                    new = new.saturating_sub(1);
                }
            }
        }
    }

    fn parsed_file(&self) -> ParsedFile {
        let content = match self.is_binary {
            true => ChangedLines::Binary,
            false => ChangedLines::Lines { added: self.added, removed: self.removed },
        };
        let name = |name: Option<&str>| name.map(str::to_owned);
        ParsedFile { old: name(self.old), new: name(self.new), content }
    }
}

fn after<'l>(line: &'l str, starts: [&str; 2]) -> Option<&'l str> {
    starts.iter().find_map(|start| line.strip_prefix(start))
}

/// Parses `-1,2 +3 @@ …`: the number of lines of the hunk before and after.
fn announced(rest: &str) -> Option<(usize, usize)> {
    let mut spans = rest.split(' ');
    let mut count = |sign: char| -> Option<usize> {
        let span = spans.next()?.strip_prefix(sign)?;
        span.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok())
    };
    Some((count('-')?, count('+')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_line_counts_and_binary_files_are_read() {
        let diff = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ f\n a\n--- b\n+++ c\n\
                    diff --git a/y b/z\nsimilarity index 90%\nrename from y\nrename to z\n\
                    diff --git a/i b/i\nnew file mode 100644\nBinary files /dev/null and b/i differ\n";
        let seen = read(diff.as_bytes());
        let shown: Vec<String> = seen.iter().map(ParsedFile::shown).collect();
        assert_eq!(
            shown,
            [
                "x -> x: Lines { added: 1, removed: 1 }",
                "y -> z: Lines { added: 0, removed: 0 }",
                "nothing -> i: Binary",
            ]
        );
    }
}
