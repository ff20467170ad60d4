//! Injected faults: [`Fault`].

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::date;

/// A fault of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// An error with the provider's body: 400, 401, 403, 404, 413, 429, 500, 503, 529 or any other.
    Status {
        /// The status.
        code: u16,
        /// The header `retry-after`; `None` without the header.
        retry_after: Option<RetryAfter>,
    },
    /// The provider's error for a prompt that is too long.
    PromptTooLong,
    /// The provider's error for an account without credit.
    NoCredit,
    /// The error of a multi-model server for a model without tools.
    NoTools,
    /// The answer stops, until the client disconnects or the server is dropped.
    Hang(Pause),
    /// The body ends too early.
    Cut {
        /// The number of bytes that are sent.
        after: usize,
        /// The way in which the body ends.
        by: Cut,
    },
    /// An event in the middle is broken JSON; so is a body that is not streamed.
    BadEvents,
    /// The HTML page of a proxy, with status 200.
    Garbage,
    /// An answer without text.
    Empty,
    /// The model refuses to answer.
    Refusal,
    /// Half of the answer, ended by the token limit.
    CutOff,
    /// An error event after half of the stream; without a stream, status 500.
    ErrorEvent,
    /// The whole answer as JSON, although the request asks for a stream.
    NotStreamed,
    /// JSON that does not match the schema.
    WrongSchema,
    /// The answer arrives a few bytes at a time.
    Drip {
        /// The number of bytes per piece.
        bytes: usize,
        /// The delay before each piece.
        every: Duration,
    },
}

/// The point at which an answer hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// Before the status line.
    BeforeHead,
    /// Between head and body.
    AfterHead,
    /// In the middle of the body.
    MidStream,
}

/// The way in which a truncated body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// With a matching length, so that only the content shows it.
    Neatly,
    /// The connection is closed.
    Close,
    /// The connection is reset.
    Reset,
}

/// The value of the header `retry-after`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    /// A number of seconds.
    Seconds(u64),
    /// A date.
    At(SystemTime),
}

impl Fault {
    /// Creates an error without `retry-after`.
    pub fn status(code: u16) -> Fault {
        Fault::Status { code, retry_after: None }
    }

    /// Parses a fault of a script: a word such as `"empty"`, or an object for faults with numbers:
    /// `{"status": 429, "retry_after": 2}`, `{"status": 429, "retry_at_in": 2}`,
    /// `{"cut": 100, "by": "reset"}`, `{"drip": 8, "every_ms": 10}`.
    pub fn from_json(value: &Value) -> Result<Fault, String> {
        match value {
            Value::String(word) => from_word(word),
            Value::Number(_) => {
                status_code(value).map(|code| Fault::Status { code, retry_after: None })
            }
            _ if !value["status"].is_null() => Ok(Fault::Status {
                code: status_code(&value["status"])?,
                retry_after: value["retry_after"].as_u64().map(RetryAfter::Seconds).or_else(|| {
                    let seconds = Duration::from_secs(value["retry_at_in"].as_u64()?);
                    Some(RetryAfter::At(SystemTime::now() + seconds))
                }),
            }),
            _ if !value["cut"].is_null() => Ok(Fault::Cut {
                after: number(&value["cut"])? as usize,
                by: match value["by"].as_str() {
                    Some("neatly") => Cut::Neatly,
                    Some("close") | None => Cut::Close,
                    Some("reset") => Cut::Reset,
                    Some(other) => return Err(format!("`{other}` is no way to cut")),
                },
            }),
            _ if !value["drip"].is_null() => Ok(Fault::Drip {
                bytes: number(&value["drip"])? as usize,
                every: Duration::from_millis(number(&value["every_ms"])?),
            }),
            _ => Err(format!("`{value}` is no fault")),
        }
    }
}

fn from_word(word: &str) -> Result<Fault, String> {
    Ok(match word {
        "prompt-too-long" => Fault::PromptTooLong,
        "no-credit" => Fault::NoCredit,
        "no-tools" => Fault::NoTools,
        "hang-before-head" => Fault::Hang(Pause::BeforeHead),
        "hang-after-head" => Fault::Hang(Pause::AfterHead),
        "hang-mid-stream" => Fault::Hang(Pause::MidStream),
        "bad-events" => Fault::BadEvents,
        "garbage" => Fault::Garbage,
        "empty" => Fault::Empty,
        "refusal" => Fault::Refusal,
        "cut-off" => Fault::CutOff,
        "error-event" => Fault::ErrorEvent,
        "not-streamed" => Fault::NotStreamed,
        "wrong-schema" => Fault::WrongSchema,
        _ => return Err(format!("`{word}` is no fault")),
    })
}

fn number(value: &Value) -> Result<u64, String> {
    value.as_u64().ok_or_else(|| format!("`{value}` is no number"))
}

fn status_code(value: &Value) -> Result<u16, String> {
    let code = number(value)?;
    if !(400..600).contains(&code) {
        return Err(format!("{code} is no status of an error"));
    }
    Ok(code as u16)
}

impl RetryAfter {
    /// Returns the value of the header.
    pub(super) fn header(self) -> String {
        match self {
            RetryAfter::Seconds(seconds) => seconds.to_string(),
            RetryAfter::At(time) => date::http(time.duration_since(UNIX_EPOCH).unwrap_or_default()),
        }
    }
}
