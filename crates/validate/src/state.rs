//! The state machine of a loop: [`State`] and its transitions.

use crate::ending::Ending;
use crate::tree_hash::TreeHash;

/// The state of a loop.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum State {
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
enum Name {
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
const MOVES: [(Name, &[Name]); 7] = [
    // Feedback of a person is a rejection too.
    (Name::Pending, &[Name::InReview, Name::Rejected, Name::HumanEscalation, Name::Error]),
    (
        Name::InReview,
        &[
            // The review restarts if the tree changed, and the loop returns to `Pending` after an
            // error.
            Name::InReview,
            Name::Pending,
            Name::Rejected,
            Name::Approved,
            Name::HumanEscalation,
            Name::Error,
        ],
    ),
    (
        Name::Rejected,
        // The tree is reviewed again if it was changed, and not by the fixer.
        &[Name::FixesApplied, Name::InReview, Name::HumanEscalation, Name::Error],
    ),
    (Name::FixesApplied, &[Name::InReview, Name::HumanEscalation, Name::Error]),
    (Name::Approved, &[]),
    // A person signed the tree off, as required.
    (Name::HumanEscalation, &[Name::Approved]),
    (Name::Error, &[]),
];

/// A transition that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a loop that is `{from}` cannot become `{to}`")]
pub struct Refused {
    /// The name of the current state.
    pub from: &'static str,
    /// The name of the requested state.
    pub to: &'static str,
}

impl State {
    /// Makes a transition. Fails if it does not exist.
    pub(crate) fn become_(&mut self, next: State) -> Result<(), Refused> {
        let (from, to) = (self.named(), next.named());
        let is_move = MOVES.iter().any(|(start, ends)| *start == from && ends.contains(&to));
        if !is_move {
            return Err(Refused { from: self.name(), to: next.name() });
        }
        *self = next;
        Ok(())
    }

    fn named(&self) -> Name {
        match self {
            State::Pending => Name::Pending,
            State::InReview => Name::InReview,
            State::Rejected => Name::Rejected,
            State::FixesApplied => Name::FixesApplied,
            State::Approved(_) => Name::Approved,
            State::HandedOver(Ending::Errors { .. }) => Name::Error,
            State::HandedOver(_) => Name::HumanEscalation,
        }
    }

    /// Returns the name of the state.
    pub fn name(&self) -> &'static str {
        match self.named() {
            Name::Pending => "pending",
            Name::InReview => "in_review",
            Name::Rejected => "rejected",
            Name::FixesApplied => "fixes_applied",
            Name::Approved => "approved",
            Name::HumanEscalation => "human_escalation",
            Name::Error => "error",
        }
    }
}
