//! What is told to whoever triggers a review: [`Answer`].

use std::fmt;

use assay_store::queue::QueueError;
use assay_store::task::{Status, TaskId};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;

/// After so many seconds it is worth while to come again.
const COME_AGAIN: &str = "10";

/// What came of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    status: StatusCode,
    state: State,
    task: Option<TaskId>,
    reason: Option<String>,
    /// Whether the task is done.
    is_over: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// A task was made, and is on the disk.
    Queued,
    /// The task was there before.
    AlreadyThere,
    /// There is nothing to do.
    Ignored,
    /// What was sent cannot be used, whenever it is sent again.
    Refused,
    /// Nothing was done, and it has to be sent again.
    ComeAgain,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            State::Queued => "queued",
            State::AlreadyThere => "already there",
            State::Ignored => "ignored",
            State::Refused => "refused",
            State::ComeAgain => "come again",
        }
    }
}

impl Answer {
    /// A task was made.
    pub(super) fn queued(task: TaskId) -> Answer {
        Answer {
            status: StatusCode::ACCEPTED,
            state: State::Queued,
            task: Some(task),
            reason: None,
            is_over: false,
        }
    }

    /// The task was there before.
    pub(super) fn already_there(task: TaskId, reason: impl Into<String>) -> Answer {
        let (task, reason) = (Some(task), Some(reason.into()));
        let (status, state) = (StatusCode::OK, State::AlreadyThere);
        Answer { status, state, task, reason, is_over: false }
    }

    /// There is nothing to do.
    pub(super) fn ignored(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::OK, State::Ignored, reason)
    }

    /// Whoever sent it could not prove who they are.
    pub(super) fn stranger(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::UNAUTHORIZED, State::Refused, reason)
    }

    /// What was sent cannot be read.
    pub(super) fn unreadable(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::BAD_REQUEST, State::Refused, reason)
    }

    /// What was sent cannot be done.
    pub(super) fn unfit(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::UNPROCESSABLE_ENTITY, State::Refused, reason)
    }

    /// What was sent is about something that has changed since.
    pub(super) fn outdated(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::CONFLICT, State::Refused, reason)
    }

    /// What was sent is too large.
    pub(super) fn too_large(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::PAYLOAD_TOO_LARGE, State::Refused, reason)
    }

    /// What was sent came too slowly.
    pub(super) fn too_slow(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::REQUEST_TIMEOUT, State::Refused, reason)
    }

    /// What was sent comes in a form that is not read here.
    pub(super) fn wrong_form(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::UNSUPPORTED_MEDIA_TYPE, State::Refused, reason)
    }

    /// What was sent is about something that is not there.
    pub(super) fn not_there(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::NOT_FOUND, State::Refused, reason)
    }

    /// Those whom we had to ask refused.
    pub(super) fn no_luck(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::BAD_GATEWAY, State::Refused, reason)
    }

    /// Nobody set this up.
    pub(super) fn not_configured(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::SERVICE_UNAVAILABLE, State::Refused, reason)
    }

    /// It has to be sent again.
    pub(super) fn later(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::SERVICE_UNAVAILABLE, State::ComeAgain, reason)
    }

    /// Tells what a queue says of a task.
    pub(super) fn of(task: TaskId, done: &Result<(), QueueError>) -> Answer {
        let Err(error) = done else { return Answer::queued(task) };
        match error {
            QueueError::AlreadyThere { status, .. } => {
                let is_over = *status == Status::Completed;
                Answer { is_over, ..Answer::already_there(task, error.to_string()) }
            }
            QueueError::Full { .. }
            | QueueError::Unreachable { .. }
            | QueueError::Unwritable { .. } => Answer::later(error.to_string()),
            QueueError::Task(_) | QueueError::NotUrgent { .. } | QueueError::OwnTask { .. } => {
                Answer::unfit(error.to_string())
            }
            // What is wrong here is nothing to those outside, and the log says it.
            QueueError::Unknown(_)
            | QueueError::NotHeld { .. }
            | QueueError::WrongStatus { .. }
            | QueueError::AgentRuns { .. }
            | QueueError::File(_)
            | QueueError::Index { .. }
            | QueueError::Database { .. }
            | QueueError::NotMigrated { .. } => {
                Answer::later("the queue cannot be written to; the server's log says why")
            }
        }
    }

    fn without(status: StatusCode, state: State, reason: impl Into<String>) -> Answer {
        Answer { status, state, task: None, reason: Some(reason.into()), is_over: false }
    }

    /// Says whether the task was there before and is done.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }
}

/// The line of a log.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status.as_u16(), self.state.as_str())?;
        // What is said of a body that cannot be used may quote it, which is for who sent it alone.
        let quotes = [StatusCode::BAD_REQUEST, StatusCode::UNPROCESSABLE_ENTITY];
        match (&self.task, &self.reason) {
            (Some(task), _) => write!(f, ": {task}"),
            (None, Some(reason)) if !quotes.contains(&self.status) => write!(f, ": {reason}"),
            (None, Some(_) | None) => Ok(()),
        }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let Answer { status, state, task, reason, .. } = self;
        let body = json!({ "task": task, "state": state, "reason": reason });
        let kind = [(header::CONTENT_TYPE, "application/json")];
        let mut response = (status, kind, format!("{body}\n")).into_response();
        let headers = response.headers_mut();
        if state == State::ComeAgain {
            headers.insert(header::RETRY_AFTER, header::HeaderValue::from_static(COME_AGAIN));
        }
        if status == StatusCode::UNAUTHORIZED {
            let challenge = header::HeaderValue::from_static("Bearer");
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}
