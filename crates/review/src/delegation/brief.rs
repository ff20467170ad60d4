//! What somebody else is to answer: [`Brief`].

use assay_models::{Block, Nonce};
use serde::Serialize;

use crate::persona::reading::OpenQuestion;

/// A question as a provider would have got it, with the marks of the review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Brief {
    /// Who is to answer; under this name the report is handed in.
    pub persona: String,
    /// Which part it is about, of so many.
    pub part: usize,
    /// How many parts there are.
    pub of: usize,
    /// What was wrong with an earlier report on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
    /// What holds for every answer.
    pub instructions: String,
    /// The change, which is the same for all who read that part of it.
    pub change: String,
    /// What this one is to do.
    pub task: String,
}

impl Brief {
    pub(super) fn new(persona: &str, question: &OpenQuestion, nonce: &Nonce) -> Brief {
        let written = |shared: bool| {
            let blocks = question.prompt.blocks.iter().filter(|block| block.shared == shared);
            blocks.map(|block: &Block| block.text(nonce)).collect::<String>()
        };
        Brief {
            persona: persona.to_owned(),
            part: question.place.0,
            of: question.place.1,
            again: question.again.clone(),
            instructions: question.prompt.system.clone(),
            change: written(true),
            task: written(false),
        }
    }

    /// Writes it out as one text, for whoever has read nothing of it yet.
    pub fn whole(&self) -> String {
        [&self.instructions, &self.change, &self.task]
            .into_iter()
            .filter(|text| !text.is_empty())
            .map(|text| text.trim_end())
            .collect::<Vec<&str>>()
            .join("\n\n")
    }
}
