//! A fake collector of OpenTelemetry: [`FakeCollector`] accepts traces over OTLP/HTTP.
//!
//! The fake is stricter than a real collector: it refuses and records another path, method or
//! content type, and a span in JSON whose ids, times, kind or attributes are not as specified.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::http::{Request, head};
use crate::listener::{Listener, OpenConnections};

/// The path of traces.
const PATH: &str = "/v1/traces";

/// The longest wait for spans.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// The behaviour of a collector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectorBehaviour {
    /// Each message is accepted.
    Accepts,
    /// Each message is answered with a status.
    Answers(u16),
    /// Each message is accepted, and this number of its spans is refused.
    Refuses(u64),
    /// No answer is sent until the client disconnects.
    Hangs,
}

/// A span in JSON, as it was received.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceivedSpan {
    /// The name.
    pub name: String,
    /// The id of the trace.
    pub trace: String,
    /// The id.
    pub id: String,
    /// The id of the parent; `None` for a span without one.
    pub parent: Option<String>,
    /// The whole span.
    pub json: Value,
}

/// A message, as it was received.
#[derive(Debug, Clone)]
pub struct ReceivedMessage {
    /// The headers, with names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
}

/// A collector on this machine, which runs until it is dropped.
#[derive(Debug)]
pub struct FakeCollector {
    listener: Listener,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    received: Mutex<Received>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Received {
    messages: Vec<ReceivedMessage>,
    spans: Vec<ReceivedSpan>,
    problems: Vec<String>,
}

impl FakeCollector {
    /// Starts a collector on any free port.
    pub fn start(behaviour: CollectorBehaviour) -> FakeCollector {
        let state: Arc<State> = Arc::default();
        let own = Arc::clone(&state);
        let listener = Listener::start(0, move |open, stream| {
            // The client may have disconnected.
            drop(own.converse(open, stream, behaviour));
        });
        FakeCollector { listener: listener.unwrap(), state }
    }

    /// Returns the address for `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.listener.address())
    }

    /// Returns all messages so far.
    pub fn messages(&self) -> Vec<ReceivedMessage> {
        self.state.received().messages.clone()
    }

    /// Returns all spans in JSON so far.
    pub fn spans(&self) -> Vec<ReceivedSpan> {
        self.state.received().spans.clone()
    }

    /// Returns the spans in JSON as soon as there are a number of them. Panics after a minute.
    pub fn wait_for_spans(&self, number: usize) -> Vec<ReceivedSpan> {
        let few = |received: &mut Received| received.spans.len() < number;
        let waited = self.state.changed.wait_timeout_while(self.state.received(), MAX_WAIT, few);
        let (received, result) = waited.unwrap();
        assert!(!result.timed_out(), "only {} spans came", received.spans.len());
        received.spans.clone()
    }

    /// Returns the reasons of all invalid messages so far.
    pub fn problems(&self) -> Vec<String> {
        self.state.received().problems.clone()
    }
}

impl State {
    fn received(&self) -> MutexGuard<'_, Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn converse(
        &self,
        _open: &OpenConnections,
        mut stream: &TcpStream,
        behaviour: CollectorBehaviour,
    ) -> io::Result<()> {
        while let Some(request) = Request::read(stream)? {
            request.finish(stream)?;
            let (status, answer) = match behaviour {
                CollectorBehaviour::Hangs => {
                    // The end of the connection ends the wait.
                    stream.read_to_end(&mut Vec::new())?;
                    return Ok(());
                }
                CollectorBehaviour::Answers(status) => (status, json!({})),
                CollectorBehaviour::Accepts => (self.accept(&request), json!({})),
                CollectorBehaviour::Refuses(number) => {
                    let refused = json!({
                        "rejectedSpans": number.to_string(), "errorMessage": "too many spans",
                    });
                    (self.accept(&request), json!({ "partialSuccess": refused }))
                }
            };
            // An empty message of protobuf accepts all spans.
            let is_json = request.header("content-type") == Some("application/json");
            let body = if is_json { answer.to_string() } else { String::new() };
            stream.write_all(&head(status, &[], Some(body.len())))?;
            stream.write_all(body.as_bytes())?;
        }
        Ok(())
    }

    /// Records a message, and returns the status of the answer.
    fn accept(&self, request: &Request) -> u16 {
        let mut received = self.received();
        received.messages.push(ReceivedMessage {
            headers: request.headers.iter().cloned().collect(),
            body: request.body.clone(),
        });
        let status = match read_spans(request) {
            Ok(spans) => {
                received.spans.extend(spans);
                200
            }
            Err(problem) => {
                received.problems.push(problem);
                400
            }
        };
        drop(received);
        self.changed.notify_all();
        status
    }
}

/// Reads the spans of a message; those of a message in protobuf or with compression are not read.
fn read_spans(request: &Request) -> Result<Vec<ReceivedSpan>, String> {
    if request.path() != PATH || request.method != "POST" {
        return Err(format!("{} {} is no endpoint", request.method, request.path()));
    }
    match request.header("content-type") {
        Some("application/x-protobuf") => return Ok(Vec::new()),
        Some("application/json") => {}
        other => return Err(format!("unknown content type {other:?}")),
    }
    if request.header("content-encoding") == Some("gzip") {
        return Ok(Vec::new());
    }
    let message: Value = serde_json::from_slice(&request.body).map_err(|it| it.to_string())?;
    let all = |value: &Value, name: &str| -> Result<Vec<Value>, String> {
        value[name].as_array().cloned().ok_or_else(|| format!("`{name}` is no list in {value}"))
    };
    let mut spans = Vec::new();
    for resource in all(&message, "resourceSpans")? {
        check_attributes(&resource["resource"])?;
        for scope in all(&resource, "scopeSpans")? {
            for span in all(&scope, "spans")? {
                spans.push(read_span(span)?);
            }
        }
    }
    if spans.is_empty() { Err("there are no spans".to_owned()) } else { Ok(spans) }
}

fn read_span(json: Value) -> Result<ReceivedSpan, String> {
    let wrong = |what: &str| format!("{what} in {json}");
    let id = |name: &str, digits: usize| {
        let id = json[name].as_str().filter(|id| {
            let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            id.len() == digits && id.bytes().all(is_hex) && id.bytes().any(|byte| byte != b'0')
        });
        id.map(str::to_owned).ok_or_else(|| wrong(name))
    };
    let time = |name: &str| {
        let time = json[name].as_str().and_then(|text| text.parse::<u64>().ok());
        time.filter(|nanos| *nanos > 1_000_000_000_000_000).ok_or_else(|| wrong(name))
    };
    let name =
        json["name"].as_str().filter(|name| !name.is_empty()).ok_or_else(|| wrong("name"))?;
    if time("startTimeUnixNano")? > time("endTimeUnixNano")? {
        return Err(wrong("the end is before the start"));
    }
    if !json["kind"].as_u64().is_some_and(|kind| (1..=5).contains(&kind)) {
        return Err(wrong("kind"));
    }
    check_attributes(&json)?;
    json["events"].as_array().into_iter().flatten().try_for_each(check_attributes)?;
    let parent = json.get("parentSpanId").map(|_| id("parentSpanId", 16)).transpose()?;
    let (trace, own) = (id("traceId", 32)?, id("spanId", 16)?);
    Ok(ReceivedSpan { name: name.to_owned(), trace, id: own, parent, json: json.clone() })
}

/// Checks that the names of attributes are unique, and that each value has one known type.
fn check_attributes(owner: &Value) -> Result<(), String> {
    let mut names = std::collections::BTreeSet::new();
    for attribute in owner["attributes"].as_array().into_iter().flatten() {
        let name = attribute["key"].as_str().unwrap_or_default();
        if name.is_empty() || !names.insert(name) {
            return Err(format!("an attribute has no name or occurs twice: {attribute}"));
        }
        let value = attribute["value"].as_object().filter(|value| value.len() == 1);
        let is_typed =
            value.and_then(|value| value.iter().next()).is_some_and(
                |(kind, value)| match &**kind {
                    "stringValue" => value.is_string(),
                    "boolValue" => value.is_boolean(),
                    "doubleValue" => value.is_number(),
                    "intValue" => value.as_str().is_some_and(|text| text.parse::<i64>().is_ok()),
                    _ => false,
                },
            );
        if !is_typed {
            return Err(format!("an attribute has no value of a known type: {attribute}"));
        }
    }
    Ok(())
}

impl ReceivedSpan {
    /// Returns the value of an attribute as text; `None` if the span has no such attribute.
    pub fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.json["attributes"].as_array()?.iter();
        let found = attributes.find(|attribute| attribute["key"] == name)?;
        let value = found["value"].as_object()?.values().next()?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }
}
