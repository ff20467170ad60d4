//! The state machine of a loop: [`LoopStatus`] and its transitions.

use crate::ending::Ending;
use crate::tree_hash::TreeHash;

/// The state of a loop.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum LoopStatus {
    /// No review has begun.
    #[default]
    Pending,
    /// A review is in progress.
    InReview,
    /// The review found issues.
    Rejected,
    /// A fix was applied, or a person has acted on the issues.
    FixesApplied,
    /// The tree with this digest is approved.
    Approved(TreeHash),
    /// A person has to act, because of this ending.
    HandedOver(Ending),
}

/// The names of the states, between which transitions are defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatusKind {
    Pending,
    InReview,
    Rejected,
    FixesApplied,
    Approved,
    HumanEscalation,
    Error,
}

/// All transitions within an epoch. An approval ends only with a new epoch, which an edit or a
/// person starts.
const TRANSITIONS: [(StatusKind, &[StatusKind]); 7] = [
    // Feedback of a person is a rejection too.
    (
        StatusKind::Pending,
        &[
            StatusKind::InReview,
            StatusKind::Rejected,
            StatusKind::HumanEscalation,
            StatusKind::Error,
        ],
    ),
    (
        StatusKind::InReview,
        &[
            // The review restarts if the tree changed, and the loop returns to `Pending` after an
            // error.
            StatusKind::InReview,
            StatusKind::Pending,
            StatusKind::Rejected,
            StatusKind::Approved,
            StatusKind::HumanEscalation,
            StatusKind::Error,
        ],
    ),
    (
        StatusKind::Rejected,
        // The tree is reviewed again if it was changed, and not by the fixer.
        &[
            StatusKind::FixesApplied,
            StatusKind::InReview,
            StatusKind::HumanEscalation,
            StatusKind::Error,
        ],
    ),
    (
        StatusKind::FixesApplied,
        &[StatusKind::InReview, StatusKind::HumanEscalation, StatusKind::Error],
    ),
    (StatusKind::Approved, &[]),
    // A person signed the tree off, as required.
    (StatusKind::HumanEscalation, &[StatusKind::Approved]),
    (StatusKind::Error, &[]),
];

/// A transition that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid transition of the loop from `{from}` to `{to}`")]
pub struct InvalidTransition {
    /// The name of the current state.
    pub from: &'static str,
    /// The name of the requested state.
    pub to: &'static str,
}

impl LoopStatus {
    /// Makes a transition. Fails if it does not exist.
    pub(crate) fn transition_to(&mut self, next: LoopStatus) -> Result<(), InvalidTransition> {
        let (from, to) = (self.kind(), next.kind());
        let is_allowed =
            TRANSITIONS.iter().any(|(start, ends)| *start == from && ends.contains(&to));
        if !is_allowed {
            return Err(InvalidTransition { from: self.name(), to: next.name() });
        }
        *self = next;
        Ok(())
    }

    fn kind(&self) -> StatusKind {
        match self {
            LoopStatus::Pending => StatusKind::Pending,
            LoopStatus::InReview => StatusKind::InReview,
            LoopStatus::Rejected => StatusKind::Rejected,
            LoopStatus::FixesApplied => StatusKind::FixesApplied,
            LoopStatus::Approved(_) => StatusKind::Approved,
            LoopStatus::HandedOver(Ending::Errors { .. }) => StatusKind::Error,
            LoopStatus::HandedOver(_) => StatusKind::HumanEscalation,
        }
    }

    /// Returns the name of the state.
    pub fn name(&self) -> &'static str {
        match self.kind() {
            StatusKind::Pending => "pending",
            StatusKind::InReview => "in_review",
            StatusKind::Rejected => "rejected",
            StatusKind::FixesApplied => "fixes_applied",
            StatusKind::Approved => "approved",
            StatusKind::HumanEscalation => "human_escalation",
            StatusKind::Error => "error",
        }
    }
}
