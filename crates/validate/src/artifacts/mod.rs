//! Renders the documents that a loop writes into the folder of a spec, one module for each.
//!
//! The documents are for people and fixers. They depend on their arguments alone: the same values
//! give the same text. All text from outside (titles, reasons, output of commands) is escaped: it
//! cannot begin a heading or a line of the form, and cannot send a terminal escape. Text that is
//! too long is truncated, with a note.

mod escalation;
mod escaping;
mod fix_request;
mod manual_plan;
mod report;
mod status;
mod tables;

use std::time::Duration;

pub use self::escalation::{Appearance, Escalation, RecurringIssue, render_escalation};
use self::escaping::{text, title};
pub(crate) use self::fix_request::is_form;
pub use self::fix_request::render_fix_request;
pub use self::manual_plan::render_manual_plan;
pub use self::report::{Report, SignOffLine, render_report};
pub use self::status::{StatusReport, StatusRound};
use crate::issue::Issue;

/// A required check and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckLine {
    /// The name of the check, such as `unit`.
    pub name: String,
    /// The command; `None` if there is none.
    pub command: Option<String>,
    /// The result of the check.
    pub outcome: CheckLineOutcome,
    /// The exit code of the command; `None` if there is none.
    pub exit: Option<i32>,
    /// The duration of the check; `None` if the check has none.
    pub took: Option<Duration>,
    /// The number of tests; `None` if it is unknown.
    pub tests: Option<TestCount>,
    /// The end of the output.
    pub tail: String,
    /// Notes about the run.
    pub notes: Vec<String>,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckLineOutcome {
    /// The check passed.
    Passed,
    /// The check failed.
    Failed,
    /// The check could not run, which is no pass.
    NotRun {
        /// The reason why the check could not run.
        why: String,
    },
}

/// The numbers of tests, by result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestCount {
    /// The number of tests that passed.
    pub passed: u32,
    /// The number of tests that failed.
    pub failed: u32,
    /// The number of tests that were skipped.
    pub skipped: u32,
}

/// The test coverage of a file, or of a set of lines.
#[derive(Debug, Clone, PartialEq)]
pub struct CoverageLine {
    /// The subject: `total`, `changed lines`, or the path of a file.
    pub of: String,
    /// The covered share, in percent.
    pub percent: f64,
    /// The required share, in percent; `None` if there is no minimum.
    pub minimum: Option<f64>,
}

/// Returns the digest of a generated document.
pub(crate) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

/// Maximum number of issues that a document lists.
const MAX_ISSUES: usize = 200;

/// Renders issues as a numbered list of headings with details.
fn numbered(issues: &[Issue]) -> String {
    let mut out = String::new();
    for (issue, number) in issues.iter().take(MAX_ISSUES).zip(1..) {
        out.push_str(&format!("### {number}. {}\n\n{}\n", title(&issue.title), details(issue)));
    }
    out + &left_out(issues.len())
}

/// Returns a note on the number of issues that are not listed; empty if all are.
fn left_out(issues: usize) -> String {
    match issues.saturating_sub(MAX_ISSUES) {
        0 => String::new(),
        more => format!("{more} more issues are not shown here; see `qa_journal.jsonl`.\n\n"),
    }
}

/// Returns the lines below the heading of an issue.
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
