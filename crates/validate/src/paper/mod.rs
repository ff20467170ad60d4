//! The papers that a loop leaves in a spec's folder, one file for each.
//!
//! They are written for people and for fixers, from values alone: the same values give the same
//! text. Whatever comes from outside (titles, reasons, what a command said) is data in all of them:
//! it can begin no heading and no line of the form, and send no escape. What is too long is cut, and
//! says so.

mod escalation;
mod fix_request;
mod manual_plan;
mod report;
mod status;
mod tables;
mod words;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::escalation::{Appearance, Escalation, RecurringIssue, escalation};
pub use self::fix_request::fix_request;
pub(crate) use self::fix_request::is_form;
pub use self::manual_plan::manual_plan;
pub use self::report::{Report, SignOffLine, report};
pub use self::status::{Status, StatusRound};
use self::words::{text, title};
use crate::issue::Issue;

/// Where what has to be fixed is written.
pub const FIX_REQUEST: &str = "QA_FIX_REQUEST.md";

/// Where it is written why a person has to see to it.
pub const ESCALATION: &str = "QA_HUMAN_ESCALATION.md";

/// Where it is written what a round came to.
pub const REPORT: &str = "qa_report.md";

/// Where it is written what a person has to try.
pub const MANUAL_PLAN: &str = "MANUAL_TEST_PLAN.md";

/// A required check, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckLine {
    /// The name of the check, such as `unit`.
    pub name: String,
    /// The command, where there is one.
    pub command: Option<String>,
    /// The result.
    pub outcome: CheckWord,
    /// The code that the command ended with.
    pub exit: Option<i32>,
    /// How long it took.
    pub took: Option<Duration>,
    /// How many tests there were, where that is known.
    pub tests: Option<TestCount>,
    /// The end of its output.
    pub tail: String,
    /// Notes about the run.
    pub notes: Vec<String>,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckWord {
    /// The check passed.
    Passed,
    /// The check failed.
    Failed,
    /// The check could not be run, which is no pass.
    NotRun {
        /// The reason.
        why: String,
    },
}

/// How many tests came to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestCount {
    /// Those that passed.
    pub passed: u32,
    /// Those that failed.
    pub failed: u32,
    /// Those that were left out.
    pub skipped: u32,
}

/// A criterion, and what the review says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriterionLine {
    /// The words of the criterion.
    pub text: String,
    /// Whether it is met.
    pub answer: CriterionAnswer,
    /// The evidence for the answer.
    pub evidence: String,
}

impl CriterionLine {
    /// Returns true if evidence or a person's decision says that the criterion is met.
    pub fn is_met(&self) -> bool {
        matches!(self.answer, CriterionAnswer::Met | CriterionAnswer::Decided)
    }
}

/// Whether a criterion is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionAnswer {
    /// The criterion is met.
    Met,
    /// The criterion is not met.
    NotMet,
    /// Nobody could tell.
    CannotTell,
    /// No check and no model could tell, and a person decided that it is met.
    Decided,
}

/// How much of something is covered by tests.
#[derive(Debug, Clone, PartialEq)]
pub struct CoverageLine {
    /// Of what: `total`, `changed lines`, or a file.
    pub of: String,
    /// How much, in percent.
    pub percent: f64,
    /// How much it has to be.
    pub minimum: Option<f64>,
}

/// How many issues are written out.
const MAX_ISSUES: usize = 200;

/// Writes issues out, numbered, each with a heading.
fn numbered(issues: &[Issue]) -> String {
    let mut out = String::new();
    for (issue, number) in issues.iter().take(MAX_ISSUES).zip(1..) {
        out.push_str(&format!("### {number}. {}\n\n{}\n", title(&issue.title), details(issue)));
    }
    out + &left_out(issues.len())
}

/// Says how many issues are not written out.
fn left_out(issues: usize) -> String {
    match issues.saturating_sub(MAX_ISSUES) {
        0 => String::new(),
        more => format!("{more} more issues are left out here; `qa_journal.jsonl` has them.\n\n"),
    }
}

/// Returns the lines below an issue's heading.
fn details(issue: &Issue) -> String {
    let mut out = format!("- Type: {}\n- Severity: {}\n", issue.kind.name(), issue.severity.name());
    let further = [
        ("Place", issue.place().map(|place| title(&place))),
        ("Description", issue.description.as_deref().map(text)),
        ("Fix", issue.fix.as_deref().map(text)),
    ];
    for (name, said) in further {
        if let Some(said) = said.filter(|said| !said.is_empty()) {
            out.push_str(&format!("- {name}: {said}\n"));
        }
    }
    out
}
