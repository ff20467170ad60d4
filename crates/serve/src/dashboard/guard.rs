//! The checks of every request: [`require_same_origin`] and [`require_access`].

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::DashboardService;
use super::answer::{ApiError, ApiErrorKind};

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

/// Lets requests through that carry the token.
pub(super) async fn require_access(
    State(service): State<Arc<DashboardService>>,
    request: Request,
    next: Next,
) -> Response {
    match service.access.is_authorized(request.headers()) {
        true => next.run(request).await,
        false => {
            let message = "the header `Authorization: Bearer TOKEN` is missing or wrong";
            ApiError::new(ApiErrorKind::Unauthorized, message).into_response()
        }
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
