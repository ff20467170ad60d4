//! Check runs: what others say of a commit, and what we do.

use assay_store::pulls::{CommitId, RepositoryName};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::GitHub;
use crate::http::{Call, ServiceError, path_segment};

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// Well.
    Success,
    /// Badly.
    Failure,
    /// Neither.
    Neutral,
    /// Somebody has to do something.
    ActionRequired,
}

/// A check of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CheckRun {
    /// Its number.
    pub id: u64,
    /// What it is called.
    pub name: String,
    /// `queued`, `in_progress` or `completed`.
    pub status: String,
    /// How it ended.
    pub conclusion: Option<String>,
    /// Where people find it.
    pub html_url: Option<String>,
}

/// A note on lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Annotation {
    /// The file.
    pub path: String,
    /// The first line.
    pub start_line: u32,
    /// The last line.
    pub end_line: u32,
    /// `notice`, `warning` or `failure`.
    pub annotation_level: &'static str,
    /// What it says.
    pub message: String,
    /// What it is called.
    pub title: String,
}

/// A check to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCheckRun<'a> {
    /// What it is called.
    pub name: &'a str,
    /// The commit.
    pub head: &'a CommitId,
    /// How it ended.
    pub conclusion: Conclusion,
    /// A line about it.
    pub title: &'a str,
    /// A page about it.
    pub summary: &'a str,
}

#[derive(Deserialize)]
struct Told {
    check_runs: Vec<CheckRun>,
    total_count: usize,
}

fn output(run: &NewCheckRun<'_>, annotations: &[Annotation]) -> Value {
    json!({ "title": run.title, "summary": run.summary, "annotations": annotations })
}

impl GitHub {
    /// Lists the checks of a commit or a branch. Says whether there are more than are listed.
    pub fn check_runs(
        &self,
        repository: &RepositoryName,
        of: &str,
    ) -> Result<(Vec<CheckRun>, bool), ServiceError> {
        let path = format!("/commits/{}/check-runs", path_segment(of));
        let call = Call::get(self.in_repository(repository, &path)).query("per_page", super::PAGE);
        let told: Told = self.api.json(&call)?;
        let more = told.total_count > told.check_runs.len();
        Ok((told.check_runs, more))
    }

    /// Tells how a check ended, with at most 50 notes.
    pub fn create_check_run(
        &self,
        repository: &RepositoryName,
        run: &NewCheckRun<'_>,
        annotations: &[Annotation],
    ) -> Result<CheckRun, ServiceError> {
        let body = json!({
            "name": run.name,
            "head_sha": run.head,
            "status": "completed",
            "conclusion": run.conclusion,
            "output": output(run, annotations),
        });
        self.api.json(&Call::post(self.in_repository(repository, "/check-runs"), body))
    }

    /// Adds at most 50 notes to a check.
    pub fn annotate_check_run(
        &self,
        repository: &RepositoryName,
        id: u64,
        run: &NewCheckRun<'_>,
        annotations: &[Annotation],
    ) -> Result<CheckRun, ServiceError> {
        let path = self.in_repository(repository, &format!("/check-runs/{id}"));
        self.api.json(&Call::patch(path, json!({ "output": output(run, annotations) })))
    }
}
