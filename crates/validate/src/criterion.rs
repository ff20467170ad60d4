//! Acceptance criteria and the review's answers to them: [`CriterionLine`].

use serde::{Deserialize, Serialize};

/// A criterion and the answer of the review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriterionLine {
    /// The text of the criterion.
    pub text: String,
    /// The answer of the review, or of a person.
    pub answer: CriterionAnswer,
    /// The evidence for the answer.
    pub evidence: String,
}

impl CriterionLine {
    /// Returns true if evidence or a person's decision shows that the criterion is met.
    pub fn is_met(&self) -> bool {
        matches!(self.answer, CriterionAnswer::Met | CriterionAnswer::Decided)
    }
}

/// The answer of a review to the question if a criterion is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionAnswer {
    /// The criterion is met.
    Met,
    /// The criterion is not met.
    NotMet,
    /// Neither a check nor a model could decide.
    CannotTell,
    /// Neither a check nor a model could decide, and a person decided that the criterion is met.
    Decided,
}
