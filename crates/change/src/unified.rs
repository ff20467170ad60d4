//! Unified diffs with the text of their lines: [`parse`] parses a diff, [`PatchedTree`] applies
//! diffs to a tree in memory.
//!
//! [`crate::diff`] parses the output of git, of which a [`crate::Change`] stores positions alone:
//! the lines are in its trees. The lines of a diff that is not applied yet are only in the diff.
//! People and models write such diffs, so counts and line numbers in them may be wrong: a fault is
//! reported with its line, and the rest is still parsed.

mod diff_fault;
mod hunk_locator;
mod hunks;
mod patched_line;
mod patched_tree;
mod reader;

use assay_findings::path::RepoPath;

use crate::diff::{Origin, Span};

pub use diff_fault::{DiffFault, DiffFaultKind, Misfit, MisfitKind, MovedHunk};
pub use patched_line::LineOrigin;
pub use patched_tree::PatchedTree;
pub use reader::parse;

/// A unified diff.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnifiedDiff<'t> {
    /// The files that the diff changes.
    pub files: Vec<FilePatch<'t>>,
    /// The faults that belong to none of the files.
    pub faults: Vec<DiffFault<'t>>,
}

/// The part of a diff about one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch<'t> {
    /// The path before; `None` for a new file.
    pub old: Option<RepoPath>,
    /// The path after; `None` for a deleted file.
    pub new: Option<RepoPath>,
    /// The source of the file: a rename, a copy, or none.
    pub origin: Origin,
    /// The line of the file's header.
    pub line: u32,
    /// The changed places of the file.
    pub hunks: Vec<HunkText<'t>>,
    /// The faults in the syntax of this part.
    pub faults: Vec<DiffFault<'t>>,
    /// The lines before the first hunk that are in no hunk.
    pub stray: Vec<DiffLine<'t>>,
}

/// A changed place in a file, with its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkText<'t> {
    /// The line of the hunk's header.
    pub line: u32,
    /// The lines of the file before the change, by the header.
    pub old: Span,
    /// True if the hunk starts at the first line of the file after the change, by the header.
    pub is_at_top: bool,
    /// The lines of the hunk.
    pub lines: Vec<DiffLine<'t>>,
    /// True if the header and all lines could be parsed.
    pub is_whole: bool,
}

/// A line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffLine<'t> {
    /// The mark before the text.
    pub mark: Mark,
    /// The text, without the line end.
    pub text: &'t str,
    /// The line end.
    pub end: LineEnd,
    /// The number of the line in the diff, or in the text around it.
    pub at: u32,
}

/// The mark of a line in a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The line is unchanged.
    Context,
    /// The line is added.
    Added,
    /// The line is removed.
    Removed,
    /// The line has no mark, which is a fault.
    Unmarked,
}

/// The end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// A line feed.
    Feed,
    /// A carriage return and a line feed.
    ReturnFeed,
    /// The end of the file.
    None,
}

/// Consecutive lines of a file after a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'t> {
    /// The lines of the piece.
    pub lines: Vec<DiffLine<'t>>,
    /// True if other lines may precede the piece.
    pub is_cut: bool,
}

impl<'t> FilePatch<'t> {
    /// Returns the path to show: the new one, or the old one of a deleted file.
    pub fn path(&self) -> &str {
        self.new.as_ref().or(self.old.as_ref()).map_or("", RepoPath::as_str)
    }

    /// Returns true if there is no file at the path before.
    pub fn is_new(&self) -> bool {
        self.new.is_some() && self.new != self.old
    }

    /// Returns the file after the diff, as far as the diff shows it. Lines without a mark are
    /// included.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'t>> {
        let kept = |lines: &[DiffLine<'t>], is_cut: bool| Piece {
            lines: lines.iter().filter(|line| line.mark != Mark::Removed).copied().collect(),
            is_cut,
        };
        let stray = kept(&self.stray, self.old.is_some());
        let hunks = self.hunks.iter().map(move |hunk| kept(&hunk.lines, !hunk.is_at_top));
        std::iter::once(stray).chain(hunks)
    }
}

impl<'t> HunkText<'t> {
    /// Returns the lines that the file has before the change, by the diff.
    pub fn before(&self) -> impl Iterator<Item = &DiffLine<'t>> {
        self.lines.iter().filter(|line| matches!(line.mark, Mark::Context | Mark::Removed))
    }

    /// Returns the lines that the hunk adds.
    pub fn added(&self) -> impl Iterator<Item = &DiffLine<'t>> {
        self.lines.iter().filter(|line| line.mark == Mark::Added)
    }
}
