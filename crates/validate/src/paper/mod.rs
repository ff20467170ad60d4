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

pub use self::escalation::{Appearance, Escalation, RecurringIssue, escalation};
pub use self::fix_request::fix_request;
pub(crate) use self::fix_request::is_form;
pub use self::manual_plan::manual_plan;
pub use self::report::{Report, SignOffLine, report};
pub use self::status::{Status, StatusRound};
use self::words::{text, title};
use crate::issue::Issue;

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

/// Returns the digest of a generated document.
pub(crate) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
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
