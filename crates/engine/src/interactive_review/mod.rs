//! The interactive mode of a review: [`DecisionList`] has the questions and the decisions of the
//! user, [`carry_out()`] their effects.

mod carry_out;
mod decision_list;

pub use carry_out::{CarriedOut, FixTarget, carry_out};
pub use decision_list::{DecisionList, Extent, FindingDecision, FixOffer, Question};
