//! The HTTP answer to a trigger of a review: [`Answer`].

use std::fmt;

use assay_store::queue::QueueError;
use assay_store::task::{Status, TaskId};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;

/// The value of `Retry-After`, in seconds.
const COME_AGAIN: &str = "10";

/// The answer to a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    status: StatusCode,
    state: State,
    task: Option<TaskId>,
    reason: Option<String>,
    /// True if the task already existed and is completed.
    is_over: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// A task was created, and is on the disk.
    Queued,
    /// The task existed before.
    AlreadyThere,
    /// The delivery needs no task.
    Ignored,
    /// The request cannot be used, and sending it again does not help.
    Refused,
    /// The request had no effect; the sender has to retry.
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
    /// 202: a task was created.
    pub(super) fn queued(task: TaskId) -> Answer {
        Answer {
            status: StatusCode::ACCEPTED,
            state: State::Queued,
            task: Some(task),
            reason: None,
            is_over: false,
        }
    }

    /// 200: the task existed before.
    pub(super) fn already_there(task: TaskId, reason: impl Into<String>) -> Answer {
        let (task, reason) = (Some(task), Some(reason.into()));
        let (status, state) = (StatusCode::OK, State::AlreadyThere);
        Answer { status, state, task, reason, is_over: false }
    }

    /// 200: the delivery needs no task.
    pub(super) fn ignored(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::OK, State::Ignored, reason)
    }

    /// 401: the signature or token is missing or wrong.
    pub(super) fn stranger(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::UNAUTHORIZED, State::Refused, reason)
    }

    /// 400: the request cannot be parsed.
    pub(super) fn unreadable(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::BAD_REQUEST, State::Refused, reason)
    }

    /// 422: the request is valid and cannot be fulfilled.
    pub(super) fn unfit(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::UNPROCESSABLE_ENTITY, State::Refused, reason)
    }

    /// 409: the subject of the request has changed since.
    pub(super) fn outdated(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::CONFLICT, State::Refused, reason)
    }

    /// 413: the body is too large.
    pub(super) fn too_large(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::PAYLOAD_TOO_LARGE, State::Refused, reason)
    }

    /// 408: the body arrived too slowly.
    pub(super) fn too_slow(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::REQUEST_TIMEOUT, State::Refused, reason)
    }

    /// 415: the content type is not supported.
    pub(super) fn wrong_form(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::UNSUPPORTED_MEDIA_TYPE, State::Refused, reason)
    }

    /// 404: the subject of the request does not exist.
    pub(super) fn not_there(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::NOT_FOUND, State::Refused, reason)
    }

    /// 502: a look-up at GitHub or JIRA failed permanently.
    pub(super) fn no_luck(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::BAD_GATEWAY, State::Refused, reason)
    }

    /// 503: the trigger is not configured.
    pub(super) fn not_configured(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::SERVICE_UNAVAILABLE, State::Refused, reason)
    }

    /// 503: the sender has to retry later.
    pub(super) fn later(reason: impl Into<String>) -> Answer {
        Answer::without(StatusCode::SERVICE_UNAVAILABLE, State::ComeAgain, reason)
    }

    /// Converts the result of pushing a task into an answer.
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
            // The sender gets no details of an internal error; the log has them.
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

    /// Returns true if the task already existed and is completed.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }
}

/// Formats the answer as a line of the log.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status.as_u16(), self.state.as_str())?;
        // The reason of these answers may quote the body, which only its sender may see.
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
