//! Reports that agents hand in for tasks while they work: kept under `.assay/reports/`, and read
//! again by whoever settles the task.
//!
//! What is handed in can add findings. It covers nothing: nobody is taken to have looked because
//! somebody says so.

use std::path::Path;

use assay_change::state::{Kind, State, StateError};
use assay_change::tree::DirTree;
use assay_findings::gate::Mode;
use assay_findings::report::Report;
use assay_findings::synthesis::{Circumstances, Synthesis, synthesize};
use assay_rules::{Redacted, WithSymbols, redacted_text};
use assay_store::reports::{Numbered, ReportError, Reports};
use assay_store::task::TaskId;
use serde_json::Value;

/// The kind of state that reports are.
const KIND: &str = "reports";

/// Where a kept report has what was handed in.
pub const REPORT: &str = "report";

/// Why reports could not be used.
#[derive(Debug, thiserror::Error)]
pub enum HandedInError {
    /// The reports have no authority, or cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// A report cannot be read.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A report is not what it should be.
    #[error("a report that was handed in for `{task}` is damaged: {message}")]
    Damaged {
        /// The task.
        task: TaskId,
        /// What is wrong.
        message: String,
    },
}

/// The reports of a repository, sealed by task.
#[derive(Debug, Clone)]
pub struct HandedIn {
    kind: Kind,
    reports: Reports,
}

impl HandedIn {
    /// Opens the reports of a repository. Fails if they came from elsewhere: they would be orders.
    pub fn open(state: &State) -> Result<HandedIn, HandedInError> {
        let kind = state.open(KIND)?;
        let reports = Reports::new(kind.path());
        Ok(HandedIn { kind, reports })
    }

    /// Keeps a report for a task, and returns its number.
    pub fn keep(&self, task: &TaskId, report: &Value) -> Result<u32, HandedInError> {
        self.kind.make()?;
        let mut held = self.kind.hold(task.as_str())?;
        held.change()?;
        let number = self.reports.keep(task, report)?;
        held.seal()?;
        Ok(number)
    }

    /// Returns the reports of a task by their numbers, the oldest first.
    pub fn of(&self, task: &TaskId) -> Result<Vec<Numbered>, HandedInError> {
        let _held = self.kind.hold(task.as_str())?;
        Ok(self.reports.of(task)?)
    }
}

/// Reads a report as somebody wrote it. A bare list is one of findings.
pub fn read(text: &str, reviewer: &str, folder: &Path) -> Report {
    let text = redacted_text(text);
    let is_list = serde_json::from_str::<Vec<Value>>(&text).is_ok();
    let text = if is_list { format!("{{\"findings\": {text}}}") } else { text };
    Report { required: false, ..Report::from_text(&text, reviewer, folder.to_str()) }
}

/// Gives what was handed in for a task. A report that cannot be read may hold what nobody else saw,
/// so there is no answer without it.
pub fn for_task(state: &State, task: &TaskId) -> Result<Vec<Report>, HandedInError> {
    let read = |(_, kept): Numbered| {
        let report = serde_json::from_value::<Report>(kept?[REPORT].take());
        let report = report.map_err(|error| {
            let message = error.to_string();
            HandedInError::Damaged { task: task.clone(), message }
        })?;
        Ok(Report { required: false, ..report })
    };
    HandedIn::open(state)?.of(task)?.into_iter().map(read).collect()
}

/// Holds reports against the code in a folder.
pub fn held_against(reports: &[Report], folder: &Path) -> Synthesis {
    let folder = DirTree::new(folder.to_owned());
    let redacted = Redacted(&folder);
    let tree = WithSymbols::new(&redacted);
    let circumstances =
        Circumstances { tree: Some(&tree), mode: Mode::Headless, ..Circumstances::default() };
    synthesize(reports, &circumstances)
}
