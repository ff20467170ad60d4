//! Unified diffs: [`parse`] reads what `git diff` or `diff -u` prints.

use assay_findings::ground::ChangedLines;
use assay_findings::path::RepoPath;
use assay_findings::vote::Lines;

/// The mode of a link to a commit of another repository.
const SUBMODULE: &str = "160000";

/// What a change does to one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileDiff {
    /// Its path before; `None` for a new file.
    pub old_path: Option<String>,
    /// Its path after; `None` for a deleted one.
    pub new_path: Option<String>,
    /// Whether its content is not shown because it is no text.
    pub is_binary: bool,
    /// Whether it is a link to a commit of another repository.
    pub is_submodule: bool,
    /// The places where it changed.
    pub hunks: Vec<Hunk>,
}

/// One place where a file changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The first line before the change.
    pub old_start: u32,
    /// The first line after the change.
    pub new_start: u32,
    /// Its lines.
    pub lines: Vec<DiffLine>,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// What became of it.
    pub kind: LineKind,
    /// Its text, without the line's end.
    pub text: String,
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// It stayed.
    Context,
    /// It came.
    Added,
    /// It went.
    Removed,
}

impl FileDiff {
    /// Makes the diff of a file that is new as a whole.
    pub(crate) fn all_new(path: String, text: &str) -> FileDiff {
        let lines = text
            .lines()
            .map(|line| DiffLine { kind: LineKind::Added, text: line.to_owned() })
            .collect::<Vec<_>>();
        let hunks = match lines.is_empty() {
            true => Vec::new(),
            false => vec![Hunk { old_start: 0, new_start: 1, lines }],
        };
        FileDiff { new_path: Some(path), hunks, ..FileDiff::default() }
    }

    /// Gives the path to show: the new one, or the old one of a deleted file.
    pub fn path(&self) -> &str {
        self.new_path.as_deref().or(self.old_path.as_deref()).unwrap_or("")
    }

    /// Gives the lines that came, each with its number and without its end.
    pub fn added(&self) -> impl Iterator<Item = (u32, &str)> {
        self.hunks.iter().flat_map(Hunk::added)
    }
}

impl Hunk {
    fn added(&self) -> impl Iterator<Item = (u32, &str)> {
        let mut number = self.new_start;
        self.lines.iter().filter_map(move |line| {
            let here = number;
            number += u32::from(line.kind != LineKind::Removed);
            let text = line.text.strip_suffix('\r').unwrap_or(&line.text);
            (line.kind == LineKind::Added).then_some((here, text))
        })
    }
}

/// Gives the lines that a diff adds or edits, by file.
pub fn changed_lines(files: &[FileDiff]) -> ChangedLines {
    let mut changed = ChangedLines::default();
    for file in files {
        let Some(path) = file.new_path.as_deref().and_then(|p| RepoPath::exact(p).ok()) else {
            continue;
        };
        let mut lines: Vec<Lines> = Vec::new();
        for (number, _) in file.added() {
            match lines.last_mut() {
                Some(last) if last.end() + 1 == number => {
                    *last = Lines::range(last.start(), number).unwrap_or(*last);
                }
                _ => lines.extend(Lines::at(number)),
            }
        }
        changed.insert(path, lines);
    }
    changed
}

/// Reads a diff. What does not belong to one is passed over.
pub fn parse(bytes: &[u8]) -> Vec<FileDiff> {
    let mut parser = Parser::default();
    for line in bytes.split(|byte| *byte == b'\n') {
        parser.line(line);
    }
    parser.files
}

#[derive(Default)]
struct Parser {
    files: Vec<FileDiff>,
    /// Lines that the current hunk still has to come: old ones and new ones.
    left: (u32, u32),
}

impl Parser {
    fn line(&mut self, line: &[u8]) {
        if self.left != (0, 0) && self.hunk_line(line) {
            return;
        }
        self.left = (0, 0);
        self.header(line);
    }

    fn file(&mut self) -> &mut FileDiff {
        if self.files.is_empty() {
            self.files.push(FileDiff::default());
        }
        self.files.last_mut().expect("there is a file now")
    }

    /// Takes a line of a hunk; says whether it was one.
    fn hunk_line(&mut self, line: &[u8]) -> bool {
        let (kind, text) = match line.split_first() {
            Some((b'+', text)) => (LineKind::Added, text),
            Some((b'-', text)) => (LineKind::Removed, text),
            Some((b' ', text)) => (LineKind::Context, text),
            // A note that the last line has no end.
            Some((b'\\', _)) => return true,
            // An empty line of context, from which something took the blank.
            None => (LineKind::Context, line),
            Some(_) => return false,
        };
        let (old, new) = self.left;
        let (takes_old, takes_new) =
            (u32::from(kind != LineKind::Added), u32::from(kind != LineKind::Removed));
        if old < takes_old || new < takes_new {
            return false;
        }
        self.left = (old - takes_old, new - takes_new);
        let text = String::from_utf8_lossy(text).into_owned();
        if let Some(hunk) = self.file().hunks.last_mut() {
            hunk.lines.push(DiffLine { kind, text });
        }
        true
    }

    fn header(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches('\r');
        if let Some(names) = line.strip_prefix("diff --git ") {
            let (old_path, new_path) = git_names(names);
            self.files.push(FileDiff { old_path, new_path, ..FileDiff::default() });
        } else if let Some(name) = line.strip_prefix("--- ") {
            self.old_name(name);
        } else if let Some(name) = line.strip_prefix("+++ ") {
            self.file().new_path = path_of(name, "b/");
        } else if let Some(name) = line.strip_prefix("rename from ") {
            self.file().old_path = Some(unquoted(name));
        } else if let Some(name) = line.strip_prefix("rename to ") {
            self.file().new_path = Some(unquoted(name));
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            self.file().old_path = None;
            self.file().is_submodule = mode == SUBMODULE;
        } else if let Some(mode) = line.strip_prefix("deleted file mode ") {
            self.file().new_path = None;
            self.file().is_submodule = mode == SUBMODULE;
        } else if line.starts_with("index ") {
            self.file().is_submodule |= line.ends_with(SUBMODULE);
        } else if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
            self.file().is_binary = true;
        } else if let Some((old, new)) = hunk_header(line) {
            self.left = (old.1, new.1);
            let hunk = Hunk { old_start: old.0, new_start: new.0, lines: Vec::new() };
            self.file().hunks.push(hunk);
        }
    }

    /// A `---` line opens a file of its own where no `diff --git` line did.
    fn old_name(&mut self, name: &str) {
        let opened = self.files.last().is_some_and(|file| file.hunks.is_empty());
        if !opened {
            self.files.push(FileDiff::default());
        }
        self.file().old_path = path_of(name, "a/");
    }
}

/// Reads `@@ -1,2 +3,4 @@` as start and length of both sides.
fn hunk_header(line: &str) -> Option<((u32, u32), (u32, u32))> {
    let (ranges, _) = line.strip_prefix("@@ ")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(' ')?;
    let side = |text: &str| {
        let (start, length) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, length.parse().ok()?))
    };
    Some((side(old.strip_prefix('-')?)?, side(new.strip_prefix('+')?)?))
}

/// Reads the two names of a `diff --git` line, which are equal unless a later line says so.
fn git_names(names: &str) -> (Option<String>, Option<String>) {
    let split = if let Some(inner) = names.strip_prefix('"') {
        inner.find("\" ").map(|at| (&names[..at + 2], &names[at + 3..]))
    } else {
        // Names may hold blanks; the two halves are of one length.
        names
            .match_indices(" b/")
            .map(|(at, _)| (&names[..at], &names[at + 1..]))
            .find(|(a, b)| a.strip_prefix("a/") == b.strip_prefix("b/"))
    };
    match split {
        Some((old, new)) => (path_of(old, "a/"), path_of(new, "b/")),
        None => (None, None),
    }
}

fn path_of(name: &str, prefix: &str) -> Option<String> {
    // `diff -u` puts a time behind a tab.
    let name = if name.starts_with('"') { name } else { name.split('\t').next().unwrap_or(name) };
    let name = unquoted(name);
    if name == "/dev/null" {
        return None;
    }
    Some(name.strip_prefix(prefix).unwrap_or(&name).to_owned())
}

/// Takes git's quotes off a name, with their escapes.
fn unquoted(name: &str) -> String {
    let Some(inner) = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) else {
        return name.to_owned();
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(b'a') => bytes.push(7),
            Some(b'b') => bytes.push(8),
            Some(b'v') => bytes.push(11),
            Some(b'f') => bytes.push(12),
            Some(digit @ b'0'..=b'3') => {
                let octal = |byte: Option<u8>| u32::from(byte.unwrap_or(b'0') & 7);
                let value = u32::from(digit & 7) * 64 + octal(rest.next()) * 8 + octal(rest.next());
                bytes.push(value as u8);
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(diff: &str, expected: Expect) {
        let mut shown = String::new();
        for file in parse(diff.as_bytes()) {
            let name = |path: &Option<String>| path.clone().unwrap_or_else(|| "-".to_owned());
            let binary = if file.is_binary { " binary" } else { "" };
            shown += &format!("{} -> {}{binary}\n", name(&file.old_path), name(&file.new_path));
            for (number, text) in file.added() {
                shown += &format!("  {number}: {text}\n");
            }
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn added_lines_carry_their_new_numbers() {
        check(
            "diff --git a/x.py b/x.py\nindex 1..2 100644\n--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,4 @@ def f():\n a\n-b\n+B\n+C\n c\n@@ -10 +11,2 @@\n z\n+y\n\\ No newline at end of file\n",
            expect![[r#"
                x.py -> x.py
                  2: B
                  3: C
                  12: y
            "#]],
        );
    }

    #[test]
    fn new_deleted_renamed_and_binary_files_are_told_apart() {
        check(
            "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n\
             diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
             diff --git a/o b/p q\nsimilarity index 100%\nrename from o\nrename to p q\n\
             diff --git a/i.png b/i.png\nnew file mode 100644\nBinary files /dev/null and b/i.png differ\n",
            expect![[r#"
                - -> n
                  1: x
                d -> -
                o -> p q
                - -> i.png binary
            "#]],
        );
    }

    #[test]
    fn removed_lines_that_look_like_headers_stay_lines() {
        check(
            "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- old comment\n+++ new\n x\n",
            expect![[r#"
                q.sql -> q.sql
                  1: ++ new
            "#]],
        );
    }

    #[test]
    fn quoted_names_are_read() {
        check(
            "diff --git \"a/\\303\\244\\n.txt\" \"b/\\303\\244\\n.txt\"\n--- \"a/\\303\\244\\n.txt\"\n+++ \"b/\\303\\244\\n.txt\"\n@@ -0,0 +1 @@\n+x\n",
            expect![[r#"
                ä
                .txt -> ä
                .txt
                  1: x
            "#]],
        );
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_give_an_answer(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
            parse(&bytes);
        }
    }
}
