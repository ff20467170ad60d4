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
const MOST: u64 = 1 << 20;

/// The maximum length of shown untrusted text, in characters.
const SHOWN: usize = 300;

/// The maximum length of a session id, in bytes.
const LONGEST_NAME: usize = 1_024;

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
struct Message {
    id: Option<Value>,
    result: Option<Value>,
    error: Option<Complaint>,
}

#[derive(Debug, Deserialize)]
struct Complaint {
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
            let version = short(version);
            return Err(connection.is_other(format!("it speaks version `{version}` of MCP")));
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
            .map_err(|error| unreadable(short(&error.to_string())))?;
        let said = result.content.iter().map(|content| content.text.as_str());
        let said = said.collect::<Vec<_>>().join("\n");
        if result.is_error {
            return Err(GraphitiError::Refused { what: tool.to_owned(), why: short(&said) });
        }
        let value = match result.structured_content {
            // A result that is not an object is wrapped in one.
            Some(mut value) => match value.get_mut("result").map(Value::take) {
                Some(inner) => inner,
                None => value,
            },
            None => serde_json::from_str(&said)
                .map_err(|_| unreadable(format!("it says `{}`", short(&said))))?,
        };
        match value.get("error").and_then(Value::as_str) {
            Some(why) => Err(GraphitiError::Refused { what: tool.to_owned(), why: short(why) }),
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
        let asked = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let response = self.post(what, &asked)?;
        if let Some(session) = response.headers().get("mcp-session-id") {
            self.session = Some(session.clone()).filter(|name| name.len() <= LONGEST_NAME);
        }
        let message = self.answer(response, id)?;
        match (message.result, message.error) {
            (_, Some(complaint)) => {
                let (what, why) = (what.to_owned(), short(&complaint.message));
                Err(GraphitiError::Refused { what, why })
            }
            (Some(result), None) => Ok(result),
            (None, None) => Err(self.is_other("its answer has no result".to_owned())),
        }
    }

    fn post(&self, what: &str, body: &Value) -> Result<Response<Body>, GraphitiError> {
        let left = self.until.left();
        if left.is_zero() {
            return Err(self.timed_out());
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
        let response = request.send(body.to_string()).map_err(|error| self.unreached(error))?;
        match response.status().as_u16() {
            200..=299 => Ok(response),
            300..=399 => {
                let to = response.headers().get("location").and_then(|to| to.to_str().ok());
                let to = short(to.unwrap_or("nowhere"));
                Err(self.is_other(format!("it leads to `{to}`, which is not followed")))
            }
            status => Err(self.is_other(format!("it answers `{what}` with status {status}"))),
        }
    }

    /// Reads the answer to a request, which may be a stream of messages.
    fn answer(&self, response: Response<Body>, id: u64) -> Result<Message, GraphitiError> {
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"));
        let mut reader = response.into_body().into_with_config().limit(MOST).reader();
        if is_stream {
            return self.in_stream(BufReader::new(reader), id);
        }
        let mut body = Vec::new();
        reader.read_to_end(&mut body).map_err(|error| self.broke(error))?;
        let message: Message = serde_json::from_slice(&body)
            .map_err(|_| self.is_other("its answer is no message".to_owned()))?;
        match is_answer(&message, id) {
            true => Ok(message),
            false => Err(self.is_other("it answers something else".to_owned())),
        }
    }

    /// Reads events until the answer arrives; other messages of the server are ignored.
    fn in_stream(
        &self,
        mut reader: BufReader<impl Read>,
        id: u64,
    ) -> Result<Message, GraphitiError> {
        let mut data = String::new();
        loop {
            let mut line = String::new();
            let count = reader.read_line(&mut line).map_err(|error| self.broke(error))?;
            let line = line.trim_end_matches(['\r', '\n']);
            if let Some(more) = line.strip_prefix("data:") {
                data.push_str(more);
                data.push('\n');
            }
            if !line.is_empty() {
                continue;
            }
            let message = serde_json::from_str::<Message>(&data).ok();
            if let Some(answer) = message.filter(|message| is_answer(message, id)) {
                return Ok(answer);
            }
            if count == 0 {
                return Err(self.is_other("its stream ends without an answer".to_owned()));
            }
            data.clear();
        }
    }

    fn broke(&self, error: io::Error) -> GraphitiError {
        self.unreached(error.into())
    }

    fn unreached(&self, error: ureq::Error) -> GraphitiError {
        let at = self.url.to_string();
        match error {
            ureq::Error::Timeout(_) => self.timed_out(),
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => self.timed_out(),
            ureq::Error::BodyExceedsLimit(_) => {
                self.is_other(format!("it answers with more than {} KB", MOST >> 10))
            }
            other => GraphitiError::Unreached { at, why: short(&other.to_string()) },
        }
    }

    fn timed_out(&self) -> GraphitiError {
        GraphitiError::TimedOut { at: self.url.to_string(), seconds: self.time.as_secs_f32() }
    }

    fn is_other(&self, why: String) -> GraphitiError {
        GraphitiError::NotMcp { at: self.url.to_string(), why }
    }
}

fn is_answer(message: &Message, id: u64) -> bool {
    let is_reply = message.result.is_some() || message.error.is_some();
    is_reply && message.id.as_ref().and_then(Value::as_u64) == Some(id)
}

/// Returns untrusted text as one line of bounded length.
fn short(text: &str) -> String {
    one_line(first_chars(text, SHOWN))
}
