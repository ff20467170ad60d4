//! Reports that agents submit for tasks while they work: stored under `.assay/reports/`, and read
//! again when the task is settled.
//!
//! A submitted report can add findings. It covers nothing: a claim that code was read is not
//! accepted as coverage.

use std::path::Path;

use assay_change::state::{State, StateError, StateKind};
use assay_change::tree::DirTree;
use assay_findings::gate::ReviewMode;
use assay_findings::report::Report;
use assay_findings::synthesis::{Synthesis, SynthesisInputs, synthesize};
use assay_rules::{RedactedTree, SymbolTree, redact_text};
use assay_store::reports::{NumberedReport, ReportError, ReportStore};
use assay_store::task::TaskId;
use serde_json::Value;

use crate::templates;

/// The kind of state of reports.
const STATE_KIND: &str = "reports";

/// The key of the submitted content in a stored report.
pub const REPORT: &str = "report";

/// The reason why reports could not be used.
#[derive(Debug, thiserror::Error)]
pub enum ExternalReportsError {
    /// The reports have no authority, or cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// A report cannot be read.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The content of a report is invalid.
    #[error("a report that was submitted for `{task}` is damaged: {message}")]
    Damaged {
        /// The task.
        task: TaskId,
        /// The problem.
        message: String,
    },
}

/// The reports of a repository, sealed by task.
#[derive(Debug, Clone)]
pub struct ExternalReports {
    kind: StateKind,
    reports: ReportStore,
}

impl ExternalReports {
    /// Opens the reports of a repository. Fails if assay did not write them on this machine: they
    /// could contain instructions.
    pub fn open(state: &State) -> Result<ExternalReports, ExternalReportsError> {
        let kind = state.open(STATE_KIND)?;
        let reports = ReportStore::new(kind.path());
        Ok(ExternalReports { kind, reports })
    }

    /// Stores a report for a task, and returns its number.
    pub fn keep(&self, task: &TaskId, report: &Value) -> Result<u32, ExternalReportsError> {
        self.kind.create()?;
        let mut held = self.kind.lock_unit(task.as_str())?;
        held.mark_changing()?;
        let number = self.reports.add(task, report)?;
        held.seal()?;
        Ok(number)
    }

    /// Returns the reports of a task by their numbers, the oldest first.
    pub fn of(&self, task: &TaskId) -> Result<Vec<NumberedReport>, ExternalReportsError> {
        let _held = self.kind.lock_unit(task.as_str())?;
        Ok(self.reports.for_task(task)?)
    }
}

/// Parses a report as an agent wrote it. A bare list is a list of findings.
pub fn read(text: &str, reviewer: &str, folder: &Path) -> Report {
    let text = redact_text(text);
    let is_list = serde_json::from_str::<Vec<Value>>(&text).is_ok();
    let text = if is_list { format!("{{\"findings\": {text}}}") } else { text };
    Report { required: false, ..Report::from_text(&text, reviewer, folder.to_str()) }
}

/// Returns the submitted reports of a task. Fails if any of them cannot be read, since it may have
/// findings that no other report has.
pub fn for_task(state: &State, task: &TaskId) -> Result<Vec<Report>, ExternalReportsError> {
    let read = |(_, kept): NumberedReport| {
        let report = serde_json::from_value::<Report>(kept?[REPORT].take());
        let report = report.map_err(|error| {
            let message = error.to_string();
            ExternalReportsError::Damaged { task: task.clone(), message }
        })?;
        Ok(Report { required: false, ..report })
    };
    ExternalReports::open(state)?.of(task)?.into_iter().map(read).collect()
}

/// Checks reports against the code in a folder.
pub fn check_reports(reports: &[Report], folder: &Path) -> Synthesis {
    let folder = DirTree::new(folder.to_owned());
    let redacted = RedactedTree(&folder);
    let tree = SymbolTree::new(&redacted);
    let circumstances = SynthesisInputs {
        tree: Some(&tree),
        mode: ReviewMode::Headless,
        templates: Some(templates::builtin()),
        ..SynthesisInputs::default()
    };
    synthesize(reports, &circumstances)
}
