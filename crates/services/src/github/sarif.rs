//! Uploads findings to GitHub's code scanning.

use std::io::Write as _;

use assay_store::pulls::{CommitId, RepositoryName};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Deserialize;
use serde_json::json;

use super::GitHub;
use crate::http::{Call, ServiceError};

#[derive(Deserialize)]
struct UploadResponse {
    id: String,
}

impl GitHub {
    /// Uploads a SARIF file for a commit of a reference such as `refs/pull/7/head`. Returns the id
    /// of the upload.
    pub fn upload_sarif(
        &self,
        repository: &RepositoryName,
        commit: &CommitId,
        reference: &str,
        sarif: &str,
    ) -> Result<String, ServiceError> {
        let body = json!({
            "commit_sha": commit,
            "ref": reference,
            "sarif": BASE64_STANDARD.encode(gzip(sarif)),
            "tool_name": "assay",
        });
        let call = Call::post(self.repository_path(repository, "/code-scanning/sarifs"), body);
        self.api.json::<UploadResponse>(&call).map(|response| response.id)
    }
}

fn gzip(text: &str) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    let packed = packer.write_all(text.as_bytes()).and_then(|()| packer.finish());
    packed.expect("nothing keeps memory from being written to")
}
