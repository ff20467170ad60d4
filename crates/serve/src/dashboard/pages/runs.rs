//! The list of runs.

use assay_engine::dashboard::run_views::{RunListQuery, RunView};
use assay_engine::dashboard::{Dashboard, DashboardError};
use assay_html::section::section;
use assay_html::table::{HtmlTable, TableColumn};
use maud::{Markup, html};

use super::super::form::{from_pairs, parse_pairs};
use super::PageRequest;
use super::frame::{PageContent, PageContext, empty, next_page, usd};

/// The sentence in place of runs.
pub(super) const NO_RUN: &str = "No review is stored; `assay review` stores each review.";

pub(super) fn content(
    dashboard: &Dashboard,
    request: &PageRequest,
) -> Result<PageContent, DashboardError> {
    let mark = dashboard.view(request.until)?.mark;
    let pairs = parse_pairs(&request.query);
    let query: RunListQuery = from_pairs(pairs.clone())?;
    let list = dashboard.runs(&query)?;
    let main = html! {
        h1.hidden-text { "Runs" }
        div #runs data-live {
            (section("runs-part", "Reviews, the newest first", &html! {
                (run_table(&request.context, &list.runs))
                (next_page("/runs", &pairs, list.next.as_deref()))
            }))
        }
    };
    Ok(PageContent { title: "Runs".to_owned(), mark: Some(mark.0), main })
}

/// Renders runs as a table.
pub(super) fn run_table(context: &PageContext, runs: &[RunView]) -> Markup {
    if runs.is_empty() {
        return empty(NO_RUN);
    }
    let columns = [
        TableColumn::text("Run"),
        TableColumn::text("Change"),
        TableColumn::text("Verdict"),
        TableColumn::number("Findings"),
        TableColumn::number("Cost"),
        TableColumn::text("Age"),
    ];
    let rows = runs.iter().map(|run| {
        vec![
            html! { a href={ "/runs/" (run.id) } { (run.id) } },
            html! { (run.change) @if let Some(branch) = &run.branch { " " span.dim { (branch) } } },
            verdict(run),
            html! { (run.findings) },
            html! { (cost(run)) },
            context.age(&run.at),
        ]
    });
    HtmlTable { caption: "Reviews", columns: &columns, rows: rows.collect() }.render()
}

/// Renders the verdict of a run. A review that is not complete is never shown as a success.
pub(super) fn verdict(run: &RunView) -> Markup {
    let is_ready = run.complete && run.verdict.starts_with("ready");
    html! {
        span.good[is_ready].critical[!is_ready] { (run.verdict) }
        @if !run.complete { " " span.dim { "(incomplete)" } }
    }
}

/// Returns the cost of a run, or the reason that it is not known.
pub(super) fn cost(run: &RunView) -> String {
    match (run.cost.usd, run.cost.calls) {
        (_, 0) => "–".to_owned(),
        (Some(amount), _) if run.cost.at_most => format!("at most {}", usd(amount)),
        (Some(amount), _) => usd(amount),
        (None, _) => "price unknown".to_owned(),
    }
}
