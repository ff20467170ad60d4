//! A repository of the workspace: [`Folder`], with its worker and the findings that are shown.

use std::collections::BTreeMap;

use assay_engine::editor_session::LastRun;
use assay_findings::path::RepoPath;
use serde_json::{Value, json};

use super::code_actions::{REVIEW, SHOW_RUN};
use super::diagnostics::ShownFinding;
use super::worker::Worker;

/// A repository with its findings.
pub(super) struct Folder {
    pub(super) worker: Worker,
    /// The findings that the client shows, by file.
    pub(super) files: BTreeMap<RepoPath, Vec<ShownFinding>>,
    pub(super) last_run: Option<LastRun>,
    /// The token of the progress of the first review; `None` after it.
    pub(super) progress: Option<String>,
}

impl Folder {
    pub(super) fn findings(&self, path: &RepoPath) -> &[ShownFinding] {
        self.files.get(path).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the code lenses of a file: the verdict of the last run with the number of findings,
    /// and a new review.
    pub(super) fn code_lenses(&self, uri: &str, path: &RepoPath) -> Vec<Value> {
        let here = self.findings(path).len();
        let verdict = match &self.last_run {
            Some(run) => format!("assay: {} ({}); here: {here}", run.verdict, run.summary),
            None => format!("assay: not reviewed yet; here: {here}"),
        };
        let start = json!({"line": 0, "character": 0});
        let lens = |title: &str, command: &str| {
            json!({
                "range": {"start": start, "end": start},
                "command": {"title": title, "command": command, "arguments": [{"uri": uri}]},
            })
        };
        vec![lens(&verdict, SHOW_RUN), lens("review the saved files", REVIEW)]
    }

    /// Returns the verdict of the last run with its reasons.
    pub(super) fn describe_last_run(&self) -> String {
        match &self.last_run {
            None => "There is no stored review yet; `assay review` makes one.".to_owned(),
            Some(run) => {
                let reasons: Vec<String> =
                    run.reasons.iter().map(|reason| format!("\n{reason}")).collect();
                format!("{}: {} (run {}){}", run.verdict, run.summary, run.id, reasons.concat())
            }
        }
    }
}
