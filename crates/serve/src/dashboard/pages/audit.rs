//! The record of actions.

use assay_engine::dashboard::audit_log::{ActionOrigin, AuditEntry};
use assay_engine::dashboard::{Dashboard, DashboardError};
use assay_html::section::section;
use assay_html::table::{HtmlTable, TableColumn};
use maud::{Markup, html};

use super::PageRequest;
use super::frame::{PageContent, empty, time};

/// The number of actions on the page.
const MAX_ENTRIES: usize = 100;

pub(super) fn content(
    dashboard: &Dashboard,
    _: &PageRequest,
) -> Result<PageContent, DashboardError> {
    let entries = dashboard.audit(MAX_ENTRIES)?.entries;
    let main = html! {
        h1.hidden-text { "Actions" }
        (section("actions", "Actions of users, the newest first", &table(&entries)))
    };
    Ok(PageContent::new("Actions", main))
}

fn table(entries: &[AuditEntry]) -> Markup {
    if entries.is_empty() {
        return empty("No action was requested yet.");
    }
    let columns = ["Action", "Target", "By", "Reason", "Result", "Time"].map(TableColumn::text);
    let rows = entries.iter().map(|entry| {
        let via = match entry.via {
            ActionOrigin::Page => "page",
            ActionOrigin::Api => "API",
        };
        vec![
            html! { span.state { (entry.action) } },
            html! {
                code { (entry.target) }
                @if let Some(about) = &entry.about { " " (about) }
            },
            html! {
                (entry.by) " " span.dim { (via) }
                @if let Some(signer) = &entry.signer { " as " (signer) }
            },
            html! { (entry.reason.as_deref().unwrap_or("–")) },
            html! { span.critical[entry.result != "ok"] { (entry.result) } },
            time(&entry.at),
        ]
    });
    HtmlTable { caption: "Actions", columns: &columns, rows: rows.collect() }.render()
}
