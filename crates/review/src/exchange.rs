//! One question to a model, and its answer: [`Exchange`].

use assay_models::{Class, Source};
use serde::{Deserialize, Serialize};

/// One question to a model and what came of it, for the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// Who asked.
    pub reviewer: String,
    /// Which model.
    pub model: String,
    /// The hash of what was asked.
    pub prompt: String,
    /// Where the answer came from.
    pub source: Source,
    /// How often it was asked.
    pub attempts: u32,
    /// The tokens that it took.
    pub tokens: u64,
    /// Why there is no answer, where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The kind of that failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// The bytes of question and answer.
    #[serde(default)]
    pub bytes: u64,
    /// The question among those of the review, with its answer. A run keeps answers in its recording
    /// and not here.
    #[serde(skip)]
    pub transcript: TranscriptAnswer,
}

/// One answer of an agent, by the place of its question in the review.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TranscriptAnswer {
    /// The name under which the report was handed in.
    pub reader: String,
    /// The part of the change, counted from 1.
    pub part: usize,
    /// True if the question was asked once more because of a fault in the first answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// The hash of the question.
    pub question: String,
    /// The titles of the findings that a second look was asked about, by their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// True if the answer was given to an earlier wording of the question.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub earlier_wording: bool,
    /// The answer; `None` where the agent handed in no report.
    pub answer: Option<String>,
}
