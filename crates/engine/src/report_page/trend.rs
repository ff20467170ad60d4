//! The history of findings on a page: findings over time, and the files with most findings.

use assay_findings::grade::SEVEN_LEVELS;
use assay_html::chart::{HeatMap, HeatRow};
use assay_html::section::section as part;
use assay_rules::redact;
use maud::{Markup, html};

use crate::finding_statistics::{FileSeverities, FindingHistory, Timeline};
use crate::trend_chart;
use crate::wording::count;

/// Renders the history; a sentence if there is none, or if the ledger cannot be read.
pub(super) fn section(history: &anyhow::Result<Option<FindingHistory>>) -> Markup {
    let content = match history {
        Ok(Some(history)) => charts(history),
        Ok(None) => html! { p.dim { "There is no history yet: the ledger is empty." } },
        Err(error) => {
            let why = format!("{error:#}");
            html! { p.note { "The history is not available: " (redact(&why)) } }
        }
    };
    part("history", "History", &content)
}

fn charts(history: &FindingHistory) -> Markup {
    html! {
        p.dim { "All findings of " (count(history.runs, "review")) " in the ledger, in any state." }
        @match &history.timeline {
            Some(timeline) => (over_time(timeline)),
            None => p.dim { "No review found a defect." },
        }
        @if !history.files.is_empty() { (by_file(&history.files)) }
    }
}

fn over_time(timeline: &Timeline) -> Markup {
    let heading = format!("New findings by {}", timeline.period.noun());
    html! {
        h3 { (heading) }
        (trend_chart::render(&heading, timeline))
        @if timeline.earlier > 0 {
            p.dim { (count(timeline.earlier as usize, "finding")) " before that time." }
        }
    }
}

fn by_file(files: &[FileSeverities]) -> Markup {
    let used = |level: &usize| files.iter().any(|file| file.counts[*level] > 0);
    let levels: Vec<usize> = (0..SEVEN_LEVELS.len()).filter(used).collect();
    let columns: Vec<&str> = levels.iter().map(|level| SEVEN_LEVELS[*level]).collect();
    let rows: Vec<HeatRow> = files
        .iter()
        .map(|file| HeatRow {
            name: redact(&file.file).into_owned(),
            values: levels.iter().map(|level| file.counts[*level]).collect(),
        })
        .collect();
    let heading = "Files with most findings";
    html! {
        h3 { (heading) }
        (HeatMap { label: heading, row_heading: "File", columns: &columns, rows: &rows }.render())
    }
}
