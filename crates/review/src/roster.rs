//! The reviewers that read a change, and the reasons: [`build_roster`].

use assay_change::Change;

use crate::depth::{Depth, depth};
use crate::reviewer::{Estimate, ReadDecision, Reviewer};

/// The reviewers of a change, and the depth of the review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roster {
    /// The depth of the review.
    pub depth: Depth,
    /// The reason for the depth.
    pub because: String,
    /// The reviewers.
    pub entries: Vec<RosterEntry>,
}

/// A reviewer of a roster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RosterEntry {
    /// The name of the reviewer.
    pub name: String,
    /// The decision of the reviewer to read the change or not, with the reason.
    pub interest: ReadDecision,
    /// The estimated cost; `None` if it was not requested or is nothing.
    pub estimate: Option<Estimate>,
}

/// The choice to include cost estimates in a roster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostEstimates {
    /// The roster includes estimates.
    Included,
    /// The roster includes no estimates.
    Omitted,
}

/// Decides which reviewers read a change.
pub fn build_roster(
    change: &Change,
    reviewers: &[Box<dyn Reviewer>],
    cost: CostEstimates,
) -> Roster {
    let (depth, because) = depth(change);
    let entry = |by: &dyn Reviewer| {
        let interest = by.interest(change);
        let is_wanted =
            cost == CostEstimates::Included && matches!(interest, ReadDecision::Reads(_));
        let estimate = is_wanted.then(|| by.estimate(change)).flatten();
        RosterEntry { name: by.name().to_owned(), interest, estimate }
    };
    Roster { depth, because, entries: reviewers.iter().map(|by| entry(&**by)).collect() }
}
