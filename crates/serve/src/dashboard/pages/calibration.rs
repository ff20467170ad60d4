//! The calibration of reviewers, as a part of the page of reviewers.

use assay_engine::dashboard::DashboardError;
use assay_engine::dashboard::calibration::CalibrationListView;
use assay_engine::evaluation::stored_scores::{
    CalibrationPoint, StoredReviewerScore, StoredScores,
};
use assay_html::section::{prose, section};
use assay_html::table::{HtmlTable, TableColumn};
use maud::{Markup, html};

use super::frame::{empty, percent, time};

/// Renders the calibration, or the reason that it cannot be read.
pub(super) fn part(list: Result<CalibrationListView, DashboardError>) -> Markup {
    let content = match list {
        Ok(list) if list.evaluations.is_empty() => empty(
            "No evaluation is stored; `assay eval SET` measures how often a stated confidence is \
             right, and stores the result.",
        ),
        Ok(list) => html! { @for scores in &list.evaluations { (evaluation(scores)) } },
        Err(error) => html! { p.message role="alert" { (prose(&error.to_string())) } },
    };
    section("calibration", "Calibration", &content)
}

fn evaluation(scores: &StoredScores) -> Markup {
    html! {
        h3 { "Set " (scores.set) " " span.dim { (time(&scores.at)) } }
        (reviewer_table(&scores.reviewers))
        @for reviewer in scores.reviewers.iter().filter(|it| !it.calibration.is_empty()) {
            (curve(reviewer))
        }
        @if scores.reviewers.iter().all(|reviewer| reviewer.calibration.is_empty()) {
            p.dim { "No comment of this evaluation states a confidence." }
        }
    }
}

fn reviewer_table(reviewers: &[StoredReviewerScore]) -> Markup {
    let columns = [
        TableColumn::text("Reviewer"),
        TableColumn::number("Cases"),
        TableColumn::number("Comments"),
        TableColumn::number("Precision"),
        TableColumn::number("Recall"),
        TableColumn::number("Brier score"),
    ];
    let row = |reviewer: &StoredReviewerScore| {
        let brier = reviewer.brier.map_or_else(|| "–".to_owned(), |brier| format!("{brier:.3}"));
        vec![
            html! { (reviewer.name) },
            html! { (reviewer.cases) },
            html! { (reviewer.comments) },
            html! { (percent(reviewer.precision)) },
            html! { (percent(reviewer.recall)) },
            html! { (brier) },
        ]
    };
    let rows = reviewers.iter().map(row).collect();
    HtmlTable { caption: "Scores of reviewers", columns: &columns, rows }.render()
}

/// Renders stated confidence against the share that was right.
fn curve(reviewer: &StoredReviewerScore) -> Markup {
    let columns = [
        TableColumn::number("Stated confidence"),
        TableColumn::number("Right"),
        TableColumn::number("Comments"),
    ];
    let row = |point: &CalibrationPoint| {
        vec![
            html! { (percent(Some(point.stated))) },
            html! { (percent(Some(point.right))) },
            html! { (point.comments) },
        ]
    };
    let rows = reviewer.calibration.iter().map(row).collect();
    let caption = format!("Calibration of {}", reviewer.name);
    html! {
        h3 { (caption) }
        (HtmlTable { caption: &caption, columns: &columns, rows }.render())
    }
}
