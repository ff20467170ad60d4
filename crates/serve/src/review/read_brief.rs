//! `read_brief`: one task with all that belongs to it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Reviews;
use crate::mcp::{Effect, Refusal, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The name of the review.
    #[schemars(length(min = 1, max = 40))]
    review: String,
    /// The persona whose task it is.
    #[schemars(length(min = 1, max = 60))]
    persona: String,
    /// Which part of the change, or which finding, it is about.
    #[serde(default = "first")]
    #[schemars(range(min = 1, max = 1000))]
    part: usize,
    /// Leave out the instructions and the change, where you have read both already.
    #[serde(default)]
    task_only: bool,
}

fn first() -> usize {
    1
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The persona.
    persona: String,
    /// The part.
    part: usize,
    /// How many parts there are.
    of: usize,
    /// What to do.
    text: String,
    /// What to do next.
    next: String,
}

pub(super) fn tool(reviews: &Arc<dyn Reviews>) -> Tool {
    let reviews = Arc::clone(reviews);
    Tool::new(
        "read_brief",
        "Gives one task of a review with all that belongs to it: instructions, its part of the \
         change, and what the persona looks for.",
        Effect::Reads,
        move |input| read(&*reviews, &input),
    )
}

fn read(reviews: &dyn Reviews, input: &Input) -> Result<Output, Refusal> {
    let review = reviews.open(&input.review)?;
    let brief = review.brief_for(&input.persona, input.part).map_err(|e| Refusal::of(&e))?;
    let text = if input.task_only { brief.task.clone() } else { brief.whole() };
    let next = format!(
        "Hand in the report with report_findings: review {}, persona {}, part {}.",
        input.review, brief.persona, brief.part
    );
    Ok(Output { persona: brief.persona, part: brief.part, of: brief.of, text, next })
}
