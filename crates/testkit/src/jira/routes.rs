//! The endpoints of the fake JIRA: [`route`].

use serde_json::{Map, Value, json};

use super::tickets::Tickets;
use super::{RequestError, TOKEN, USER};
use crate::web::{Answer, ServiceRequest, decoded};

/// Carries out a request.
pub(super) fn route(
    is_cloud: bool,
    tickets: &mut Tickets,
    asked: &ServiceRequest,
) -> Result<Answer, RequestError> {
    authenticate(is_cloud, asked)?;
    let base = if is_cloud { "/rest/api/3/" } else { "/rest/api/2/" };
    let gone = || RequestError::new(404, format!("there is no {}", asked.path()));
    let rest = asked.path().strip_prefix(base).ok_or_else(gone)?;
    let parts: Vec<String> = rest.split('/').map(decoded).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match (asked.method.as_str(), &parts[..]) {
        ("GET", ["field"]) => Ok(Answer::json(200, &tickets.fields())),
        ("GET", ["project", key]) => Ok(Answer::json(200, &tickets.project(key)?)),
        ("POST", ["search", "jql"]) if is_cloud => search(tickets, &body(asked)?, true),
        ("POST", ["search"]) if !is_cloud => search(tickets, &body(asked)?, false),
        ("POST", ["issue"]) => {
            let body = body(asked)?;
            only(&body, &["fields"])?;
            let key = tickets.create(&body["fields"])?;
            let id = key.rsplit('-').next().unwrap_or_default().to_owned();
            let made = json!({ "id": id, "key": key, "self": format!("https://jira.example{base}issue/{id}") });
            Ok(Answer::json(201, &made))
        }
        ("GET", ["issue", key]) => {
            let wanted = query(asked, &["fields"])?;
            let fields = wanted.get("fields").map_or("*all", String::as_str);
            Ok(Answer::json(200, &tickets.issue(key, fields)?))
        }
        ("PUT", ["issue", key]) => {
            let body = body(asked)?;
            only(&body, &["fields"])?;
            tickets.update(key, &body["fields"])?;
            Ok(Answer::empty(204).with("content-type", "application/json"))
        }
        ("GET", ["issue", key, "comment"]) => comments(tickets, key, asked),
        ("POST", ["issue", key, "comment"]) => {
            let body = body(asked)?;
            only(&body, &["body"])?;
            Ok(Answer::json(201, &tickets.add_comment(key, &body["body"])?))
        }
        ("PUT", ["issue", key, "comment", id]) => {
            let body = body(asked)?;
            only(&body, &["body"])?;
            Ok(Answer::json(200, &tickets.edit_comment(key, id, &body["body"])?))
        }
        ("GET", ["issue", key, "transitions"]) => {
            Ok(Answer::json(200, &json!({ "transitions": tickets.transitions(key)? })))
        }
        ("POST", ["issue", key, "transitions"]) => {
            let body = body(asked)?;
            only(&body, &["transition"])?;
            let id = body["transition"]["id"].as_str();
            tickets.transition(
                key,
                id.ok_or_else(|| RequestError::new(400, "no transition is named"))?,
            )?;
            Ok(Answer::empty(204).with("content-type", "application/json"))
        }
        _ => Err(gone()),
    }
}

fn authenticate(is_cloud: bool, asked: &ServiceRequest) -> Result<(), RequestError> {
    let given = asked.header("authorization").unwrap_or_default();
    let expected = match is_cloud {
        true => format!("Basic {}", base64(format!("{USER}:{TOKEN}").as_bytes())),
        false => format!("Bearer {TOKEN}"),
    };
    if given != expected {
        return Err(RequestError::new(401, "You do not have the permission to do this."));
    }
    match asked.header("accept").is_some_and(|kind| kind.contains("application/json")) {
        true => Ok(()),
        false => Err(RequestError::new(406, "JSON has to be taken")),
    }
}

/// Encodes bytes as base64, for the authorization header.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let number =
            (0..3).fold(0_u32, |sum, at| sum << 8 | u32::from(*three.get(at).unwrap_or(&0)));
        for at in 0..4 {
            let letter = LETTERS[(number >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= three.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

fn body(asked: &ServiceRequest) -> Result<Value, RequestError> {
    if asked.header("content-type") != Some("application/json") {
        return Err(RequestError::new(415, "the body is not JSON"));
    }
    serde_json::from_slice(&asked.body).map_err(|error| RequestError::new(400, error.to_string()))
}

pub(super) fn only(value: &Value, known: &[&str]) -> Result<(), RequestError> {
    let fields =
        value.as_object().ok_or_else(|| RequestError::new(400, "the body is no object"))?;
    match fields.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(RequestError::new(400, format!("Unrecognized field \"{key}\""))),
        None => Ok(()),
    }
}

/// Returns the parameters of the query. Fails if it has an unknown parameter.
fn query(
    asked: &ServiceRequest,
    known: &[&str],
) -> Result<std::collections::BTreeMap<String, String>, RequestError> {
    let pairs = asked.query();
    match pairs.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        Some((name, _)) => {
            Err(RequestError::new(400, format!("nobody knows the parameter `{name}`")))
        }
        None => Ok(pairs.into_iter().collect()),
    }
}

fn number(text: Option<&String>, usual: usize) -> Result<usize, RequestError> {
    text.map_or(Ok(usual), |text| {
        text.parse().map_err(|_| RequestError::new(400, "that is no number"))
    })
}

fn search(tickets: &Tickets, body: &Value, is_cloud: bool) -> Result<Answer, RequestError> {
    let paging = if is_cloud { "nextPageToken" } else { "startAt" };
    only(body, &["jql", "fields", "maxResults", paging])?;
    let jql = body["jql"].as_str().ok_or_else(|| RequestError::new(400, "there is no JQL"))?;
    let fields = body["fields"].as_array().cloned().unwrap_or_default();
    let fields: Vec<&str> = fields.iter().filter_map(Value::as_str).collect();
    // The real JIRA limits the page size as well, whatever the request says.
    let most =
        body["maxResults"].as_u64().unwrap_or(50).min(if is_cloud { 3 } else { 100 }) as usize;
    let start = match is_cloud {
        false => body["startAt"].as_u64().unwrap_or(0) as usize,
        true => match body.get("nextPageToken").map(|token| token.as_str()) {
            None => 0,
            Some(token) => {
                let at = token.and_then(|token| token.strip_prefix("page-")?.parse().ok());
                at.ok_or_else(|| RequestError::new(400, "the token is not valid"))?
            }
        },
    };
    let keys = tickets.matching(jql)?;
    let page: Result<Vec<Value>, RequestError> = keys
        .iter()
        .skip(start)
        .take(most)
        .map(|key| tickets.issue(key, &fields.join(",")))
        .collect();
    let (page, end) = (page?, (start + most).min(keys.len()));
    let mut answer = Map::from_iter([("issues".to_owned(), json!(page))]);
    match is_cloud {
        true if end < keys.len() => {
            answer.insert("nextPageToken".to_owned(), json!(format!("page-{end}")));
            answer.insert("isLast".to_owned(), json!(false));
        }
        true => {
            answer.insert("isLast".to_owned(), json!(true));
        }
        false => {
            answer.insert("startAt".to_owned(), json!(start));
            answer.insert("maxResults".to_owned(), json!(most));
            answer.insert("total".to_owned(), json!(keys.len()));
        }
    }
    Ok(Answer::json(200, &Value::Object(answer)))
}

fn comments(tickets: &Tickets, key: &str, asked: &ServiceRequest) -> Result<Answer, RequestError> {
    let wanted = query(asked, &["orderBy", "startAt", "maxResults"])?;
    let mut all = tickets.comment_beans(key)?;
    match wanted.get("orderBy").map(String::as_str) {
        None | Some("created" | "+created") => {}
        Some("-created") => all.reverse(),
        Some(other) => {
            return Err(RequestError::new(400, format!("nothing is ordered by `{other}`")));
        }
    }
    let start = number(wanted.get("startAt"), 0)?;
    let most = number(wanted.get("maxResults"), 100)?.min(100);
    let total = all.len();
    let page: Vec<Value> = all.into_iter().skip(start).take(most).collect();
    Ok(Answer::json(
        200,
        &json!({
            "comments": page, "startAt": start, "maxResults": most, "total": total,
        }),
    ))
}
