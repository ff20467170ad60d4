//! What a round came to: [`report`].

use super::words::{cell, title};
use super::{CheckLine, CoverageLine, CriterionAnswer, CriterionLine, numbered, tables};
use crate::event::Disposition;
use crate::issue::Issue;
use crate::standing::Feedback;

/// What a round came to.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// The spec's name.
    pub spec: &'a str,
    /// The word for what it came to.
    pub verdict: &'a str,
    /// Which round.
    pub round: u32,
    /// When.
    pub at: &'a str,
    /// The tree that was looked at.
    pub tree: &'a str,
    /// Every criterion.
    pub criteria: &'a [CriterionLine],
    /// Every required check.
    pub checks: &'a [CheckLine],
    /// How much is covered.
    pub coverage: &'a [CoverageLine],
    /// What a person wanted before it, and what became of that.
    pub feedback: Option<&'a Feedback>,
    /// What is wrong.
    pub issues: &'a [Issue],
}

/// Writes `qa_report.md`.
pub fn report(told: &Report<'_>) -> String {
    let issues = match told.issues {
        [] => "None.\n".to_owned(),
        issues => numbered(issues),
    };
    format!(
        "# QA Report\n\n- Spec: {}\n- Verdict: {}\n- Round: {}\n- When: {}\n- Tree: {}\n\n\
         ## Acceptance Criteria\n\n{}\n## Checks\n\n{}\n## Coverage\n\n{}\n{}## Issues\n\n{}\n",
        title(told.spec),
        told.verdict.to_uppercase(),
        told.round,
        title(told.at),
        title(told.tree),
        criteria(told.criteria),
        tables::checks(told.checks),
        coverage(told.coverage),
        told.feedback.map(feedback).unwrap_or_default(),
        issues.trim_end(),
    )
}

fn criteria(criteria: &[CriterionLine]) -> String {
    if criteria.is_empty() {
        return "There is none.\n".to_owned();
    }
    let mut out = "| # | Criterion | Answer | Evidence |\n|---|---|---|---|\n".to_owned();
    for (criterion, number) in criteria.iter().zip(1..) {
        let answer = match criterion.answer {
            CriterionAnswer::Met => "met",
            CriterionAnswer::NotMet => "not met",
            CriterionAnswer::CannotTell => "cannot tell",
        };
        let (text, evidence) = (cell(&criterion.text), cell(&criterion.evidence));
        out.push_str(&format!("| {number} | {text} | {answer} | {evidence} |\n"));
    }
    out
}

fn feedback(taken: &Feedback) -> String {
    let mut out = "## Feedback\n\n| # | Wanted | What became of it |\n|---|---|---|\n".to_owned();
    for (item, number) in taken.items.iter().zip(1..) {
        let became = match (item.disposition, taken.changed_something) {
            (Disposition::TickedOff, _) => "left alone: it was ticked off",
            (Disposition::HandedToTheFixer, None) => "handed to the fixer",
            (Disposition::HandedToTheFixer, Some(true)) => {
                "handed to the fixer, which changed something"
            }
            (Disposition::HandedToTheFixer, Some(false)) => {
                "handed to the fixer, which changed nothing"
            }
        };
        out.push_str(&format!("| {number} | {} | {became} |\n", cell(&item.issue.title)));
    }
    out + "\n"
}

fn coverage(lines: &[CoverageLine]) -> String {
    if lines.is_empty() {
        return "It was not measured.\n".to_owned();
    }
    let mut out = "| Of | Covered | Minimum |\n|---|---|---|\n".to_owned();
    for line in lines {
        let minimum = line.minimum.map_or("–".to_owned(), |minimum| format!("{minimum}%"));
        out.push_str(&format!("| {} | {:.1}% | {minimum} |\n", cell(&line.of), down(line.percent)));
    }
    out
}

/// Rounds down, so that what is just below a limit is not shown as having reached it.
fn down(percent: f64) -> f64 {
    (percent * 10.0).floor() / 10.0
}
