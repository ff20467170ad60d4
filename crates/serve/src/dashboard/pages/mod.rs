//! The pages of the dashboard. A page is made on the server and can be read without scripts.
//!
//! Each module renders one page from values of [`assay_engine::dashboard`]. [`frame`] has the layout
//! and the parts that pages share; [`login`] turns the token into a session, and [`action_form`]
//! carries out the actions of forms.

mod action_form;
mod api_reference;
mod audit;
mod calibration;
mod finding;
mod findings;
mod frame;
mod gate;
mod gates;
mod login;
mod loop_detail;
mod loops;
mod now;
mod reviewers;
mod run;
mod runs;
mod spend;
mod task;

use std::sync::Arc;

use assay_base::clock::Deadline;
use assay_engine::dashboard::{Dashboard, DashboardError};
use axum::Router;
use axum::extract::{RawPathParams, Request, State};
use axum::http::header;
use axum::middleware;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, get, post};
use maud::Markup;

use self::frame::{PageContent, PageContext};
use super::DashboardService;
use super::answer::ApiError;
use super::guard;

/// The parts of a request that a page uses.
struct PageRequest {
    /// The id in the path; empty if the path has none.
    id: String,
    query: String,
    context: PageContext,
    /// The end of the time that the page may wait.
    until: Deadline,
}

type Render = fn(&Dashboard, &PageRequest) -> Result<PageContent, DashboardError>;

/// Returns the routes of all pages, and the answer to all other addresses.
pub(super) fn routes(service: &Arc<DashboardService>) -> Router<Arc<DashboardService>> {
    let session = middleware::from_fn_with_state(service.clone(), guard::require_session);
    Router::new()
        .route("/", page(now::content))
        .route("/runs", page(runs::content))
        .route("/runs/{id}", page(run::content))
        .route("/findings", page(findings::content))
        .route("/findings/{id}", page(finding::content))
        .route("/loops", page(loops::content))
        .route("/loops/{id}", page(loop_detail::content))
        .route("/gates", page(gates::content))
        .route("/gates/{id}", page(gate::content))
        .route("/reviewers", page(reviewers::content))
        .route("/spend", page(spend::content))
        .route("/tasks/{id}", page(task::content))
        .route("/audit", page(audit::content))
        .route("/api", page(api_reference::content))
        .route("/actions/{action}/{id}", post(action_form::answer))
        .route("/logout", post(login::end))
        .layer(session)
        .route("/login", get(login::show).post(login::start))
        .fallback(not_found)
}

fn page(render: Render) -> MethodRouter<Arc<DashboardService>> {
    let handler = move |State(service): State<Arc<DashboardService>>,
                        parameters: RawPathParams,
                        request: Request| async move {
        let id = parameters.iter().next().map(|(_, id)| id.to_owned()).unwrap_or_default();
        let query = request.uri().query().unwrap_or_default().to_owned();
        let context = PageContext::of(&service, &request);
        let until = Deadline::after(service.page_wait);
        show(&service, render, PageRequest { id, query, context, until }).await
    };
    get(handler)
}

/// Answers a request for an address that does not exist: with a page if the client reads pages.
async fn not_found(State(service): State<Arc<DashboardService>>, request: Request) -> Response {
    let text = format!("there is nothing at the address `{}`", request.uri().path());
    let error = DashboardError::Unknown(text);
    let accepted = request.headers().get(header::ACCEPT).and_then(|own| own.to_str().ok());
    if accepted.is_some_and(|types| types.contains("text/html")) {
        return frame::error(&PageContext::of(&service, &request), error);
    }
    ApiError::from(error).into_response()
}

async fn show(service: &DashboardService, render: Render, request: PageRequest) -> Response {
    let context = request.context.clone();
    let content = service.run(move |dashboard| render(dashboard, &request)).await;
    match content {
        Ok(content) => frame::answer(&context, &content),
        Err(error) => frame::error(&context, error),
    }
}

/// Renders nothing, for optional parts.
fn nothing() -> Markup {
    Markup::default()
}
