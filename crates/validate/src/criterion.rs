//! Criteria and their answers: [`CriterionLine`].

use serde::{Deserialize, Serialize};

/// A criterion, and the answer of the review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriterionLine {
    /// The words of the criterion.
    pub text: String,
    /// Whether it is met.
    pub answer: CriterionAnswer,
    /// The evidence for the answer.
    pub evidence: String,
}

impl CriterionLine {
    /// Returns true if evidence or a person's decision says that the criterion is met.
    pub fn is_met(&self) -> bool {
        matches!(self.answer, CriterionAnswer::Met | CriterionAnswer::Decided)
    }
}

/// Whether a criterion is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionAnswer {
    /// The criterion is met.
    Met,
    /// The criterion is not met.
    NotMet,
    /// No check and no model could tell.
    CannotTell,
    /// No check and no model could tell, and a person decided that it is met.
    Decided,
}
