//! Branches of a repository.

use assay_store::pulls::{CommitId, RepositoryName};
use serde::Deserialize;
use serde_json::json;

use super::GitHub;
use crate::http::{Call, ServiceError, path_segment};

#[derive(Deserialize)]
struct Told {
    object: Object,
}

#[derive(Deserialize)]
struct Object {
    sha: CommitId,
}

#[derive(Deserialize)]
struct Repository {
    default_branch: String,
}

impl GitHub {
    /// Returns the name of the repository's default branch.
    pub fn default_branch(&self, repository: &RepositoryName) -> Result<String, ServiceError> {
        let call = Call::get(self.in_repository(repository, ""));
        self.api.json::<Repository>(&call).map(|repository| repository.default_branch)
    }

    /// Returns the last commit of a branch, or `None` if the branch does not exist.
    pub fn branch(
        &self,
        repository: &RepositoryName,
        branch: &str,
    ) -> Result<Option<CommitId>, ServiceError> {
        // Slashes are part of the name, and GitHub's own clients encode them in the same way.
        let path = format!("/git/ref/{}", path_segment(&format!("heads/{branch}")));
        match self.api.json::<Told>(&Call::get(self.in_repository(repository, &path))) {
            Ok(told) => Ok(Some(told.object.sha)),
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
        let call = Call::post(self.in_repository(repository, "/git/refs"), body);
        self.api.json::<Told>(&call).map(|told| told.object.sha)
    }
}
