//! Findings for GitHub's code scanning.

use assay_store::pulls::{CommitId, RepositoryName};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::json;

use super::GitHub;
use crate::http::{Call, ServiceError};

#[derive(Deserialize)]
struct Told {
    id: String,
}

impl GitHub {
    /// Hands in a SARIF file, packed by gzip, for a commit of a reference such as
    /// `refs/pull/7/head`. Gives the name under which GitHub works on it.
    pub fn upload_sarif(
        &self,
        repository: &RepositoryName,
        commit: &CommitId,
        reference: &str,
        gzip: &[u8],
    ) -> Result<String, ServiceError> {
        let body = json!({
            "commit_sha": commit,
            "ref": reference,
            "sarif": BASE64_STANDARD.encode(gzip),
            "tool_name": "assay",
        });
        let call = Call::post(self.in_repository(repository, "/code-scanning/sarifs"), body);
        self.api.json::<Told>(&call).map(|told| told.id)
    }
}
