//! A report as a table for the terminal.

use std::fmt::Write as _;

use crate::report::{Comparison, EvalReport, ReviewerScore, Stability};
use crate::statistics::Estimate;
use crate::summary::SetSummary;

/// Returns a report as text.
pub fn render(report: &EvalReport) -> String {
    let cases = report.reviewers.first().map_or(0, |reviewer| reviewer.cases.len());
    let labels = report.reviewers.first().map_or(0, |it| it.summary.counts.labels);
    let mut text = format!("{}: {cases} cases, {labels} labels\n\n", report.set);
    let header =
        ["reviewer", "F1", "precision", "recall", "comments", "clean blocked", "duplicates"];
    let rows: Vec<Vec<String>> = report.reviewers.iter().map(row).collect();
    text += &columns(&header, &rows);
    for reviewer in &report.reviewers {
        text += &details(reviewer);
    }
    text
}

fn row(reviewer: &ReviewerScore) -> Vec<String> {
    let summary = &reviewer.summary;
    vec![
        reviewer.name.clone(),
        with_interval(summary.f),
        with_interval(summary.precision),
        with_interval(summary.recall),
        summary.comments_per_change.map_or_else(dash, |it| format!("{:.1}", it.value)),
        of(summary.clean),
        summary.duplicates.to_string(),
    ]
}

fn details(reviewer: &ReviewerScore) -> String {
    let SetSummary {
        severities,
        by_severity,
        by_category,
        by_language,
        anchors,
        f_within,
        effort,
        ..
    } = &reviewer.summary;
    let mut text = format!("\n{}\n", reviewer.name);
    let mut line = |name: &str, entries: Vec<String>| {
        if !entries.is_empty() {
            let _ = writeln!(text, "  {name}: {}", entries.join(", "));
        }
    };
    let groups = |groups: &std::collections::BTreeMap<String, (usize, usize)>| {
        groups.iter().map(|(name, found)| format!("{name} {}", of(*found))).collect::<Vec<_>>()
    };
    line("labels named by severity", groups(by_severity));
    let stated = |(known, stated): (&String, &std::collections::BTreeMap<String, usize>)| {
        let words = stated.iter().map(|(word, count)| format!("{word} {count}"));
        format!("{known} as {}", words.collect::<Vec<_>>().join(" + "))
    };
    line("severity of named labels as stated", severities.iter().map(stated).collect());
    line("labels named by category", groups(by_category));
    let of_language = |(name, counts): (&String, &crate::score::Counts)| {
        format!("{name} {}", of((counts.hits, counts.labels)))
    };
    line("labels named by language", by_language.iter().map(of_language).collect());
    let within = |(lines, share): (&u32, &f64)| format!("{lines}: {:.0} %", share * 100.0);
    line(
        "named labels with the comment at most so many lines away",
        anchors.iter().map(within).collect(),
    );
    let figure = |(lines, f): (&u32, &f64)| format!("{lines}: {f:.3}");
    line("F1 by the most lines between comment and label", f_within.iter().map(figure).collect());
    if let Some(calibration) = &reviewer.summary.calibration {
        let bins = calibration.curve.iter().map(|bin| {
            format!(
                "{:.0} % stated, {:.0} % right ({})",
                bin.stated * 100.0,
                bin.right * 100.0,
                bin.comments
            )
        });
        line("confidence", bins.collect());
        line("Brier score", vec![format!("{:.3}", calibration.brier)]);
    }
    if effort.calls > 0 {
        let hits = reviewer.summary.counts.hits.max(1) as f64;
        let each = format!(
            "{:.1} calls, {:.0} KB for each label named",
            effort.calls as f64 / hits,
            effort.bytes as f64 / 1000.0 / hits
        );
        line("effort", vec![format!("{} calls", effort.calls), each]);
    }
    if effort.dollars > 0.0 || effort.seconds > 0.0 {
        let hits = reviewer.summary.counts.hits.max(1) as f64;
        line(
            "cost and time",
            vec![
                format!("{:.2} USD", effort.dollars),
                format!("{:.1} s", effort.seconds),
                format!(
                    "{:.3} USD and {:.1} s for each label named",
                    effort.dollars / hits,
                    effort.seconds / hits
                ),
            ],
        );
    }
    let rejected = reviewer.summary.rejected_hits;
    if rejected > 0 {
        line("comments that maintainers rejected", vec![rejected.to_string()]);
    }
    if let Some(stability) = &reviewer.stability {
        line("runs", runs(stability));
    }
    if !reviewer.incomplete.is_empty() {
        line("not read as a whole", reviewer.incomplete.clone());
    }
    for (case, reason) in &reviewer.missing {
        line("NOT READ", vec![format!("{case}: {reason}")]);
    }
    text
}

/// Returns the spread over repeats in words.
fn runs(stability: &Stability) -> Vec<String> {
    let figures = |values: &[Option<f64>]| {
        let told = values.iter().map(|it| it.map_or_else(dash, |it| format!("{it:.3}")));
        told.collect::<Vec<_>>().join(" ")
    };
    let percent = |share: Option<f64>| share.map_or_else(dash, |it| format!("{:.0} %", it * 100.0));
    vec![
        stability.f.len().to_string(),
        format!("F1 {}", figures(&stability.f)),
        format!("comments {}", figures(&stability.comments)),
        format!("{} of changes with the same verdict", percent(stability.same_verdict)),
        format!("{} of named labels named each time", percent(stability.same_labels)),
    ]
}

/// Returns a comparison as text.
pub fn render_comparison(comparison: &Comparison) -> String {
    let Comparison { first, second, cases, differences, only } = comparison;
    let mut text = format!("{first} less {second}, on {cases} cases\n\n");
    let rows: Vec<Vec<String>> = differences
        .iter()
        .map(|(name, paired)| {
            let Estimate { value, low, high } = paired.difference;
            vec![
                name.clone(),
                format!("{value:+.3}"),
                format!("{low:+.3} to {high:+.3}"),
                format!("{:.0} %", paired.ahead * 100.0),
            ]
        })
        .collect();
    text += &columns(&["figure", "difference", "95 % interval", "first is greater"], &rows);
    for (name, more) in [(first, &only.0), (second, &only.1)] {
        if !more.is_empty() {
            let names: Vec<&str> = more.keys().map(String::as_str).collect();
            let _ = writeln!(text, "\n{name} names more labels in: {}", names.join(", "));
        }
    }
    text
}

fn with_interval(estimate: Option<Estimate>) -> String {
    estimate.map_or_else(dash, |it| format!("{:.3} ({:.2}–{:.2})", it.value, it.low, it.high))
}

fn of((part, whole): (usize, usize)) -> String {
    match whole {
        0 => dash(),
        _ => format!("{part} of {whole}"),
    }
}

fn dash() -> String {
    "–".to_owned()
}

/// Returns rows below a header, in columns that are as wide as their widest cell.
fn columns(header: &[&str], rows: &[Vec<String>]) -> String {
    let cells = |at: usize| rows.iter().map(move |row| row[at].chars().count());
    let widths: Vec<usize> = header
        .iter()
        .enumerate()
        .map(|(at, name)| cells(at).max().unwrap_or(0).max(name.chars().count()))
        .collect();
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| {
            let blanks = " ".repeat(width - cell.chars().count());
            format!("{cell}{blanks}")
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let mut text = line(header.to_vec());
    for row in rows {
        text += &line(row.iter().map(String::as_str).collect());
    }
    text
}
