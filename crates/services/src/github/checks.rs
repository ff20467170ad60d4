//! Check runs of a commit: lists those of all apps, and creates our own.

use assay_findings::post::{self, Annotation};
use assay_store::pulls::{CommitId, RepositoryName};
use serde::Deserialize;
use serde_json::{Value, json};

use super::GitHub;
use crate::http::{Call, ServiceError, path_segment};

/// A check run of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CheckRun {
    /// The id of the check run.
    pub id: u64,
    /// The name of the check.
    pub name: String,
    /// The status: `queued`, `in_progress` or `completed`.
    pub status: String,
    /// The conclusion, such as `success`; `None` while the check run is not completed.
    pub conclusion: Option<String>,
    /// The address of the web page; `None` if GitHub gives none.
    pub html_url: Option<String>,
}

#[derive(Deserialize)]
struct Told {
    check_runs: Vec<CheckRun>,
    total_count: usize,
}

impl GitHub {
    /// Lists the check runs of a commit or a branch. The flag is true if there are more than are
    /// listed.
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

    /// Creates a completed check run on a commit, with as many calls as its annotations need.
    pub fn tell_check_run(
        &self,
        repository: &RepositoryName,
        name: &str,
        head: &CommitId,
        run: &post::CheckRun,
    ) -> Result<CheckRun, ServiceError> {
        let mut batches = run.batches.iter().map(Vec::as_slice);
        let body = json!({
            "name": name,
            "head_sha": head,
            "status": "completed",
            "conclusion": run.conclusion,
            "output": output(run, batches.next().unwrap_or_default()),
        });
        let call = Call::post(self.in_repository(repository, "/check-runs"), body);
        let mut told: CheckRun = self.api.json(&call)?;
        for more in batches {
            let path = self.in_repository(repository, &format!("/check-runs/{}", told.id));
            told = self.api.json(&Call::patch(path, json!({ "output": output(run, more) })))?;
        }
        Ok(told)
    }
}

fn output(run: &post::CheckRun, annotations: &[Annotation]) -> Value {
    json!({ "title": run.title, "summary": run.summary, "annotations": annotations })
}
