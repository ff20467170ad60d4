//! Actions by forms: each form carries the token of its session.

use std::sync::Arc;

use assay_engine::dashboard::DashboardError;
use assay_engine::dashboard::actions::{
    DashboardAction, DismissalInput, GateAcceptInput, LoopSignOffInput,
};
use assay_engine::dashboard::audit_log::ActionOrigin;
use axum::extract::{RawPathParams, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use maud::html;

use super::super::DashboardService;
use super::super::answer::redirect;
use super::super::api::read_body;
use super::super::form::{find, parse_pairs};
use super::frame::{self, PageContent, PageContext};
use super::login::local_path;

pub(super) async fn answer(
    State(service): State<Arc<DashboardService>>,
    parameters: RawPathParams,
    request: Request,
) -> Response {
    let parameter = |name: &str| {
        let found = parameters.iter().find(|(own, _)| *own == name);
        found.map(|(_, value)| value.to_owned()).unwrap_or_default()
    };
    let (name, id) = (parameter("action"), parameter("id"));
    let context = PageContext::of(&service, &request);
    let headers = request.headers().clone();
    let body = match read_body(request).await {
        Ok(body) => body,
        Err(error) => return error.into_response(),
    };
    let pairs = parse_pairs(&String::from_utf8_lossy(&body));
    if !is_own_form(&service, &headers, &pairs) {
        return refuse(&context);
    }
    let done = match parse_action(&name, id, &pairs) {
        Ok(action) => {
            service.run(move |dashboard| dashboard.act(&action, ActionOrigin::Page)).await
        }
        Err(error) => Err(error),
    };
    match done {
        Ok(_) => redirect(&local_path(find(&pairs, "next")), None),
        Err(error) => frame::error(&context, error),
    }
}

/// Returns true if a form of this server sent the request: the browser names the origin, and the
/// form has the token of the session.
fn is_own_form(
    service: &DashboardService,
    headers: &HeaderMap,
    pairs: &[(String, String)],
) -> bool {
    let session = service.sessions.find(headers);
    let token = find(pairs, "form_token").unwrap_or_default();
    let is_signed = session.is_some_and(|session| service.sessions.is_form_token(&session, token));
    // Another origin was refused before; a missing one is not a form of a browser.
    headers.contains_key(header::ORIGIN) && is_signed
}

fn refuse(context: &PageContext) -> Response {
    let main = html! {
        section.part {
            h1 { "The form was refused" }
            p.message role="alert" {
                "The form does not belong to your session. Open the page again, and retry."
            }
            p { a href="/" { "Back to the first page" } }
        }
    };
    let content = PageContent::new("Refused", main);
    frame::answer_with(StatusCode::FORBIDDEN, context, &content)
}

fn parse_action(
    name: &str,
    id: String,
    pairs: &[(String, String)],
) -> Result<DashboardAction, DashboardError> {
    let field = |name: &str| find(pairs, name).map(str::to_owned);
    match name {
        "task.retry" => Ok(DashboardAction::RetryTask(id)),
        "task.cancel" => Ok(DashboardAction::CancelTask(id)),
        "agent.pause" => Ok(DashboardAction::PauseAgent(id)),
        "agent.resume" => Ok(DashboardAction::ResumeAgent(id)),
        "finding.dismiss" => {
            let reason = field("reason").unwrap_or_default();
            let input = DismissalInput { reason, until: field("until") };
            Ok(DashboardAction::DismissFinding(id, input))
        }
        "finding.reopen" => Ok(DashboardAction::ReopenFinding(id)),
        "loop.sign-off" => {
            let (about, because, tree) = (field("for"), field("because"), field("tree"));
            let input = LoopSignOffInput { by: field("by"), about, because, tree };
            Ok(DashboardAction::SignOffLoop(id, input))
        }
        "gate.accept" => {
            let (item, reason) = (field("item"), field("reason"));
            let (item, reason) = (item.unwrap_or_default(), reason.unwrap_or_default());
            Ok(DashboardAction::AcceptGateItem(
                id,
                GateAcceptInput { item, reason, by: field("by") },
            ))
        }
        other => Err(DashboardError::Unknown(format!("unknown action {other:?}"))),
    }
}
