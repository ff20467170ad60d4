//! The diffs of a plan with their lines: [`read`] takes one apart, [`Sketch`] holds what all of
//! them make of a tree.
//!
//! Positions alone, as [`assay_change::diff`] keeps them, are not enough here: what a plan adds
//! stands nowhere but in the plan.

mod apply;
mod patched_line;
mod place;
mod reader;
mod sketch;
mod spot;

use assay_change::diff::{Origin, Span};
use assay_findings::path::RepoPath;

use super::{Milestone, Plan, PlannedDiff};
pub use patched_line::{LineOrigin, Misfit, Moved};
pub use reader::read;
pub use sketch::Sketch;
pub use spot::Spot;

/// The answer of a planned diff.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch<'p> {
    /// The files that it changes.
    pub files: Vec<FilePatch<'p>>,
    /// The fault of it that belongs to none of them.
    pub faults: Vec<Fault>,
}

/// The part of a planned diff about one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch<'p> {
    /// Its path before; `None` for a new file.
    pub old: Option<RepoPath>,
    /// Its path after; `None` for a deleted one.
    pub new: Option<RepoPath>,
    /// The source.
    pub origin: Origin,
    /// Where its header stands.
    pub line: Spot,
    /// The places where it changes.
    pub hunks: Vec<Hunk<'p>>,
    /// The fault of the form of it.
    pub faults: Vec<Fault>,
    /// The lines before its hunks that stand in none.
    pub stray: Vec<Line<'p>>,
}

/// One place where a file changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk<'p> {
    /// Where its header stands.
    pub line: Spot,
    /// Where it says that it stands in the file before.
    pub old: Span,
    /// Whether it says that no line of the file after stands before it.
    pub is_at_top: bool,
    /// Its lines.
    pub lines: Vec<Line<'p>>,
    /// Whether its head and all of its lines could be read.
    pub is_whole: bool,
}

/// A line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'p> {
    /// The fate of it.
    pub mark: Mark,
    /// The text, without its end.
    pub text: &'p str,
    /// How it ends.
    pub end: End,
    /// Where it stands.
    pub at: Spot,
}

/// The fate of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The line or list stays.
    Context,
    /// The line comes.
    Added,
    /// The line goes.
    Removed,
    /// No verdict is stated.
    Unmarked,
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With a line feed.
    Feed,
    /// With a carriage return before it.
    ReturnFeed,
    /// With the file.
    None,
}

/// Lines of a file after a diff, with nothing between them that is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'p> {
    /// Them.
    pub lines: Vec<Line<'p>>,
    /// Whether lines may stand before them that are not shown.
    pub is_cut: bool,
}

/// Something that is wrong with the form of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub line: Spot,
    /// The fault in words.
    pub why: String,
}

/// A diff of a plan, read, with the milestone that it stands under.
#[derive(Debug)]
pub struct Placed<'p> {
    /// The milestone, where there is one.
    pub milestone: Option<&'p Milestone>,
    /// Which of the plan that is, from 0.
    pub nth: Option<usize>,
    /// The diff as it stands in the plan.
    pub diff: &'p PlannedDiff,
    /// The text.
    pub patch: Patch<'p>,
}

impl<'p> FilePatch<'p> {
    /// Returns the path to show: the new one, or the old one of a deleted file.
    pub fn path(&self) -> &str {
        self.new.as_ref().or(self.old.as_ref()).map_or("", RepoPath::as_str)
    }

    /// Returns true if there is no file at its path before.
    pub fn is_new(&self) -> bool {
        self.new.is_some() && self.new != self.old
    }

    /// Returns the file afterwards, as far as the diff shows it. Lines without a mark count as there.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'p>> {
        let kept = |lines: &[Line<'p>], is_cut: bool| Piece {
            lines: lines.iter().filter(|line| line.mark != Mark::Removed).copied().collect(),
            is_cut,
        };
        let stray = kept(&self.stray, self.old.is_some());
        let hunks = self.hunks.iter().map(move |hunk| kept(&hunk.lines, !hunk.is_at_top));
        std::iter::once(stray).chain(hunks)
    }
}

impl<'p> Hunk<'p> {
    /// Returns the lines that it says are in the file before.
    pub fn before(&self) -> impl Iterator<Item = &Line<'p>> {
        self.lines.iter().filter(|line| matches!(line.mark, Mark::Context | Mark::Removed))
    }

    /// Returns the lines that it adds.
    pub fn added(&self) -> impl Iterator<Item = &Line<'p>> {
        self.lines.iter().filter(|line| line.mark == Mark::Added)
    }
}

impl Plan {
    /// Reads all diffs of the plan, in its order.
    pub fn patches(&self) -> Vec<Placed<'_>> {
        let own = self.milestones.iter().enumerate().flat_map(|(nth, milestone)| {
            milestone.diffs.iter().map(move |diff| (Some((nth, milestone)), diff))
        });
        let loose = self.loose_diffs.iter().map(|diff| (None, diff));
        let mut all: Vec<_> = own.chain(loose).collect();
        if self.is_markdown {
            all.sort_by_key(|(_, diff)| diff.line);
        }
        let placed = |(own, diff): (Option<(usize, _)>, _)| {
            let (nth, milestone) = own.unzip();
            Placed { milestone, nth, diff, patch: read(diff) }
        };
        all.into_iter().map(placed).collect()
    }
}
