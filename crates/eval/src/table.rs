//! Renders a report as a table for the terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::report::{Comparison, EvalReport, ReviewerScore, Stability};
use crate::score::{Counts, Effort};
use crate::statistics::Estimate;
use crate::summary::SetSummary;

/// Renders a report as text.
pub fn render(report: &EvalReport) -> String {
    let cases = report.reviewers.first().map_or(0, |reviewer| reviewer.cases.len());
    let labels = report.reviewers.first().map_or(0, |it| it.summary.counts.labels);
    let (cases, labels) = (count(cases, "case"), count(labels, "label"));
    let mut text = format!("{}: {cases}, {labels}\n\n", report.set);
    let header =
        ["reviewer", "F1", "precision", "recall", "comments", "clean blocked", "duplicates"];
    let rows: Vec<Vec<String>> = report.reviewers.iter().map(row).collect();
    text += &columns(&header, &rows);
    for reviewer in &report.reviewers {
        text += &details(reviewer);
    }
    text + &format!("\na comment names a label by {}\n", report.rule)
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
    let mut text = format!("\n{}\n", reviewer.name);
    for (name, entries) in facts(reviewer) {
        let _ = writeln!(text, "  {name}: {}", entries.join(", "));
    }
    text
}

/// A fact about a reviewer: its name, and one or more entries.
pub(crate) type Fact = (&'static str, Vec<String>);

/// Returns the facts about a reviewer that are not in the table.
pub(crate) fn facts(reviewer: &ReviewerScore) -> Vec<Fact> {
    let mut facts = vec![("origin", reviewer.origin.clone())];
    facts.extend(label_facts(&reviewer.summary));
    facts.extend(confidence_facts(&reviewer.summary));
    facts.extend(effort_facts(&reviewer.summary));
    let rejected = reviewer.summary.rejected_hits;
    if rejected > 0 {
        facts.push(("comments that maintainers rejected", vec![rejected.to_string()]));
    }
    facts.extend(reviewer.stability.as_ref().map(|stability| ("runs", runs(stability))));
    facts.push(("not read as a whole", reviewer.incomplete.clone()));
    for (case, reason) in &reviewer.missing {
        facts.push(("NOT READ", vec![format!("{case}: {reason}")]));
    }
    facts.retain(|(_, entries)| !entries.is_empty());
    facts
}

fn label_facts(summary: &SetSummary) -> Vec<Fact> {
    let groups = |groups: &BTreeMap<String, (usize, usize)>| {
        groups.iter().map(|(name, found)| format!("{name} {}", of(*found))).collect::<Vec<_>>()
    };
    let stated = |(known, stated): (&String, &BTreeMap<String, usize>)| {
        let words = stated.iter().map(|(word, count)| format!("{word} {count}"));
        format!("{known} as {}", words.collect::<Vec<_>>().join(" + "))
    };
    let of_language =
        |(name, counts): (&String, &Counts)| format!("{name} {}", of((counts.hits, counts.labels)));
    let within = |(lines, share): (&u32, &f64)| format!("{lines}: {:.0} %", share * 100.0);
    let figure = |(lines, f): (&u32, &f64)| format!("{lines}: {f:.3}");
    vec![
        ("changes blocked for a label", vec![of(summary.blocked_for_a_label)]),
        ("labels named by severity", groups(&summary.by_severity)),
        ("severity of named labels as stated", summary.severities.iter().map(stated).collect()),
        ("labels named by category", groups(&summary.by_category)),
        ("labels named by language", summary.by_language.iter().map(of_language).collect()),
        (
            "named labels with the comment at most so many lines away",
            summary.anchors.iter().map(within).collect(),
        ),
        (
            "F1 by the most lines between comment and label",
            summary.f_within.iter().map(figure).collect(),
        ),
    ]
}

fn confidence_facts(summary: &SetSummary) -> Vec<Fact> {
    let Some(calibration) = &summary.calibration else { return Vec::new() };
    let bins = calibration.curve.iter().map(|bin| {
        let (stated, right) = (bin.stated * 100.0, bin.right * 100.0);
        format!("{stated:.0} % stated, {right:.0} % right ({})", bin.comments)
    });
    vec![("confidence", bins.collect()), ("Brier score", vec![format!("{:.3}", calibration.brier)])]
}

fn effort_facts(summary: &SetSummary) -> Vec<Fact> {
    let Effort { calls, bytes, tokens, dollars, seconds } = summary.effort;
    let hits = summary.counts.hits;
    // A ratio to zero labels is undefined.
    let each = |amount: f64, unit: &str, digits: usize| {
        (hits > 0).then(|| format!("{:.digits$} {unit} for each label named", amount / hits as f64))
    };
    let mut facts = Vec::new();
    let fact = |name, all: Vec<Option<String>>| (name, all.into_iter().flatten().collect());
    if calls > 0 {
        let kilobytes = bytes as f64 / 1000.0;
        let all = vec![
            Some(format!("{calls} calls")),
            (bytes > 0).then(|| format!("{kilobytes:.0} KB of text")),
            (bytes > 0).then(|| format!("{:.1} KB for each call", kilobytes / calls as f64)),
            (tokens > 0).then(|| format!("{tokens} tokens")),
            each(calls as f64, "calls", 1),
            each(kilobytes, "KB", 1).filter(|_| bytes > 0),
        ];
        facts.push(fact("effort", all));
    }
    if dollars > 0.0 {
        facts.push(fact("cost", vec![Some(format!("{dollars:.2} USD")), each(dollars, "USD", 3)]));
    }
    if seconds > 0.0 {
        let total = Some(format!("{seconds:.1} s"));
        facts.push(fact("time", vec![total, each(seconds, "s", 1)]));
    }
    facts
}

/// Formats the variation over repeats.
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

/// Renders a comparison as text.
pub fn render_comparison(comparison: &Comparison) -> String {
    let Comparison { first, second, cases, differences, only } = comparison;
    let mut text = format!("{first} less {second}, on {}\n\n", count(*cases, "case"));
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

fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

fn dash() -> String {
    "–".to_owned()
}

/// Formats rows below a header, in columns that are as wide as their widest cell.
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
