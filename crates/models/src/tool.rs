//! Tools that a model may call before it answers: [`Tool`], [`ToolCall`], and the earlier calls of
//! a conversation with their results, [`Turn`].

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::mark::{Nonce, Piece, text_of};

/// A tool that a prompt offers to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name: ASCII letters, digits, `_` and `-`.
    pub name: String,
    /// The effect of a call, described for the model.
    pub description: String,
    /// The JSON Schema of the arguments, which are an object.
    pub arguments: Value,
}

/// A call of a tool, as the model made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The name of the tool; not necessarily one that the prompt offers.
    pub name: String,
    /// The arguments as the model wrote them; JSON as a rule.
    pub arguments: String,
}

/// A turn of a conversation: the calls of the model, each with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The calls, in the order in which the model made them.
    pub calls: Vec<CallResult>,
    /// The thoughts before the calls in the provider's own format. Some providers want them back
    /// unaltered. They are not part of the prompt's hash, and are empty for a stored answer.
    pub thoughts: Vec<Value>,
}

/// A call of a tool and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallResult {
    /// The call.
    pub call: ToolCall,
    /// The result: text and marks, in order.
    pub result: Vec<Piece>,
}

impl ToolCall {
    /// Returns the arguments as an object. Arguments that are not an object are wrapped as the text
    /// `arguments`.
    pub(crate) fn input(&self) -> Value {
        match serde_json::from_str(&self.arguments) {
            Ok(Value::Object(fields)) => Value::Object(fields),
            _ if self.arguments.trim().is_empty() => json!({}),
            _ => json!({ "arguments": self.arguments }),
        }
    }
}

impl CallResult {
    /// Returns the result, with the values of the marks.
    pub(crate) fn text(&self, nonce: &Nonce) -> String {
        text_of(&self.result, nonce)
    }
}

/// Returns the id of a call in a request, built from its turn and position, so that a repeated
/// prompt is the same. Some servers only take ids of nine letters and digits.
pub(crate) fn call_id(turn: usize, at: usize) -> String {
    format!("call{turn:02}{at:03}")
}
