//! Answers: results and errors as JSON, and redirects.

use assay_engine::dashboard::DashboardError;
use assay_engine::queues;
use assay_findings::write::escape::escape_json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Headers of every answer: no copies in caches, no guessing of types.
pub(super) const PRIVATE_HEADERS: [(HeaderName, &str); 2] =
    [(header::CACHE_CONTROL, "no-store"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ApiErrorKind {
    /// The request has no valid token.
    Unauthorized,
    /// The request comes from a page of another origin.
    ForeignOrigin,
    /// The request names an unknown task, run, finding, agent, loop or gate.
    Unknown,
    /// A value of the request is invalid.
    Invalid,
    /// The body is too large.
    TooLarge,
    /// The state of the object does not allow the action.
    Conflict,
    /// The queue, the ledger or a file cannot be used now.
    Failed,
}

/// An error, as the API returns it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct ApiError {
    /// The kind of the error.
    pub(super) error: ApiErrorKind,
    /// The error as text for people.
    pub(super) message: String,
}

impl ApiError {
    pub(super) fn new(error: ApiErrorKind, message: impl Into<String>) -> ApiError {
        ApiError { error, message: message.into() }
    }

    /// Returns the HTTP status of the error.
    pub(super) fn status(&self) -> StatusCode {
        match self.error {
            ApiErrorKind::Unauthorized => StatusCode::UNAUTHORIZED,
            ApiErrorKind::ForeignOrigin => StatusCode::FORBIDDEN,
            ApiErrorKind::Unknown => StatusCode::NOT_FOUND,
            ApiErrorKind::Invalid => StatusCode::BAD_REQUEST,
            ApiErrorKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ApiErrorKind::Conflict => StatusCode::CONFLICT,
            ApiErrorKind::Failed => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

impl From<DashboardError> for ApiError {
    fn from(error: DashboardError) -> ApiError {
        let kind = match &error {
            DashboardError::Unknown(_) => ApiErrorKind::Unknown,
            DashboardError::Invalid(_) => ApiErrorKind::Invalid,
            DashboardError::Conflict(_) => ApiErrorKind::Conflict,
            DashboardError::Failed(cause) => {
                let is_unreachable = queues::is_unreachable(cause);
                tracing::warn!(%error, is_unreachable, "a request of the dashboard failed");
                ApiErrorKind::Failed
            }
        };
        ApiError::new(kind, error.to_string())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = self.status();
        let value = serde_json::to_value(&self).unwrap_or_default();
        let mut response = json(status, &value);
        if status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

/// Returns a JSON answer. Credentials are redacted, and invisible characters are escaped.
pub(super) fn json(status: StatusCode, value: &Value) -> Response {
    let text = assay_rules::redact(&value.to_string()).into_owned();
    let text = escape_json(text) + "\n";
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (status, PRIVATE_HEADERS, kind, text).into_response()
}

/// Redirects a browser to a path, which it reads by GET.
pub(super) fn redirect(path: &str, cookie: Option<&str>) -> Response {
    let mut response = (StatusCode::SEE_OTHER, PRIVATE_HEADERS).into_response();
    let headers = response.headers_mut();
    let path = HeaderValue::try_from(path).unwrap_or(HeaderValue::from_static("/"));
    headers.insert(header::LOCATION, path);
    if let Some(Ok(cookie)) = cookie.map(HeaderValue::try_from) {
        headers.insert(header::SET_COOKIE, cookie);
    }
    response
}
