//! Approvals of a merge request.

use serde::Deserialize;
use serde_json::json;

use super::merge_requests::User;
use super::{GitLab, ProjectPath};
use crate::http::{Call, ServiceError};

/// The approvals of a merge request.
#[derive(Deserialize)]
struct Approvals {
    #[serde(default)]
    approved_by: Vec<ApprovedBy>,
}

#[derive(Deserialize)]
struct ApprovedBy {
    user: User,
}

impl GitLab {
    /// Returns true if a user approves a merge request.
    pub(super) fn is_approved_by(
        &self,
        project: &ProjectPath,
        number: u64,
        user: u64,
    ) -> Result<bool, ServiceError> {
        let path = self.merge_request_path(project, number, "/approvals");
        let approvals: Approvals = self.api.json(&Call::get(path))?;
        Ok(approvals.approved_by.iter().any(|approval| approval.user.id == user))
    }

    /// Approves a merge request at a head commit. GitLab refuses it if there is another head commit
    /// by now.
    pub(super) fn approve(
        &self,
        project: &ProjectPath,
        number: u64,
        head: &str,
    ) -> Result<(), ServiceError> {
        let path = self.merge_request_path(project, number, "/approve");
        self.api.send(&Call::post(path, json!({ "sha": head }))).map(drop)
    }

    /// Withdraws the approval of the user of the token.
    pub(super) fn unapprove(&self, project: &ProjectPath, number: u64) -> Result<(), ServiceError> {
        let path = self.merge_request_path(project, number, "/unapprove");
        self.api.send(&Call::post(path, json!({}))).map(drop)
    }
}
