//! An incoming message: [`check_message`] decides whether it is passed to the SDK, ignored, or
//! answered with an error at once.
//!
//! The SDK drops a message that it cannot parse, and the client waits for the answer. So every
//! message is checked here before the SDK sees it, and a message that cannot be parsed is answered
//! with the id that can still be recovered from it ([`IdScan`]).

use rmcp::model::ClientJsonRpcMessage;
use serde_json::{Value, json};

use super::id_scan::IdScan;

/// The error code for a message that is not JSON.
const PARSE_ERROR: i32 = -32700;

/// The error code for JSON that is not a request.
const INVALID_REQUEST: i32 = -32600;

/// The error code for a request with invalid parameters.
const INVALID_PARAMS: i32 = -32602;

/// The byte order mark of UTF-8, which may precede JSON.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The result of checking a message.
#[derive(Debug)]
pub(super) enum MessageCheck {
    /// A valid message for the SDK.
    Message(Box<ClientJsonRpcMessage>),
    /// A message without an answer: an unknown notification, a response, or a blank line.
    Passed,
    /// The errors to answer with, one for each request in the message.
    Refused(Vec<Value>),
}

/// Checks the bytes of one message.
pub(super) fn check_message(bytes: &[u8]) -> MessageCheck {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return MessageCheck::Passed;
    }
    match serde_json::from_slice::<Value>(bytes) {
        Ok(Value::Object(message)) => check_object(Value::Object(message)),
        Ok(Value::Array(batch)) => MessageCheck::Refused(refuse_batch(&batch)),
        Ok(_) => refuse(INVALID_REQUEST, Value::Null, "invalid message: expected a JSON object"),
        Err(error) => {
            let id = IdScan::scan(bytes).id();
            refuse(PARSE_ERROR, id, &format!("invalid JSON in the message: {error}"))
        }
    }
}

/// Returns the error for a message that is too long, with the id that was recovered by a scan.
pub(super) fn too_long_error(id: Value, most: usize) -> Value {
    error(INVALID_REQUEST, id, &format!("the message is too long: at most {most} bytes"))
}

/// Returns the error for a body without a message.
pub(super) fn empty_body_error() -> Value {
    error(PARSE_ERROR, Value::Null, "empty message")
}

fn check_object(message: Value) -> MessageCheck {
    let id = message.get("id").cloned();
    let Some(method) = message.get("method") else {
        // The server sends no requests to clients, so it waits for no response.
        let is_response = message.get("result").is_some() || message.get("error").is_some();
        return match is_response {
            true => MessageCheck::Passed,
            false => refuse(INVALID_REQUEST, echo_id(id), "the message has no `method`"),
        };
    };
    let is_request = id.is_some();
    if is_request && !id.as_ref().is_some_and(is_id) {
        let what = "invalid `id`: expected a string or a whole number";
        return refuse(INVALID_REQUEST, echo_id(id), what);
    }
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refuse_unless_notification(is_request, id, "`jsonrpc` must be \"2.0\"");
    }
    if !method.is_string() {
        return refuse_unless_notification(is_request, id, "`method` must be a string");
    }
    let has_odd_params = message.get("params").is_some_and(|params| !params.is_object());
    if is_request && has_odd_params {
        return refuse(INVALID_PARAMS, echo_id(id), "`params` must be an object");
    }
    match serde_json::from_value(message) {
        Ok(message) => MessageCheck::Message(Box::new(message)),
        Err(error) => {
            refuse_unless_notification(is_request, id, &format!("invalid request: {error}"))
        }
    }
}

/// Refuses a request. A notification gets no answer.
fn refuse_unless_notification(is_request: bool, id: Option<Value>, what: &str) -> MessageCheck {
    match is_request {
        true => refuse(INVALID_REQUEST, echo_id(id), what),
        false => MessageCheck::Passed,
    }
}

/// Refuses a batch, with one error for each id.
fn refuse_batch(batch: &[Value]) -> Vec<Value> {
    let what = "batches are not supported; send each message separately";
    let ids = batch.iter().filter(|message| message.get("method").is_some());
    let ids: Vec<Value> = ids.filter_map(|message| message.get("id").cloned()).collect();
    match ids.is_empty() {
        true => vec![error(INVALID_REQUEST, Value::Null, what)],
        false => {
            ids.into_iter().map(|id| error(INVALID_REQUEST, echo_id(Some(id)), what)).collect()
        }
    }
}

fn refuse(code: i32, id: Value, message: &str) -> MessageCheck {
    MessageCheck::Refused(vec![error(code, id, message)])
}

fn error(code: i32, id: Value, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// Returns true if a value can be the id of a request.
fn is_id(value: &Value) -> bool {
    value.is_string() || value.is_i64()
}

/// Returns an id for an answer: `null` instead of a value that cannot be an id.
fn echo_id(id: Option<Value>) -> Value {
    id.filter(|id| id.is_string() || id.is_number()).unwrap_or(Value::Null)
}
