//! Failed requests: [`Failure`], with its [`FailureClass`].

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Usage;

/// The class of a failure; it decides whether a request is retried and whether the run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureClass {
    /// The key is missing or not accepted: 401, 403. The run makes no more calls.
    Authentication,
    /// A cap of the run, the day or the account is reached. The run makes no more calls.
    Budget,
    /// The model or the address does not exist: 404.
    NotFound,
    /// The provider rejects the request: 400 and similar.
    Rejected,
    /// The prompt is longer than the model takes: 413, or a message that says so.
    TooLong,
    /// Too many requests: 429. Retried after the delay that the provider asks for.
    RateLimit,
    /// The provider has no capacity: 503, 529.
    Overload,
    /// The provider has an internal error: other 5xx.
    Server,
    /// The connection could not be made, or broke off.
    Network,
    /// The request exceeded its timeout.
    TimedOut,
    /// No part of an answer arrived for too long. Retried once.
    Stalled,
    /// The model refuses to answer.
    Refusal,
    /// The answer was cut off at its maximum length.
    CutOff,
    /// The answer is empty.
    Empty,
    /// The response is not a valid answer of the provider.
    Garbage,
    /// A program could not be started, or exited with an error.
    Program,
    /// The recording has no such answer.
    NotRecorded,
}

/// A failed request, with the part of an answer that arrived before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The class of the failure.
    pub class: FailureClass,
    /// The message for users: the problem and the remedy. It never contains a key.
    pub message: String,
    /// The delay that the provider asks for; `None` if it asks for none.
    pub wait: Option<Duration>,
    /// The part of the answer that arrived before the failure, which was paid for; `None` if there
    /// is none.
    pub partial: Option<String>,
    /// The tokens used; `None` if that is unknown, in which case the whole reservation counts as
    /// spent.
    pub usage: Option<Usage>,
}

impl Failure {
    /// Creates a failure without a partial answer, and with unknown usage.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Failure {
        Failure { class, message: message.into(), wait: None, partial: None, usage: None }
    }

    /// Creates a failure that used no tokens, because there was no answer.
    pub fn free(class: FailureClass, message: impl Into<String>) -> Failure {
        Failure { usage: Some(Usage::default()), ..Failure::new(class, message) }
    }

    /// Adds the part of the answer that arrived before the failure, unless it is blank.
    pub fn with_partial(mut self, partial: String) -> Failure {
        self.partial = (!partial.trim().is_empty()).then_some(partial);
        self
    }
}

impl FailureClass {
    /// Returns true if a retry may succeed.
    pub fn is_transient(self) -> bool {
        match self {
            FailureClass::RateLimit
            | FailureClass::Overload
            | FailureClass::Server
            | FailureClass::Network
            | FailureClass::TimedOut
            | FailureClass::Stalled
            | FailureClass::Empty
            | FailureClass::Garbage => true,
            FailureClass::Authentication
            | FailureClass::Budget
            | FailureClass::NotFound
            | FailureClass::Rejected
            | FailureClass::TooLong
            | FailureClass::Refusal
            | FailureClass::CutOff
            | FailureClass::Program
            | FailureClass::NotRecorded => false,
        }
    }

    /// Returns true if the run must not call any model after such a failure.
    pub fn is_fatal(self) -> bool {
        matches!(self, FailureClass::Authentication | FailureClass::Budget)
    }
}
