//! What can go wrong: [`Fault`].

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::date;

/// How an answer goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// An error with the provider's own body: 400, 401, 403, 404, 413, 429, 500, 503, 529 or any
    /// other.
    Status {
        /// The status.
        code: u16,
        /// How long to wait, as the header says it.
        retry_after: Option<RetryAfter>,
    },
    /// More than the model takes, in the provider's words.
    PromptTooLong,
    /// The account has no money left, in the provider's words.
    NoCredit,
    /// The model takes no tools, in the words of a server for many models.
    NoTools,
    /// Nothing more comes, until the client leaves or the server is dropped.
    Hang(Pause),
    /// The body ends too early.
    Cut {
        /// How many bytes of it come.
        after: usize,
        /// How it ends.
        by: Cut,
    },
    /// An event in the middle is broken JSON; so is a body that is not streamed.
    BadEvents,
    /// A web page of some proxy, with status 200.
    Garbage,
    /// An answer without text.
    Empty,
    /// The model will not answer.
    Refusal,
    /// Half of the answer, as many tokens as were allowed.
    CutOff,
    /// An error after half of the stream; where nothing is streamed, status 500.
    ErrorEvent,
    /// The whole answer as JSON, though a stream was asked for.
    NotStreamed,
    /// JSON that is not of the schema.
    WrongSchema,
    /// A few bytes at a time.
    Drip {
        /// How many.
        bytes: usize,
        /// How long it waits before each.
        every: Duration,
    },
}

/// Where a hang begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// Before the status line.
    BeforeHead,
    /// Between head and body.
    AfterHead,
    /// In the middle of the body.
    MidStream,
}

/// How a body ends that is not whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// As if it were whole: only its content tells.
    Neatly,
    /// The connection is closed.
    Close,
    /// The connection is reset.
    Reset,
}

/// What the header `retry-after` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    /// A number of seconds.
    Seconds(u64),
    /// A date.
    At(SystemTime),
}

impl Fault {
    /// Makes an error that does not say how long to wait.
    pub fn status(code: u16) -> Fault {
        Fault::Status { code, retry_after: None }
    }

    /// Reads one from a script: a word such as `"empty"`, or an object for those that have
    /// numbers: `{"status": 429, "retry_after": 2}`, `{"status": 429, "retry_at_in": 2}`,
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
    /// Gives the header's value.
    pub(super) fn header(self) -> String {
        match self {
            RetryAfter::Seconds(seconds) => seconds.to_string(),
            RetryAfter::At(time) => date::http(time.duration_since(UNIX_EPOCH).unwrap_or_default()),
        }
    }
}
