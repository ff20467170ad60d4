//! The parts of a page besides findings: verdict, coverage, reviewers, remarks, and the run.

use std::collections::BTreeSet;

use assay_findings::coverage::{CoverageRequirement, ReviewCoverage};
use assay_findings::report::ReviewerKind;
use assay_findings::synthesis::{ReportSummary, Synthesis};
use assay_findings::verdict::VerdictReason;
use assay_html::chart::bar_of;
use assay_html::section::{facts, folded, list, prose, section};
use assay_html::table::{HtmlTable, TableColumn};
use assay_html::verdict_banner::VerdictBanner;
use maud::{Markup, html};

use super::ReviewedRun;
use super::findings::{all, link};
use crate::wording::count;

/// The maximum number of links of one reason.
const MAX_LINKS: usize = 5;

/// The number of characters of a commit that are shown.
const SHORT_COMMIT: usize = 12;

/// Renders the verdict with its reasons.
pub(super) fn banner(run: &ReviewedRun) -> Markup {
    let synthesis = &run.synthesis;
    let caveat = synthesis.coverage.as_ref().and_then(ReviewCoverage::caveat);
    VerdictBanner {
        state: synthesis.verdict.state,
        caveat: caveat.as_deref(),
        reasons: synthesis.verdict.because.iter().map(|it| reason(run, it)).collect(),
    }
    .render()
}

/// Renders a reason with links to its findings.
fn reason(run: &ReviewedRun, reason: &VerdictReason) -> Markup {
    let named = reason.findings.iter().take(MAX_LINKS);
    let named = named.filter_map(|id| all(run).find(|finding| finding.id == *id));
    let more = reason.findings.len().saturating_sub(MAX_LINKS);
    html! {
        (prose(&reason.text))
        @if !reason.findings.is_empty() {
            div.by {
                @for finding in named {
                    span { a href=(link(&finding.id)) {
                        (finding.place().as_deref().unwrap_or(&finding.title))
                    } }
                }
                @if more > 0 { span { (more) " more" } }
            }
        }
    }
}

/// Renders the part of the change that reviewers read, and the part that they did not read.
pub(super) fn coverage(synthesis: &Synthesis) -> Markup {
    let not_covered: BTreeSet<&String> =
        synthesis.reports.iter().flat_map(|report| &report.not_covered).collect();
    let not_covered: Vec<&String> = not_covered.into_iter().collect();
    let content = html! {
        @match &synthesis.coverage {
            Some(coverage) => (coverage_table(coverage)),
            None => p.dim { "The coverage of this review is not known." },
        }
        @if !not_covered.is_empty() {
            (folded("Not reviewed", not_covered.len(), &list(&not_covered)))
        }
    };
    section("coverage", "Coverage", &content)
}

fn coverage_table(coverage: &ReviewCoverage) -> Markup {
    let hunks = coverage.hunks();
    let columns = [
        TableColumn::text("Result"),
        TableColumn::number("Hunks"),
        TableColumn::text("Share of the change"),
    ];
    let row = |result: String, number: usize| {
        vec![
            html! { (result) },
            html! { (number) },
            html! { (bar_of(number as u64, hunks as u64, None)) },
        ]
    };
    let read = coverage.reviewed.iter().map(|(by, number)| row(format!("read by {by}"), *number));
    let text = "matched with patterns on text only".to_owned();
    let text = (coverage.text_only > 0).then(|| row(text, coverage.text_only));
    let left_out = coverage.left_out.iter();
    let left_out = left_out.map(|(rule, number)| row(format!("not read: {rule}"), *number));
    let failed = coverage.failed.iter();
    let failed = failed.map(|(why, number)| row(format!("not read, failed: {why}"), *number));
    let rows: Vec<Vec<Markup>> = read.chain(text).chain(left_out).chain(failed).collect();
    html! {
        p {
            (count(hunks, "hunk")) ", " (coverage.by_model) " of them read by a model."
            @if coverage.require != CoverageRequirement::None {
                " Required: " (coverage.require.as_str()) "."
            }
        }
        @if !rows.is_empty() {
            (HtmlTable { caption: "Hunks by result", columns: &columns, rows }.render())
        }
    }
}

/// Renders the reviewers with their votes, failures and costs.
pub(super) fn reviewers(synthesis: &Synthesis) -> Markup {
    let columns = [
        TableColumn::text("Reviewer"),
        TableColumn::text("Kind"),
        TableColumn::number("Votes"),
        TableColumn::text("Report"),
        TableColumn::text("Cost"),
    ];
    let rows = synthesis.reports.iter().map(reviewer).collect();
    let notes: Vec<String> = synthesis.reports.iter().flat_map(report_notes).collect();
    let content = html! {
        (HtmlTable { caption: "Reviewers", columns: &columns, rows }.render())
        @if !notes.is_empty() { (folded("Notes on the reports", notes.len(), &list(&notes))) }
    };
    section("reviewers", "Reviewers", &content)
}

fn reviewer(report: &ReportSummary) -> Vec<Markup> {
    let spent = report.spent.as_ref().map(ToString::to_string);
    vec![
        html! { (report.reviewer) },
        html! { (report.kind.map_or("–", kind)) },
        html! { (report.votes) },
        state(report),
        html! { (spent.as_deref().unwrap_or("–")) },
    ]
}

fn kind(kind: ReviewerKind) -> &'static str {
    match kind {
        ReviewerKind::Rules => "rules",
        ReviewerKind::Persona => "persona",
        ReviewerKind::Command => "analyser",
    }
}

fn state(report: &ReportSummary) -> Markup {
    let incomplete: Vec<&str> =
        report.incomplete.iter().map(|reason| reason.text.as_str()).collect();
    match &report.unusable {
        Some(why) => html! { span.critical { "unusable: " (why) } },
        None if !incomplete.is_empty() => {
            html! { span.medium { "incomplete: " (incomplete.join("; ")) } }
        }
        None => html! { "complete" },
    }
}

/// Returns notes, faults and unreadable parts of a report, each as a text.
fn report_notes(report: &ReportSummary) -> Vec<String> {
    let notes = report.notes.iter().cloned();
    let faults = report.faults.iter();
    let faults = faults.map(|f| format!("vote {}: {}", f.vote + 1, f.faults.join(", ")));
    let rejected = report.rejected.len();
    let rejected = (rejected > 0)
        .then(|| format!("{} of the report could not be read", count(rejected, "part")));
    let notes = notes.chain(faults).chain(rejected);
    notes.map(|note| format!("{}: {note}", report.reviewer)).collect()
}

/// Renders residual risks and testing gaps.
pub(super) fn remarks(synthesis: &Synthesis) -> Markup {
    let lists =
        [("Residual risks", &synthesis.residual_risks), ("Testing gaps", &synthesis.testing_gaps)];
    let content = html! {
        @for (name, texts) in lists {
            @if !texts.is_empty() { (folded(name, texts.len(), &list(texts))) }
        }
    };
    match content.0.is_empty() {
        true => html! {},
        false => section("remarks", "Risks and gaps", &content),
    }
}

/// Renders the facts of the run: the change, the time, the cost.
pub(super) fn run_facts(run: &ReviewedRun) -> Markup {
    let mut known = vec![("Run", html! { code { (run.id) } })];
    known.extend(run.time().map(|time| ("Time", html! { (time) })));
    if let Some(context) = &run.context {
        known.push(("Change", html! { (context.title) }));
        known.push(("Changed files", html! { (context.files) }));
        known.extend(context.base.as_deref().map(|base| ("Base", commit(base))));
        known.extend(context.head.as_deref().map(|head| ("Reviewed commit", commit(head))));
    }
    let spent = run.synthesis.spent.as_ref();
    known.push((
        "Cost",
        match spent {
            Some(spent) => html! { (spent.to_string()) },
            None => html! { "no model was called" },
        },
    ));
    let counts = &run.synthesis.counts;
    let votes = format!("{} in {}", count(counts.votes, "vote"), count(counts.reports, "report"));
    known.push(("Votes", html! { (votes) }));
    known.push(("Version", html! { "assay " (run.provenance.assay) }));
    let models: Vec<String> =
        spent.into_iter().flat_map(|spent| &spent.models).map(ToString::to_string).collect();
    let content = html! {
        (facts(&known))
        @if !models.is_empty() { (folded("Cost by model", models.len(), &list(&models))) }
    };
    section("run", "Run", &content)
}

fn commit(id: &str) -> Markup {
    html! { code title=(id) { (id.get(..SHORT_COMMIT).unwrap_or(id)) } }
}
