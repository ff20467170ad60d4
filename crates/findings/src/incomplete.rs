//! The reasons why a report may have left out a finding: [`IncompleteReason`].
//!
//! The findings of such a report count. The absence of findings on the rest of the change does not,
//! so a report with a reason supports no `ready`. Every repair that may lose a finding, every
//! rejected part and every sentence that contradicts the list of findings is a reason: damage to a
//! report never improves a verdict.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reason why a report is not complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IncompleteReason {
    /// The kind of the reason.
    pub kind: IncompleteKind,
    /// The reason in words, with the reviewer's sentence or the damaged place.
    pub text: String,
}

/// The kinds of reasons why a report is not complete.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum IncompleteKind {
    /// The text ends before the list of findings is closed.
    OpenList,
    /// The JSON was repaired by guessing, so that a finding may be lost or changed.
    Damaged,
    /// A part that may be a finding could not be read.
    Rejected,
    /// The reviewer's words reject the change, and no listed finding blocks it.
    Contradiction,
    /// The reviewer states that the change was not reviewed.
    NotReviewed,
}

impl IncompleteReason {
    /// Creates a reason.
    pub fn new(kind: IncompleteKind, text: impl Into<String>) -> IncompleteReason {
        IncompleteReason { kind, text: text.into() }
    }
}
