//! What a planned diff says, read with patience: its counts are often wrong and its hunks have no
//! numbers, which is for another check to tell. [`PlannedDiff::files`] gives what it changes.

use super::PlannedDiff;

/// What a planned diff does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffedFile {
    /// Its path afterwards; before, where the file goes.
    pub path: String,
    /// Whether it is made.
    pub is_new: bool,
    /// Whether it goes.
    pub is_gone: bool,
    /// Its lines afterwards, as far as the diff shows them.
    pub lines: Vec<DiffLine>,
}

/// A line of a file after a planned diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// What it says.
    pub text: String,
    /// Where it stands in the plan; nothing where that is not known.
    pub line: Option<u32>,
    /// Whether the diff adds it.
    pub is_added: bool,
    /// Whether lines before it are not shown.
    pub follows_a_gap: bool,
}

impl PlannedDiff {
    /// Gives what it does, file by file.
    pub fn files(&self) -> Vec<DiffedFile> {
        let mut reading = Reading::default();
        let lines: Vec<&str> = self.text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let number = u32::try_from(at).ok().filter(|_| self.line > 0);
            let number = number.map(|at| self.line.saturating_add(at));
            reading.take(line, lines.get(at + 1).copied().unwrap_or(""), number);
        }
        reading.files.retain(|file| !file.path.is_empty());
        reading.files
    }
}

#[derive(Default)]
struct Reading {
    files: Vec<DiffedFile>,
    /// The name on the `---` line just before.
    old: Option<String>,
    /// Whether the next line is the first after a gap.
    gap: bool,
    /// Whether hunks have begun, so that `--- x` may be a line that goes.
    in_hunk: bool,
}

impl Reading {
    fn take(&mut self, line: &str, next: &str, number: Option<u32>) {
        let opens = line.starts_with("--- ") && next.starts_with("+++ ");
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.open(git_name(names));
        } else if opens {
            self.old = Some(name(&line[4..]));
            self.in_hunk = false;
        } else if let (Some(old), Some(new)) = (self.old.take(), line.strip_prefix("+++ ")) {
            self.name(old, name(new));
        } else if line.starts_with("@@") {
            self.in_hunk = true;
            self.gap = !starts_at_the_top(line);
        } else if self.in_hunk {
            self.content(line, number);
        } else {
            self.header(line);
        }
    }

    fn open(&mut self, path: String) {
        self.files.push(DiffedFile { path, is_new: false, is_gone: false, lines: Vec::new() });
        self.in_hunk = false;
    }

    fn name(&mut self, old: String, new: String) {
        let is_named_already = self
            .files
            .last()
            .is_some_and(|file| file.lines.is_empty() && (file.path == old || file.path == new));
        if !is_named_already {
            self.open(String::new());
        }
        let Some(file) = self.files.last_mut() else { return };
        file.is_new |= old == NOWHERE;
        file.is_gone |= new == NOWHERE;
        file.path = if new == NOWHERE { old } else { new };
        // Some write no hunk headers at all.
        self.in_hunk = true;
        self.gap = !file.is_new;
    }

    fn header(&mut self, line: &str) {
        let Some(file) = self.files.last_mut() else { return };
        file.is_new |= line.starts_with("new file mode");
        file.is_gone |= line.starts_with("deleted file mode");
        if let Some(path) = line.strip_prefix("rename to ") {
            file.path = path.trim().to_owned();
            file.is_new = true;
        }
    }

    fn content(&mut self, line: &str, number: Option<u32>) {
        let Some(file) = self.files.last_mut() else { return };
        let (text, is_added) = match line.as_bytes().first() {
            Some(b'+') => (&line[1..], true),
            Some(b' ') => (&line[1..], false),
            Some(b'-' | b'\\') => return,
            _ => (line, false),
        };
        let follows_a_gap = std::mem::take(&mut self.gap);
        file.lines.push(DiffLine { text: text.to_owned(), line: number, is_added, follows_a_gap });
    }
}

const NOWHERE: &str = "/dev/null";

/// Takes what git or a clock put around a name.
fn name(text: &str) -> String {
    let text = text.split('\t').next().unwrap_or(text).trim().trim_matches('"');
    if text == NOWHERE {
        return text.to_owned();
    }
    let prefixes = ["a/", "b/", "./"];
    prefixes.iter().find_map(|prefix| text.strip_prefix(prefix)).unwrap_or(text).to_owned()
}

fn git_name(names: &str) -> String {
    names.rsplit_once(" b/").map_or_else(String::new, |(_, new)| new.trim().to_owned())
}

/// Says whether a hunk begins with the first line, so that nothing stands before it.
fn starts_at_the_top(header: &str) -> bool {
    let new = header.split('+').nth(1).unwrap_or("");
    let start: String = new.chars().take_while(char::is_ascii_digit).collect();
    matches!(start.as_str(), "0" | "1")
}
