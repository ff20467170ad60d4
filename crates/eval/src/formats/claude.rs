//! The JSON of `claude --print --output-format json`.

use serde::Deserialize;
use serde_json::Value;

use super::{FormatError, parse_review, typed};
use crate::score::{CaseResult, Effort};

const FORMAT_NAME: &str = "the result of claude";

/// The last message of a session: the answer and the usage.
#[derive(Deserialize)]
struct SessionResult {
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    subtype: String,
    result: Option<String>,
    structured_output: Option<Value>,
    #[serde(default)]
    total_cost_usd: f64,
    #[serde(default)]
    duration_ms: f64,
    #[serde(default)]
    num_turns: u64,
    #[serde(default)]
    usage: Usage,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Usage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
}

/// Returns the result of a session: the value itself, or the last of a list of messages.
pub(super) fn session_result(value: &Value) -> Option<&Value> {
    let is_result = |message: &&Value| message["type"] == "result" && message.is_object();
    match value {
        Value::Array(messages) => messages.iter().rfind(is_result),
        message => Some(message).filter(is_result),
    }
}

/// Parses the review in a session's answer. Fails if the session ended in an error.
pub(super) fn parse(value: &Value) -> Result<CaseResult, FormatError> {
    let session: SessionResult = typed(FORMAT_NAME, value)?;
    let broken = |reason: String| FormatError::Broken { form: FORMAT_NAME, reason };
    if session.is_error {
        let reason = session.result.unwrap_or(session.subtype);
        return Err(broken(format!("the session ended in an error: {reason}")));
    }
    let answer = match (session.structured_output, session.result) {
        (Some(output), _) => output.to_string(),
        (None, Some(text)) => text,
        (None, None) => {
            return Err(broken(format!("the session has no answer (`{}`)", session.subtype)));
        }
    };
    let usage = session.usage;
    let effort = Effort {
        calls: session.num_turns,
        tokens: usage.input_tokens
            + usage.cache_creation_input_tokens
            + usage.cache_read_input_tokens
            + usage.output_tokens,
        dollars: session.total_cost_usd,
        seconds: session.duration_ms / 1_000.0,
        ..Effort::default()
    };
    Ok(CaseResult { effort, ..parse_review(&answer)? })
}
