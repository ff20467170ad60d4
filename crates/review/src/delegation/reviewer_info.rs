//! The reviewers of a delegated review, described for an agent: [`ReviewerInfo`].

use assay_change::Change;
use assay_findings::report::ReviewerKind;
use serde::{Deserialize, Serialize};

use crate::reviewer::{ReadDecision, Reviewer};

/// A reviewer of a delegated review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewerInfo {
    /// The name of the reviewer.
    pub name: String,
    /// The party that reads: assay or the agent.
    pub by: ReadingParty,
    /// True if the reviewer reads the change.
    pub reads: bool,
    /// The reason why the reviewer reads the change or does not.
    pub why: String,
    /// True if the change cannot be ready without an answer of the reviewer.
    pub required: bool,
}

/// The party that reads a change for a reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadingParty {
    /// Assay, which read the change when the review began.
    Assay,
    /// The agent that the review is delegated to.
    You,
}

impl ReviewerInfo {
    pub(super) fn of(by: &dyn Reviewer, change: &Change) -> ReviewerInfo {
        let (reads, why) = match by.interest(change) {
            ReadDecision::Reads(why) => (true, why),
            ReadDecision::Skips(why) => (false, why),
        };
        let by_whom = match by.kind() {
            ReviewerKind::Persona => ReadingParty::You,
            ReviewerKind::Rules | ReviewerKind::Command => ReadingParty::Assay,
        };
        ReviewerInfo {
            name: by.name().to_owned(),
            by: by_whom,
            reads,
            why,
            required: by.is_required(),
        }
    }
}
