//! Why there is no answer: [`Failure`], by [`Class`].

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Usage;

/// What kind of failure it is; it decides what is done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// There is no key, or it does not open: 401, 403. Nothing more is asked.
    Authentication,
    /// The run or the day has no more to spend. Nothing more is asked.
    Budget,
    /// No such model or address: 404.
    NotFound,
    /// The request is not what the provider takes: 400 and the like.
    Rejected,
    /// More than the model takes: 413, or its own words for it.
    TooLong,
    /// Too many requests: 429. It is waited out as told.
    RateLimit,
    /// The provider has no room: 503, 529.
    Overload,
    /// The provider broke down: other 5xx.
    Server,
    /// No connection, or it ended in the middle.
    Network,
    /// It took too long.
    TimedOut,
    /// Nothing of an answer came for too long. It is asked once more.
    Stalled,
    /// The model will not answer.
    Refusal,
    /// The answer was cut off at its longest.
    CutOff,
    /// The answer is empty.
    Empty,
    /// What came is no answer of this provider.
    Garbage,
    /// A program could not be started, or ended badly.
    Program,
    /// It is not in the recording.
    NotRecorded,
}

/// Why there is no whole answer, and what there is of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The kind of failure.
    pub class: Class,
    /// What happened, for people: what was wrong and what to do. No key ever stands in it.
    pub message: String,
    /// How long the provider asks to wait.
    pub wait: Option<Duration>,
    /// What came before it failed, which was paid for.
    pub partial: Option<String>,
    /// What it took, where that is known. What nobody knows counts as all that was set aside.
    pub usage: Option<Usage>,
}

impl Failure {
    /// Makes a failure with nothing to save. Nobody knows what it took.
    pub fn new(class: Class, message: impl Into<String>) -> Failure {
        Failure { class, message: message.into(), wait: None, partial: None, usage: None }
    }

    /// Makes a failure that took nothing, because nothing was answered.
    pub fn free(class: Class, message: impl Into<String>) -> Failure {
        Failure { usage: Some(Usage::default()), ..Failure::new(class, message) }
    }

    /// Adds what came before it failed, if anything.
    pub fn with_partial(mut self, partial: String) -> Failure {
        self.partial = (!partial.trim().is_empty()).then_some(partial);
        self
    }
}

impl Class {
    /// Says whether asking again may help.
    pub fn is_passing(self) -> bool {
        match self {
            Class::RateLimit
            | Class::Overload
            | Class::Server
            | Class::Network
            | Class::TimedOut
            | Class::Stalled
            | Class::Empty
            | Class::Garbage => true,
            Class::Authentication
            | Class::Budget
            | Class::NotFound
            | Class::Rejected
            | Class::TooLong
            | Class::Refusal
            | Class::CutOff
            | Class::Program
            | Class::NotRecorded => false,
        }
    }

    /// Says whether nobody else needs to be asked either.
    pub fn ends_the_run(self) -> bool {
        matches!(self, Class::Authentication | Class::Budget)
    }
}
