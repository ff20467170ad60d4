//! Screenshots of validation loops as images.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};

use super::DashboardService;
use super::answer::{ApiError, PRIVATE_HEADERS};

/// The address of a screenshot: the loop, the round and the file.
pub(super) const PATH: &str = "/loops/{id}/screenshots/{round}/{file}";

/// Answers with a screenshot. A browser that opens the image as a page runs nothing in it.
pub(super) async fn answer(
    State(service): State<Arc<DashboardService>>,
    Path((id, round, file)): Path<(String, String, String)>,
) -> Response {
    let image = service.run(move |dashboard| dashboard.screenshot(&id, &round, &file)).await;
    let headers = [
        (header::CONTENT_TYPE, "image/png"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
    ];
    match image {
        Ok(bytes) => (PRIVATE_HEADERS, headers, bytes).into_response(),
        Err(error) => ApiError::from(error).into_response(),
    }
}
