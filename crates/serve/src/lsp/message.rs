//! JSON-RPC messages: [`Incoming`], and the errors of the protocol.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A message of the client.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    /// A request, which gets one response.
    Request { id: Value, method: String, params: Value },
    /// A notification, which gets no response.
    Notification { method: String, params: Value },
    /// The response to a request of the server: the result, or the message of an error.
    Response { id: Value, result: Result<Value, String> },
    /// A message that is none of these; the response is an error.
    Invalid { id: Value, error: RpcError },
}

/// An error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RpcError {
    pub(super) code: i32,
    pub(super) message: String,
}

impl RpcError {
    fn new(code: i32, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into() }
    }

    /// The message is not JSON.
    pub(super) fn parse(why: impl Into<String>) -> RpcError {
        RpcError::new(-32700, why)
    }

    /// The message is not a request, or not one that is allowed now.
    pub(super) fn invalid_request(why: impl Into<String>) -> RpcError {
        RpcError::new(-32600, why)
    }

    /// There is no such method.
    pub(super) fn method_not_found(method: &str) -> RpcError {
        RpcError::new(-32601, format!("there is no method `{method}`"))
    }

    /// The parameters are not those of the method.
    pub(super) fn invalid_params(why: impl Into<String>) -> RpcError {
        RpcError::new(-32602, why)
    }

    /// The server has not been initialized.
    pub(super) fn not_initialized() -> RpcError {
        RpcError::new(-32002, "the server is not initialized; send `initialize` first")
    }

    /// The client cancelled the request.
    pub(super) fn cancelled() -> RpcError {
        RpcError::new(-32800, "the request was cancelled")
    }

    /// The request is valid and failed.
    pub(super) fn failed(why: impl Into<String>) -> RpcError {
        RpcError::new(-32803, why)
    }
}

/// The members of a message, of which a request, a notification and a response have different ones.
#[derive(Deserialize)]
struct Members {
    jsonrpc: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    method: Option<Value>,
    #[serde(default)]
    params: Value,
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    error: Option<Value>,
}

/// Reads a member that may be null, which is different from an absent one.
fn present<'de, D: serde::Deserializer<'de>>(member: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(member).map(Some)
}

/// Parses a message.
pub(super) fn parse(body: &[u8]) -> Incoming {
    let invalid = |id: Value, error| Incoming::Invalid { id, error };
    let value: Value = match serde_json::from_slice(body) {
        Ok(value) => value,
        Err(error) => {
            return invalid(
                Value::Null,
                RpcError::parse(format!("the message is no JSON: {error}")),
            );
        }
    };
    let Ok(members) = serde_json::from_value::<Members>(value) else {
        return invalid(Value::Null, RpcError::invalid_request("the message is no JSON object"));
    };
    let is_id = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
    let known_id = members.id.clone().filter(is_id).unwrap_or(Value::Null);
    if members.jsonrpc != Some(json!("2.0")) {
        let error = RpcError::invalid_request("`jsonrpc` is not \"2.0\"");
        return invalid(known_id, error);
    }
    match (members.method, members.id) {
        (Some(Value::String(method)), None) => {
            Incoming::Notification { method, params: members.params }
        }
        (Some(Value::String(method)), Some(id)) if is_id(&id) => {
            Incoming::Request { id, method, params: members.params }
        }
        (None, Some(id)) if members.result.is_some() || members.error.is_some() => {
            let message = members.error.map(|error| match &error["message"] {
                Value::String(message) => message.clone(),
                _ => error.to_string(),
            });
            let result = message.map_or(Ok(members.result.unwrap_or_default()), Err);
            Incoming::Response { id, result }
        }
        (Some(Value::String(_)), Some(_)) => {
            invalid(Value::Null, RpcError::invalid_request("`id` is no number and no string"))
        }
        _ => invalid(known_id, RpcError::invalid_request("the message has no `method`")),
    }
}

/// Reads the parameters of a method.
pub(super) fn params<T: DeserializeOwned>(method: &str, params: Value) -> Result<T, RpcError> {
    serde_json::from_value(params)
        .map_err(|error| RpcError::invalid_params(format!("parameters of `{method}`: {error}")))
}

/// Returns the response to a request.
pub(super) fn response(id: &Value, result: Result<Value, RpcError>) -> Value {
    match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(RpcError { code, message }) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kind(text: &str) -> String {
        match parse(text.as_bytes()) {
            Incoming::Request { id, method, .. } => format!("request {id} {method}"),
            Incoming::Notification { method, .. } => format!("notification {method}"),
            Incoming::Response { id, result } => format!("response {id} {result:?}"),
            Incoming::Invalid { id, error } => format!("invalid {id} {}", error.code),
        }
    }

    #[test]
    fn messages_are_classified_by_their_members() {
        let cases = [
            (r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, "request 1 m"),
            (r#"{"jsonrpc":"2.0","id":"a","method":"m"}"#, "request \"a\" m"),
            (r#"{"jsonrpc":"2.0","method":"m"}"#, "notification m"),
            (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "response 1 Ok(Null)"),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"message":"no"}}"#, "response 1 Err(\"no\")"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, "invalid null -32600"),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, "invalid null -32600"),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "invalid 1 -32600"),
            (r#"{"id":1,"method":"m"}"#, "invalid 1 -32600"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "invalid 1 -32600"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, "invalid null -32600"),
            ("{\"jsonrpc\"", "invalid null -32700"),
            ("", "invalid null -32700"),
        ];
        for (text, expected) in cases {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_invalid(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            parse(&bytes);
        }
    }
}
