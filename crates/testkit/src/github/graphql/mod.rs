//! GitHub's GraphQL API, for data that REST lacks: threads, and their resolution.
//!
//! A query is parsed and executed field by field, so that a field that GitHub does not have is
//! refused here as well.

mod query;

pub(super) use query::title;

use serde_json::{Map, Value, json};

use super::call::{Call, Fields, Outcome, Reply};
use super::refusal::Refusal;
use super::state::{Access, Pull, Review, ReviewComment, ReviewState, Thread, ThreadPosition};
use query::{Field, Operation};

/// An error of GraphQL: its type, if it has one, and its message.
struct GraphqlError {
    kind: Option<&'static str>,
    message: String,
}

impl From<String> for GraphqlError {
    fn from(message: String) -> GraphqlError {
        GraphqlError { kind: None, message }
    }
}

/// Executes the operation of a body.
pub(super) fn answer(call: &mut Call<'_>) -> Outcome {
    let known = ["query", "variables", "operationName"];
    let fields = Fields::read(call.body, &known)
        .map_err(|_| Refusal::new(400, "Problems parsing the request"))?;
    let text = fields.needed("query").map_err(|_| {
        Refusal::new(400, "A query attribute must be specified and must be a string.")
    })?;
    let none = Map::new();
    let variables = fields.value("variables").and_then(Value::as_object).unwrap_or(&none);
    let operation = match Operation::parse(text, variables) {
        Ok(operation) => operation,
        Err(message) => return Ok(refuse(None, None, &message)),
    };
    let mut data = Map::new();
    let mut took_effect = false;
    for field in &operation.fields {
        let value = match operation.is_mutation {
            true => mutate(call, field),
            false => query_field(call, field),
        };
        match value {
            Ok(value) => data.insert(field.name.clone(), value),
            Err(refused) => return Ok(refuse(Some(&field.name), refused.kind, &refused.message)),
        };
        took_effect |= operation.is_mutation;
    }
    Ok(Reply { took_effect, ..Reply::unchanged(json!({ "data": data })) })
}

/// Returns an error with status 200.
fn refuse(field: Option<&str>, kind: Option<&str>, message: &str) -> Reply {
    let mut error = json!({ "message": message, "locations": [{ "line": 1, "column": 1 }] });
    let mut body = Map::new();
    if let Some(kind) = kind {
        error["type"] = json!(kind);
        error["path"] = field.map_or(Value::Null, |field| json!([field]));
        // An error of the execution has `data`, which is null.
        body.insert("data".to_owned(), field.map_or(Value::Null, |it| json!({ it: null })));
    }
    body.insert("errors".to_owned(), json!([error]));
    Reply::unchanged(Value::Object(body))
}

/// Returns the error for too many requests.
pub(super) fn limited() -> Reply {
    refuse(None, Some("RATE_LIMITED"), "API rate limit exceeded")
}

/// Returns the error for a missing permission.
pub(super) fn forbidden() -> Reply {
    refuse(None, Some("FORBIDDEN"), "Resource not accessible by integration")
}

fn not_found(what: &str, by: &str) -> GraphqlError {
    let message = format!("Could not resolve to a {what} with the {by}.");
    GraphqlError { kind: Some("NOT_FOUND"), message }
}

fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn query_field(call: &Call<'_>, field: &Field) -> Result<Value, GraphqlError> {
    if field.name == "viewer" {
        let viewer = json!({ "login": shown(&call.token.login) });
        return Ok(project(&viewer, "User", field)?);
    }
    if field.name != "repository" {
        return Err(unknown(&field.name, "Query").into());
    }
    let name = format!("{}/{}", text(&field.arguments, "owner"), text(&field.arguments, "name"));
    let missing = |_| not_found("Repository", &format!("name '{name}'"));
    let repo = call.state.repo(&name).map_err(missing)?;
    let mut result = Map::new();
    for inner in &field.inner {
        let value = match inner.name.as_str() {
            "nameWithOwner" => json!(repo.full_name),
            "pullRequest" => {
                let number = inner.arguments.get("number").and_then(Value::as_u64).unwrap_or(0);
                let missing = || not_found("PullRequest", &format!("number of {number}"));
                let pull = repo.pulls.get(&number).ok_or_else(missing)?;
                project(&pull_request(pull, &call.token.login), "PullRequest", inner)?
            }
            other => return Err(unknown(other, "Repository").into()),
        };
        result.insert(inner.name.clone(), value);
    }
    Ok(Value::Object(result))
}

fn mutate(call: &mut Call<'_>, field: &Field) -> Result<Value, GraphqlError> {
    let resolves = match field.name.as_str() {
        "resolveReviewThread" => true,
        "unresolveReviewThread" => false,
        other => return Err(unknown(other, "Mutation").into()),
    };
    let input = field.arguments.get("input").and_then(Value::as_object);
    let input = input.ok_or_else(|| "Argument 'input' is required".to_owned())?;
    if input.keys().any(|key| key != "threadId" && key != "clientMutationId") {
        return Err("InputObject doesn't accept this argument".to_owned().into());
    }
    let (id, login) = (text(input, "threadId"), call.token.login.clone());
    if call.token.access == Access::Read {
        let message = "Resource not accessible by integration".to_owned();
        return Err(GraphqlError { kind: Some("FORBIDDEN"), message });
    }
    let pulls = call.state.repositories.values_mut().flat_map(|repo| repo.pulls.values_mut());
    let thread = pulls.flat_map(|pull| &mut pull.threads).find(|thread| thread.id == id);
    let thread = thread.ok_or_else(|| not_found("node", &format!("global id of '{id}'")))?;
    let mut changed = thread.clone();
    changed.resolved_by = resolves.then(|| login.clone());
    // The mutation is applied only if its answer can be built.
    let answer = project(&json!({ "thread": thread_value(&changed, &login) }), "Payload", field)?;
    *thread = changed;
    Ok(answer)
}

/// Returns a login as GraphQL has it, without the suffix of a bot.
fn shown(login: &str) -> &str {
    login.strip_suffix("[bot]").unwrap_or(login)
}

fn pull_request(pull: &Pull, viewer: &str) -> Value {
    let is_seen =
        |review: &&Review| review.state != ReviewState::Pending || review.author == viewer;
    let pending = pull.reviews.iter().filter(is_seen).flat_map(|review| &review.pending);
    let threads: Vec<Value> =
        pull.threads.iter().chain(pending).map(|thread| thread_value(thread, viewer)).collect();
    let comment = |id: u64, author: &str, body: &str| {
        json!({
            "fullDatabaseId": id.to_string(), "body": body, "viewerDidAuthor": author == viewer,
            "author": { "login": shown(author) },
        })
    };
    let comments: Vec<Value> =
        pull.comments.iter().map(|it| comment(it.id, &it.author, &it.body)).collect();
    let reviews: Vec<Value> = pull
        .reviews
        .iter()
        .filter(is_seen)
        .map(|review| {
            let mut value = comment(review.id, &review.author, &review.body);
            value["state"] = json!(review.state.word());
            value["commit"] = json!({ "oid": review.commit });
            value
        })
        .collect();
    json!({
        "id": format!("PR_{}", pull.id), "number": pull.number, "title": pull.title,
        "headRefOid": pull.head.sha, "headRefName": pull.head.branch,
        "baseRefName": pull.base.branch, "isDraft": pull.draft,
        "author": { "login": shown(&pull.author) },
        "reviewThreads": threads, "comments": comments, "reviews": reviews,
    })
}

fn thread_value(thread: &Thread, viewer: &str) -> Value {
    let (line, original, side, subject) = match &thread.place {
        ThreadPosition::File => (None, None, "RIGHT", "FILE"),
        ThreadPosition::Lines(lines) => {
            let line = (!thread.is_outdated).then_some(lines.line);
            (line, Some(lines.original.0), lines.side.word(), "LINE")
        }
    };
    let comment = |comment: &ReviewComment| {
        json!({
            "fullDatabaseId": comment.id.to_string(), "body": comment.body, "path": thread.path,
            "viewerDidAuthor": comment.author == viewer,
            "author": { "login": shown(&comment.author) },
        })
    };
    let comments: Vec<Value> = thread.comments.iter().map(comment).collect();
    json!({
        "id": thread.id, "isResolved": thread.resolved_by.is_some(),
        "isOutdated": thread.is_outdated, "isCollapsed": thread.resolved_by.is_some(),
        "resolvedBy": thread.resolved_by.as_ref().map(|login| json!({ "login": shown(login) })),
        "path": thread.path, "line": line, "originalLine": original, "diffSide": side,
        "subjectType": subject, "comments": comments,
    })
}

/// Returns the part of a value that a field selects.
fn project(value: &Value, kind: &str, field: &Field) -> Result<Value, String> {
    if let Value::Array(all) = value {
        return connection(all, field);
    }
    let Value::Object(known) = value else {
        // A missing value could be an object or not.
        return match field.inner.is_empty() || value.is_null() {
            true => Ok(value.clone()),
            false => Err(format!("Field '{}' of {kind} has no selections", field.name)),
        };
    };
    if field.inner.is_empty() {
        return Err(format!("Field '{}' must have selections", field.name));
    }
    let mut result = Map::new();
    for inner in &field.inner {
        let value = known.get(&inner.name).ok_or_else(|| unknown(&inner.name, kind))?;
        result.insert(inner.name.clone(), project(value, &field.name, inner)?);
    }
    Ok(Value::Object(result))
}

/// Returns a page of a list.
fn connection(all: &[Value], field: &Field) -> Result<Value, String> {
    let first = field.arguments.get("first").and_then(Value::as_u64);
    let Some(first) = first.filter(|first| (1..=100).contains(first)) else {
        let name = &field.name;
        return Err(format!("You must provide a `first` between 1 and 100 on `{name}`"));
    };
    if let Some(other) = field.arguments.keys().find(|name| *name != "first" && *name != "after") {
        return Err(format!("Field '{}' doesn't accept argument '{other}'", field.name));
    }
    let after = match field.arguments.get("after") {
        None | Some(Value::Null) => 0,
        Some(cursor) => {
            let cursor = cursor.as_str().and_then(|it| it.strip_prefix("cursor-")?.parse().ok());
            cursor.ok_or("`after` does not appear to be a valid cursor.")?
        }
    };
    let end = (after + first as usize).min(all.len());
    let page = all.get(after..end).unwrap_or_default();
    let mut result = Map::new();
    for inner in &field.inner {
        let value = match inner.name.as_str() {
            "totalCount" => json!(all.len()),
            "nodes" => {
                let nodes = page.iter().map(|node| project(node, &field.name, inner));
                Value::Array(nodes.collect::<Result<_, _>>()?)
            }
            "pageInfo" => {
                let cursor = (!page.is_empty()).then(|| format!("cursor-{end}"));
                let info = json!({ "hasNextPage": end < all.len(), "endCursor": cursor });
                project(&info, "PageInfo", inner)?
            }
            other => return Err(unknown(other, "Connection")),
        };
        result.insert(inner.name.clone(), value);
    }
    Ok(Value::Object(result))
}

fn unknown(field: &str, kind: &str) -> String {
    format!("Field '{field}' doesn't exist on type '{kind}'")
}
