//! Error responses of providers: [`ApiError`], and the class of failure that follows from one.

use assay_base::text::{first_bytes, truncate};
use serde_json::Value;

use crate::FailureClass;
use crate::json::text;

/// The maximum number of characters of a foreign message that are shown.
const MAX_SHOWN_CHARS: usize = 300;

/// The maximum number of bytes of a message that are searched for known words.
const MAX_SEARCHED_BYTES: usize = 2_000;

/// Marks that servers write before the part of a request that they quote.
const QUOTE_MARKERS: [&str; 3] = ["'input':", "\"input\":", "input_value="];

/// An error response of a provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ApiError {
    /// The provider's name for the kind of error; empty if it has none.
    pub(crate) kind: String,
    /// The error message of the provider.
    pub(crate) message: String,
}

/// Words that mean that a prompt is too long.
const TOO_LONG_PHRASES: [&str; 11] = [
    "context limit", "maximum number of tokens", "context length", "context_length",
    "context window", "context size", "maximum context", "prompt is too long", "input is too long",
    "too many tokens", "reduce the length",
];

/// Words that mean that an account has no credit left.
const NO_CREDIT_PHRASES: [&str; 6] =
    ["credit balance", "billing", "insufficient_quota", "quota", "payment", "insufficient balance"];

impl ApiError {
    /// Parses the body or the event of an error, in any of the formats of providers.
    pub(crate) fn parse(body: &Value) -> Option<ApiError> {
        let error = body.get("error").filter(|error| !error.is_null());
        let error = error.or_else(|| body.get("message")).or_else(|| body.get("detail"))?;
        let message = message(error);
        let Value::Object(_) = error else {
            return Some(ApiError { kind: String::new(), message });
        };
        let kind = match (text(error, "/code"), text(error, "/type")) {
            ("", "") => error.get("code").map(Value::to_string).unwrap_or_default(),
            ("", kind) => kind.to_owned(),
            (code, _) => code.to_owned(),
        };
        Some(ApiError { kind, message })
    }

    /// Returns the provider's own words, without the part of the request that it quotes: a change
    /// that mentions payments does not make an account empty.
    pub(crate) fn words(&self) -> &str {
        let repeated = QUOTE_MARKERS.iter().filter_map(|mark| self.message.find(mark)).min();
        let end = repeated.unwrap_or(self.message.len()).min(MAX_SEARCHED_BYTES);
        first_bytes(&self.message, end)
    }

    /// Returns the class that follows from the HTTP status, or else from the provider's name for
    /// the error.
    pub(crate) fn class(&self, status: Option<u16>) -> FailureClass {
        let kind = self.kind.as_str();
        let words = format!("{kind} {}", self.words()).to_lowercase();
        let has = |known: &[&str]| known.iter().any(|known| words.contains(known));
        match status.or_else(|| kind.parse().ok()).unwrap_or_else(|| status_of(kind)) {
            // Rate limits are called quotas too; only this name means that waiting does not help.
            429 if kind == "insufficient_quota" => FailureClass::Budget,
            429 => FailureClass::RateLimit,
            402 => FailureClass::Budget,
            400 | 403 | 422 if has(&NO_CREDIT_PHRASES) => FailureClass::Budget,
            400 | 422 if has(&TOO_LONG_PHRASES) => FailureClass::TooLong,
            413 => FailureClass::TooLong,
            401 | 403 => FailureClass::Authentication,
            // The address is wrong if it redirects or does not take requests.
            404 | 405 | 410 | 300..=399 => FailureClass::NotFound,
            408 => FailureClass::TimedOut,
            503 | 529 => FailureClass::Overload,
            500..=599 => FailureClass::Server,
            _ => FailureClass::Rejected,
        }
    }
}

/// Returns the message in an error. In a list of invalid fields, the values of the fields are left
/// out.
fn message(error: &Value) -> String {
    match error {
        Value::String(message) => message.clone(),
        Value::Array(parts) => parts.iter().map(message).collect::<Vec<_>>().join("; "),
        Value::Object(fields) if fields.contains_key("msg") || fields.contains_key("loc") => {
            let place = error["loc"].as_array().into_iter().flatten();
            let place = place.map(|part| part.as_str().map_or(part.to_string(), str::to_owned));
            let place = place.collect::<Vec<_>>().join(".");
            let words = [&place, text(error, "/msg"), text(error, "/type")];
            words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(": ")
        }
        Value::Object(fields) => match fields.get("message").or_else(|| fields.get("detail")) {
            Some(inner) => message(inner),
            None => error.to_string(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => error.to_string(),
    }
}

/// Returns the HTTP status that corresponds to a provider's name for an error.
fn status_of(kind: &str) -> u16 {
    match kind {
        "authentication_error" | "invalid_api_key" => 401,
        "permission_error" => 403,
        "billing_error" | "insufficient_quota" => 402,
        "not_found_error" | "model_not_found" => 404,
        "request_too_large" | "context_length_exceeded" => 413,
        "invalid_request_error" | "invalid_prompt" => 400,
        "rate_limit_error" | "rate_limit_exceeded" => 429,
        "overloaded_error" | "server_overloaded" => 529,
        "timeout_error" => 408,
        _ => 500,
    }
}

/// Formats a foreign message for display: short, on one line, and without control characters that a
/// terminal would obey.
pub(crate) fn display_line(words: &str) -> String {
    let words = words.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    truncate(&line, MAX_SHOWN_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn api_errors_are_parsed_in_many_formats() {
        let cases = [
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"full"}}"#,
                "overloaded_error: full",
            ),
            (
                r#"{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}"#,
                "rate_limit_exceeded: slow down",
            ),
            (r#"{"error":{"message":"upstream","code":502}}"#, "502: upstream"),
            (r#"{"error":"model not found"}"#, ": model not found"),
            (r#"{"detail":"no"}"#, ": no"),
            (
                r#"{"message":{"detail":[{"loc":["body","max_completion_tokens"]}]}}"#,
                ": body.max_completion_tokens",
            ),
            (
                r#"{"detail":[{"type":"extra_forbidden","loc":["body","messages",0,"name"],"msg":"Extra inputs are not permitted","input":"payment"},{"type":"missing","msg":"Field required","input":{"messages":["quota"]}}]}"#,
                ": body.messages.0.name: Extra inputs are not permitted: extra_forbidden; Field required: missing",
            ),
        ];
        for (body, expected) in cases {
            let ApiError { kind, message } =
                ApiError::parse(&serde_json::from_str(body).unwrap()).unwrap();
            assert_eq!(format!("{kind}: {message}"), expected);
        }
        assert_eq!(ApiError::parse(&serde_json::json!({ "error": null, "id": 1 })), None);
    }

    #[test]
    fn failures_are_classified_by_status_and_message() {
        let cases = [
            (401, "", "", FailureClass::Authentication),
            (403, "", "not yours", FailureClass::Authentication),
            (404, "", "", FailureClass::NotFound),
            (302, "", "", FailureClass::NotFound),
            (413, "", "", FailureClass::TooLong),
            (400, "", "prompt is too long: 300000 tokens", FailureClass::TooLong),
            (400, "context_length_exceeded", "", FailureClass::TooLong),
            (400, "", "unknown field", FailureClass::Rejected),
            (400, "", "Your credit balance is too low", FailureClass::Budget),
            (402, "", "", FailureClass::Budget),
            (429, "insufficient_quota", "You exceeded your quota", FailureClass::Budget),
            (429, "", "You exceeded your quota", FailureClass::RateLimit),
            (503, "", "", FailureClass::Overload),
            (529, "", "", FailureClass::Overload),
            (500, "", "", FailureClass::Server),
            (502, "", "", FailureClass::Server),
        ];
        for (status, kind, message, expected) in cases {
            let complaint = ApiError { kind: kind.into(), message: message.into() };
            assert_eq!(complaint.class(Some(status)), expected, "{status} {kind} {message}");
        }
    }

    #[test]
    fn echoed_request_content_does_not_affect_the_classification() {
        let far = format!("unknown field{} billing", " ".repeat(2_000));
        let cases = [
            r#"{"detail":[{"msg":"Extra inputs are not permitted","loc":["body","x"],"input":"quota"}]}"#,
            r#"{"message":"[{'type': 'extra_forbidden', 'loc': ('body', 'x'), 'input': 'context length'}]"}"#,
            r#"{"error":{"message":"1 validation error [type=extra, input_value='payment']"}}"#,
            r#"{"error":{"reason":"no","input":"credit balance"}}"#,
            &format!(r#"{{"error":"{far}"}}"#),
        ];
        for body in cases {
            let complaint = ApiError::parse(&serde_json::from_str(body).unwrap()).unwrap();
            assert_eq!(complaint.class(Some(422)), FailureClass::Rejected, "{body}");
            assert_eq!(complaint.class(Some(403)), FailureClass::Authentication, "{body}");
        }
    }

    #[test]
    fn failures_in_a_stream_are_classified_by_their_type() {
        let cases = [
            ("overloaded_error", FailureClass::Overload),
            ("rate_limit_exceeded", FailureClass::RateLimit),
            ("authentication_error", FailureClass::Authentication),
            ("insufficient_quota", FailureClass::Budget),
            ("api_error", FailureClass::Server),
            ("429", FailureClass::RateLimit),
            ("", FailureClass::Server),
        ];
        for (kind, expected) in cases {
            let complaint = ApiError { kind: kind.into(), message: String::new() };
            assert_eq!(complaint.class(None), expected, "{kind}");
        }
    }

    #[test]
    fn messages_are_shown_truncated_on_one_line() {
        assert_eq!(display_line(" a\n\u{1b}[1m b\t"), "a [1m b");
        assert_eq!(display_line(&"é".repeat(400)).chars().count(), MAX_SHOWN_CHARS + 1);
    }
}
