//! The icon of the pages in the tabs of a browser.

use axum::http::header;
use axum::response::{IntoResponse as _, Response};

/// The address that browsers request without a link.
pub(super) const PATH: &str = "/favicon.ico";

/// A check mark on a dark square.
const ICON: &str = concat!(
    r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">"#,
    r##"<rect width="16" height="16" rx="3" fill="#1f2937"/>"##,
    r##"<path d="M4 8.5 7 11.5 12 5" fill="none" stroke="#34d399" stroke-width="2"/></svg>"##,
);

/// Answers with the icon, which contains nothing about the repository and needs no session.
pub(super) async fn answer() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "image/svg+xml"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
    ];
    (headers, ICON).into_response()
}
