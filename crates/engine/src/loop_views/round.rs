//! The rounds of a loop: checks, criteria, issues and the fix.

use assay_checks::check::{CheckOutcome, CheckState};
use assay_validate::criterion::{CriterionAnswer, CriterionLine};
use assay_validate::issue::Issue;
use assay_validate::loop_state::{Fix, LoopState, OpenRound, Round, RoundOutcome};
use schemars::JsonSchema;
use serde::Serialize;

use super::redacted;
use super::screenshot::{ScreenshotView, screenshots};

/// The maximum length of the output of a check, in characters.
const MAX_OUTPUT_CHARS: usize = 4_000;

/// A round of a loop.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LoopRoundView {
    /// The number of the round, over all epochs.
    pub number: u32,
    /// The time at which the round began.
    pub begun: String,
    /// The time at which the round ended; null while it runs.
    pub ended: Option<String>,
    /// The digest of the tree.
    pub tree: String,
    /// The outcome: passed, rejected, failed, or running.
    pub outcome: String,
    /// The error of a failed round; null if there is none.
    pub error: Option<String>,
    /// The checks.
    pub checks: Vec<LoopCheckView>,
    /// The acceptance criteria with the answers of the review.
    pub criteria: Vec<LoopCriterionView>,
    /// The issues that block the approval.
    pub issues: Vec<LoopIssueView>,
    /// The number of further findings, which block nothing.
    pub remarks: usize,
    /// The fix after the round; null if no fixer has finished.
    pub fix: Option<LoopFixView>,
}

/// A check of a round.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LoopCheckView {
    /// The name of the check.
    pub name: String,
    /// The kind: smoke, unit, integration, full_suite, coverage, e2e, manual or criterion.
    pub kind: String,
    /// The command; empty if there is none.
    pub command: String,
    /// The state: passed, failed, not_run or timed_out.
    pub state: String,
    /// The reason that the check did not pass; null if it passed.
    pub why: Option<String>,
    /// The exit code; null if the command was killed or did not run.
    pub exit_code: Option<i32>,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// The results of the tests; null if they are not known.
    pub tests: Option<TestTotalsView>,
    /// The coverage in total, such as `81.5%`; null if it was not measured.
    pub coverage: Option<String>,
    /// The end of the output of a check that did not pass.
    pub output: String,
    /// Notes on the run.
    pub notes: Vec<String>,
    /// The screenshots that the check took.
    pub screenshots: Vec<ScreenshotView>,
}

/// The numbers of tests by their results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestTotalsView {
    /// The number of tests that passed.
    pub passed: usize,
    /// The number of tests that failed.
    pub failed: usize,
    /// The number of tests that were skipped.
    pub skipped: usize,
}

/// An acceptance criterion with the answer of the review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoopCriterionView {
    /// The text of the criterion.
    pub text: String,
    /// The answer: met, not_met, cannot_tell, or decided if a person decided that it is met.
    pub answer: String,
    /// The evidence for the answer.
    pub evidence: String,
}

/// An issue of a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoopIssueView {
    /// The title, by which a person decides the issue.
    pub title: String,
    /// The kind, such as `unit_test`.
    pub kind: String,
    /// The severity: low, medium, high or critical.
    pub severity: String,
    /// The file with its line; null if none is known.
    pub place: Option<String>,
    /// Details; null if there are none.
    pub description: Option<String>,
    /// True if a decision of a person resolves the issue.
    pub can_be_decided: bool,
}

/// The fix after a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoopFixView {
    /// The time of the fix.
    pub at: String,
    /// The summary of the fixer itself.
    pub summary: String,
    /// True if the fix changed the tree.
    pub changed: bool,
}

impl LoopRoundView {
    /// Returns the view of a finished round, with the decisions of persons.
    pub(super) fn of(round: &Round, state: &LoopState) -> LoopRoundView {
        let (outcome, error) = match &round.outcome {
            RoundOutcome::Error(why) => ("failed", Some(redacted(why))),
            RoundOutcome::Verdict(_) => ("passed", None),
        };
        let review = round.review().map(|review| state.with_decisions(review, &round.tree));
        let review = review.unwrap_or_default();
        let outcome = if review.issues.is_empty() { outcome } else { "rejected" };
        LoopRoundView {
            number: round.number,
            begun: round.begun.clone(),
            ended: Some(round.at.clone()),
            tree: round.tree.0.clone(),
            outcome: outcome.to_owned(),
            error,
            checks: checks(round.number, &round.checks),
            criteria: review.criteria.iter().map(LoopCriterionView::from).collect(),
            issues: review.issues.iter().map(LoopIssueView::from).collect(),
            remarks: review.remarks.len(),
            fix: round.fix.as_ref().map(LoopFixView::from),
        }
    }

    /// Returns the view of the round in progress.
    pub(super) fn of_open(round: &OpenRound) -> LoopRoundView {
        LoopRoundView {
            number: round.number,
            begun: round.begun.clone(),
            ended: None,
            tree: round.tree.0.clone(),
            outcome: "running".to_owned(),
            error: None,
            checks: checks(round.number, &round.checks),
            criteria: Vec::new(),
            issues: Vec::new(),
            remarks: 0,
            fix: None,
        }
    }

    /// Returns all screenshots of the round.
    pub fn screenshots(&self) -> impl Iterator<Item = &ScreenshotView> {
        self.checks.iter().flat_map(|check| &check.screenshots)
    }
}

fn checks(round: u32, checks: &[CheckOutcome]) -> Vec<LoopCheckView> {
    checks.iter().map(|check| check_view(round, check)).collect()
}

fn check_view(round: u32, check: &CheckOutcome) -> LoopCheckView {
    let (state, why) = match &check.state {
        CheckState::Passed => ("passed", None),
        CheckState::Failed { why } => ("failed", Some(why.as_str())),
        CheckState::NotRun { why } => ("not_run", Some(why.as_str())),
        CheckState::TimedOut => ("timed_out", Some("the check was killed")),
    };
    LoopCheckView {
        name: redacted(&check.name),
        kind: check.kind.name().to_owned(),
        command: redacted(&check.command),
        state: state.to_owned(),
        why: why.map(redacted),
        exit_code: check.exit_code,
        duration_ms: check.duration_ms,
        tests: check.tests.as_ref().map(|tests| TestTotalsView {
            passed: tests.totals.passed,
            failed: tests.totals.failed,
            skipped: tests.totals.skipped,
        }),
        coverage: check.coverage.as_ref().map(|measured| measured.total.to_string()),
        output: if check.is_pass() { String::new() } else { end_of(&redacted(&check.tail)) },
        notes: check.notes.iter().map(|note| redacted(note)).collect(),
        screenshots: screenshots(round, &check.notes),
    }
}

/// Returns the last characters of an output.
fn end_of(text: &str) -> String {
    let skipped = text.chars().count().saturating_sub(MAX_OUTPUT_CHARS);
    text.chars().skip(skipped).collect()
}

impl From<&CriterionLine> for LoopCriterionView {
    fn from(line: &CriterionLine) -> LoopCriterionView {
        let answer = match line.answer {
            CriterionAnswer::Met => "met",
            CriterionAnswer::NotMet => "not_met",
            CriterionAnswer::CannotTell => "cannot_tell",
            CriterionAnswer::Decided => "decided",
        };
        LoopCriterionView {
            text: redacted(&line.text),
            answer: answer.to_owned(),
            evidence: redacted(&line.evidence),
        }
    }
}

impl From<&Issue> for LoopIssueView {
    fn from(issue: &Issue) -> LoopIssueView {
        LoopIssueView {
            title: redacted(&issue.title),
            kind: issue.kind.name().to_owned(),
            severity: issue.severity.name().to_owned(),
            place: issue.place().as_deref().map(redacted),
            description: issue.description.as_deref().map(redacted),
            can_be_decided: issue.remedy.can_be_decided(),
        }
    }
}

impl From<&Fix> for LoopFixView {
    fn from(fix: &Fix) -> LoopFixView {
        LoopFixView {
            at: fix.at.clone(),
            summary: redacted(&fix.summary),
            changed: fix.changed_something,
        }
    }
}
