//! The checks of every request: [`require_same_origin`], [`require_access`] for programs, and
//! [`require_session`] for pages.

use std::sync::Arc;

use assay_base::percent::encode_segment;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::DashboardService;
use super::answer::{ApiError, ApiErrorKind, redirect};

/// Refuses requests that scripts or forms of another origin send. The check does not depend on
/// cookies or tokens.
pub(super) async fn require_same_origin(request: Request, next: Next) -> Response {
    match is_same_origin(request.headers()) {
        true => next.run(request).await,
        false => {
            let message = "the header `Origin` names another origin than this server";
            ApiError::new(ApiErrorKind::ForeignOrigin, message).into_response()
        }
    }
}

/// Returns true if a request has no origin, or the origin of the host that it is sent to.
fn is_same_origin(headers: &HeaderMap) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let Some(origin) = origins.next() else { return true };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let authority = origin.to_str().ok().and_then(|origin| {
        origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))
    });
    let is_own = host.zip(authority).is_some_and(|(host, own)| host.eq_ignore_ascii_case(own));
    is_own && origins.next().is_none()
}

/// Lets requests through that carry the token. A request that only reads may have a session
/// instead, so that scripts of the dashboard can send it.
pub(super) async fn require_access(
    State(service): State<Arc<DashboardService>>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let has_session = || reads && service.sessions.find(headers).is_some();
    match service.access.is_authorized(headers) || has_session() {
        true => next.run(request).await,
        false => {
            let message = "the header `Authorization: Bearer TOKEN` is missing or wrong";
            ApiError::new(ApiErrorKind::Unauthorized, message).into_response()
        }
    }
}

/// Lets requests with a session, or with the token, through. A browser without a session is led to
/// the page on which it signs in.
pub(super) async fn require_session(
    State(service): State<Arc<DashboardService>>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    if service.sessions.find(headers).is_some() || service.access.is_authorized(headers) {
        return next.run(request).await;
    }
    match *request.method() {
        Method::GET | Method::HEAD => {
            let path = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
            redirect(&format!("/login?next={}", encode_segment(&path)), None)
        }
        _ => ApiError::new(ApiErrorKind::Unauthorized, "the session has ended; sign in again")
            .into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_own_origin_or_none_is_accepted() {
        let check = |origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, "box.example:8787".parse().unwrap());
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().unwrap());
            }
            is_same_origin(&headers)
        };
        assert!(check(None));
        assert!(check(Some("http://box.example:8787")));
        assert!(check(Some("https://Box.example:8787")));
        for foreign in [
            "null",
            "",
            "http://box.example",
            "http://box.example:8788",
            "https://evil.example",
            "http://box.example:8787.evil.example",
            "ftp://box.example:8787",
        ] {
            assert!(!check(Some(foreign)), "{foreign}");
        }
    }
}
