//! `verify_fix`: how a finding stands, told from the files.

use std::sync::Arc;

use assay_findings::finding::Finding;
use assay_review::delegation::mend::{Standing, Verified};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Reviews;
use super::told::{cut, in_a_line};
use crate::mcp::{Effect, Tool};

/// So many findings are listed.
const LISTED: usize = 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The name of a review that is finished.
    #[schemars(length(min = 1, max = 40))]
    review: String,
    /// The finding.
    #[schemars(length(min = 1, max = 60))]
    finding: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// `fixed`, `still_there`, or `not_verified` where only a new review can tell.
    standing: &'static str,
    /// What that is told from.
    because: String,
    /// What is found now and was not there in the review.
    new_findings: Vec<String>,
    /// How many more of them there are.
    more_new_findings: usize,
    /// What to do next.
    next: String,
}

pub(super) fn tool(reviews: &Arc<dyn Reviews>) -> Tool {
    let reviews = Arc::clone(reviews);
    Tool::new(
        "verify_fix",
        "Says how a finding of a finished review stands: whoever needs no model looks at the files \
         again. What only a model can judge is not verified until a new review.",
        // It starts the commands that are configured, and who knows what those write.
        Effect::Adds,
        move |input: Input| {
            let verified = reviews.verify_fix(&input.review, &input.finding)?;
            Ok(told(&input.review, verified))
        },
    )
}

fn told(review: &str, (verified, new): (Verified, Vec<Finding>)) -> Output {
    let next = match (verified.standing, new.is_empty()) {
        (_, false) => "What is new came with your changes: mend that first.".to_owned(),
        (Standing::StillThere, true) => "It is not fixed; try again.".to_owned(),
        (Standing::Fixed, true) => format!("Call next_fix for {review}."),
        (Standing::NotVerified, true) => format!(
            "Call next_fix for {review}; when it has no more, a new review judges what was changed."
        ),
    };
    let (new_findings, more_new_findings) = cut(&new, LISTED);
    Output {
        standing: match verified.standing {
            Standing::Fixed => "fixed",
            Standing::StillThere => "still_there",
            Standing::NotVerified => "not_verified",
        },
        because: verified.because,
        new_findings: new_findings.map(in_a_line).collect(),
        more_new_findings,
        next,
    }
}
