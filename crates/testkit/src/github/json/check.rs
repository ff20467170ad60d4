//! A check run as JSON.

use serde_json::{Value, json};

use super::{WEB, user};
use crate::date::iso;
use crate::github::state::{CheckRun, Repo, State};

/// Renders a check run.
pub(in crate::github) fn check_run(state: &State, repo: &Repo, run: &CheckRun) -> Value {
    let url = format!("{}/repos/{}/check-runs/{}", state.root, repo.full_name, run.id);
    let html = format!("{WEB}/{}/runs/{}", repo.full_name, run.id);
    json!({
        "id": run.id, "node_id": format!("CR_{}", run.id), "name": run.name,
        "head_sha": run.head_sha, "external_id": run.external_id.as_deref().unwrap_or(""),
        "url": url, "html_url": html, "details_url": run.details_url.as_ref().unwrap_or(&html),
        "status": run.status, "conclusion": run.conclusion, "started_at": iso(run.started),
        "completed_at": run.completed.map(iso),
        "output": {
            "title": run.title, "summary": run.summary, "text": run.text,
            "annotations_count": run.annotations.len(),
            "annotations_url": format!("{url}/annotations"),
        },
        "check_suite": { "id": 1 }, "pull_requests": [], "app": app(state, repo),
    })
}

fn app(state: &State, repo: &Repo) -> Value {
    json!({
        "id": 1, "slug": "assay", "node_id": "A_1", "owner": user(state, repo.owner()),
        "name": "assay", "description": null, "external_url": "https://example.org/",
        "html_url": format!("{WEB}/apps/assay"), "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z", "permissions": { "checks": "write" }, "events": [],
    })
}
