//! A request to the model: [`PromptRequest`], which is the same for every [`Dialect`].

use serde_json::Value;

/// The API of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Anthropic: `/v1/messages`.
    Messages,
    /// OpenAI Chat Completions: `/v1/chat/completions`.
    Chat,
    /// OpenAI Responses: `/v1/responses`.
    Responses,
}

/// A valid request.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptRequest {
    /// The API of the request.
    pub dialect: Dialect,
    /// The path with its query.
    pub path: String,
    /// The name of the model.
    pub model: String,
    /// The system prompt.
    pub system: String,
    /// All texts of the user, results of tools included.
    pub user: String,
    /// The schema of the answer; `None` if the request sets none.
    pub schema: Option<Value>,
    /// The body as JSON.
    pub body: Value,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The number of the request, from 1. Refused requests do not count.
    pub number: usize,
}

impl PromptRequest {
    /// Returns the whole text of the prompt.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.system, self.user)
    }

    pub(super) fn is_streamed(&self) -> bool {
        self.body["stream"] == true
    }
}

/// Returns the text of a message's content, which is a string or a list of parts, including nested
/// parts.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Value::Object(part) => ["text", "content", "output"]
            .iter()
            .find_map(|name| part.get(*name))
            .map(text_of)
            .unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// Joins the texts of the messages with one of the roles. A message without a role is the result of
/// a tool, which counts as the user's.
pub(super) fn said_by(messages: &Value, roles: &[&str]) -> String {
    let messages = messages.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts = messages
        .iter()
        .filter(|message| roles.contains(&message["role"].as_str().unwrap_or("tool")))
        .map(text_of);
    texts.collect::<Vec<_>>().join("\n")
}
