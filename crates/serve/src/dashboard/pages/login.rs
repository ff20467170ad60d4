//! Signing in: the token becomes a session, and signing out ends it.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};

use super::super::DashboardService;
use super::super::answer::redirect;
use super::super::api::read_body;
use super::super::form::{find, parse_pairs};
use super::frame::{self, PageContent, PageContext};

/// Shows the form that asks for the token.
pub(super) async fn show(
    State(service): State<Arc<DashboardService>>,
    request: Request,
) -> Response {
    let pairs = parse_pairs(request.uri().query().unwrap_or_default());
    let next = local_path(find(&pairs, "next"));
    let content = PageContent::new("Sign in", form(&next, None));
    frame::answer(&signed_out(&service), &content)
}

/// Checks the token of the form, and starts a session.
pub(super) async fn start(
    State(service): State<Arc<DashboardService>>,
    request: Request,
) -> Response {
    let body = match read_body(request).await {
        Ok(body) => body,
        Err(error) => return error.into_response(),
    };
    let pairs = parse_pairs(&String::from_utf8_lossy(&body));
    let next = local_path(find(&pairs, "next"));
    let given = find(&pairs, "token").map(str::trim).unwrap_or_default();
    let token = service.access.token.as_ref();
    if !token.is_none_or(|token| token.matches(given)) {
        let content = PageContent::new("Sign in", form(&next, Some("The token is wrong.")));
        return frame::answer_with(StatusCode::UNAUTHORIZED, &signed_out(&service), &content);
    }
    match service.sessions.start() {
        Ok(cookie) => redirect(&next, Some(&cookie)),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    }
}

/// Ends the session.
pub(super) async fn end(State(service): State<Arc<DashboardService>>) -> Response {
    redirect("/login", Some(&service.sessions.end()))
}

/// Returns a path of this server; `/` for every other text, so that no form leads elsewhere.
pub(super) fn local_path(text: Option<&str>) -> String {
    let is_plain = |path: &&str| path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let local = text.filter(|path| path.starts_with('/') && !path.starts_with("//"));
    local.filter(is_plain).unwrap_or("/").to_owned()
}

fn signed_out(service: &DashboardService) -> PageContext {
    PageContext {
        repository: service.dashboard.name(),
        path: "/login".to_owned(),
        form_token: String::new(),
        now: service.dashboard.now(),
    }
}

fn form(next: &str, error: Option<&str>) -> Markup {
    html! {
        section.part.login {
            h1 { "Sign in" }
            @if let Some(error) = error { p.message role="alert" { (error) } }
            p { "The token is in the file that " code { "assay serve" }
                " names when it starts, by default " code { ".assay/serve/token" } "." }
            form.form method="post" action="/login" {
                input type="hidden" name="next" value=(next);
                label { "Token" input type="password" name="token" required autofocus
                    autocomplete="current-password"; }
                button.main { "Sign in" }
            }
            p.dim { "Signed in before? " a href=(next) { "Continue" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_server_are_followed() {
        assert_eq!(local_path(Some("/runs?after=1")), "/runs?after=1");
        for other in [
            "", "runs", "//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nb",
            "/é",
        ] {
            assert_eq!(local_path(Some(other)), "/", "{other}");
        }
        assert_eq!(local_path(None), "/");
    }
}
