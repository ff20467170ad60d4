//! Invalid requests and invalid answers: Prism has to refuse both, or its acceptance of the rest
//! means nothing.

use std::time::Duration;

use anyhow::ensure;
use assay_services::http::{
    HttpTransport, Method, Request, RequestEffect, Response, Transport as _,
};
use assay_testkit::github::{Fault, sha};
use serde_json::{Value, json};

use super::{GithubFixture, REPO, TOKEN};
use crate::conformance::{Check, Outcome};

pub(super) fn run(fixture: &GithubFixture) -> Vec<Check> {
    let mut checks: Vec<Check> = requests(fixture.number)
        .into_iter()
        .map(|(what, method, path, body)| {
            (format!("refused: {what}"), Outcome::of(refused(fixture, method, &path, &body)))
        })
        .collect();
    let outcome = Outcome::of(an_answer_is_judged(fixture));
    checks.push(("refused: half an answer".to_owned(), outcome));
    checks
}

/// Returns requests like those of the client, each with one error.
fn requests(number: u64) -> Vec<(&'static str, Method, String, Value)> {
    let pull = |rest: &str| format!("/repos/{REPO}/pulls/{number}{rest}");
    let review = |comment: Value, event: &str| json!({ "commit_id": sha("head"), "event": event, "body": "b", "comments": [comment] });
    let on_line = json!({ "path": "src/a.rs", "line": 1, "side": "RIGHT", "body": "b" });
    let with = |key: &str, value: Value| {
        let mut changed = on_line.clone();
        changed[key] = value;
        changed
    };
    let mut alone = on_line.clone();
    alone["commit_id"] = json!(sha("head"));
    alone["side"] = json!("MIDDLE");
    let check = json!({ "name": "assay", "head_sha": sha("head"), "status": "completed",
        "conclusion": "failure", "output": { "title": "t" } });
    let post = Method::Post;
    vec![
        ("a line as text", post, pull("/reviews"), review(with("line", json!("3")), "COMMENT")),
        ("an event that is none", post, pull("/reviews"), review(on_line.clone(), "APPROVED")),
        (
            "a comment without a body",
            post,
            pull("/reviews"),
            review(json!({ "path": "src/a.rs", "line": 1 }), "COMMENT"),
        ),
        ("a side that is none", post, pull("/comments"), alone),
        (
            "a comment that says nothing",
            post,
            format!("/repos/{REPO}/issues/{number}/comments"),
            json!({}),
        ),
        (
            "a pull request without a branch",
            post,
            format!("/repos/{REPO}/pulls"),
            json!({ "title": "t", "base": "main" }),
        ),
        ("a check without a summary", post, format!("/repos/{REPO}/check-runs"), check),
        ("a state that is none", Method::Patch, pull(""), json!({ "state": "merged" })),
        (
            "a number that is none",
            post,
            format!("/repos/{REPO}/pulls/seven/reviews"),
            review(on_line, "COMMENT"),
        ),
    ]
}

fn send(
    fixture: &GithubFixture,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> anyhow::Result<Response> {
    let wire = HttpTransport::new(fixture.prism.url().parse()?, Duration::from_secs(30));
    let headers = vec![
        ("authorization", format!("Bearer {TOKEN}")),
        ("accept", "application/vnd.github+json".to_owned()),
        ("content-type", "application/json".to_owned()),
    ];
    let sent = wire.send(&Request {
        method,
        effect: RequestEffect::Write,
        target: path.to_owned(),
        headers,
        body: body.map(|body| body.to_string().into_bytes()),
    });
    sent.map_err(|lost| anyhow::anyhow!("no answer came: {lost:?}"))
}

/// Checks that Prism refuses a request itself, before the fake receives it.
fn refused(
    fixture: &GithubFixture,
    method: Method,
    path: &str,
    body: &Value,
) -> anyhow::Result<()> {
    let before = fixture.github.log().len();
    let response = send(fixture, method, path, Some(body))?;
    let said = String::from_utf8_lossy(&response.body);
    ensure!(response.status == 422, "status {}: {said}", response.status);
    ensure!(fixture.github.log().len() == before, "it came through: {said}");
    Ok(())
}

/// Checks that Prism refuses an answer that does not match the description.
fn an_answer_is_judged(fixture: &GithubFixture) -> anyhow::Result<()> {
    fixture.github.fail_next("GET", Fault::Truncated);
    let path = format!("/repos/{REPO}/pulls/{}", fixture.number);
    let response = send(fixture, Method::Get, &path, None)?;
    let said = String::from_utf8_lossy(&response.body);
    ensure!(response.status >= 500, "status {}: {said:.200}", response.status);
    Ok(())
}
