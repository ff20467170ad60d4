//! `next_fix`: the worst finding that still exists.

use std::sync::Arc;

use assay_engine::delegated_review::{DelegatedReviews, FixProgress};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer_budget::AnswerBudget;
use super::finding_summary::{FindingSummary, format_line};
use super::to_refusal;
use crate::mcp::{Effect, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of a finished review.
    #[schemars(length(min = 1, max = 40))]
    review: String,
    /// The ids of findings to skip.
    #[serde(default)]
    #[schemars(length(max = 200), inner(length(min = 1, max = 60)))]
    skip: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The finding to fix now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "FindingSummary")]
    fix: Option<FindingSummary>,
    /// The number of findings that still exist, including this one.
    still_there: usize,
    /// The number of findings that are gone.
    fixed: usize,
    /// The findings that only a new review can judge.
    not_verified: Vec<String>,
    /// The number of further findings that only a new review can judge.
    more_not_verified: usize,
    /// The next step.
    next: String,
}

pub(super) fn tool(reviews: &Arc<dyn DelegatedReviews>) -> Tool {
    let reviews = Arc::clone(reviews);
    Tool::new(
        "next_fix",
        "Returns the worst finding of a finished review that is still there, by the files as they \
         are now.",
        // The configured analysers run, and may write files.
        Effect::Adds,
        move |input: Input| {
            let skip = input.skip.iter().cloned().collect();
            let fixing = reviews.next_fix(&input.review, &skip).map_err(to_refusal)?;
            Ok(answer(&fixing))
        },
    )
}

fn answer(fixing: &FixProgress) -> Output {
    let next = match (&fixing.next, fixing.still_there.is_empty(), fixing.not_verified.is_empty()) {
        (Some(finding), _, _) => format!(
            "Fix it with the smallest change that does, then call verify_fix for {}.",
            finding.id
        ),
        (None, false, _) => {
            "All findings that are left are in `skip`; tell the user about them.".to_owned()
        }
        (None, true, false) => {
            "Call start_review: only a new review can judge the findings in `not_verified`."
                .to_owned()
        }
        (None, true, true) => {
            "No finding of this review is left. Call start_review to have the fixes reviewed."
                .to_owned()
        }
    };
    let mut budget = AnswerBudget::new();
    let fix = fixing.next.as_ref().map(FindingSummary::from);
    budget.take(&fix);
    let not_verified = fixing.not_verified.iter().map(format_line).collect();
    let (not_verified, more_not_verified) = budget.list(not_verified);
    Output {
        fix,
        still_there: fixing.still_there.len(),
        fixed: fixing.fixed.len(),
        not_verified,
        more_not_verified,
        next,
    }
}
