//! The states of a loop: [`State`], and by which moves one becomes another.

use crate::ending::Ending;
use crate::tree_hash::TreeHash;

/// The states of a loop.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum State {
    /// Nobody looked yet.
    #[default]
    Pending,
    /// Somebody looks.
    InReview,
    /// Something is wrong.
    Rejected,
    /// Something was done about it.
    FixesApplied,
    /// All holds, on this tree.
    Approved(TreeHash),
    /// A person has to see to it.
    HandedOver(Ending),
}

/// The names of the states, which are what moves are about.
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

/// Every move there is within an epoch. Out of an approval only an edit or a person leads, who begin
/// a new one.
const MOVES: [(Name, &[Name]); 7] = [
    // What a person wrote down is a rejection too.
    (Name::Pending, &[Name::InReview, Name::Rejected, Name::HumanEscalation, Name::Error]),
    (
        Name::InReview,
        &[
            // It begins again where the tree changed, and waits where it broke down.
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
        // It is looked at again where somebody else changed the tree.
        &[Name::FixesApplied, Name::InReview, Name::HumanEscalation, Name::Error],
    ),
    (Name::FixesApplied, &[Name::InReview, Name::HumanEscalation, Name::Error]),
    (Name::Approved, &[]),
    // Where somebody had to vouch for it, and did.
    (Name::HumanEscalation, &[Name::Approved]),
    (Name::Error, &[]),
];

/// A move that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a loop that is `{from}` cannot become `{to}`")]
pub struct Refused {
    /// Where the loop stands.
    pub from: &'static str,
    /// Where it was to go.
    pub to: &'static str,
}

impl State {
    /// Makes a move, if it is one.
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

    /// Gives its name.
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
