//! The answer of the model: [`Answer`].

use std::time::Duration;

use serde_json::Value;

use super::Fault;

/// The answer to one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The text. If the request forces a tool call, the text is the input of the tool if it is
    /// JSON.
    pub text: String,
    /// The tool that is called with the text as its input, whatever the request forces; `None` for
    /// a text.
    pub tool: Option<String>,
    /// The thinking before the text, used only if the request enables thinking.
    pub thinking: String,
    /// The delay before the answer.
    pub delay: Duration,
    /// The number of characters of each piece of a stream; the last number applies to all further
    /// pieces.
    pub chunks: Vec<usize>,
    /// The reported usage; if `None`, a quarter of the bytes.
    pub usage: Option<Usage>,
    /// The fault to inject; `None` for a correct answer.
    pub fault: Option<Fault>,
}

/// The reported tokens of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Input tokens that are not cached.
    pub input: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache.
    pub cache_write: u64,
    /// Output tokens, thinking included.
    pub output: u64,
}

impl Answer {
    /// Creates an answer with a text and without a delay.
    pub fn text(text: impl Into<String>) -> Answer {
        Answer {
            text: text.into(),
            tool: None,
            thinking: "Let me look at the change.".to_owned(),
            delay: Duration::ZERO,
            chunks: vec![1, 7, 40],
            usage: None,
            fault: None,
        }
    }

    /// Creates an answer with JSON.
    pub fn json(value: &Value) -> Answer {
        Answer::text(value.to_string())
    }

    /// Creates an answer that calls a tool.
    pub fn call(tool: impl Into<String>, input: &Value) -> Answer {
        Answer { tool: Some(tool.into()), ..Answer::json(input) }
    }

    /// Creates an answer with a fault. Its text is a short report, so that there is something to
    /// truncate.
    pub fn fault(fault: Fault) -> Answer {
        let text = r#"{"reviewer":"fake","findings":[],"residual_risks":[],"testing_gaps":[]}"#;
        Answer { fault: Some(fault), ..Answer::text(text) }
    }
}
