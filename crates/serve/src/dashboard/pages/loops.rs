//! The list of validation loops.

use assay_base::percent::encode_segment;
use assay_engine::dashboard::{Dashboard, DashboardError};
use assay_engine::loop_page::{status_words, tone};
use assay_engine::loop_views::LoopView;
use assay_html::section::{prose, section, time};
use assay_html::table::{HtmlTable, TableColumn};
use maud::{Markup, html};

use super::PageRequest;
use super::frame::{PageContent, empty};

pub(super) fn content(
    dashboard: &Dashboard,
    _: &PageRequest,
) -> Result<PageContent, DashboardError> {
    let list = dashboard.loops()?;
    let main = html! {
        h1.hidden-text { "Loops" }
        (section("loops", "Validation loops", &loop_table(&list.loops)))
    };
    Ok(PageContent::new("Loops", main))
}

fn loop_table(loops: &[LoopView]) -> Markup {
    if loops.is_empty() {
        return empty("There is no spec in `specs`; `assay qa --spec NAME` validates one.");
    }
    let columns = [
        TableColumn::text("Loop"),
        TableColumn::text("Status"),
        TableColumn::number("Rounds"),
        TableColumn::number("Criteria met"),
        TableColumn::number("Open issues"),
        TableColumn::text("Last round"),
    ];
    let rows = loops.iter().map(row).collect();
    HtmlTable { caption: "Validation loops", columns: &columns, rows }.render()
}

fn row(entry: &LoopView) -> Vec<Markup> {
    vec![
        html! { a href={ "/loops/" (encode_segment(&entry.id)) } { (entry.id) } },
        html! {
            span.(tone(&entry.status)) { (status_words(&entry.status)) }
            @if let Some(reason) = &entry.reason { ": " (prose(reason)) }
        },
        html! { (entry.rounds) },
        html! { (entry.criteria_met) " of " (entry.criteria) },
        html! { (entry.open_issues) },
        html! { @match &entry.last_check { Some(at) => (time(at)), None => "–" } },
    ]
}
