//! Merge requests, and the user of the token.

use assay_store::pulls::CommitId;
use serde::Deserialize;

use super::{GitLab, ProjectPath};
use crate::http::{Call, ServiceError};

/// A merge request. All text in it is untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct MergeRequest {
    /// The title.
    pub title: String,
    /// The description; `None` if there is none.
    pub description: Option<String>,
    /// The branch to merge into.
    pub target_branch: String,
    /// The head commit.
    pub sha: CommitId,
    /// The commits that positions in the diff refer to; `None` until GitLab has prepared the diff.
    pub diff_refs: Option<DiffRefs>,
}

/// The commits that positions in a diff refer to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DiffRefs {
    /// The merge base.
    pub base_sha: CommitId,
    /// The head commit.
    pub head_sha: CommitId,
    /// The commit of the target branch when the diff was made.
    pub start_sha: CommitId,
}

/// A user.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct User {
    pub(super) id: u64,
}

impl GitLab {
    /// Reads a merge request.
    pub fn merge_request(
        &self,
        project: &ProjectPath,
        number: u64,
    ) -> Result<MergeRequest, ServiceError> {
        self.api.json(&Call::get(self.merge_request_path(project, number, "")))
    }

    /// Reads the user of the token.
    pub(super) fn user(&self) -> Result<User, ServiceError> {
        self.api.json(&Call::get("/user"))
    }
}
