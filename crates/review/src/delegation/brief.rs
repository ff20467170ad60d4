//! A question for an agent to answer: [`Brief`].

use assay_models::{Nonce, PromptBlock};
use serde::Serialize;

use crate::persona::reading::OpenQuestion;

/// A question as a provider would get it, with the marks of the review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Brief {
    /// The persona that has to answer; the report is submitted under this name.
    pub persona: String,
    /// The part of the change that the brief is about, counted from 1.
    pub part: usize,
    /// The number of parts of the change.
    pub of: usize,
    /// The fault of an earlier report on the part; `None` if there was no report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
    /// The rules for every answer.
    pub instructions: String,
    /// The change, which is the same in all briefs of that part.
    pub change: String,
    /// The task of this persona.
    pub task: String,
    /// True if the briefs of the first round showed the same change, so that an agent that read one
    /// of them need not read the change again.
    pub repeats_change: bool,
    /// The hash of the question, the same in every review of the same change.
    #[serde(skip)]
    pub question: String,
    /// The titles of the findings in a second look, in the order of their numbers.
    #[serde(skip)]
    pub findings: Vec<String>,
}

impl Brief {
    pub(super) fn new(persona: &str, question: &OpenQuestion, nonce: &Nonce) -> Brief {
        let written = |shared: bool| {
            let blocks = question.prompt.blocks.iter().filter(|block| block.shared == shared);
            blocks.map(|block: &PromptBlock| block.text(nonce)).collect::<String>()
        };
        Brief {
            persona: persona.to_owned(),
            part: question.place.0,
            of: question.place.1,
            again: question.again.clone(),
            instructions: question.prompt.system.clone(),
            change: written(true),
            task: written(false),
            repeats_change: false,
            question: question.prompt.hash(),
            findings: question.findings.clone(),
        }
    }

    /// Returns the brief as one text, for a reader that has read no other brief.
    pub fn full_text(&self) -> String {
        [&self.instructions, &self.change, &self.task]
            .into_iter()
            .filter(|text| !text.is_empty())
            .map(|text| text.trim_end())
            .collect::<Vec<&str>>()
            .join("\n\n")
    }
}
