//! The reviewers of a delegated review, described for an agent: [`Reader`].

use assay_change::Change;
use assay_findings::report::ReviewerKind;
use serde::{Deserialize, Serialize};

use crate::reviewer::{Interest, Reviewer};

/// A reviewer of a delegated review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reader {
    /// The name of the reviewer.
    pub name: String,
    /// The party that reads: assay or the agent.
    pub by: By,
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
pub enum By {
    /// Assay, which read the change when the review began.
    Assay,
    /// The agent that the review is delegated to.
    You,
}

impl Reader {
    pub(super) fn of(by: &dyn Reviewer, change: &Change) -> Reader {
        let (reads, why) = match by.interest(change) {
            Interest::Reads(why) => (true, why),
            Interest::Rests(why) => (false, why),
        };
        let by_whom = match by.kind() {
            ReviewerKind::Persona => By::You,
            ReviewerKind::Rules | ReviewerKind::Command => By::Assay,
        };
        Reader { name: by.name().to_owned(), by: by_whom, reads, why, required: by.is_required() }
    }
}
