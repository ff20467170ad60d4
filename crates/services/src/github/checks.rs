//! Check runs of a commit: lists those of all apps, and creates our own.

use assay_findings::post::{self, Annotation};
use assay_store::pulls::{CommitId, RepositoryName};
use serde::Deserialize;
use serde_json::{Value, json};

use super::GitHub;
use crate::http::{Call, ServiceError, encode_path_segment};

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
struct CheckRunsResponse {
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
        let path = format!("/commits/{}/check-runs", encode_path_segment(of));
        let call =
            Call::get(self.repository_path(repository, &path)).query("per_page", super::PAGE_SIZE);
        let response: CheckRunsResponse = self.api.json(&call)?;
        let more = response.total_count > response.check_runs.len();
        Ok((response.check_runs, more))
    }

    /// Creates a completed check run on a commit, with as many calls as its annotations need.
    pub fn create_check_run(
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
        let call = Call::post(self.repository_path(repository, "/check-runs"), body);
        let mut response: CheckRun = self.api.json(&call)?;
        for more in batches {
            let path = self.repository_path(repository, &format!("/check-runs/{}", response.id));
            response = self.api.json(&Call::patch(path, json!({ "output": output(run, more) })))?;
        }
        Ok(response)
    }
}

fn output(run: &post::CheckRun, annotations: &[Annotation]) -> Value {
    json!({ "title": run.title, "summary": run.summary, "annotations": annotations })
}
