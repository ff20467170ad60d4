//! What the model says: [`Answer`].

use std::time::Duration;

use serde_json::Value;

use super::Fault;

/// What is said to one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The text. Where the request wants a tool called, this is the tool's input if it is JSON.
    pub text: String,
    /// The tool that is called with the text as its input, whatever the request wants.
    pub tool: Option<String>,
    /// What is thought before, in case that the request lets it think.
    pub thinking: String,
    /// How long nothing comes.
    pub delay: Duration,
    /// How many characters each piece of a stream has; the last number holds for all that follow.
    pub chunks: Vec<usize>,
    /// The tokens that it is said to take; if `None`, a quarter of the bytes.
    pub usage: Option<Usage>,
    /// What goes wrong.
    pub fault: Option<Fault>,
}

/// The tokens that an answer takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Read in full.
    pub input: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_write: u64,
    /// Written, thinking included.
    pub output: u64,
}

impl Answer {
    /// Makes one that says a text at once.
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

    /// Makes one that says JSON.
    pub fn json(value: &Value) -> Answer {
        Answer::text(value.to_string())
    }

    /// Makes one that calls a tool.
    pub fn call(tool: impl Into<String>, input: &Value) -> Answer {
        Answer { tool: Some(tool.into()), ..Answer::json(input) }
    }

    /// Makes one that goes wrong. What it would have said is a short report, so that there is
    /// something to cut.
    pub fn fault(fault: Fault) -> Answer {
        let text = r#"{"reviewer":"fake","findings":[],"residual_risks":[],"testing_gaps":[]}"#;
        Answer { fault: Some(fault), ..Answer::text(text) }
    }
}
