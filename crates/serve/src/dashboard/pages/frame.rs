//! The layout of pages, and the parts that pages share.

use std::sync::Arc;

use assay_base::percent::encode_segment;
use assay_engine::dashboard::DashboardError;
use assay_engine::wording::elapsed;
use assay_html::filter::FILTER_SCRIPT;
use assay_html::page::{HtmlPage, NavigationLink, PageRequests};
use assay_html::section::prose;
pub(super) use assay_html::section::time;
use assay_html::severity::{SeverityTone, badge};
use axum::extract::Request;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use maud::{Markup, html};

use super::super::DashboardService;
use super::super::answer::{ApiError, PRIVATE_HEADERS};

const STYLE: &str = include_str!("../assets/dashboard.css");
const SCRIPT: &str = include_str!("../assets/dashboard.js");

/// The sentence in place of a list of the ledger.
pub(super) const LEDGER_PENDING: &str = "The ledger is being read.";

/// The sentence in place of statistics.
pub(super) const STATISTICS_PENDING: &str = "The statistics are being computed.";

/// The pages in the navigation.
const NAVIGATION: [(&str, &str); 8] = [
    ("/", "Now"),
    ("/runs", "Runs"),
    ("/findings", "Findings"),
    ("/loops", "Loops"),
    ("/gates", "Gates"),
    ("/reviewers", "Reviewers"),
    ("/spend", "Spend"),
    ("/audit", "Actions"),
];

/// The repository, the page and the session of a request.
#[derive(Debug, Clone)]
pub(super) struct PageContext {
    /// The name of the repository.
    pub(super) repository: String,
    /// The path of the page, with its query.
    pub(super) path: String,
    /// The token that forms have to carry; empty without a session.
    pub(super) form_token: String,
    /// The time of the request.
    pub(super) now: Timestamp,
}

impl PageContext {
    pub(super) fn of(service: &Arc<DashboardService>, request: &Request) -> PageContext {
        let session = service.sessions.find(request.headers());
        let token = session.map(|session| service.sessions.form_token(&session));
        PageContext {
            repository: service.dashboard.name(),
            path: request.uri().path_and_query().map(ToString::to_string).unwrap_or_default(),
            form_token: token.unwrap_or_default(),
            now: service.dashboard.now(),
        }
    }

    /// Renders the time that has passed since a time, such as `4 min`. The script of the page keeps
    /// the text current.
    pub(super) fn age(&self, at: &str) -> Markup {
        let Ok(then) = at.parse::<Timestamp>() else { return time(at) };
        html! { time datetime=(at) title=(at) data-age { (elapsed(then, self.now)) } }
    }

    /// Renders a button that carries out an action on a target.
    pub(super) fn button(&self, action: &str, target: &str, text: &str) -> Markup {
        let label = format!("{text} {target}");
        self.form(action, target, &html! { button aria-label=(label) { (text) } })
    }

    /// Renders a form of an action with its fields. Without a session there is no form.
    pub(super) fn form(&self, action: &str, target: &str, fields: &Markup) -> Markup {
        let address = format!("/actions/{action}/{}", encode_segment(target));
        html! {
            @if !self.form_token.is_empty() {
                form method="post" action=(address) {
                    input type="hidden" name="form_token" value=(self.form_token);
                    input type="hidden" name="next" value=(self.path);
                    (fields)
                }
            }
        }
    }
}

/// The title and content of a page.
pub(super) struct PageContent {
    /// The title.
    pub(super) title: String,
    /// The mark of the state that the page shows; `None` if the page does not change.
    pub(super) mark: Option<String>,
    /// The content. Parts with the attribute `data-live` and an id are replaced after changes.
    pub(super) main: Markup,
}

impl PageContent {
    pub(super) fn new(title: impl Into<String>, main: Markup) -> PageContent {
        PageContent { title: title.into(), mark: None, main }
    }
}

pub(super) fn answer(context: &PageContext, content: &PageContent) -> Response {
    answer_with(StatusCode::OK, context, content)
}

/// Renders an error as a page.
pub(super) fn error(context: &PageContext, error: DashboardError) -> Response {
    let error = ApiError::from(error);
    let main = html! {
        section.part {
            h1 { "This page cannot be shown" }
            p.message role="alert" { (error.message) }
            p { a href="/" { "Back to the first page" } }
        }
    };
    answer_with(error.status(), context, &PageContent::new("Error", main))
}

pub(super) fn answer_with(
    status: StatusCode,
    context: &PageContext,
    content: &PageContent,
) -> Response {
    let page = page(context, content);
    // The element `meta` cannot forbid frames.
    let policy = page.content_security_policy() + "; frame-ancestors 'none'";
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    let policy = [(header::CONTENT_SECURITY_POLICY, policy)];
    (status, PRIVATE_HEADERS, headers, policy, page.render()).into_response()
}

fn page(context: &PageContext, content: &PageContent) -> HtmlPage {
    let has_session = !context.form_token.is_empty();
    let main = html! {
        div.stack data-mark=[content.mark.as_deref()] data-now=(context.now) { (content.main) }
    };
    let mut page = HtmlPage::new(format!("{} · {}", content.title, context.repository), main);
    page.header = html! {
        p.name { "assay" }
        p.about { (context.repository) }
        @if content.mark.is_some() { p.live data-live-status role="status" {} }
    };
    if has_session {
        page.navigation = NAVIGATION.map(|link| navigation_link(context, link)).into();
    }
    page.footer = html! {
        @if has_session {
            a href="/api" { "HTTP API" } " · "
            form.actions method="post" action="/logout" { button { "Sign out" } }
        }
    };
    page.styles = vec![STYLE];
    page.scripts = vec![FILTER_SCRIPT, SCRIPT];
    page.requests = PageRequests::SameOrigin;
    page
}

fn navigation_link(context: &PageContext, (address, text): (&str, &str)) -> NavigationLink {
    let path = context.path.split('?').next().unwrap_or_default();
    let is_below = path.strip_prefix(address).is_some_and(|rest| rest.starts_with('/'));
    let is_current = path == address || (address != "/" && is_below);
    NavigationLink { is_current, ..NavigationLink::new(address, text) }
}

/// Renders the badge of a severity.
pub(super) fn severity(impact: u8, word: &str) -> Markup {
    badge(SeverityTone::from_impact(impact), word)
}

/// Formats a share as per cent.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", share * 100.0))
}

/// Formats dollars.
pub(super) fn usd(amount: f64) -> String {
    if amount > 0.0 && amount < 0.1 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}

/// Renders a sentence in place of an empty list.
pub(super) fn empty(text: &str) -> Markup {
    html! { p.empty { (prose(text)) } }
}

/// Renders a sentence in place of a part that is not read yet. An event brings the part in.
pub(super) fn pending(text: &str) -> Markup {
    html! { p.empty role="status" { (text) } }
}

/// Renders the link to the next page of a list.
pub(super) fn next_page(address: &str, pairs: &[(String, String)], next: Option<&str>) -> Markup {
    let Some(next) = next else { return Markup::default() };
    let kept = pairs.iter().filter(|(name, _)| name != "after");
    let kept = kept.map(|(name, value)| (name.as_str(), value.as_str()));
    let all: Vec<String> = kept
        .chain([("after", next)])
        .map(|(name, value)| format!("{}={}", encode_segment(name), encode_segment(value)))
        .collect();
    html! { p.pages { a.button rel="next" href={ (address) "?" (all.join("&")) } { "Next page" } } }
}
