//! The findings of the ledger: trends, files, categories, and a list with a filter.

use assay_engine::dashboard::finding_views::{FindingListQuery, FindingView};
use assay_engine::dashboard::{Dashboard, DashboardError, DashboardStatistics};
use assay_engine::finding_statistics::{GroupStatistics, Period, Timeline};
use assay_engine::wording::count;
use assay_findings::grade::{Grade, SEVEN_LEVELS};
use assay_html::chart::{BarChart, ChartBar, ChartSeries, HeatMap, HeatRow, PeriodChart};
use assay_html::section::section;
use assay_html::severity::SeverityTone;
use assay_html::table::{HtmlTable, TableColumn};
use maud::{Markup, html};

use super::super::form::{from_pairs, parse_pairs};
use super::PageRequest;
use super::frame::{
    LEDGER_PENDING, PageContent, STATISTICS_PENDING, empty, next_page, pending, severity, time,
};

/// The number of files in the heat map, and of categories.
const MAX_ROWS: usize = 15;

pub(super) fn content(
    dashboard: &Dashboard,
    request: &PageRequest,
) -> Result<PageContent, DashboardError> {
    let view = dashboard.view(request.until)?;
    let pairs = parse_pairs(&request.query);
    let query: FindingListQuery = from_pairs(pairs.clone())?;
    let list = dashboard.findings_by(&query, request.until)?;
    let statistics = view.statistics?;
    let main = html! {
        h1.hidden-text { "Findings" }
        div #list data-live {
            (section("findings-list", "Findings", &html! {
                (filter(&query))
                @match &list {
                    Some(list) => {
                        (finding_table("Findings", &list.findings))
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

/// Renders findings as a table.
pub(super) fn finding_table(caption: &str, findings: &[FindingView]) -> Markup {
    if findings.is_empty() {
        return empty("There is no such finding.");
    }
    let columns =
        ["Finding", "Severity", "State", "Place", "Category", "First seen"].map(TableColumn::text);
    let rows = findings.iter().map(|finding| {
        vec![
            html! { a href={ "/findings/" (finding.id) } { (finding.title) } },
            severity(finding.impact, &finding.severity),
            html! { (finding.state) },
            html! { span.mono { (finding.place()) } },
            html! { (finding.category) },
            time(&finding.first_seen),
        ]
    });
    HtmlTable { caption, columns: &columns, rows: rows.collect() }.render()
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
    let length = timeline.resolved.len();
    let days: i64 = if timeline.period == Period::Day { 1 } else { 7 };
    let noun = if days == 1 { "day" } else { "week" };
    let periods: Vec<String> =
        (0..length).map(|at| period_name(&timeline.start, at as i64 * days, noun)).collect();
    let series: Vec<ChartSeries<'_>> = timeline
        .reported
        .iter()
        .map(|severity| ChartSeries {
            name: &severity.severity,
            tone: SeverityTone::of(&Grade::from_word(&severity.severity)),
            counts: &severity.counts,
        })
        .collect();
    let resolved: u64 = timeline.resolved.iter().sum();
    html! {
        (PeriodChart { label: "Reported findings", periods: &periods, series: &series }.render())
        p.dim { "By " (noun) ", from " (timeline.start) ". In this time, " (count(resolved as usize, "finding")) " " (if resolved == 1 { "was" } else { "were" }) " resolved." }
    }
}

/// Returns the name of a period: its first day.
fn period_name(start: &str, days: i64, noun: &str) -> String {
    let first = start.parse::<jiff::civil::Date>().ok();
    let day = first.and_then(|day| day.checked_add(jiff::Span::new().days(days)).ok());
    day.map_or_else(|| format!("{noun} {days}"), |day| day.to_string())
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
    let columns = ["open", "resolved", "dismissed"];
    HeatMap { label: "Findings by file", columns: &columns, rows: &rows }.render()
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
