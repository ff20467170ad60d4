//! The routes of the fake, and the checks that all requests pass.

use serde_json::{Value, json};

use super::refusal::{Outcome, Refusal, invalid, json_user, not_found, only};
use super::{OTHER_TOKEN, OTHER_USER, PROJECT, State, TOKEN, USER, discussions};
use crate::web::{Answer, ServiceRequest, decoded};

pub(super) fn answer(state: &mut State, asked: &ServiceRequest) -> Answer {
    match route(state, asked) {
        Ok((status, Value::Array(all))) => paged(asked, status, &all),
        Ok((status, body)) => Answer::json(status, &body),
        Err(Refusal(status, message)) => Answer::json(status, &json!({ "message": message })),
    }
}

fn route(state: &mut State, asked: &ServiceRequest) -> Outcome {
    let user = user(asked)?;
    let path = asked.path();
    let path = path.strip_prefix("/api/v4").ok_or_else(|| Refusal(404, "404 Not Found".into()))?;
    let parts: Vec<String> = path.split('/').skip(1).map(decoded).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let body = body(asked)?;
    let method = asked.method.as_str();
    let ("projects", rest) = (match parts.split_first() {
        Some((&"user", [])) if method == "GET" => return Ok((200, json_user(user))),
        Some((first, rest)) => (*first, rest),
        None => return Err(not_found("Route")),
    }) else {
        return Err(not_found("Route"));
    };
    // Like the real one, a path that is not encoded is another route.
    let Some((&PROJECT, rest)) = rest.split_first() else { return Err(not_found("Project")) };
    if rest.is_empty() && method == "GET" {
        return Ok((200, json!({ "id": 5, "path_with_namespace": PROJECT })));
    }
    let Some((&"merge_requests", [number, rest @ ..])) = rest.split_first() else {
        return Err(not_found("Route"));
    };
    let number: usize = number.parse().map_err(|_| invalid("merge_request_iid is invalid"))?;
    if number == 0 || number > state.requests.len() {
        return Err(not_found("Merge Request"));
    }
    let at = number - 1;
    match (method, rest) {
        ("GET", []) => Ok((200, merge_request(state, at))),
        ("GET", ["approvals"]) => Ok((200, approvals(state, at))),
        ("POST", ["approve"]) => approve(state, at, user, &body),
        ("POST", ["unapprove"]) => unapprove(state, at, user),
        _ => discussions::route(state, at, user, (method, rest), &body),
    }
}

fn user(asked: &ServiceRequest) -> Result<u64, Refusal> {
    let bearer = asked.header("authorization").and_then(|it| it.strip_prefix("Bearer "));
    match asked.header("private-token").or(bearer) {
        Some(TOKEN) => Ok(USER),
        Some(OTHER_TOKEN) => Ok(OTHER_USER),
        _ => Err(Refusal(401, "401 Unauthorized".to_owned())),
    }
}

fn body(asked: &ServiceRequest) -> Result<Value, Refusal> {
    if asked.body.is_empty() {
        return Ok(json!({}));
    }
    let kind = asked.header("content-type").unwrap_or_default();
    if !kind.starts_with("application/json") {
        return Err(Refusal(415, "the fake takes JSON only".to_owned()));
    }
    let body: Option<Value> = serde_json::from_slice(&asked.body).ok();
    body.filter(Value::is_object).ok_or_else(|| invalid("body is invalid"))
}

fn merge_request(state: &State, at: usize) -> Value {
    let request = &state.requests[at];
    json!({
        "id": 1_000 + at, "iid": at + 1, "project_id": 5, "state": "opened",
        "title": "Add a feature", "description": "For all users.",
        "target_branch": "main", "source_branch": "feature", "sha": request.head,
        "diff_refs": request.diff.refs(&request.head),
    })
}

fn approvals(state: &State, at: usize) -> Value {
    let by = state.requests[at].approved_by.iter();
    let by: Vec<Value> = by.map(|id| json!({ "user": json_user(*id) })).collect();
    json!({ "id": 1_000 + at, "iid": at + 1, "project_id": 5, "approved": !by.is_empty(),
        "approved_by": by })
}

fn approve(state: &mut State, at: usize, user: u64, body: &Value) -> Outcome {
    only(body, &["sha"])?;
    if body["sha"].as_str().is_some_and(|sha| sha != state.requests[at].head) {
        return Err(Refusal(409, "SHA does not match HEAD of source branch".to_owned()));
    }
    let is_forbidden = state.forbids_approval && user == USER;
    if is_forbidden || state.requests[at].approved_by.contains(&user) {
        return Err(Refusal(401, "401 Unauthorized".to_owned()));
    }
    state.requests[at].approved_by.push(user);
    Ok((201, approvals(state, at)))
}

fn unapprove(state: &mut State, at: usize, user: u64) -> Outcome {
    let before = state.requests[at].approved_by.len();
    state.requests[at].approved_by.retain(|id| *id != user);
    match before == state.requests[at].approved_by.len() {
        true => Err(not_found("Approval")),
        false => Ok((201, approvals(state, at))),
    }
}

/// Returns a page of a list, with the headers on the next page.
fn paged(asked: &ServiceRequest, status: u16, all: &[Value]) -> Answer {
    let number = |name: &str, default: usize| {
        let query = asked.query();
        let value = query.iter().find(|(known, _)| known == name);
        value.and_then(|(_, value)| value.parse().ok()).unwrap_or(default)
    };
    let (page, size) = (number("page", 1).max(1), number("per_page", 20).clamp(1, 100));
    let entries: Vec<&Value> = all.iter().skip((page - 1) * size).take(size).collect();
    let answer = Answer::json(status, &json!(entries)).with("x-page", &page.to_string());
    match page * size < all.len() {
        false => answer.with("x-next-page", ""),
        true => {
            let host = asked.header("host").unwrap_or("gitlab.test");
            let next = format!("<http://{host}{}?page={}&per_page={size}>", asked.path(), page + 1);
            answer
                .with("x-next-page", &(page + 1).to_string())
                .with("link", &format!("{next}; rel=\"next\""))
        }
    }
}
