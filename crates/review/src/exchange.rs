//! A request to a model, and its result: [`Exchange`].

use assay_models::{FailureClass, ReplySource};
use serde::{Deserialize, Serialize};

/// A request to a model and its result, for the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// The reviewer that made the request.
    pub reviewer: String,
    /// The name of the model.
    pub model: String,
    /// The hash of the prompt.
    pub prompt: String,
    /// The origin of the answer.
    pub source: ReplySource,
    /// The number of attempts.
    pub attempts: u32,
    /// The number of tokens used.
    pub tokens: u64,
    /// The reason of the failure; `None` if there is an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The class of the failure; `None` if there is an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<FailureClass>,
    /// The number of bytes of the prompt and the answer.
    #[serde(default)]
    pub bytes: u64,
    /// The position of the question in the review, with its answer. A run stores answers in its
    /// recording and not here.
    #[serde(skip)]
    pub transcript: TranscriptAnswer,
}

/// An answer of an agent, with the position of its question in the review.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TranscriptAnswer {
    /// The name under which the report was submitted.
    pub reader: String,
    /// The part of the change, counted from 1.
    pub part: usize,
    /// True if the question was repeated because of a fault in the first answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// The hash of the question.
    pub question: String,
    /// The titles of the findings in a second look, in the order of their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// True if the answer belongs to an earlier wording of the question.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub earlier_wording: bool,
    /// The answer; `None` if the agent submitted no report.
    pub answer: Option<String>,
}
