//! A service that is called: [`Api`].

use std::sync::Arc;
use std::time::Duration;

use assay_base::backoff::Backoff;
use assay_base::clock::Stopwatch;
use assay_base::percent::encode_segment;
use assay_sandbox::{Key, Keys};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::short;
use super::{
    Effect, Lost, Method, Request, Response, ServiceClock, ServiceError, Transport, limit,
};

/// How long it may take to get a key.
const KEY_TIME: Duration = Duration::from_secs(60);

/// How often a limit is waited for.
const LIMITS: u32 = 6;

/// How often a read is retried while the service is out.
const MAX_RETRIES: u32 = 3;

/// Delays before those retries.
const BACKOFF: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(4));

/// How a service is told who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authorization {
    /// By the key alone.
    Bearer,
    /// By a name and the key.
    Basic {
        /// The name.
        user: String,
    },
    /// By the key, with nothing in front of it.
    Plain,
}

/// One thing that a service is asked.
#[derive(Debug, Clone)]
pub struct Call {
    method: Method,
    effect: Effect,
    name: Option<&'static str>,
    path: String,
    query: Vec<(&'static str, String)>,
    headers: Vec<(&'static str, String)>,
    body: Option<Value>,
}

impl Call {
    /// Reads what is at a path, each part of which was made by [`path_segment`] where it is not ours.
    pub fn get(path: impl Into<String>) -> Call {
        Call::new(Method::Get, Effect::Reads, path.into(), None)
    }

    /// Adds something.
    pub fn post(path: impl Into<String>, body: Value) -> Call {
        Call::new(Method::Post, Effect::Writes, path.into(), Some(body))
    }

    /// Replaces something.
    pub fn put(path: impl Into<String>, body: Value) -> Call {
        Call::new(Method::Put, Effect::Writes, path.into(), Some(body))
    }

    /// Replaces a part of something.
    pub fn patch(path: impl Into<String>, body: Value) -> Call {
        Call::new(Method::Patch, Effect::Writes, path.into(), Some(body))
    }

    fn new(method: Method, effect: Effect, path: String, body: Option<Value>) -> Call {
        Call { method, effect, name: None, path, query: Vec::new(), headers: Vec::new(), body }
    }

    /// Says that it only reads, whatever it is sent as.
    pub fn that_reads(self) -> Call {
        Call { effect: Effect::Reads, ..self }
    }

    /// Gives it a name for messages, where its path says little.
    pub fn named(self, name: &'static str) -> Call {
        Call { name: Some(name), ..self }
    }

    /// Adds to the query.
    pub fn query(mut self, name: &'static str, value: impl ToString) -> Call {
        self.query.push((name, value.to_string()));
        self
    }

    /// Adds a header field, its name in lower case.
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Call {
        self.headers.push((name, value.into()));
        self
    }

    /// Names it, for messages. The query is left out.
    pub fn what(&self) -> String {
        match self.name {
            Some(name) => name.to_owned(),
            None => format!("{} {}", self.method.as_str(), self.path),
        }
    }

    fn target(&self) -> String {
        let pairs =
            self.query.iter().map(|(name, value)| format!("{name}={}", path_segment(value)));
        match self.query.is_empty() {
            true => self.path.clone(),
            false => format!("{}?{}", self.path, pairs.collect::<Vec<_>>().join("&")),
        }
    }
}

/// Makes a text fit into one part of a path, or into a query, whatever it is.
pub fn path_segment(text: &str) -> String {
    let out = encode_segment(text);
    // These mean another folder, whatever they are called.
    match out.as_str() {
        "." | ".." => out.replace('.', "%2E"),
        _ => out,
    }
}

/// A service that is called.
#[derive(Clone)]
pub struct Api {
    service: &'static str,
    transport: Arc<dyn Transport>,
    keys: Arc<Keys>,
    authorization: Authorization,
    headers: Vec<(&'static str, String)>,
    clock: Arc<dyn ServiceClock>,
}

impl Api {
    /// A service by its name, over a transport, with a key and somebody's patience.
    pub fn new(
        service: &'static str,
        transport: Arc<dyn Transport>,
        keys: Arc<Keys>,
        authorization: Authorization,
        clock: Arc<dyn ServiceClock>,
    ) -> Api {
        Api { service, transport, keys, authorization, headers: Vec::new(), clock }
    }

    /// Sends a header field with every call.
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Api {
        self.headers.push((name, value.into()));
        self
    }

    /// Its name.
    pub fn service(&self) -> &'static str {
        self.service
    }

    /// Says where it is.
    pub fn place(&self) -> String {
        self.transport.place()
    }

    /// Its clock.
    pub fn clock(&self) -> &dyn ServiceClock {
        &*self.clock
    }

    /// Sends a call and reads the answer.
    pub fn json<T: DeserializeOwned>(&self, call: &Call) -> Result<T, ServiceError> {
        let response = self.send(call)?;
        self.read(call, &response)
    }

    /// Reads an answer.
    pub fn read<T: DeserializeOwned>(
        &self,
        call: &Call,
        response: &Response,
    ) -> Result<T, ServiceError> {
        serde_json::from_slice(&response.body).map_err(|error| self.unreadable(call, &error))
    }

    /// Takes a part of an answer for what it should be.
    pub(crate) fn fits<T: DeserializeOwned>(
        &self,
        call: &Call,
        value: Value,
    ) -> Result<T, ServiceError> {
        serde_json::from_value(value).map_err(|error| self.unreadable(call, &error))
    }

    fn unreadable(&self, call: &Call, error: &serde_json::Error) -> ServiceError {
        ServiceError::Unreadable {
            service: self.service,
            what: call.what(),
            why: short(&error.to_string()),
            unclear: call.effect == Effect::Writes,
        }
    }

    /// Sends a call; what comes is good, or the reason why it is not.
    pub fn send(&self, call: &Call) -> Result<Response, ServiceError> {
        let key = self.keys.get(KEY_TIME);
        let key = key.map_err(|source| ServiceError::NoKey { service: self.service, source })?;
        let sent = self.send_with(call, key.as_ref());
        let refused = sent.as_ref().is_err_and(|error| error.status() == Some(401));
        let other = key.filter(|_| refused).and_then(|key| self.keys.other_than(&key, KEY_TIME));
        match other {
            // Whoever is not known has done nothing, so even a write can be sent again.
            Some(key) => self.send_with(call, Some(&key)),
            None => sent,
        }
    }

    fn send_with(&self, call: &Call, key: Option<&Key>) -> Result<Response, ServiceError> {
        let request = self.request(call, key);
        let (mut limits, mut retries) = (0, 0);
        loop {
            let (error, wait) = match self.traced_send(call, &request) {
                Ok(response) => {
                    let now = self.clock.now();
                    if let Some(wait) = limit::requested_delay(&response, now, limits) {
                        limits += 1;
                        self.wait_for_limit(call, wait, limits)?;
                        continue;
                    }
                    if matches!(response.status, 200..=299 | 304) {
                        return Ok(response);
                    }
                    (self.refusal(call, response.status, &said(&response)), response.status >= 500)
                }
                Err(Lost::NotItsTurn { wait }) => {
                    return Err(self.limited(call, wait));
                }
                Err(Lost::OnTheWay { why, may_have_arrived }) => {
                    let unclear = call.effect == Effect::Writes && may_have_arrived;
                    let (place, what) = (self.transport.place(), call.what());
                    let why = short(&why);
                    (ServiceError::Lost { service: self.service, place, what, why, unclear }, true)
                }
            };
            if !wait || call.effect == Effect::Writes || retries == MAX_RETRIES {
                return Err(error);
            }
            let wait = BACKOFF.delay(retries);
            retries += 1;
            tracing::warn!(service = self.service, ?wait, %error, "retrying the request");
            let why = format!("{error}; tried again in {} s", wait.as_secs());
            if self.clock.wait(wait, &why).is_err() {
                return Err(error);
            }
        }
    }

    /// Sends a request, and emits an event before it and one with the result.
    fn traced_send(&self, call: &Call, request: &Request) -> Result<Response, Lost> {
        let (service, request_line) = (self.service, call.what());
        tracing::debug!(service, request = request_line, "sending the request");
        let started = Stopwatch::start();
        let sent = self.transport.send(request);
        let elapsed = started.elapsed();
        match &sent {
            Ok(response) => {
                let status = response.status;
                tracing::debug!(
                    service,
                    request = request_line,
                    status,
                    ?elapsed,
                    "got a response"
                );
            }
            Err(_) => tracing::debug!(service, request = request_line, ?elapsed, "no response"),
        }
        sent
    }

    fn wait_for_limit(&self, call: &Call, wait: Duration, count: u32) -> Result<(), ServiceError> {
        if count > LIMITS {
            return Err(self.limited(call, wait));
        }
        tracing::warn!(service = self.service, ?wait, count, "waiting for the rate limit");
        let why = format!("{} sets a limit: waiting for {} s", self.service, wait.as_secs());
        self.clock.wait(wait, &why).map_err(|_| self.limited(call, wait))
    }

    fn limited(&self, call: &Call, wait: Duration) -> ServiceError {
        ServiceError::Limited { service: self.service, what: call.what(), wait }
    }

    fn request(&self, call: &Call, key: Option<&Key>) -> Request {
        let mut headers = self.headers.clone();
        headers.retain(|(name, _)| call.headers.iter().all(|(own, _)| own != name));
        headers.extend(call.headers.iter().cloned());
        if let Some(key) = key {
            let key = key.reveal();
            let value = match &self.authorization {
                Authorization::Bearer => format!("Bearer {key}"),
                Authorization::Basic { user } => {
                    format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{key}")))
                }
                Authorization::Plain => key.to_owned(),
            };
            headers.push(("authorization", value));
        }
        let body = call.body.as_ref().map(|body| body.to_string().into_bytes());
        if body.is_some() {
            headers.push(("content-type", "application/json".to_owned()));
        }
        Request { method: call.method, effect: call.effect, target: call.target(), headers, body }
    }

    /// Says that the service refused a call, in its words but for the key.
    pub(crate) fn refusal(&self, call: &Call, status: u16, said: &str) -> ServiceError {
        ServiceError::Refused {
            service: self.service,
            what: call.what(),
            status,
            said: self.told(said),
            unclear: call.effect == Effect::Writes && status >= 500,
        }
    }

    /// Gives what the service says as it can be told: without the key, in a line of bounded length.
    pub fn told(&self, said: &str) -> String {
        short(&self.keys.scrub(said))
    }
}

/// Gives what a refusal says, in the ways that GitHub, JIRA and Linear say it.
fn said(response: &Response) -> String {
    if let Some(to) = response.header("location").filter(|_| response.status < 400) {
        return format!("it leads to `{to}`, which is not followed");
    }
    let Ok(body) = serde_json::from_slice::<Value>(&response.body) else {
        return String::from_utf8_lossy(&response.body).into_owned();
    };
    let mut parts: Vec<String> = Vec::new();
    parts.extend(body["message"].as_str().map(str::to_owned));
    let listed = body["errorMessages"].as_array().into_iter().flatten();
    parts.extend(listed.filter_map(|text| text.as_str().map(str::to_owned)));
    match &body["errors"] {
        Value::Array(errors) => parts.extend(errors.iter().map(one_error)),
        Value::Object(errors) => parts.extend(errors.iter().map(|(field, why)| {
            format!("{field}: {}", why.as_str().map_or_else(|| why.to_string(), str::to_owned))
        })),
        Value::String(error) => parts.push(error.clone()),
        _ => {}
    }
    match parts.is_empty() {
        true => body.to_string(),
        false => parts.join("; "),
    }
}

fn one_error(error: &Value) -> String {
    let text = |key: &str| error[key].as_str();
    match (error.as_str().or_else(|| text("message")), text("field"), text("code")) {
        (Some(message), _, _) => message.to_owned(),
        (None, Some(field), Some(code)) => format!("{field}: {code}"),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_path_stays_one() {
        assert_eq!(path_segment("feature/a b?c#d"), "feature%2Fa%20b%3Fc%23d");
        assert_eq!(path_segment(".."), "%2E%2E");
        assert_eq!(path_segment("a..b"), "a..b");
    }

    #[test]
    fn a_refusal_is_told_in_the_words_of_the_service() {
        let told =
            |body: &str| said(&Response { status: 422, headers: Vec::new(), body: body.into() });
        assert_eq!(
            told(r#"{"message":"Validation Failed","errors":["line"]}"#),
            "Validation Failed; line"
        );
        assert_eq!(
            told(r#"{"message":"Bad","errors":[{"field":"head","code":"invalid"}]}"#),
            "Bad; head: invalid"
        );
        assert_eq!(
            told(r#"{"errorMessages":["No issue"],"errors":{"summary":"is required"}}"#),
            "No issue; summary: is required"
        );
        assert_eq!(told("<h1>Bad gateway</h1>"), "<h1>Bad gateway</h1>");
    }
}
