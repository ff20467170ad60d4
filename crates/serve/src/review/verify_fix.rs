//! `verify_fix`: the status of a finding, by the current files.

use std::sync::Arc;

use assay_engine::delegated_review::DelegatedReviews;
use assay_findings::finding::Finding;
use assay_review::delegation::fix_verification::{FixStatus, FixVerdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer_budget::AnswerBudget;
use super::finding_summary::format_line;
use super::to_refusal;
use crate::mcp::{Effect, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of a finished review.
    #[schemars(length(min = 1, max = 40))]
    review: String,
    /// The id of the finding.
    #[schemars(length(min = 1, max = 60))]
    finding: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The status: `fixed`, `still_there`, or `not_verified` if only a new review can decide.
    standing: &'static str,
    /// The reason for the status.
    because: String,
    /// The findings that were not in the review.
    new_findings: Vec<String>,
    /// The number of further new findings.
    more_new_findings: usize,
    /// The next step.
    next: String,
}

pub(super) fn tool(reviews: &Arc<dyn DelegatedReviews>) -> Tool {
    let reviews = Arc::clone(reviews);
    Tool::new(
        "verify_fix",
        "Returns the state of a finding of a finished review: the reviewers that need no model \
         read the files again. A finding that only a model can judge is not verified until a new \
         review.",
        // The configured analysers run, and may write files.
        Effect::Adds,
        move |input: Input| {
            let verified = reviews.verify_fix(&input.review, &input.finding).map_err(to_refusal)?;
            Ok(answer(&input.review, verified))
        },
    )
}

fn answer(review: &str, (verified, new): (FixVerdict, Vec<Finding>)) -> Output {
    let next = match (verified.status, new.is_empty()) {
        (_, false) => "The new findings came with your changes: fix them first.".to_owned(),
        (FixStatus::StillThere, true) => "The finding is not fixed; try again.".to_owned(),
        (FixStatus::Fixed, true) => format!("Call next_fix for {review}."),
        (FixStatus::NotVerified, true) => format!(
            "Call next_fix for {review}; once no finding is left there, call start_review, which \
             judges the changes."
        ),
    };
    let new = new.iter().map(format_line).collect();
    let (new_findings, more_new_findings) = AnswerBudget::new().list(new);
    Output {
        standing: match verified.status {
            FixStatus::Fixed => "fixed",
            FixStatus::StillThere => "still_there",
            FixStatus::NotVerified => "not_verified",
        },
        because: verified.because,
        new_findings,
        more_new_findings,
        next,
    }
}
