//! The handling of a request: checks, injected faults, and the log.

use std::time::Duration;

use serde_json::Value;

use super::call::{Body, Call, Outcome, Reply};
use super::fault::Fault;
use super::log::LoggedRequest;
use super::random::hash;
use super::refusal::Refusal;
use super::state::{Access, State, Token};
use super::{GitHub, graphql, rest};
use crate::date;
use crate::web::{Answer, ServiceRequest};

const PAGE: &str = "<!DOCTYPE html>\n<html><body><h1>Unicorn!</h1></body></html>\n";

/// The versions of the API that a client may name.
const VERSIONS: [&str; 2] = ["2022-11-28", "2026-03-10"];

/// A parsed request, before it is checked.
struct ParsedRequest<'a> {
    asked: &'a ServiceRequest,
    /// The path without its query.
    path: &'a str,
    /// The body; `None` if it is not JSON.
    body: Option<Value>,
    /// The kind and the name of a GraphQL operation; `None` for REST.
    operation: Option<(String, String)>,
}

impl<'a> ParsedRequest<'a> {
    fn of(asked: &'a ServiceRequest) -> ParsedRequest<'a> {
        let path = asked.target.split('?').next().unwrap_or_default();
        let body = match asked.body.is_empty() {
            true => Some(Value::Null),
            false => serde_json::from_slice(&asked.body).ok(),
        };
        let operation = body.as_ref().filter(|_| path == "/graphql").and_then(graphql::title);
        ParsedRequest { asked, path, body, operation }
    }

    fn is_graphql(&self) -> bool {
        self.path == "/graphql"
    }

    fn is_write(&self) -> bool {
        let kind = self.operation.as_ref().map(|(kind, _)| kind.as_str());
        let is_look = matches!(self.asked.method.as_str(), "GET" | "HEAD" | "OPTIONS");
        !is_look && (!self.is_graphql() || kind == Some("mutation"))
    }

    fn name(&self) -> Option<String> {
        self.operation.as_ref().map(|(_, name)| name.clone())
    }
}

impl GitHub {
    /// Answers a request; `None` if the connection is cut, before the request took effect or after.
    pub fn answer(&self, asked: &ServiceRequest) -> Option<Answer> {
        let (delay, answer) = self.answer_later(asked);
        self.clock.advance(delay);
        answer
    }

    /// Answers a request, and returns the delay before the client gets the answer.
    pub(super) fn answer_later(&self, asked: &ServiceRequest) -> (Duration, Option<Answer>) {
        let now = self.clock.now();
        let state = &mut *self.state();
        let parsed = ParsedRequest::of(asked);
        let name = parsed.name();
        let line = format!("{} {} {}", asked.method, parsed.path, name.as_deref().unwrap_or(""));
        let wait = if parsed.is_write() { state.limits.write(now) } else { None };
        let fault = state.faults.take(&line);
        let (answer, took_effect) = match fault {
            Some(fault) if !fault.lets_through() => (refuse(state, fault, &parsed, now), false),
            fault => {
                let reply = process(state, &parsed, now, wait);
                let took_effect = reply.as_ref().is_ok_and(|reply| reply.took_effect);
                let answer = finish(state, &parsed, now, reply);
                let answer = match fault {
                    Some(fault) => damage(fault, answer),
                    None => Some(answer),
                };
                (answer, took_effect)
            }
        };
        let login = authenticate(state, asked).ok().map(|token| token.login);
        state.log.push(LoggedRequest {
            at: now,
            login,
            method: asked.method.clone(),
            path: asked.target.clone(),
            operation: name,
            body: parsed.body.unwrap_or_default(),
            status: answer.as_ref().map(|answer| answer.status),
            took_effect,
        });
        let delay = if let Some(Fault::Slow(delay)) = fault { delay } else { Duration::ZERO };
        (delay, answer)
    }
}

/// Returns the answer of a fault that occurs before the request takes effect; `None` if the
/// connection is cut.
fn refuse(
    state: &mut State,
    fault: Fault,
    parsed: &ParsedRequest<'_>,
    now: Duration,
) -> Option<Answer> {
    let mut limited = |status: u16, retry_after: Option<u64>| {
        let wait = Duration::from_secs(retry_after.unwrap_or(60));
        state.limits.limit_until(now + wait);
        Refusal::secondary(status, retry_after)
    };
    let refusal = match fault {
        Fault::Cut(_) => return None,
        Fault::BadGateway(_) => return Some(page(502)),
        Fault::Html(_) | Fault::Slow(_) | Fault::Truncated => return Some(page(200)),
        Fault::Invalid if parsed.path.ends_with("/reviews") => {
            Refusal::unprocessable("Line could not be resolved")
        }
        Fault::Invalid => Refusal::invalid("Comment", "line", "custom", "could not be resolved"),
        Fault::ServerError => Refusal::new(500, "Server Error"),
        Fault::Unavailable => Refusal::new(503, "Service unavailable"),
        Fault::SecondaryLimit { retry_after } => limited(403, retry_after),
        Fault::TooManyRequests { retry_after } => limited(429, retry_after),
        Fault::Abuse => {
            limited(422, None);
            Refusal::abuse()
        }
        Fault::Unauthorized => Refusal::new(401, "Bad credentials"),
        Fault::Forbidden if parsed.is_graphql() => {
            return Some(finish(state, parsed, now, Ok(graphql::forbidden())));
        }
        Fault::Forbidden => Refusal::inaccessible(),
        Fault::NotFound => Refusal::not_found(),
    };
    Some(finish(state, parsed, now, Err(refusal)))
}

/// Applies a fault to the answer of a request that took effect; `None` if the connection is cut.
fn damage(fault: Fault, mut answer: Answer) -> Option<Answer> {
    match fault {
        Fault::Cut(_) => None,
        Fault::BadGateway(_) => Some(page(502)),
        Fault::Html(_) => Some(page(200)),
        Fault::Truncated => {
            answer.body.truncate(answer.body.len() / 2);
            Some(answer)
        }
        Fault::Slow(_)
        | Fault::Invalid
        | Fault::ServerError
        | Fault::Unavailable
        | Fault::SecondaryLimit { .. }
        | Fault::Abuse
        | Fault::TooManyRequests { .. }
        | Fault::Unauthorized
        | Fault::Forbidden
        | Fault::NotFound => Some(answer),
    }
}

/// Returns the HTML page of a proxy, without headers on limits.
fn page(status: u16) -> Answer {
    let headers = vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())];
    Answer { status, headers, body: PAGE.as_bytes().to_vec() }
}

/// Checks a request, and carries it out if it passes.
fn process(
    state: &mut State,
    parsed: &ParsedRequest<'_>,
    now: Duration,
    wait: Option<Duration>,
) -> Outcome {
    let asked = parsed.asked;
    if asked.header("user-agent").is_none_or(str::is_empty) {
        let message = "Request forbidden by administrative rules. Please make sure your request \
                       has a User-Agent header.";
        return Err(Refusal::new(403, message));
    }
    if let Some(version) = asked.header("x-github-api-version")
        && !VERSIONS.contains(&version)
    {
        return Err(Refusal::new(400, &format!("\"{version}\" is not a supported version")));
    }
    let token = authenticate(state, asked)?;
    if let Some(refused) = over_the_limit(state, parsed, now) {
        return refused;
    }
    if let Some(wait) = wait {
        return Err(too_fast(state, parsed, now, wait));
    }
    if parsed.is_write() && !parsed.is_graphql() && token.access == Access::Read {
        return Err(Refusal::inaccessible());
    }
    let body = parsed.body.as_ref();
    let body = body.ok_or_else(|| Refusal::new(400, "Problems parsing JSON"))?;
    let query = asked.target.split_once('?').map_or("", |(_, query)| query);
    let mut call = Call {
        state,
        now,
        token,
        path: parsed.path,
        query: pairs(query),
        accept: asked.header("accept").unwrap_or_default().to_owned(),
        body,
    };
    match (asked.method.as_str(), parsed.is_graphql()) {
        ("POST", true) => graphql::answer(&mut call),
        (method, _) => {
            let path: Vec<String> =
                parsed.path.split('/').skip(1).map(|part| decoded(part, false)).collect();
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            rest::route(&mut call, method, &path)
        }
    }
}

fn authenticate(state: &State, asked: &ServiceRequest) -> Result<Token, Refusal> {
    let Some(header) = asked.header("authorization") else {
        return Err(Refusal::new(401, "Requires authentication"));
    };
    let token = header.strip_prefix("Bearer ").or_else(|| header.strip_prefix("token "));
    let token = token.and_then(|token| state.tokens.get(token.trim()));
    token.cloned().ok_or_else(|| Refusal::new(401, "Bad credentials"))
}

/// Refuses a request if the requests of the hour are used up.
fn over_the_limit(state: &mut State, parsed: &ParsedRequest<'_>, now: Duration) -> Option<Outcome> {
    let limits = &mut state.limits;
    let window = if parsed.is_graphql() { &mut limits.graphql } else { &mut limits.rest };
    if window.is_open(now) {
        window.used += 1;
        return None;
    }
    Some(match parsed.is_graphql() {
        true => Ok(graphql::limited()),
        false => Err(Refusal::new(403, "API rate limit exceeded for user.")),
    })
}

/// Refuses a request because of too many writes, in one of the ways that GitHub uses.
fn too_fast(
    state: &mut State,
    parsed: &ParsedRequest<'_>,
    now: Duration,
    wait: Duration,
) -> Refusal {
    state.limits.limit_until(now + wait);
    let ways = if parsed.is_graphql() { 2 } else { 3 };
    let seconds = Some(wait.as_secs());
    match state.random.below(ways) {
        0 => Refusal::secondary(403, seconds),
        1 => Refusal::secondary(429, seconds),
        _ => Refusal::abuse(),
    }
}

/// Builds the HTTP answer, with the headers that all answers have.
fn finish(
    state: &mut State,
    parsed: &ParsedRequest<'_>,
    now: Duration,
    outcome: Outcome,
) -> Answer {
    let reply = outcome.unwrap_or_else(|refusal| Reply {
        status: refusal.status,
        headers: refusal.headers,
        ..Reply::unchanged(refusal.body)
    });
    let (kind, mut body) = match reply.body {
        Body::Json(body) => ("application/json; charset=utf-8", body.to_string().into_bytes()),
        Body::Text(text) => ("application/vnd.github.diff; charset=utf-8", text.into_bytes()),
    };
    let limits = &mut state.limits;
    let (resource, window) = match parsed.is_graphql() {
        true => ("graphql", &mut limits.graphql),
        false => ("core", &mut limits.rest),
    };
    let mut status = reply.status;
    let mut headers = reply.headers;
    let mut add = |name: &str, value: String| headers.push((name.to_owned(), value));
    if status == 200 && parsed.asked.method == "GET" {
        let tag = format!("W/\"{:016x}\"", hash(&body));
        if parsed.asked.header("if-none-match") == Some(tag.as_str()) {
            status = 304;
            body.clear();
            // An unchanged resource costs no request.
            window.used = window.used.saturating_sub(1);
        }
        add("etag", tag);
    }
    if status != 304 {
        add("content-type", kind.to_owned());
    }
    add("date", date::http(now));
    add("x-github-request-id", format!("FAKE:{}", state.log.len() + 1));
    add("x-ratelimit-limit", window.limit.to_string());
    add("x-ratelimit-remaining", window.remaining().to_string());
    add("x-ratelimit-used", window.used.to_string());
    add("x-ratelimit-reset", window.reset.as_secs().to_string());
    add("x-ratelimit-resource", resource.to_owned());
    Answer { status, headers, body }
}

/// Parses a query string.
fn pairs(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name, true), decoded(value, true))
    };
    pairs.map(pair).collect()
}

/// Decodes percent-encoding in a part of an address.
fn decoded(text: &str, is_query: bool) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).and_then(|hex| str::from_utf8(hex).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        (rest, _) = match (first, byte) {
            (b'%', Some(byte)) => (&after[2..], bytes.push(byte)),
            (b'+', _) if is_query => (after, bytes.push(b' ')),
            (first, _) => (after, bytes.push(*first)),
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl GitHub {
    /// Sends a request with a token, in process. Fails if the connection is cut or the answer is
    /// not JSON.
    pub fn ask(&self, token: &str, method: &str, target: &str, body: &Value) -> (u16, Value) {
        let answer = self.answer(&ServiceRequest {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: vec![
                ("user-agent".to_owned(), "test".to_owned()),
                ("authorization".to_owned(), format!("Bearer {token}")),
            ],
            body: if body.is_null() { Vec::new() } else { body.to_string().into_bytes() },
        });
        let answer = answer.expect("the connection was not cut");
        (answer.status, serde_json::from_slice(&answer.body).unwrap())
    }
}
