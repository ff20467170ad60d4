//! `next_fix`: the worst finding that is still there.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::told::{Told, cut, in_a_line};
use super::{Fixing, Reviews};
use crate::mcp::{Effect, Tool};

/// So many findings are listed.
const LISTED: usize = 60;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The name of a review that is finished.
    #[schemars(length(min = 1, max = 40))]
    review: String,
    /// Findings that you leave to somebody else.
    #[serde(default)]
    #[schemars(length(max = 200), inner(length(min = 1, max = 60)))]
    skip: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// What to fix now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Told")]
    fix: Option<Told>,
    /// How many findings are still there, this one among them.
    still_there: usize,
    /// How many are gone.
    fixed: usize,
    /// Those that only a new review can judge.
    not_verified: Vec<String>,
    /// How many more of them there are.
    more_not_verified: usize,
    /// What to do next.
    next: String,
}

pub(super) fn tool(reviews: &Arc<dyn Reviews>) -> Tool {
    let reviews = Arc::clone(reviews);
    Tool::new(
        "next_fix",
        "Gives the worst finding of a finished review that is still there, told from the files as \
         they are now.",
        // It starts the commands that are configured, and who knows what those write.
        Effect::Adds,
        move |input: Input| {
            let skip = input.skip.iter().cloned().collect();
            reviews.next_fix(&input.review, &skip).map(|fixing| told(&fixing))
        },
    )
}

fn told(fixing: &Fixing) -> Output {
    let next = match (&fixing.next, fixing.still_there.is_empty(), fixing.not_verified.is_empty()) {
        (Some(finding), _, _) => format!(
            "Fix it with the smallest change that does, then call verify_fix for {}.",
            finding.id
        ),
        (None, false, _) => "What is left you skipped; tell the user about it.".to_owned(),
        (None, true, false) => {
            "Call start_review: only a new review can judge what was changed for the rest."
                .to_owned()
        }
        (None, true, true) => {
            "Nothing of this review is left. Call start_review to have the fixes reviewed."
                .to_owned()
        }
    };
    let (not_verified, more_not_verified) = cut(&fixing.not_verified, LISTED);
    Output {
        fix: fixing.next.as_ref().map(Told::from),
        still_there: fixing.still_there.len(),
        fixed: fixing.fixed.len(),
        not_verified: not_verified.map(in_a_line).collect(),
        more_not_verified,
        next,
    }
}
