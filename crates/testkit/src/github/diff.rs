//! The diff of a pull request, with the lines that comments can refer to: [`Diff`].
//!
//! The parser shares no code with the product's, so that a mistake in one shows in the other.

use std::fmt;

/// A unified diff, with the lines that can be commented on.
#[derive(Debug, Clone, Default)]
pub(super) struct Diff {
    pub(super) text: String,
    pub(super) files: Vec<File>,
}

/// The change of one file.
#[derive(Debug, Clone, Default)]
pub(super) struct File {
    pub(super) path: String,
    /// The path before the change; `None` if it is the same.
    pub(super) old_path: Option<String>,
    pub(super) status: Status,
    pub(super) hunks: Vec<Hunk>,
}

/// The kind of change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Status {
    Added,
    Removed,
    #[default]
    Modified,
    Renamed,
}

/// A hunk with its context.
#[derive(Debug, Clone)]
pub(super) struct Hunk {
    header: String,
    lines: Vec<Line>,
}

/// A line of a hunk; it has a number on each side that contains it.
#[derive(Debug, Clone)]
struct Line {
    old: Option<u32>,
    new: Option<u32>,
    text: String,
}

/// The side of a diff that a line number refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// A line that was found by its number.
#[derive(Debug, Clone, Copy)]
pub(super) struct DiffLine<'a> {
    /// The index of the hunk in the file.
    pub(super) hunk: usize,
    /// The line without its sign.
    pub(super) text: &'a str,
}

impl Side {
    pub(super) fn read(text: &str) -> Option<Side> {
        match text {
            "LEFT" => Some(Side::Left),
            "RIGHT" => Some(Side::Right),
            _ => None,
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Side::Left => "LEFT",
            Side::Right => "RIGHT",
        }
    }
}

impl Line {
    /// Returns the number of the line on a side. A context line can only be commented on the right.
    fn number(&self, side: Side) -> Option<u32> {
        match (side, self.old, self.new) {
            (Side::Right, _, new) => new,
            (Side::Left, old, None) => old,
            (Side::Left, _, Some(_)) => None,
        }
    }
}

impl fmt::Display for Hunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.header)?;
        self.lines.iter().try_for_each(|line| write!(f, "\n{}", line.text))
    }
}

impl File {
    /// Finds a line by its number.
    pub(super) fn line(&self, side: Side, number: u32) -> Option<DiffLine<'_>> {
        let mut lines = self.lines(side);
        lines.find(|(known, _)| *known == number).map(|(_, found)| found)
    }

    /// Returns the number of the line with a text, if there is exactly one.
    pub(super) fn only(&self, side: Side, text: &str) -> Option<u32> {
        let mut same = self.lines(side).filter(|(_, found)| found.text == text);
        let (number, _) = same.next()?;
        same.next().is_none().then_some(number)
    }

    fn lines(&self, side: Side) -> impl Iterator<Item = (u32, DiffLine<'_>)> {
        self.hunks.iter().enumerate().flat_map(move |(hunk, it)| {
            it.lines.iter().filter_map(move |line| {
                let text = line.text.get(1..).unwrap_or_default();
                Some((line.number(side)?, DiffLine { hunk, text }))
            })
        })
    }

    /// Returns the numbers of added and removed lines.
    pub(super) fn changes(&self) -> (usize, usize) {
        let lines = || self.hunks.iter().flat_map(|hunk| &hunk.lines);
        let added = lines().filter(|line| line.text.starts_with('+')).count();
        (added, lines().filter(|line| line.text.starts_with('-')).count())
    }

    /// Returns all hunks as text.
    pub(super) fn patch(&self) -> String {
        let hunks: Vec<String> = self.hunks.iter().map(Hunk::to_string).collect();
        hunks.join("\n")
    }
}

impl Diff {
    /// Parses a diff. Panics if the text is not a diff.
    pub(super) fn parse(text: &str) -> Diff {
        let mut files: Vec<File> = Vec::new();
        let mut lines = text.lines().peekable();
        let mut is_headed = false;
        while let Some(line) = lines.next() {
            if let Some(paths) = line.strip_prefix("diff --git ") {
                is_headed = true;
                files.push(File { path: path_in_header(paths), ..File::default() });
                continue;
            }
            if let Some(path) = line.strip_prefix("--- ") {
                if !is_headed {
                    files.push(File::default());
                }
                is_headed = false;
                let file = files.last_mut().expect("a file was begun");
                if path == "/dev/null" {
                    file.status = Status::Added;
                } else {
                    file.path = unquoted(path);
                }
                continue;
            }
            let file = files.last_mut().expect("a diff begins with the name of a file");
            match line {
                _ if line.starts_with("+++ /dev/null") => file.status = Status::Removed,
                _ if line.starts_with("+++ ") => file.path = unquoted(&line[4..]),
                _ if line.starts_with("new file mode") => file.status = Status::Added,
                _ if line.starts_with("deleted file mode") => file.status = Status::Removed,
                _ if line.starts_with("rename from ") => {
                    file.status = Status::Renamed;
                    file.old_path = Some(line["rename from ".len()..].to_owned());
                }
                _ if line.starts_with("@@ ") => file.hunks.push(hunk(line, &mut lines)),
                _ => {}
            }
        }
        Diff { text: text.to_owned(), files }
    }

    /// Finds a file by its path.
    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }
}

/// Parses a hunk of the length that its header states.
fn hunk<'a>(header: &str, lines: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>) -> Hunk {
    let mut ranges = header.split(' ').skip(1).map(|range| {
        let (start, count) = range[1..].split_once(',').unwrap_or((&range[1..], "1"));
        (start.parse::<u32>().unwrap(), count.parse::<u32>().unwrap())
    });
    let (mut old, old_count) = ranges.next().expect("a hunk has two ranges");
    let (mut new, new_count) = ranges.next().expect("a hunk has two ranges");
    let (old_end, new_end) = (old + old_count, new + new_count);
    let mut taken = Vec::new();
    while old < old_end || new < new_end || lines.peek().is_some_and(|it| it.starts_with('\\')) {
        let text = lines.next().expect("a hunk is as long as its header says");
        let (is_old, is_new) = match text.chars().next() {
            Some('+') => (false, true),
            Some('-') => (true, false),
            Some('\\') => (false, false),
            Some(' ') | None => (true, true),
            Some(_) => unreachable!("`{text}` is no line of a hunk"),
        };
        taken.push(Line {
            old: is_old.then_some(old),
            new: is_new.then_some(new),
            text: text.to_owned(),
        });
        old += u32::from(is_old);
        new += u32::from(is_new);
    }
    Hunk { header: header.to_owned(), lines: taken }
}

/// Returns the new path of `a/x b/x`, which is used only if no other line names the path.
fn path_in_header(paths: &str) -> String {
    paths.split_once(" b/").map_or(paths, |(_, path)| path).to_owned()
}

/// Removes the prefix of the side from a path, and git's quoting of special characters.
fn unquoted(path: &str) -> String {
    let path = path.trim_end_matches('\t');
    let Some(quoted) = path.strip_prefix('"').and_then(|path| path.strip_suffix('"')) else {
        return path[2..].to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = quoted[2..].bytes();
    while let Some(byte) = rest.next() {
        match (byte, byte == b'\\') {
            (_, true) => match rest.next() {
                Some(digit @ b'0'..=b'3') => {
                    let mut octal = || rest.next().map_or(0, |it| u32::from(it - b'0'));
                    let value = u32::from(digit - b'0') * 64 + octal() * 8 + octal();
                    bytes.push(value as u8);
                }
                Some(b't') => bytes.push(b'\t'),
                Some(b'n') => bytes.push(b'\n'),
                Some(other) => bytes.push(other),
                None => {}
            },
            (_, false) => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
