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
        kind.describe(&|line| self.place(line), &quoted)
    }
}

/// Returns the files of diffs, in order.
pub fn files<'a, 'p>(patches: &'a [PlacedPatch<'p>]) -> impl Iterator<Item = &'a FilePatch<'p>> {
    patches.iter().flat_map(|placed| &placed.patch.files)
}

/// Formats a syntax error of a diff.
pub fn fault_text(kind: &DiffFaultKind<'_>) -> String {
    kind.describe(&quoted)
}
