//! The HTTP answer to a trigger of a review: [`HookAnswer`].

use std::fmt;

use assay_store::queue::QueueError;
use assay_store::task::{TaskId, TaskStatus};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;

/// The value of `Retry-After`, in seconds.
const RETRY_AFTER_SECONDS: &str = "10";

/// The answer to a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HookAnswer {
    status: StatusCode,
    state: AnswerState,
    task: Option<TaskId>,
    reason: Option<String>,
    /// True if the task already existed and is completed.
    is_task_completed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum AnswerState {
    /// A task was created, and is on the disk.
    Queued,
    /// The task existed before.
    AlreadyThere,
    /// The delivery needs no task.
    Ignored,
    /// The request cannot be used, and sending it again does not help.
    Refused,
    /// The request had no effect; the sender has to retry.
    #[serde(rename = "come_again")]
    RetryLater,
}

impl AnswerState {
    fn as_str(self) -> &'static str {
        match self {
            AnswerState::Queued => "queued",
            AnswerState::AlreadyThere => "already there",
            AnswerState::Ignored => "ignored",
            AnswerState::Refused => "refused",
            AnswerState::RetryLater => "come again",
        }
    }
}

impl HookAnswer {
    /// 202: a task was created.
    pub(super) fn queued(task: TaskId) -> HookAnswer {
        HookAnswer {
            status: StatusCode::ACCEPTED,
            state: AnswerState::Queued,
            task: Some(task),
            reason: None,
            is_task_completed: false,
        }
    }

    /// 200: the task existed before.
    pub(super) fn already_there(task: TaskId, reason: impl Into<String>) -> HookAnswer {
        let (task, reason) = (Some(task), Some(reason.into()));
        let (status, state) = (StatusCode::OK, AnswerState::AlreadyThere);
        HookAnswer { status, state, task, reason, is_task_completed: false }
    }

    /// 200: the delivery needs no task.
    pub(super) fn ignored(reason: impl Into<String>) -> HookAnswer {
        HookAnswer::without_task(StatusCode::OK, AnswerState::Ignored, reason)
    }

    /// 401: the signature or token is missing or wrong.
    pub(super) fn unauthorized(reason: impl Into<String>) -> HookAnswer {
        HookAnswer::without_task(StatusCode::UNAUTHORIZED, AnswerState::Refused, reason)
    }

    /// 400: the request cannot be parsed.
    pub(super) fn bad_request(reason: impl Into<String>) -> HookAnswer {
        HookAnswer::without_task(StatusCode::BAD_REQUEST, AnswerState::Refused, reason)
    }

    /// 422: the request is valid and cannot be fulfilled.
    pub(super) fn unprocessable(reason: impl Into<String>) -> HookAnswer {
        HookAnswer::without_task(StatusCode::UNPROCESSABLE_ENTITY, AnswerState::Refused, reason)
    }

    /// 409: the subject of the request has changed since.
    pub(super) fn conflict(reason: impl Into<String>) -> HookAnswer {
        HookAnswer::without_task(StatusCode::CONFLICT, AnswerState::Refused, reason)
    }

    /// 413: the body is too large.
    pub(super) fn too_large(reason: impl Into<String>) -> HookAnswer {
        HookAnswer::without_task(StatusCode::PAYLOAD_TOO_LARGE, AnswerState::Refused, reason)
    }

    /// 408: the body arrived too slowly.
    pub(super) fn request_timeout(reason: impl Into<String>) -> HookAnswer {
        HookAnswer::without_task(StatusCode::REQUEST_TIMEOUT, AnswerState::Refused, reason)
    }

    /// 415: the content type is not supported.
    pub(super) fn unsupported_media_type(reason: impl Into<String>) -> HookAnswer {
        HookAnswer::without_task(StatusCode::UNSUPPORTED_MEDIA_TYPE, AnswerState::Refused, reason)
    }

    /// 404: the subject of the request does not exist.
    pub(super) fn not_found(reason: impl Into<String>) -> HookAnswer {
        HookAnswer::without_task(StatusCode::NOT_FOUND, AnswerState::Refused, reason)
    }

    /// 502: a look-up at GitHub or JIRA failed permanently.
    pub(super) fn bad_gateway(reason: impl Into<String>) -> HookAnswer {
        HookAnswer::without_task(StatusCode::BAD_GATEWAY, AnswerState::Refused, reason)
    }

    /// 503: the trigger is not configured.
    pub(super) fn not_configured(reason: impl Into<String>) -> HookAnswer {
        HookAnswer::without_task(StatusCode::SERVICE_UNAVAILABLE, AnswerState::Refused, reason)
    }

    /// 503: the sender has to retry later.
    pub(super) fn retry_later(reason: impl Into<String>) -> HookAnswer {
        HookAnswer::without_task(StatusCode::SERVICE_UNAVAILABLE, AnswerState::RetryLater, reason)
    }

    /// Converts the result of pushing a task into an answer.
    pub(super) fn from_push(task: TaskId, done: &Result<(), QueueError>) -> HookAnswer {
        let Err(error) = done else { return HookAnswer::queued(task) };
        match error {
            QueueError::AlreadyExists { status, .. } => {
                let is_task_completed = *status == TaskStatus::Completed;
                HookAnswer {
                    is_task_completed,
                    ..HookAnswer::already_there(task, error.to_string())
                }
            }
            QueueError::Full { .. }
            | QueueError::Unreachable { .. }
            | QueueError::Unwritable { .. } => HookAnswer::retry_later(error.to_string()),
            QueueError::Task(_)
            | QueueError::ReservedPriority { .. }
            | QueueError::RepeatsParent { .. } => HookAnswer::unprocessable(error.to_string()),
            // The sender gets no details of an internal error; the log has them.
            QueueError::Unknown(_)
            | QueueError::NotHeld { .. }
            | QueueError::WrongStatus { .. }
            | QueueError::AgentRunning { .. }
            | QueueError::File(_)
            | QueueError::Index { .. }
            | QueueError::Database { .. }
            | QueueError::NotMigrated { .. } => {
                HookAnswer::retry_later("cannot write to the queue; see the log of the server")
            }
        }
    }

    fn without_task(
        status: StatusCode,
        state: AnswerState,
        reason: impl Into<String>,
    ) -> HookAnswer {
        HookAnswer {
            status,
            state,
            task: None,
            reason: Some(reason.into()),
            is_task_completed: false,
        }
    }

    /// Returns true if the task already existed and is completed.
    pub(super) fn is_task_completed(&self) -> bool {
        self.is_task_completed
    }
}

/// Formats the answer as a line of the log.
impl fmt::Display for HookAnswer {
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

impl IntoResponse for HookAnswer {
    fn into_response(self) -> Response {
        let HookAnswer { status, state, task, reason, .. } = self;
        let body = json!({ "task": task, "state": state, "reason": reason });
        let kind = [(header::CONTENT_TYPE, "application/json")];
        let mut response = (status, kind, format!("{body}\n")).into_response();
        let headers = response.headers_mut();
        if state == AnswerState::RetryLater {
            headers
                .insert(header::RETRY_AFTER, header::HeaderValue::from_static(RETRY_AFTER_SECONDS));
        }
        if status == StatusCode::UNAUTHORIZED {
            let challenge = header::HeaderValue::from_static("Bearer");
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}
