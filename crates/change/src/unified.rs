//! Unified diffs with the text of their lines: [`read`] takes one apart, [`PatchedTree`] applies diffs to a
//! tree in memory.
//!
//! [`crate::diff`] reads the output of git, of which a [`crate::Change`] keeps positions alone: the lines
//! are in its trees. The lines of a diff that is not applied yet are nowhere but in the diff. People and
//! models write such diffs, so counts and line numbers in them may be wrong: a fault is reported with its
//! line, and the rest is still read.

mod fault;
mod hunks;
mod patched_line;
mod patched_tree;
mod place;
mod reader;

use assay_findings::path::RepoPath;

use crate::diff::{Origin, Span};

pub use fault::{Fault, FaultKind, Misfit, MisfitKind, Moved};
pub use patched_line::LineOrigin;
pub use patched_tree::PatchedTree;
pub use reader::read;

/// A unified diff.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnifiedDiff<'t> {
    /// The files that it changes.
    pub files: Vec<FilePatch<'t>>,
    /// The faults that belong to none of the files.
    pub faults: Vec<Fault<'t>>,
}

/// The part of a diff about one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch<'t> {
    /// The path before; `None` for a new file.
    pub old: Option<RepoPath>,
    /// The path after; `None` for a deleted file.
    pub new: Option<RepoPath>,
    /// The source.
    pub origin: Origin,
    /// The line of its header.
    pub line: u32,
    /// The places where the file changes.
    pub hunks: Vec<HunkText<'t>>,
    /// The faults of form.
    pub faults: Vec<Fault<'t>>,
    /// The lines before the hunks that stand in none.
    pub stray: Vec<DiffLine<'t>>,
}

/// One place where a file changes, with its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkText<'t> {
    /// The line of its header.
    pub line: u32,
    /// The lines of the file before, by the header.
    pub old: Span,
    /// Whether no line of the file after stands before it, by the header.
    pub is_at_top: bool,
    /// The lines.
    pub lines: Vec<DiffLine<'t>>,
    /// Whether the header and all lines could be read.
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
    /// The line number, counted from the first line of the diff on.
    pub at: u32,
}

/// The mark of a line in a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The line stays.
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

/// Lines of a file after a diff, with nothing between them that is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'t> {
    /// The lines.
    pub lines: Vec<DiffLine<'t>>,
    /// Whether lines may stand before them that are not shown.
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

    /// Returns the file afterwards, as far as the diff shows it. Lines without a mark count as there.
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
    /// Returns the lines that the file has before, by the diff.
    pub fn before(&self) -> impl Iterator<Item = &DiffLine<'t>> {
        self.lines.iter().filter(|line| matches!(line.mark, Mark::Context | Mark::Removed))
    }

    /// Returns the lines that the hunk adds.
    pub fn added(&self) -> impl Iterator<Item = &DiffLine<'t>> {
        self.lines.iter().filter(|line| line.mark == Mark::Added)
    }
}
