//! The list of quality gates.

use assay_engine::dashboard::gate_views::{GateCountsView, GateView};
use assay_engine::dashboard::{Dashboard, DashboardError};
use assay_html::section::{prose, section};
use assay_html::table::{HtmlTable, TableColumn};
use maud::{Markup, html};

use super::PageRequest;
use super::frame::{PageContent, empty};

pub(super) fn content(
    dashboard: &Dashboard,
    _: &PageRequest,
) -> Result<PageContent, DashboardError> {
    let list = dashboard.gates()?;
    let main = html! {
        h1.hidden-text { "Gates" }
        (section("gates", "Quality gates", &gate_table(&list.gates)))
    };
    Ok(PageContent::new("Gates", main))
}

fn gate_table(gates: &[GateView]) -> Markup {
    if gates.is_empty() {
        return empty("There is no gate; `assay gate decompose --phase PHASE` creates one.");
    }
    let columns = [
        TableColumn::text("Phase"),
        TableColumn::text("Status"),
        TableColumn::text("Items"),
        TableColumn::number("Iteration"),
        TableColumn::text("Plan"),
    ];
    let rows = gates.iter().map(row).collect();
    HtmlTable { caption: "Quality gates", columns: &columns, rows }.render()
}

fn row(gate: &GateView) -> Vec<Markup> {
    vec![
        html! { a href={ "/gates/" (gate.phase) } { (gate.phase) } },
        outcome(gate),
        html! { (counts(&gate.items)) },
        html! { (gate.iteration) },
        html! { span.mono { (gate.plan.as_deref().unwrap_or("–")) } },
    ]
}

/// Renders the outcome of a gate.
pub(super) fn outcome(gate: &GateView) -> Markup {
    html! { span.(tone(gate)) { (prose(&gate.summary)) } }
}

/// Returns the class of an outcome: its colour.
pub(super) fn tone(gate: &GateView) -> &'static str {
    match gate.outcome.as_str() {
        "pass" => "good",
        "open" => "medium",
        _ => "critical",
    }
}

/// Returns the numbers of items in words.
pub(super) fn counts(items: &GateCountsView) -> String {
    let GateCountsView { total, pass, fail, todo, waived, accepted } = *items;
    let mut text = format!("{total}: {pass} PASS, {fail} FAIL, {todo} TODO");
    for (number, word) in [(waived, "waived"), (accepted, "accepted")] {
        if number > 0 {
            text.push_str(&format!(", {number} {word}"));
        }
    }
    text
}
