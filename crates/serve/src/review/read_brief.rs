//! `read_brief`: one task with all of its texts.

use std::sync::Arc;

use assay_engine::delegated_review::DelegatedReviews;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer_budget::AnswerBudget;
use super::to_refusal;
use crate::mcp::{Effect, Refusal, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the review.
    #[schemars(length(min = 1, max = 40))]
    review: String,
    /// The persona of the task.
    #[schemars(length(min = 1, max = 60))]
    persona: String,
    /// The number of the part of the change, from 1.
    #[serde(default = "first_part")]
    #[schemars(range(min = 1, max = 1000))]
    part: usize,
    /// Return a single text if you have read the others: the `change`, or the `task`.
    #[serde(default)]
    #[schemars(with = "BriefText")]
    only: Option<BriefText>,
    /// The byte to start at: the `next_offset` of the previous answer.
    #[serde(default)]
    offset: usize,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum BriefText {
    Change,
    Task,
}

fn first_part() -> usize {
    1
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The name of the persona.
    persona: String,
    /// The number of the part of the change, from 1.
    part: usize,
    /// The number of parts.
    of: usize,
    /// The size of the whole text in bytes.
    bytes: usize,
    /// The byte that this answer starts at.
    offset: usize,
    /// The text, from the offset on.
    text: String,
    /// The offset of the rest; absent at the end of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    next_offset: Option<usize>,
    /// The next step.
    next: String,
}

pub(super) fn tool(reviews: &Arc<dyn DelegatedReviews>) -> Tool {
    let reviews = Arc::clone(reviews);
    Tool::new(
        "read_brief",
        "Returns one task of a review with all that belongs to it: instructions, its part of the \
         change, and the task of the persona. A long text comes in pieces, by `offset` and \
         `next_offset`.",
        Effect::Reads,
        move |input| read(&*reviews, &input),
    )
}

fn read(reviews: &dyn DelegatedReviews, input: &Input) -> Result<Output, Refusal> {
    let review = reviews.open(&input.review).map_err(to_refusal)?;
    let brief = review.brief_for(&input.persona, input.part).map_err(|e| Refusal::of(&e))?;
    let text = match input.only {
        None => brief.full_text(),
        Some(BriefText::Change) => brief.change.clone(),
        Some(BriefText::Task) => brief.task.clone(),
    };
    let offset = input.offset;
    if offset > text.len() || !text.is_char_boundary(offset) {
        return Err(Refusal::new(format!(
            "`offset` {offset} is not in the text, which has {} bytes; pass the `next_offset` of \
             the answer before",
            text.len()
        )));
    }
    let end = AnswerBudget::new().end_of_piece(&text, offset);
    let next_offset = (end < text.len()).then_some(end);
    let (persona, part) = (&brief.persona, brief.part);
    let next = match next_offset {
        Some(end) => format!(
            "The text goes on, and marks that are open stay open: call read_brief again with \
             `offset` {end}."
        ),
        None => format!(
            "Write the report. It is handed in with report_findings: review {}, persona {persona}, \
             part {part}.",
            input.review
        ),
    };
    Ok(Output {
        bytes: text.len(),
        offset,
        text: text[offset..end].to_owned(),
        next_offset,
        next,
        part,
        of: brief.of,
        persona: brief.persona,
    })
}
