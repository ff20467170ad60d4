//! Uploads to code scanning.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::call::{Call, Fields, Outcome, Reply};
use super::super::gzip;
use super::super::refusal::Refusal;
use super::super::state::Sarif;

/// The maximum size of an upload in bytes, compressed and decompressed.
const MAX_UPLOAD: (usize, usize) = (10 * 1024 * 1024, 200 * 1024 * 1024);

pub(super) fn upload(call: &mut Call<'_>, name: &str) -> Outcome {
    let known =
        ["commit_sha", "ref", "sarif", "checkout_uri", "started_at", "tool_name", "validate"];
    let fields = Fields::read(call.body, &known)?;
    let (commit, reference) = (fields.needed("commit_sha")?, fields.needed("ref")?);
    let is_reference =
        ["refs/heads/", "refs/tags/", "refs/pull/"].iter().any(|it| reference.starts_with(it));
    if !is_reference {
        return Err(Refusal::new(422, "ref must be a branch, a tag or a pull request"));
    }
    if !call.state.repo(name)?.commits.contains(commit) {
        return Err(Refusal::new(422, &format!("commit not found: {commit}")));
    }
    let document = unpack(fields.needed("sarif")?)?;
    let id = format!("sarif-{}", call.state.next_id());
    let url = format!("{}/repos/{name}/code-scanning/sarifs/{id}", call.state.root);
    call.state.repo_mut(name)?.sarifs.push(Sarif {
        id: id.clone(),
        commit: commit.to_owned(),
        reference: reference.to_owned(),
        document,
    });
    Ok(Reply::done(202, json!({ "id": id, "url": url })))
}

fn unpack(sarif: &str) -> Result<Value, Refusal> {
    let wrong = |why| Refusal::new(400, why);
    let packed = STANDARD.decode(sarif).map_err(|_| wrong("sarif is not Base64"))?;
    if packed.len() > MAX_UPLOAD.0 {
        return Err(Refusal::new(413, "Payload Too Large"));
    }
    let text = gzip::open(&packed, MAX_UPLOAD.1).ok_or_else(|| wrong("sarif is not gzip"))?;
    let document: Value = serde_json::from_slice(&text).map_err(|_| wrong("sarif is not JSON"))?;
    let has_runs = document["runs"].as_array().is_some_and(|runs| runs.len() <= 20);
    match document["version"] == "2.1.0" && has_runs {
        true => Ok(document),
        false => Err(wrong("sarif is not SARIF 2.1.0")),
    }
}
