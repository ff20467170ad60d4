//! Parses the diffs of a plan: [`Plan::patches`], and formats their faults.

use assay_change::unified::{self, DiffFaultKind, FilePatch, MisfitKind, UnifiedDiff};

use super::{Milestone, Plan, PlannedDiff};
use crate::quote::quoted;

/// A parsed diff of a plan, with its milestone.
#[derive(Debug)]
pub struct PlacedPatch<'p> {
    /// The milestone of the diff; `None` if there is none.
    pub milestone: Option<&'p Milestone>,
    /// The index of the milestone in the plan, from 0; `None` if there is none.
    pub nth: Option<usize>,
    /// The parsed diff.
    pub patch: UnifiedDiff<'p>,
}

impl PlannedDiff {
    /// Parses the diff. Its lines are numbered as lines of the plan, or from 1 if those are
    /// unknown.
    pub fn read(&self) -> UnifiedDiff<'_> {
        unified::parse(&self.text, self.line.max(1))
    }
}

impl Plan {
    /// Parses all diffs of the plan, in its order.
    pub fn patches(&self) -> Vec<PlacedPatch<'_>> {
        let own = self.milestones.iter().enumerate().flat_map(|(nth, milestone)| {
            milestone.diffs.iter().map(move |diff| (Some((nth, milestone)), diff))
        });
        let loose = self.loose_diffs.iter().map(|diff| (None, diff));
        let mut all: Vec<_> = own.chain(loose).collect();
        if self.is_markdown {
            all.sort_by_key(|(_, diff)| diff.line);
        }
        let mut placed = Vec::with_capacity(all.len());
        for (own, diff) in all {
            let (nth, milestone) = own.unzip();
            placed.push(PlacedPatch { milestone, nth, patch: diff.read() });
        }
        placed
    }

    /// Formats a line of a diff: as a line of the plan, or of the diff alone if the lines of the
    /// plan are unknown.
    pub fn place(&self, line: u32) -> String {
        let whole = if self.is_markdown { "the plan" } else { "its diff" };
        format!("line {line} of {whole}")
    }

    /// Formats the reason why a diff of the plan cannot be applied.
    pub fn misfit_text(&self, kind: &MisfitKind) -> String {
        match kind {
            MisfitKind::Unreadable => "it cannot be read".to_owned(),
            MisfitKind::TooMuch => "the search for its position takes too long".to_owned(),
            MisfitKind::TooMuchBefore => "the diffs before it take too long to apply".to_owned(),
            MisfitKind::Ambiguous { stated, fits } => {
                let fits: Vec<String> = fits.iter().map(usize::to_string).collect();
                format!(
                    "it does not apply at line {stated}, and matches several other positions: \
                     lines {}",
                    fits.join(", ")
                )
            }
            MisfitKind::BehindEnd { stated, count } => {
                format!("it inserts after line {stated}, and the file has {count} lines")
            }
            MisfitKind::BeforeOther => {
                "it has no context lines, and its position is before that of the previous hunk"
                    .to_owned()
            }
            MisfitKind::FileEnds { count, at, wanted } => format!(
                "{} has {}, and the file ends at line {count}",
                self.place(*at),
                quoted(wanted)
            ),
            MisfitKind::LineBreak { number, has_break, at } => format!(
                "line {number} of the file ends {} a line break, unlike {}",
                if *has_break { "with" } else { "without" },
                self.place(*at)
            ),
            MisfitKind::Differs { number, found, at, wanted } => format!(
                "line {number} of the file is {}, and {} {}",
                quoted(found),
                self.place(*at),
                quoted(wanted)
            ),
            MisfitKind::Exists => "the diff creates the file, which already exists".to_owned(),
            MisfitKind::TargetExists(path) => {
                format!("{} already exists", quoted(path.as_str()))
            }
            MisfitKind::LinesLeft(left) => {
                format!("the diff deletes the file, and {left} of its lines remain")
            }
            MisfitKind::TakenAway(path) => {
                format!("an earlier diff of the plan removes {}", quoted(path.as_str()))
            }
            MisfitKind::NotText(path) => {
                format!("{} is not readable text", quoted(path.as_str()))
            }
            MisfitKind::NoFile(path) => format!("there is no file {}", quoted(path.as_str())),
            MisfitKind::Tree(error) => error.to_string(),
        }
    }
}

/// Returns the files of diffs, in order.
pub fn files<'a, 'p>(patches: &'a [PlacedPatch<'p>]) -> impl Iterator<Item = &'a FilePatch<'p>> {
    patches.iter().flat_map(|placed| &placed.patch.files)
}

/// Formats a syntax error of a diff.
pub fn fault_text(kind: &DiffFaultKind<'_>) -> String {
    const NAMES: &str = "`--- a/PATH` and `+++ b/PATH`";
    const HEADER: &str = "`@@ -LINE,COUNT +LINE,COUNT @@`";
    match kind {
        DiffFaultKind::NoFile => format!("the diff names no file; put {NAMES} above its hunks"),
        DiffFaultKind::HunkWithoutFile => {
            format!("a hunk has no file; put {NAMES} above it")
        }
        DiffFaultKind::NoNames => "the file names cannot be parsed".to_owned(),
        DiffFaultKind::Binary(path) => {
            format!("{} is binary, so it cannot be checked", quoted(path))
        }
        DiffFaultKind::Link(path) => {
            format!("{} is a symbolic link, so it cannot be checked", quoted(path))
        }
        DiffFaultKind::Merge(path) => format!("{} is compared with several files", quoted(path)),
        DiffFaultKind::BadPath { path, reason } => {
            format!("{} is not a valid path: {reason}", quoted(path))
        }
        DiffFaultKind::NoHunk => "no hunk follows the names of the file".to_owned(),
        DiffFaultKind::OutsideHunk(line) => {
            format!("{} is outside of a hunk; a hunk begins with {HEADER}", quoted(line))
        }
        DiffFaultKind::BadHeader(line) => {
            format!("{} is not a valid hunk header; expected {HEADER}", quoted(line))
        }
        DiffFaultKind::Unmarked(line) => {
            format!("{} in a hunk does not begin with ` `, `+` or `-`", quoted(line))
        }
        DiffFaultKind::Counts { stated: (old, new), found: (has_old, has_new) } => format!(
            "the hunk header states {old} lines before and {new} after, and the hunk has \
             {has_old} and {has_new}"
        ),
    }
}
