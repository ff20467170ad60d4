//! What the model is asked: [`Asked`], the same whatever the [`Dialect`].

use serde_json::Value;

/// How a provider wants to be spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Anthropic: `/v1/messages`.
    Messages,
    /// OpenAI Chat Completions: `/v1/chat/completions`.
    Chat,
    /// OpenAI Responses: `/v1/responses`.
    Responses,
}

/// A request that was found in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// How it was asked.
    pub dialect: Dialect,
    /// The path with its query.
    pub path: String,
    /// The model's name.
    pub model: String,
    /// What holds for the whole conversation.
    pub system: String,
    /// Everything that the user said, results of tools included.
    pub user: String,
    /// The schema that the answer is to have.
    pub schema: Option<Value>,
    /// The body as it came.
    pub body: Value,
    /// The header fields, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Which of the questions it is, from 1. What was refused does not count.
    pub number: usize,
}

impl Asked {
    /// Gives all that the model gets to read.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.system, self.user)
    }

    pub(super) fn is_streamed(&self) -> bool {
        self.body["stream"] == true
    }
}

/// Gives the text of a message's content, which is a string or a list of parts, and of the parts'
/// own contents.
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

/// Joins the texts of those messages that have one of the roles. A message without a role is the
/// result of a tool, which stands on the user's side.
pub(super) fn said_by(messages: &Value, roles: &[&str]) -> String {
    let messages = messages.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts = messages
        .iter()
        .filter(|message| roles.contains(&message["role"].as_str().unwrap_or("tool")))
        .map(text_of);
    texts.collect::<Vec<_>>().join("\n")
}
