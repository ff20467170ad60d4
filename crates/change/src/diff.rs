//! Unified diffs: [`parse`] reads what `git diff` or `diff -u` prints into a [`FileDiff`] each.
//!
//! A [`Hunk`] holds no text: the lines are in the trees before and after the change. So a diff is
//! read as a stream, and memory follows the number of hunks and not their size. A file whose hunks
//! cannot be read (a merge, a wrong header, too many hunks) has the content [`Content::Unread`].

mod names;
mod parser;
pub mod sketch;

use std::collections::BTreeMap;

use assay_findings::ground::ChangedLines;
use assay_findings::path::RepoPath;
use assay_findings::vote::Lines;

use serde::{Deserialize, Serialize};

use crate::left_out::LeftOut;

pub(crate) use parser::Parser;

/// What a change does to one file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileDiff {
    /// Its path before; `None` for a new file.
    pub old_path: Option<String>,
    /// Its path after; `None` for a deleted one.
    pub new_path: Option<String>,
    /// Its mode before, where the diff tells.
    pub old_mode: Option<Mode>,
    /// Its mode after, where the diff tells.
    pub new_mode: Option<Mode>,
    /// What it was made from.
    pub origin: Origin,
    /// What it holds.
    pub content: Content,
    /// Whether the repository called it generated before the change, under both of its paths.
    pub generated: bool,
    /// The rule by which nobody looks at it, such as `lock file`.
    pub left_out: Option<LeftOut>,
    /// The places where it changed; none unless it is text or a link.
    pub hunks: Vec<Hunk>,
}

/// What git keeps of a file's mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// A file.
    File,
    /// A file that can be run.
    Executable,
    /// A symbolic link.
    Link,
    /// A link to a commit of another repository.
    Submodule,
}

/// What a file was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Origin {
    /// Itself, or nothing.
    #[default]
    Same,
    /// The file at its old path, which is gone.
    Renamed,
    /// The file at its old path, which is still there.
    Copied,
}

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Content {
    /// Text.
    #[default]
    Text,
    /// No text: its content is not shown.
    Binary,
    /// A commit of another repository.
    Submodule,
    /// The path that a symbolic link leads to.
    Link,
    /// Its hunks could not be read.
    Unread(Unread),
}

/// Why the hunks of a file could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unread {
    /// It is compared with more than one file, or not merged yet.
    Merge,
    /// The diff does not hold what it announces.
    Broken,
    /// The diff has too many places to remember.
    TooMany,
    /// The file itself could not be read.
    Unreadable,
}

/// One place where a file changed. It knows where its lines stand and not what they say: that is
/// in the trees before and after, so that a huge diff takes no more memory than a small one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// Where it stands in the file before.
    pub old: Span,
    /// Where it stands in the file after.
    pub new: Span,
    /// The lines that came, by their numbers after.
    pub added: Vec<Lines>,
    /// The lines that went, by their numbers before.
    pub removed: Vec<Lines>,
}

/// Some lines of a file, none of them perhaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The first line; the one before where there are none.
    pub start: u32,
    /// How many.
    pub count: u32,
}

impl Mode {
    /// Reads git's six digits.
    fn read(digits: &[u8]) -> Mode {
        match digits {
            b"100755" => Mode::Executable,
            b"120000" => Mode::Link,
            b"160000" => Mode::Submodule,
            _ => Mode::File,
        }
    }

    /// Gives what a file of this mode holds, as far as the mode tells.
    fn content(self) -> Content {
        match self {
            Mode::File | Mode::Executable => Content::Text,
            Mode::Link => Content::Link,
            Mode::Submodule => Content::Submodule,
        }
    }
}

impl FileDiff {
    /// Returns what a change to a file without reviewable content is, such as `binary`; `None` where
    /// there is content to read, or where the content could not be told.
    pub fn without_content(&self) -> Option<&'static str> {
        let is_same_file = self.old_path == self.new_path;
        match self.content {
            Content::Text if !self.hunks.is_empty() => None,
            Content::Text if self.origin == Origin::Renamed => Some("only renamed"),
            Content::Text if is_same_file && self.old_mode != self.new_mode => Some("mode only"),
            Content::Text | Content::Link | Content::Unread(_) => None,
            Content::Binary => Some("binary"),
            Content::Submodule => Some("submodule"),
        }
    }

    /// Makes the diff of a file that is new as a whole and has this many lines.
    pub(crate) fn all_new(path: String, mode: Mode, count: u32) -> FileDiff {
        let hunks = Lines::range(1, count).filter(|_| count > 0).map(|lines| Hunk {
            old: Span { start: 0, count: 0 },
            new: Span { start: 1, count },
            added: vec![lines],
            removed: Vec::new(),
        });
        FileDiff {
            new_path: Some(path),
            new_mode: Some(mode),
            content: mode.content(),
            hunks: hunks.into_iter().collect(),
            ..FileDiff::default()
        }
    }

    /// Gives the path to show: the new one, or the old one of a deleted file.
    pub fn path(&self) -> &str {
        self.new_path.as_deref().or(self.old_path.as_deref()).unwrap_or("")
    }

    /// Gives the lines that came, in order.
    pub fn added(&self) -> impl Iterator<Item = Lines> {
        self.hunks.iter().flat_map(|hunk| hunk.added.iter().copied())
    }

    /// Gives the lines that went, in order, by their numbers before.
    pub fn removed(&self) -> impl Iterator<Item = Lines> {
        self.hunks.iter().flat_map(|hunk| hunk.removed.iter().copied())
    }
}

/// Gives the lines that a diff adds or edits, by file.
pub fn changed_lines(files: &[FileDiff]) -> ChangedLines {
    let mut changed = ChangedLines::default();
    for file in files {
        let Some(path) = file.new_path.as_deref().and_then(|p| RepoPath::exact(p).ok()) else {
            continue;
        };
        let lines = file.added().collect();
        changed.insert(path, lines);
    }
    changed
}

/// Renamed files: the old path of each, with its new path.
pub type Renames = BTreeMap<RepoPath, RepoPath>;

/// Gives the files that a diff renames.
pub fn renames(files: &[FileDiff]) -> Renames {
    let renamed = files.iter().filter(|file| file.origin == Origin::Renamed);
    let path = |path: &Option<String>| RepoPath::exact(path.as_deref()?).ok();
    renamed.filter_map(|file| path(&file.old_path).zip(path(&file.new_path))).collect()
}

/// Reads the head of a hunk, `@@ -1,2 +3,4 @@`, as its lines before and after.
pub fn hunk_header(line: &str) -> Option<(Span, Span)> {
    parser::hunk_header(line.as_bytes())
}

/// Reads a diff. What does not belong to one is passed over.
pub fn parse(bytes: &[u8]) -> Vec<FileDiff> {
    let mut parser = Parser::default();
    parser.feed(bytes);
    parser.finish()
}
