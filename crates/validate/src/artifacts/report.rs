//! Renders the report of a round: [`render_report`].

use std::collections::BTreeSet;

use serde::Serialize;

use super::escaping::{cell, title};
use super::{CheckLine, CoverageLine, numbered, tables};
use crate::criterion::{CriterionAnswer, CriterionLine};
use crate::event::FeedbackDisposition;
use crate::issue::Issue;
use crate::kept_tests::KeptTestRun;
use crate::loop_state::Feedback;
use crate::spec::Criterion;

/// The heading above findings that block nothing.
pub(super) const ALSO: &str = "Also Found";

/// The content of the report of a round.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// The spec's name.
    pub spec: &'a str,
    /// The status word of the round.
    pub verdict: &'a str,
    /// The number of the round.
    pub round: u32,
    /// The time of the round.
    pub at: &'a str,
    /// The digest of the reviewed tree.
    pub tree: &'a str,
    /// The criteria with their answers.
    pub criteria: &'a [CriterionLine],
    /// The criteria of a round that failed before they were judged.
    pub not_judged: &'a [Criterion],
    /// The required checks.
    pub checks: &'a [CheckLine],
    /// The test coverage.
    pub coverage: &'a [CoverageLine],
    /// The results of the checks with kept tests in place.
    pub kept: &'a [KeptTestRun],
    /// The feedback of a person before the round, and its handling; `None` if there is none.
    pub feedback: Option<&'a Feedback>,
    /// The open issues.
    pub issues: &'a [Issue],
    /// The sign-offs and decisions of persons.
    pub sign_offs: &'a [SignOffLine],
    /// The findings of the review that block nothing.
    pub remarks: &'a [Issue],
    /// True if the project has no tests at all.
    pub no_test_project: bool,
}

/// The sign-off of a tree, or the decision on one issue of a tree, by a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SignOffLine {
    /// The person's name.
    pub by: String,
    /// The title of the issue; `None` if the person signed off the whole tree.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The reason; `None` if the person signed off the whole tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// True if the sign-off is void, because the tree changed since.
    pub is_void: bool,
}

/// Renders `qa_report.md`.
pub fn render_report(input: &Report<'_>) -> String {
    let issues = match input.issues {
        [] if input.remarks.is_empty() => "None.\n".to_owned(),
        [] => "No blocking issue.\n".to_owned(),
        issues => numbered(issues),
    };
    format!(
        "# QA Report\n\n- Spec: {}\n- Verdict: {}\n- Round: {}\n- When: {}\n- Tree: {}\n\n\
         ## Acceptance Criteria\n\n{}\n## Checks\n\n{}\n## Coverage\n\n{}\n{}{}{}## Issues\n\n{}\n{}",
        title(input.spec),
        input.verdict.to_uppercase(),
        input.round,
        title(input.at),
        title(input.tree),
        criteria(input.criteria, input.not_judged),
        untested(input.no_test_project) + &tables::checks(input.checks),
        coverage(input.coverage),
        kept(input.kept),
        input.feedback.map(feedback).unwrap_or_default(),
        sign_offs(input.sign_offs),
        issues.trim_end(),
        remarks(input.remarks),
    )
}

fn criteria(criteria: &[CriterionLine], not_judged: &[Criterion]) -> String {
    if criteria.is_empty() && !not_judged.is_empty() {
        let rows = not_judged.iter().zip(1..);
        let rows: String =
            rows.map(|(it, number)| format!("| {number} | {} |\n", cell(&it.text))).collect();
        return format!(
            "The criteria were not judged, because the round failed.\n\n\
             | # | Criterion |\n|---|---|\n{rows}"
        );
    }
    if criteria.is_empty() {
        return "No acceptance criteria.\n".to_owned();
    }
    let mut out = "| # | Criterion | Answer | Evidence |\n|---|---|---|---|\n".to_owned();
    for (criterion, number) in criteria.iter().zip(1..) {
        let answer = match criterion.answer {
            CriterionAnswer::Met => "met",
            CriterionAnswer::NotMet => "not met",
            CriterionAnswer::CannotTell => "cannot tell",
            CriterionAnswer::Decided => "met (decided by a person)",
        };
        let (text, evidence) = (cell(&criterion.text), cell(&criterion.evidence));
        out.push_str(&format!("| {number} | {text} | {answer} | {evidence} |\n"));
    }
    out
}

fn untested(no_test_project: bool) -> String {
    match no_test_project {
        true => "`no_test_project`: there are no tests; inspection and `MANUAL_TEST_PLAN.md` \
                 replace them.\n\n"
            .to_owned(),
        false => String::new(),
    }
}

/// Renders the findings that block nothing, each with its severity.
pub(super) fn remarks(remarks: &[Issue]) -> String {
    match remarks {
        [] => String::new(),
        remarks => format!("\n## {ALSO}\n\n{}\n", numbered(remarks).trim_end()),
    }
}

fn sign_offs(lines: &[SignOffLine]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut out = "## Sign-offs\n\n| Who | What | Why | Counts |\n|---|---|---|---|\n".to_owned();
    for line in lines {
        let about = line.about.as_deref().map_or("the whole tree".to_owned(), cell);
        let because = line.because.as_deref().map_or("–".to_owned(), cell);
        let counts = if line.is_void { "no: the tree changed since" } else { "yes" };
        out.push_str(&format!("| {} | {about} | {because} | {counts} |\n", cell(&line.by)));
    }
    out + "\n"
}

/// Lists the tests that the change touched, with the results of their earlier version.
fn kept(runs: &[KeptTestRun]) -> String {
    if runs.is_empty() {
        return String::new();
    }
    let mut out = "## Kept Tests\n\nThis change touches tests, so the checks also ran with the \
                   previous version of the tests.\n\n\
                   | Version | Files | Tests | Weakened | Renamed | Intended by a criterion |\n\
                   |---|---|---|---|---|---|\n"
        .to_owned();
    for run in runs {
        let weakened = run.weakened.iter().map(|it| it.test.as_str());
        let excused: Vec<String> =
            run.excused.iter().map(|(test, criterion)| format!("{test} ({criterion})")).collect();
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            cell(&run.version),
            listed(run.files.iter().map(String::as_str)),
            run.ran,
            listed(weakened),
            listed(run.renamed.iter().map(String::as_str)),
            listed(excused.iter().map(String::as_str)),
        ));
    }
    let unresolved: BTreeSet<&String> = runs.iter().flat_map(|run| &run.unresolved).collect();
    if !unresolved.is_empty() {
        out.push_str(
            "\nThe scripts of these commands are unknown, so their current version ran:\n\n",
        );
        unresolved.iter().for_each(|line| out.push_str(&format!("- {}\n", cell(line))));
    }
    out + "\n"
}

/// Renders at most 10 names as a cell of a table.
fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    const MAX_NAMES: usize = 10;
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        return "–".to_owned();
    }
    let mut shown = cell(&names.iter().take(MAX_NAMES).copied().collect::<Vec<_>>().join(", "));
    if names.len() > MAX_NAMES {
        shown.push_str(&format!(" and {} more", names.len() - MAX_NAMES));
    }
    shown
}

fn feedback(taken: &Feedback) -> String {
    let mut out = "## Feedback\n\n| # | Request | Result |\n|---|---|---|\n".to_owned();
    for (item, number) in taken.items.iter().zip(1..) {
        let became = match (item.disposition, taken.changed_something) {
            (FeedbackDisposition::TickedOff, _) => "skipped: ticked off",
            (FeedbackDisposition::HandedToTheFixer, None) => "sent to the fixer",
            (FeedbackDisposition::HandedToTheFixer, Some(true)) => {
                "sent to the fixer, which changed files"
            }
            (FeedbackDisposition::HandedToTheFixer, Some(false)) => {
                "sent to the fixer, which changed nothing"
            }
        };
        out.push_str(&format!("| {number} | {} | {became} |\n", cell(&item.issue.title)));
    }
    out + "\n"
}

fn coverage(lines: &[CoverageLine]) -> String {
    if lines.is_empty() {
        return "Coverage was not measured.\n".to_owned();
    }
    let mut out = "| Of | Covered | Minimum |\n|---|---|---|\n".to_owned();
    for line in lines {
        let minimum = line.minimum.map_or("–".to_owned(), |minimum| format!("{minimum}%"));
        out.push_str(&format!("| {} | {:.1}% | {minimum} |\n", cell(&line.of), down(line.percent)));
    }
    out
}

/// Rounds a percentage down to one decimal, so that a value just below a limit is not shown as
/// reaching it.
fn down(percent: f64) -> f64 {
    (percent * 10.0).floor() / 10.0
}
