//! A session over MCP's streamable HTTP, limited to calling tools: [`Connection`].
//!
//! This is a second, small MCP implementation besides `assay_serve::mcp`: the SDK is async and
//! linked by `serve` alone.

use std::io::{self, BufRead as _, BufReader, Read};
use std::time::Duration;

use assay_base::clock::Deadline;
use assay_base::text::first_chars;
use assay_findings::write::escape::one_line;
use serde::Deserialize;
use serde_json::{Value, json};
use ureq::http::{HeaderValue, Response};
use ureq::{Agent, Body};

use super::error::GraphitiError;
use crate::http::{ServerUrl, agent};

/// The protocol version that the client requests, and the versions that it accepts.
const VERSION: &str = "2025-06-18";
const VERSIONS: [&str; 3] = ["2025-11-25", VERSION, "2025-03-26"];

/// The maximum size of an answer, in bytes.
const MAX_RESPONSE_BYTES: u64 = 1 << 20;

/// The maximum length of shown untrusted text, in characters.
const MAX_MESSAGE_CHARS: usize = 300;

/// The maximum length of a session id, in bytes.
const MAX_SESSION_ID_BYTES: usize = 1_024;

/// An open session.
#[derive(Debug)]
pub(super) struct Connection {
    url: ServerUrl,
    agent: Agent,
    time: Duration,
    until: Deadline,
    /// The id of the session; `None` if the server assigns none, or one that is too long.
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
    calls: u64,
}

/// The result of a tool.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolResult {
    #[serde(default)]
    content: Vec<Content>,
    structured_content: Option<Value>,
    #[serde(default)]
    is_error: bool,
}

#[derive(Debug, Deserialize)]
struct Content {
    #[serde(default)]
    text: String,
}

/// A message of the server.
#[derive(Debug, Deserialize)]
struct RpcMessage {
    id: Option<Value>,
    result: Option<Value>,
    error: Option<RpcError>,
}

#[derive(Debug, Deserialize)]
struct RpcError {
    #[serde(default)]
    message: String,
}

impl Connection {
    /// Initializes a session, and checks the protocol version of the server.
    pub(super) fn open(url: &ServerUrl, time: Duration) -> Result<Connection, GraphitiError> {
        let mut connection = Connection {
            url: url.clone(),
            agent: agent(url),
            time,
            until: Deadline::after(time),
            session: None,
            version: None,
            calls: 0,
        };
        let hello = json!({
            "protocolVersion": VERSION,
            "capabilities": {},
            "clientInfo": { "name": "assay", "version": env!("CARGO_PKG_VERSION") },
        });
        let welcome = connection.request("initialize", &hello)?;
        let version = welcome["protocolVersion"].as_str().unwrap_or_default();
        if !VERSIONS.contains(&version) {
            let version = truncate_line(version);
            return Err(connection.not_mcp_error(format!("unsupported MCP version `{version}`")));
        }
        connection.version = HeaderValue::from_str(version).ok();
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        connection.post("initialize", &ready)?;
        Ok(connection)
    }

    /// Calls a tool and returns its result.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, GraphitiError> {
        let params = json!({ "name": tool, "arguments": arguments });
        let result = self.request_as("tools/call", tool, &params)?;
        let unreadable = |why: String| GraphitiError::Unreadable { what: tool.to_owned(), why };
        let result: ToolResult = serde_json::from_value(result)
            .map_err(|error| unreadable(truncate_line(&error.to_string())))?;
        let said = result.content.iter().map(|content| content.text.as_str());
        let said = said.collect::<Vec<_>>().join("\n");
        if result.is_error {
            return Err(GraphitiError::Refused {
                what: tool.to_owned(),
                why: truncate_line(&said),
            });
        }
        let value = match result.structured_content {
            // A result that is not an object is wrapped in one.
            Some(mut value) => match value.get_mut("result").map(Value::take) {
                Some(inner) => inner,
                None => value,
            },
            None => serde_json::from_str(&said)
                .map_err(|_| unreadable(format!("unexpected text `{}`", truncate_line(&said))))?,
        };
        match value.get("error").and_then(Value::as_str) {
            Some(why) => {
                Err(GraphitiError::Refused { what: tool.to_owned(), why: truncate_line(why) })
            }
            None => Ok(value),
        }
    }

    /// Ends the session on the server, if the session has an id.
    pub(super) fn close(self) {
        let Some(session) = self.session.clone() else { return };
        let left = self.until.left();
        if left.is_zero() {
            return;
        }
        let request = self.agent.delete(self.url.uri()).header("mcp-session-id", session);
        let request = match self.version.clone() {
            Some(version) => request.header("mcp-protocol-version", version),
            None => request,
        };
        // The request is optional, so a failure is ignored.
        let _ = request.config().timeout_global(Some(left)).build().call();
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, GraphitiError> {
        self.request_as(method, method, params)
    }

    /// Sends a request and returns its result; `what` names the request in errors.
    fn request_as(
        &mut self,
        method: &str,
        what: &str,
        params: &Value,
    ) -> Result<Value, GraphitiError> {
        self.calls += 1;
        let id = self.calls;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let response = self.post(what, &request)?;
        if let Some(session) = response.headers().get("mcp-session-id") {
            self.session = Some(session.clone()).filter(|name| name.len() <= MAX_SESSION_ID_BYTES);
        }
        let message = self.read_answer(response, id)?;
        match (message.result, message.error) {
            (_, Some(error)) => {
                let (what, why) = (what.to_owned(), truncate_line(&error.message));
                Err(GraphitiError::Refused { what, why })
            }
            (Some(result), None) => Ok(result),
            (None, None) => Err(self.not_mcp_error("the answer has no result".to_owned())),
        }
    }

    fn post(&self, what: &str, body: &Value) -> Result<Response<Body>, GraphitiError> {
        let left = self.until.left();
        if left.is_zero() {
            return Err(self.timeout_error());
        }
        let mut request = self
            .agent
            .post(self.url.uri())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session.clone());
        }
        if let Some(version) = &self.version {
            request = request.header("mcp-protocol-version", version.clone());
        }
        let request = request.config().timeout_global(Some(left)).build();
        let response =
            request.send(body.to_string()).map_err(|error| self.connection_error(error))?;
        match response.status().as_u16() {
            200..=299 => Ok(response),
            300..=399 => {
                let to = response.headers().get("location").and_then(|to| to.to_str().ok());
                let to = truncate_line(to.unwrap_or("nowhere"));
                Err(self.not_mcp_error(format!("the redirect to `{to}` is not followed")))
            }
            status => Err(self.not_mcp_error(format!("`{what}` returned status {status}"))),
        }
    }

    /// Reads the answer to a request, which may be a stream of messages.
    fn read_answer(&self, response: Response<Body>, id: u64) -> Result<RpcMessage, GraphitiError> {
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"));
        let mut reader = response.into_body().into_with_config().limit(MAX_RESPONSE_BYTES).reader();
        if is_stream {
            return self.read_stream(BufReader::new(reader), id);
        }
        let mut body = Vec::new();
        reader.read_to_end(&mut body).map_err(|error| self.read_error(error))?;
        let message: RpcMessage = serde_json::from_slice(&body)
            .map_err(|_| self.not_mcp_error("the answer is not a JSON-RPC message".to_owned()))?;
        match is_answer(&message, id) {
            true => Ok(message),
            false => Err(self.not_mcp_error("the answer is for another request".to_owned())),
        }
    }

    /// Reads events until the answer arrives; other messages of the server are ignored.
    fn read_stream(
        &self,
        mut reader: BufReader<impl Read>,
        id: u64,
    ) -> Result<RpcMessage, GraphitiError> {
        let mut data = String::new();
        loop {
            let mut line = String::new();
            let count = reader.read_line(&mut line).map_err(|error| self.read_error(error))?;
            let line = line.trim_end_matches(['\r', '\n']);
            if let Some(more) = line.strip_prefix("data:") {
                data.push_str(more);
                data.push('\n');
            }
            if !line.is_empty() {
                continue;
            }
            let message = serde_json::from_str::<RpcMessage>(&data).ok();
            if let Some(answer) = message.filter(|message| is_answer(message, id)) {
                return Ok(answer);
            }
            if count == 0 {
                return Err(self.not_mcp_error("the stream ended without an answer".to_owned()));
            }
            data.clear();
        }
    }

    fn read_error(&self, error: io::Error) -> GraphitiError {
        self.connection_error(error.into())
    }

    fn connection_error(&self, error: ureq::Error) -> GraphitiError {
        let at = self.url.to_string();
        match error {
            ureq::Error::Timeout(_) => self.timeout_error(),
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => {
                self.timeout_error()
            }
            ureq::Error::BodyExceedsLimit(_) => self
                .not_mcp_error(format!("the answer has more than {} KB", MAX_RESPONSE_BYTES >> 10)),
            other => GraphitiError::ConnectionFailed { at, why: truncate_line(&other.to_string()) },
        }
    }

    fn timeout_error(&self) -> GraphitiError {
        GraphitiError::TimedOut { at: self.url.to_string(), seconds: self.time.as_secs_f32() }
    }

    fn not_mcp_error(&self, why: String) -> GraphitiError {
        GraphitiError::NotMcp { at: self.url.to_string(), why }
    }
}

fn is_answer(message: &RpcMessage, id: u64) -> bool {
    let is_reply = message.result.is_some() || message.error.is_some();
    is_reply && message.id.as_ref().and_then(Value::as_u64) == Some(id)
}

/// Returns untrusted text as one line of bounded length.
fn truncate_line(text: &str) -> String {
    one_line(first_chars(text, MAX_MESSAGE_CHARS))
}
