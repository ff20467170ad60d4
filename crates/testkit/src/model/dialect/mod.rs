//! The formats of each provider: requests, answers, events and errors.

mod chat;
mod messages;
mod openai;
mod responses;

use serde_json::{Value, json};

use super::{Dialect, PromptRequest, Usage};
use crate::http::Request;

/// An answer in its final form.
#[derive(Debug)]
pub(super) struct FinalAnswer<'a> {
    pub(super) asked: &'a PromptRequest,
    pub(super) text: String,
    pub(super) tool: Option<&'a str>,
    pub(super) thinking: &'a str,
    pub(super) stop: Stop,
    pub(super) usage: Usage,
    pub(super) chunks: &'a [usize],
}

/// The reason for the end of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The answer is complete.
    Done,
    /// The token limit is reached.
    CutOff,
    /// The model refuses.
    Refusal,
}

/// The reason for refusing a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ApiRefusal {
    pub(super) status: u16,
    pub(super) message: String,
    pub(super) param: Option<String>,
    pub(super) code: Option<&'static str>,
}

impl ApiRefusal {
    fn new(status: u16, message: impl Into<String>) -> ApiRefusal {
        ApiRefusal { status, message: message.into(), param: None, code: None }
    }

    pub(super) fn invalid(message: impl Into<String>) -> ApiRefusal {
        ApiRefusal::new(400, message)
    }

    fn at(self, param: &str) -> ApiRefusal {
        ApiRefusal { param: Some(param.to_owned()), ..self }
    }

    fn code(self, code: &'static str) -> ApiRefusal {
        ApiRefusal { code: Some(code), ..self }
    }
}

/// The content of a request, which is the same for every dialect.
pub(super) struct RequestContent {
    pub(super) system: String,
    pub(super) user: String,
    pub(super) schema: Option<Value>,
}

impl FinalAnswer<'_> {
    /// Splits a text into the pieces of a stream.
    fn pieces(&self, text: &str) -> Vec<String> {
        let mut sizes = self.chunks.iter().copied();
        let mut size = 40;
        let mut rest = text.chars().peekable();
        let mut pieces = Vec::new();
        while rest.peek().is_some() {
            size = sizes.next().unwrap_or(size).max(1);
            pieces.push(rest.by_ref().take(size).collect());
        }
        pieces
    }

    /// Returns an id in the format of the provider.
    fn id(&self, prefix: &str) -> String {
        format!("{prefix}{:024}", self.asked.number)
    }
}

impl Dialect {
    /// Returns the dialect of a path, including paths other than those for answers.
    pub(super) fn of(path: &str) -> Option<Dialect> {
        match path {
            "/v1/messages" | "/v1/messages/count_tokens" => Some(Dialect::Messages),
            "/v1/chat/completions" => Some(Dialect::Chat),
            "/v1/responses" => Some(Dialect::Responses),
            _ => None,
        }
    }

    /// Returns the dialect of a request, guessed from the head if the path is unknown.
    pub(super) fn guess(request: &Request) -> Dialect {
        match Dialect::of(request.path()) {
            Some(dialect) => dialect,
            None if request.header("anthropic-version").is_some() => Dialect::Messages,
            None => Dialect::Chat,
        }
    }

    /// Fails if a request does not have the key.
    pub(super) fn check_key(self, request: &Request, key: &str) -> Result<(), ApiRefusal> {
        let bearer =
            request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let (given, refused) = match self {
            Dialect::Messages => (
                request.header("x-api-key").or(bearer),
                match (request.header("x-api-key"), bearer) {
                    (None, None) => "x-api-key header is required",
                    _ => "invalid x-api-key",
                },
            ),
            Dialect::Chat | Dialect::Responses => (
                bearer,
                match bearer {
                    None => {
                        "You didn't provide an API key. You need to provide your API key in an \
                         Authorization header using Bearer auth"
                    }
                    Some(_) => "Incorrect API key provided.",
                },
            ),
        };
        if given == Some(key) {
            return Ok(());
        }
        Err(ApiRefusal::new(401, refused).code("invalid_api_key"))
    }

    /// Parses the body. Fails as the provider does for an invalid body.
    pub(super) fn check(self, request: &Request) -> Result<Value, ApiRefusal> {
        let content_type = request.header("content-type").unwrap_or_default();
        if content_type.split(';').next() != Some("application/json") {
            return Err(ApiRefusal::invalid(format!(
                "Unsupported content type: '{content_type}'. This API method only accepts \
                 'application/json' requests"
            )));
        }
        if request.body.len() > 32 * 1024 * 1024 {
            return Err(self.error_for(413));
        }
        let body: Value = serde_json::from_slice(&request.body).map_err(|error| match self {
            Dialect::Messages => {
                ApiRefusal::invalid(format!("The request body is not valid JSON: {error}"))
            }
            Dialect::Chat | Dialect::Responses => ApiRefusal::invalid(
                "We could not parse the JSON body of your request. (HINT: This likely means you \
                 aren't using your HTTP library correctly.)",
            ),
        })?;
        match self {
            Dialect::Messages => messages::check(request, &body)?,
            Dialect::Chat => chat::check(&body)?,
            Dialect::Responses => responses::check(&body)?,
        }
        Ok(body)
    }

    /// Reads the content of a valid body.
    pub(super) fn read(self, body: &Value) -> RequestContent {
        match self {
            Dialect::Messages => messages::read(body),
            Dialect::Chat => chat::read(body),
            Dialect::Responses => responses::read(body),
        }
    }

    /// Renders an answer as one JSON body.
    pub(super) fn whole(self, said: &FinalAnswer<'_>) -> Value {
        match self {
            Dialect::Messages => messages::whole(said),
            Dialect::Chat => chat::whole(said),
            Dialect::Responses => responses::whole(said),
        }
    }

    /// Renders an answer as the events of a stream.
    pub(super) fn events(self, said: &FinalAnswer<'_>) -> Vec<Vec<u8>> {
        match self {
            Dialect::Messages => messages::events(said),
            Dialect::Chat => chat::events(said),
            Dialect::Responses => responses::events(said),
        }
    }

    /// Renders the event of an error in the middle of a stream.
    pub(super) fn error_event(self, said: &FinalAnswer<'_>) -> Vec<u8> {
        match self {
            Dialect::Messages => event(Some("error"), &messages::error(&messages::error_for(529))),
            Dialect::Chat => event(None, &openai::error(&openai::error_for(500))),
            Dialect::Responses => responses::failed(said),
        }
    }

    /// Renders the body of an error.
    pub(super) fn error(self, refused: &ApiRefusal) -> Value {
        match self {
            Dialect::Messages => messages::error(refused),
            Dialect::Chat | Dialect::Responses => openai::error(refused),
        }
    }

    /// Returns the provider's error for a status.
    pub(super) fn error_for(self, status: u16) -> ApiRefusal {
        match self {
            Dialect::Messages => messages::error_for(status),
            Dialect::Chat | Dialect::Responses => openai::error_for(status),
        }
    }

    /// Returns the provider's error for an unknown path.
    pub(super) fn no_such_path(self, request: &Request) -> ApiRefusal {
        match self {
            Dialect::Messages => ApiRefusal::new(404, "Not Found"),
            Dialect::Chat | Dialect::Responses => {
                let Request { method, target, .. } = request;
                ApiRefusal::new(404, format!("Invalid URL ({method} {target})"))
            }
        }
    }

    /// Returns the provider's error for a prompt that is too long.
    pub(super) fn too_long(self) -> ApiRefusal {
        match self {
            Dialect::Messages => {
                ApiRefusal::invalid("prompt is too long: 215481 tokens > 200000 maximum")
            }
            Dialect::Chat | Dialect::Responses => ApiRefusal::invalid(
                "Your input exceeds the context window of this model. Please adjust your input and \
                 try again.",
            )
            .code("context_length_exceeded")
            .at(if self == Dialect::Chat { "messages" } else { "input" }),
        }
    }

    /// Returns the provider's error for an account without credit.
    pub(super) fn no_credit(self) -> ApiRefusal {
        match self {
            Dialect::Messages => ApiRefusal::invalid(
                "Your credit balance is too low to access the Anthropic API. Please go to Plans & \
                 Billing to upgrade or purchase credits.",
            ),
            Dialect::Chat | Dialect::Responses => ApiRefusal::new(
                429,
                "You exceeded your current quota, please check your plan and billing details.",
            )
            .code("insufficient_quota"),
        }
    }

    /// Returns the list of models.
    pub(super) fn models(self) -> Value {
        const NAMES: [&str; 2] = ["fake-model", "claude-fake"];
        match self {
            Dialect::Messages => json!({
                "data": NAMES.map(|name| json!({
                    "type": "model", "id": name, "display_name": name,
                    "created_at": "2026-01-01T00:00:00Z",
                })),
                "has_more": false, "first_id": NAMES[0], "last_id": NAMES[1],
            }),
            Dialect::Chat | Dialect::Responses => json!({
                "object": "list",
                "data": NAMES.map(|name| json!({
                    "id": name, "object": "model", "created": CREATED, "owned_by": "fake",
                })),
            }),
        }
    }
}

/// The creation time of all objects, in seconds since 1970.
const CREATED: u64 = 1_767_225_600;

/// Formats an event of a stream.
fn event(name: Option<&str>, data: &Value) -> Vec<u8> {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n").into_bytes()
}

/// Fails if a body is not an object, or has an unknown field.
fn check_fields(
    body: &Value,
    known: &[&str],
    refuse: impl Fn(&str) -> ApiRefusal,
) -> Result<(), ApiRefusal> {
    let Some(fields) = body.as_object() else {
        return Err(ApiRefusal::invalid("Input should be a valid dictionary"));
    };
    match fields.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(refuse(name)),
        None => Ok(()),
    }
}
