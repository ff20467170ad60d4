//! Unified diffs: [`parse`] parses the output of `git diff` or `diff -u` into one [`FileDiff`] per
//! file.
//!
//! A [`Hunk`] holds no text: the lines are in the trees before and after the change. So a diff is
//! parsed as a stream, and memory depends on the number of hunks and not on their size. A file
//! whose hunks cannot be parsed (a merge, a wrong header, too many hunks) has the content
//! [`Content::Unread`].

mod names;
mod parser;
pub mod reconstruct;

use std::collections::BTreeMap;

use assay_findings::grounding::ChangedLines;
use assay_findings::path::RepoPath;
use assay_findings::vote::LineRange;

use serde::{Deserialize, Serialize};

use crate::exclusion::Exclusion;

pub(crate) use parser::{Parser, StrictDiff};

/// The diff of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileDiff {
    /// The path before the change; `None` for a new file.
    pub old_path: Option<String>,
    /// The path after the change; `None` for a deleted file.
    pub new_path: Option<String>,
    /// The mode before the change; `None` if the diff does not state it.
    pub old_mode: Option<Mode>,
    /// The mode after the change; `None` if the diff does not state it.
    pub new_mode: Option<Mode>,
    /// The source of the file: a rename, a copy, or none.
    pub origin: Origin,
    /// The kind of content.
    pub content: Content,
    /// True if the attributes before the change mark the file as generated, under both of its
    /// paths.
    pub generated: bool,
    /// The rule that excludes the file from review, such as `lock file`; `None` if it is reviewed.
    pub left_out: Option<Exclusion>,
    /// The changed places; empty unless the content is text or a link.
    pub hunks: Vec<Hunk>,
}

/// The mode of a file in git.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// A regular file.
    File,
    /// An executable file.
    Executable,
    /// A symbolic link.
    Link,
    /// A commit of another repository.
    Submodule,
}

/// The source of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Origin {
    /// The file at the same path, or none.
    #[default]
    Same,
    /// The file at the old path, which no longer exists.
    Renamed,
    /// The file at the old path, which still exists.
    Copied,
}

/// The kind of content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Content {
    /// Text.
    #[default]
    Text,
    /// Binary content, which a diff does not show.
    Binary,
    /// A commit of another repository.
    Submodule,
    /// The target of a symbolic link.
    Link,
    /// Content whose hunks could not be parsed.
    Unread(Unread),
}

/// The reason that the hunks of a file could not be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unread {
    /// The file is compared with more than one file, or is not merged yet.
    Merge,
    /// The diff does not match its own headers.
    Broken,
    /// The diff has too many hunks.
    TooMany,
    /// The file itself could not be read.
    Unreadable,
}

/// A changed place in a file. A hunk has line numbers and no text: the text is in the trees before
/// and after the change, so that a huge diff takes no more memory than a small one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// The lines of the file before the change.
    pub old: Span,
    /// The lines of the file after the change.
    pub new: Span,
    /// The added lines, by their numbers after the change.
    pub added: Vec<LineRange>,
    /// The removed lines, by their numbers before the change.
    pub removed: Vec<LineRange>,
}

impl Hunk {
    /// Returns the line after the change at the place of a line that the change removes: the first
    /// added line in its place, or the line that follows now.
    pub fn place_of_removed(&self, removed: u32) -> u32 {
        let in_ranges = |ranges: &[LineRange], line: u32| {
            ranges.iter().any(|range| range.start() <= line && line <= range.end())
        };
        let old_context =
            (self.old.start..removed).filter(|line| !in_ranges(&self.removed, *line)).count();
        let new = self.new.start..self.new.start.saturating_add(self.new.count);
        let last = new.end.saturating_sub(1).max(self.new.start).max(1);
        let mut passed = 0;
        for line in new {
            if passed == old_context {
                return line;
            }
            passed += usize::from(!in_ranges(&self.added, line));
        }
        last
    }
}

/// A range of lines of a file, which may be empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The first line, from 1; for an empty range, the line before it.
    pub start: u32,
    /// The number of lines.
    pub count: u32,
}

impl Span {
    /// Returns the lines with the line before them and the line behind them. An empty range, such as
    /// that of removed lines, has such neighbours, too.
    pub fn surroundings(&self) -> Option<LineRange> {
        let first = self.start.saturating_sub(u32::from(self.count > 0));
        LineRange::range(first.max(1), self.start.saturating_add(self.count).max(1))
    }
}

impl Mode {
    /// Parses the six digits of a mode in git.
    fn read(digits: &[u8]) -> Mode {
        match digits {
            b"100755" => Mode::Executable,
            b"120000" => Mode::Link,
            b"160000" => Mode::Submodule,
            _ => Mode::File,
        }
    }

    /// Returns the kind of content that follows from the mode.
    fn content(self) -> Content {
        match self {
            Mode::File | Mode::Executable => Content::Text,
            Mode::Link => Content::Link,
            Mode::Submodule => Content::Submodule,
        }
    }
}

impl FileDiff {
    /// Returns the kind of a change without reviewable content, such as `binary`; `None` if there
    /// is content to read, or if the content could not be parsed.
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

    /// Creates the diff of a new file with `count` lines.
    pub(crate) fn all_new(path: String, mode: Mode, count: u32) -> FileDiff {
        let hunks = LineRange::range(1, count).filter(|_| count > 0).map(|lines| Hunk {
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

    /// Returns the path to show: the new one, or the old one of a deleted file.
    pub fn path(&self) -> &str {
        self.new_path.as_deref().or(self.old_path.as_deref()).unwrap_or("")
    }

    /// Returns the added lines, in order.
    pub fn added(&self) -> impl Iterator<Item = LineRange> {
        self.hunks.iter().flat_map(|hunk| hunk.added.iter().copied())
    }

    /// Returns the removed lines, in order, by their numbers before the change.
    pub fn removed(&self) -> impl Iterator<Item = LineRange> {
        self.hunks.iter().flat_map(|hunk| hunk.removed.iter().copied())
    }
}

/// Returns the lines that a diff adds or edits, by file.
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

/// Returns the files that a diff renames.
pub fn renames(files: &[FileDiff]) -> Renames {
    let renamed = files.iter().filter(|file| file.origin == Origin::Renamed);
    let path = |path: &Option<String>| RepoPath::exact(path.as_deref()?).ok();
    renamed.filter_map(|file| path(&file.old_path).zip(path(&file.new_path))).collect()
}

/// Parses the header of a hunk, `@@ -1,2 +3,4 @@`, into its lines before and after.
pub fn hunk_header(line: &str) -> Option<(Span, Span)> {
    parser::hunk_header(line.as_bytes())
}

/// Parses a diff. Text that does not belong to a diff is skipped.
pub fn parse(bytes: &[u8]) -> Vec<FileDiff> {
    let mut parser = Parser::default();
    parser.feed(bytes);
    parser.finish()
}

/// Parses a diff that git applies, with its first fault and its notes on binary files.
pub(crate) fn parse_strictly(bytes: &[u8]) -> StrictDiff {
    let mut parser = Parser::strict();
    parser.feed(bytes);
    parser.finish_strictly()
}
