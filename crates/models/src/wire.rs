//! The APIs of providers: a [`Dialect`] builds a request from a prompt, and an answer from a
//! response, be it a stream of events or one body.
//!
//! This module sends nothing; see [`http`](crate::http).

mod anthropic;
mod chat;
mod fallback;
mod partial_answer;
mod response_decoder;
mod responses;
mod sse;

use assay_sandbox::Key;
use serde_json::{Value, json};

pub(crate) use self::fallback::{Fallback, Fallbacks};
pub(crate) use self::partial_answer::{AnswerParts, PartialAnswer, StopReason};
pub(crate) use self::response_decoder::{DecodeError, ResponseDecoder};
use crate::api_error::ApiError;
use crate::{Nonce, Prompt, Tool, Turn, Usage};

/// The maximum length of an answer, in bytes.
pub(crate) const MAX_ANSWER_BYTES: usize = 16 << 20;

/// The name of the schema, and of the tool that takes the answer, in requests.
const REPORT: &str = "report";

/// An API that providers offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Chat Completions, which most other providers offer as well.
    Chat,
    /// OpenAI's Responses.
    Responses,
}

/// The input of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WireRequest<'a> {
    pub(crate) model: &'a str,
    pub(crate) prompt: &'a Prompt,
    pub(crate) nonce: &'a Nonce,
    /// The maximum number of tokens of the answer.
    pub(crate) max_output_tokens: u32,
    /// The features that this model was found not to accept.
    pub(crate) fallbacks: &'a Fallbacks,
}

impl Dialect {
    /// Returns the URL for requests, given the base URL of a provider.
    pub(crate) fn endpoint(self, url: &str) -> String {
        let url = url.trim_end_matches('/');
        match self {
            Dialect::Anthropic => format!("{}/v1/messages", url.trim_end_matches("/v1")),
            Dialect::Chat => format!("{url}/chat/completions"),
            Dialect::Responses => format!("{url}/responses"),
        }
    }

    /// Returns the headers of a request, the key included.
    pub(crate) fn headers(self, key: Option<&Key>) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        match self {
            Dialect::Anthropic => {
                headers.push(("anthropic-version", anthropic::VERSION.to_owned()));
                headers.extend(key.map(|key| ("x-api-key", key.reveal().to_owned())));
            }
            Dialect::Chat | Dialect::Responses => {
                headers.extend(key.map(|key| ("authorization", format!("Bearer {}", key.reveal()))))
            }
        }
        headers
    }

    /// Builds the body of a request.
    pub(crate) fn request(self, input: &WireRequest<'_>) -> Value {
        match self {
            Dialect::Anthropic => anthropic::request(input),
            Dialect::Chat => chat::request(input),
            Dialect::Responses => responses::request(input),
        }
    }

    /// Adds an event of a stream to an answer.
    fn fold(self, kind: &str, data: &Value, answer: &mut PartialAnswer) {
        match self {
            Dialect::Anthropic => anthropic::fold(kind, data, answer),
            Dialect::Chat => chat::fold(data, answer),
            Dialect::Responses => responses::fold(kind, data, answer),
        }
    }

    /// Adds a response that came as one body to an answer.
    fn fold_body(self, body: &Value, answer: &mut PartialAnswer) {
        match self {
            Dialect::Anthropic => anthropic::fold_body(body, answer),
            Dialect::Chat => chat::fold(body, answer),
            Dialect::Responses => responses::fold_body(body, answer),
        }
    }
}

impl WireRequest<'_> {
    /// Returns the text of each block that is not empty, and true if it is shared.
    fn blocks(&self) -> impl Iterator<Item = (String, bool)> {
        let texts = self.prompt.blocks.iter().map(|block| (block.text(self.nonce), block.shared));
        texts.filter(|(text, _)| !text.is_empty())
    }

    /// Returns all blocks as one text, for APIs whose cache needs no marks in the request.
    fn text(&self) -> String {
        let blocks = self.blocks().map(|(text, _)| text).chain(self.turns_as_text());
        blocks.collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the tools to offer; none if the provider refused them.
    fn tools(&self) -> &[Tool] {
        match self.fallbacks.contains(Fallback::NoTools) {
            true => &[],
            false => &self.prompt.tools,
        }
    }

    /// Returns the earlier turns that are sent as messages of their own; none if the provider takes
    /// no tools.
    fn turns(&self) -> &[Turn] {
        match self.fallbacks.contains(Fallback::NoTools) {
            true => &[],
            false => &self.prompt.turns,
        }
    }

    /// Returns the earlier turns in words, for a provider that takes no tools.
    fn turns_as_text(&self) -> Option<String> {
        let is_refused = self.fallbacks.contains(Fallback::NoTools);
        let calls: Vec<String> = self
            .prompt
            .turns
            .iter()
            .filter(|_| is_refused)
            .flat_map(|turn| &turn.calls)
            .map(|answered| {
                let (call, result) = (&answered.call, answered.text(self.nonce));
                format!("You called `{}` with {}. The result:\n{result}", call.name, call.input())
            })
            .collect();
        (!calls.is_empty()).then(|| calls.join("\n"))
    }

    /// Returns the system prompt, with the schema in words if the provider does not accept it
    /// otherwise.
    fn system(&self) -> String {
        match self.prompt.schema.as_ref().filter(|_| self.fallbacks.contains(Fallback::NoSchema)) {
            Some(schema) => format!(
                "{}\n\nAnswer with one JSON value that this JSON Schema accepts, and with nothing \
                 else:\n{schema}",
                self.prompt.system
            ),
            None => self.prompt.system.clone(),
        }
    }

    /// Returns the schema; `None` if the provider does not accept one.
    fn schema(&self) -> Option<&Value> {
        self.prompt.schema.as_ref().filter(|_| !self.fallbacks.contains(Fallback::NoSchema))
    }

    /// Returns the level of thinking, for APIs that take no number of tokens; `None` for no
    /// thinking.
    fn effort(&self) -> Option<&'static str> {
        if self.fallbacks.contains(Fallback::NoThinking) {
            return None;
        }
        match self.prompt.thinking_tokens {
            0 => None,
            1..4_000 => Some("low"),
            4_000..16_000 => Some("medium"),
            16_000.. => Some("high"),
        }
    }
}

/// Parses the usage in Anthropic's format, which Claude Code uses as well.
pub(crate) fn anthropic_usage(usage: &Value) -> Usage {
    let mut used = Usage::default();
    anthropic::add_usage(usage, &mut used);
    used
}

/// Builds a message of a conversation.
fn message(role: &str, content: impl Into<Value>) -> Value {
    json!({ "role": role, "content": content.into() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{CallResult, Mark, Piece, PromptBlock, ToolCall};

    /// Returns a prompt that offers a tool, after a turn with two calls.
    pub(super) fn prompt_with_tools() -> Prompt {
        let text = |text: &str| Piece::Text(text.into());
        let call = |name: &str, arguments: &str, result: Vec<Piece>| CallResult {
            call: ToolCall { name: name.into(), arguments: arguments.into() },
            result,
        };
        let calls = vec![
            call("look", r#"{"at":"a"}"#, vec![text("found "), Piece::Mark(Mark::Fence)]),
            call("look", "[", vec![text("error")]),
        ];
        Prompt {
            tools: vec![Tool {
                name: "look".into(),
                description: "Looks.".into(),
                arguments: json!({ "type": "object", "properties": {} }),
            }],
            turns: vec![Turn { calls, thoughts: Vec::new() }],
            ..prompt()
        }
    }

    /// Returns a prompt with two shared blocks, one of its own, and an empty one.
    pub(super) fn prompt() -> Prompt {
        let block =
            |text: &str, shared| PromptBlock { pieces: vec![Piece::Text(text.into())], shared };
        let mut own = block("look ", false);
        own.pieces.push(Piece::Mark(Mark::Fence));
        Prompt {
            system: "Be brief.".into(),
            blocks: vec![block("rules", true), block("change", true), own, PromptBlock::default()],
            schema: Some(json!({ "type": "object" })),
            max_output_tokens: 4_000,
            thinking_tokens: 0,
            tools: Vec::new(),
            turns: Vec::new(),
        }
    }

    /// Formats the request of a prompt, with the random marks replaced.
    pub(super) fn request(dialect: Dialect, prompt: &Prompt, fallbacks: &Fallbacks) -> String {
        let nonce = Nonce::draw().unwrap();
        let max_output_tokens = prompt.max_output_tokens;
        let input = WireRequest { model: "m", prompt, nonce: &nonce, max_output_tokens, fallbacks };
        let request = serde_json::to_string_pretty(&dialect.request(&input)).unwrap();
        request.replace(nonce.value_of(Mark::Fence), "FENCE")
    }

    /// Decodes a body, and formats the answer or the error.
    pub(super) fn answer(dialect: Dialect, body: &str) -> String {
        let mut intake = ResponseDecoder::new(dialect);
        let fed = intake.feed(body.as_bytes()).and_then(|()| intake.finish());
        match fed {
            Ok(answer) => format!("{answer:#?}"),
            Err(bad) => format!("{bad:?}"),
        }
    }

    #[test]
    fn endpoint_urls_are_built_from_the_provider_url() {
        let cases = [
            (Dialect::Anthropic, "https://a.example", "https://a.example/v1/messages"),
            (Dialect::Anthropic, "https://a.example/v1/", "https://a.example/v1/messages"),
            (Dialect::Chat, "http://b.example/v1", "http://b.example/v1/chat/completions"),
            (Dialect::Responses, "http://b.example/v1/", "http://b.example/v1/responses"),
        ];
        for (dialect, url, address) in cases {
            assert_eq!(dialect.endpoint(url), address);
        }
    }
}
