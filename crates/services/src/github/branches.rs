//! Branches of a repository.

use assay_store::pulls::{CommitId, RepositoryName};
use serde::Deserialize;
use serde_json::json;

use super::GitHub;
use crate::http::{Call, ServiceError, encode_path_segment};

#[derive(Deserialize)]
struct RefResponse {
    object: ApiObject,
}

#[derive(Deserialize)]
struct ApiObject {
    sha: CommitId,
}

#[derive(Deserialize)]
struct ApiRepository {
    default_branch: String,
}

impl GitHub {
    /// Returns the name of the repository's default branch.
    pub fn default_branch(&self, repository: &RepositoryName) -> Result<String, ServiceError> {
        let call = Call::get(self.repository_path(repository, ""));
        self.api.json::<ApiRepository>(&call).map(|repository| repository.default_branch)
    }

    /// Returns the last commit of a branch, or `None` if the branch does not exist.
    pub fn branch(
        &self,
        repository: &RepositoryName,
        branch: &str,
    ) -> Result<Option<CommitId>, ServiceError> {
        // Slashes are part of the name, and GitHub's own clients encode them in the same way.
        let path = format!("/git/ref/{}", encode_path_segment(&format!("heads/{branch}")));
        match self.api.json::<RefResponse>(&Call::get(self.repository_path(repository, &path))) {
            Ok(response) => Ok(Some(response.object.sha)),
            Err(error) if error.status() == Some(404) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Creates a branch at a commit.
    pub fn create_branch(
        &self,
        repository: &RepositoryName,
        branch: &str,
        at: &CommitId,
    ) -> Result<CommitId, ServiceError> {
        let body = json!({ "ref": format!("refs/heads/{branch}"), "sha": at });
        let call = Call::post(self.repository_path(repository, "/git/refs"), body);
        self.api.json::<RefResponse>(&call).map(|response| response.object.sha)
    }
}
