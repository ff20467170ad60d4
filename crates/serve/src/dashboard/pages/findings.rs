//! The findings of the ledger: trends, files, categories, and a list with a filter.

use assay_engine::dashboard::finding_views::{FindingListQuery, FindingView};
use assay_engine::dashboard::{Dashboard, DashboardError, DashboardStatistics};
use assay_engine::finding_statistics::{GroupStatistics, Timeline};
use assay_engine::trend_chart;
use assay_findings::grade::SEVEN_LEVELS;
use assay_html::chart::{BarChart, ChartBar, HeatMap, HeatRow};
use assay_html::number::grouped;
use assay_html::section::{path, section};
use assay_html::table::{HtmlTable, TableColumn};
use maud::{Markup, html};

use super::super::form::{from_pairs, parse_pairs};
use super::PageRequest;
use super::frame::{
    LEDGER_PENDING, PageContent, PageContext, STATISTICS_PENDING, empty, next_page, pending,
    severity,
};
use super::runs::NO_RUN;

/// The number of files in the heat map, and of categories.
const MAX_ROWS: usize = 15;

/// The maximum length of a category in a table, in characters; a reviewer may use any text.
const MAX_CATEGORY: usize = 24;

/// The sentence in place of open findings.
pub(super) const NO_OPEN_FINDING: &str = "No finding is open.";

pub(super) fn content(
    dashboard: &Dashboard,
    request: &PageRequest,
) -> Result<PageContent, DashboardError> {
    let view = dashboard.view(request.until)?;
    let pairs = parse_pairs(&request.query);
    let query: FindingListQuery = from_pairs(pairs.clone())?;
    let list = dashboard.findings_by(&query, request.until)?;
    let statistics = view.statistics?;
    let has_runs = statistics.as_ref().is_none_or(|it| it.overview.runs.total > 0);
    let main = html! {
        h1.hidden-text { "Findings" }
        div #list data-live {
            (section("findings-list", "Findings", &html! {
                (filter(&query))
                @match &list {
                    Some(list) => {
                        @if list.findings.is_empty() { (no_finding(&query, has_runs)) }
                        @else {
                            (finding_table(&request.context, FindingColumns::Full, "Findings",
                                &list.findings))
                        }
                        (next_page("/findings", &pairs, list.next.as_deref()))
                    }
                    None => { (pending(LEDGER_PENDING)) }
                }
            }))
        }
        div.grid #charts data-live { (charts(statistics.as_deref())) }
    };
    Ok(PageContent { title: "Findings".to_owned(), mark: Some(view.mark.0), main })
}

/// The columns of a table of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FindingColumns {
    /// The columns that differ among open findings, for a narrow part of a page.
    Short,
    /// All columns.
    Full,
}

/// Renders findings as a table.
pub(super) fn finding_table(
    context: &PageContext,
    columns: FindingColumns,
    caption: &str,
    findings: &[FindingView],
) -> Markup {
    let headings: &[&str] = match columns {
        FindingColumns::Short => &["Finding", "Severity", "Age"],
        FindingColumns::Full => &["Finding", "Severity", "State", "Place", "Category", "Age"],
    };
    let headings: Vec<TableColumn<'_>> = headings.iter().copied().map(TableColumn::text).collect();
    let rows = findings.iter().map(|finding| {
        let title = html! { a href={ "/findings/" (finding.id) } { (finding.heading()) } };
        let place = html! { span.mono { (path(&finding.place())) } };
        let severity = severity(finding.impact, &finding.severity);
        let age = context.age(&finding.first_seen);
        match columns {
            FindingColumns::Short => {
                vec![html! { (title) br; span.dim { (place) } }, severity, age]
            }
            FindingColumns::Full => {
                let state = html! { span.state { (finding.state) } };
                vec![title, severity, state, place, word(&finding.category), age]
            }
        }
    });
    HtmlTable { caption, columns: &headings, rows: rows.collect() }.render()
}

/// Renders a category, which is not broken within a word.
fn word(category: &str) -> Markup {
    let length = category.chars().count();
    let start = category.chars().take(MAX_CATEGORY).collect::<String>();
    html! {
        @if length > MAX_CATEGORY { span.name title=(category) { (start) "…" } }
        @else { span.name { (category) } }
    }
}

/// Renders the sentence in place of an empty list of findings.
fn no_finding(query: &FindingListQuery, has_runs: bool) -> Markup {
    if !has_runs {
        return empty(NO_RUN);
    }
    match *query == FindingListQuery::default() {
        true => empty(NO_OPEN_FINDING),
        false => empty("No finding matches the filter."),
    }
}

fn filter(query: &FindingListQuery) -> Markup {
    let state = query.state.as_deref().unwrap_or("open");
    let chosen = query.severity.as_deref().unwrap_or_default();
    let field = |name: &str, label: &str, value: &Option<String>| {
        html! { label { (label) input name=(name) value=(value.as_deref().unwrap_or_default()); } }
    };
    html! {
        form.fields method="get" action="/findings" role="search" aria-label="Filter findings" {
            label { "State" select name="state" {
                @for word in ["open", "gone", "dismissed", "all"] {
                    option value=(word) selected[word == state] { (word) }
                }
            } }
            label { "Severity at least" select name="severity" {
                option value="" { "any" }
                @for word in SEVEN_LEVELS {
                    option value=(word) selected[word.eq_ignore_ascii_case(chosen)] { (word) }
                }
            } }
            (field("category", "Category", &query.category))
            (field("file", "File", &query.file))
            (field("reviewer", "Reviewer", &query.reviewer))
            (field("since", "Since (7d, 2026-12-31)", &query.since))
            button { "Show" }
        }
    }
}

fn charts(statistics: Option<&DashboardStatistics>) -> Markup {
    let Some(statistics) = statistics else {
        return section("trend", "Reported findings over time", &pending(STATISTICS_PENDING));
    };
    let overview = statistics.overview.overview.as_ref();
    let timeline = overview.and_then(|overview| overview.timeline.as_ref());
    html! {
        @if let Some(timeline) = timeline {
            (section("trend", "Reported findings over time", &trend(timeline)))
        }
        @if !statistics.files.is_empty() {
            (section("files", "Files with the most findings", &heat_map(&statistics.files)))
            (section("categories", "Categories", &categories(&statistics.categories)))
        }
    }
}

fn trend(timeline: &Timeline) -> Markup {
    let resolved: u64 = timeline.resolved.iter().sum();
    html! {
        (trend_chart::render("Reported findings", timeline))
        p.dim { "By " (timeline.period.noun()) ", from " (timeline.start) ". In this time, " (grouped(resolved)) " " (if resolved == 1 { "finding was" } else { "findings were" }) " resolved." }
    }
}

fn heat_map(files: &[GroupStatistics]) -> Markup {
    let rows: Vec<HeatRow> = files
        .iter()
        .take(MAX_ROWS)
        .map(|file| HeatRow {
            name: file.name.clone().unwrap_or_default(),
            values: vec![file.open, file.resolved, file.dismissed],
        })
        .collect();
    let columns = ["Open", "Resolved", "Dismissed"];
    HeatMap { label: "Findings by file", row_heading: "File", columns: &columns, rows: &rows }
        .render()
}

fn categories(categories: &[GroupStatistics]) -> Markup {
    let bars: Vec<ChartBar<'_>> = categories
        .iter()
        .take(MAX_ROWS)
        .map(|category| ChartBar {
            name: category.name.as_deref().unwrap_or("none"),
            value: category.findings,
            tone: None,
        })
        .collect();
    BarChart { label: "Findings by category", bars: &bars }.render()
}
