//! A client of an HTTP service, with authorization, retries and rate limits: [`Api`].

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

use super::error::truncate_line;
use super::{
    Method, Request, RequestEffect, Response, ServiceClock, ServiceError, Transport,
    TransportError, rate_limit,
};

/// The timeout for getting a key.
const KEY_TIMEOUT: Duration = Duration::from_secs(60);

/// The maximum number of waits for a rate limit per call.
const MAX_LIMIT_WAITS: u32 = 6;

/// The maximum number of retries of a read while the service fails.
const MAX_RETRIES: u32 = 3;

/// Delays before the retries of a read: 1, 2 and 4 seconds.
const READ_BACKOFF: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(4));

/// The authorization scheme of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authorization {
    /// The key, as a bearer token.
    Bearer,
    /// A user name and the key.
    Basic {
        /// The user name.
        user: String,
    },
    /// The key without a scheme.
    Plain,
}

/// A call of a service.
#[derive(Debug, Clone)]
pub struct Call {
    method: Method,
    effect: RequestEffect,
    name: Option<&'static str>,
    path: String,
    query: Vec<(&'static str, String)>,
    headers: Vec<(&'static str, String)>,
    body: Option<Value>,
}

impl Call {
    /// Creates a call that reads the resource at a path. Each untrusted part of the path must be
    /// encoded with [`encode_path_segment`].
    pub fn get(path: impl Into<String>) -> Call {
        Call::new(Method::Get, RequestEffect::Read, path.into(), None)
    }

    /// Creates a call that adds a resource.
    pub fn post(path: impl Into<String>, body: Value) -> Call {
        Call::new(Method::Post, RequestEffect::Write, path.into(), Some(body))
    }

    /// Creates a call that replaces a resource.
    pub fn put(path: impl Into<String>, body: Value) -> Call {
        Call::new(Method::Put, RequestEffect::Write, path.into(), Some(body))
    }

    /// Creates a call that replaces a part of a resource.
    pub fn patch(path: impl Into<String>, body: Value) -> Call {
        Call::new(Method::Patch, RequestEffect::Write, path.into(), Some(body))
    }

    fn new(method: Method, effect: RequestEffect, path: String, body: Option<Value>) -> Call {
        Call { method, effect, name: None, path, query: Vec::new(), headers: Vec::new(), body }
    }

    /// Marks the call as safe to retry, whatever its HTTP method.
    pub fn read_only(self) -> Call {
        Call { effect: RequestEffect::Read, ..self }
    }

    /// Sets a name for messages, if the path says little.
    pub fn with_name(self, name: &'static str) -> Call {
        Call { name: Some(name), ..self }
    }

    /// Adds a parameter to the query.
    pub fn query(mut self, name: &'static str, value: impl ToString) -> Call {
        self.query.push((name, value.to_string()));
        self
    }

    /// Adds a header; its name must be lower case.
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Call {
        self.headers.push((name, value.into()));
        self
    }

    /// Returns the description of the call for messages, without the query.
    pub fn description(&self) -> String {
        match self.name {
            Some(name) => name.to_owned(),
            None => format!("{} {}", self.method.as_str(), self.path),
        }
    }

    fn target(&self) -> String {
        let pairs =
            self.query.iter().map(|(name, value)| format!("{name}={}", encode_path_segment(value)));
        match self.query.is_empty() {
            true => self.path.clone(),
            false => format!("{}?{}", self.path, pairs.collect::<Vec<_>>().join("&")),
        }
    }
}

/// Percent-encodes any text so that it fits into one segment of a path, or into a query.
pub fn encode_path_segment(text: &str) -> String {
    let out = encode_segment(text);
    // These two segments mean another folder, so their dots are encoded as well.
    match out.as_str() {
        "." | ".." => out.replace('.', "%2E"),
        _ => out,
    }
}

/// A client of an HTTP service.
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
    /// Creates a client of a service. The clock limits the time of each wait.
    pub fn new(
        service: &'static str,
        transport: Arc<dyn Transport>,
        keys: Arc<Keys>,
        authorization: Authorization,
        clock: Arc<dyn ServiceClock>,
    ) -> Api {
        Api { service, transport, keys, authorization, headers: Vec::new(), clock }
    }

    /// Adds a header that is sent with every call; its name must be lower case.
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Api {
        self.headers.push((name, value.into()));
        self
    }

    /// Returns the name of the service.
    pub fn service(&self) -> &'static str {
        self.service
    }

    /// Returns the address of the service, for messages.
    pub fn address(&self) -> String {
        self.transport.address()
    }

    /// Returns the clock of the client.
    pub fn clock(&self) -> &dyn ServiceClock {
        &*self.clock
    }

    /// Sends a call and parses the answer.
    pub fn json<T: DeserializeOwned>(&self, call: &Call) -> Result<T, ServiceError> {
        let response = self.send(call)?;
        self.parse(call, &response)
    }

    /// Parses an answer.
    pub fn parse<T: DeserializeOwned>(
        &self,
        call: &Call,
        response: &Response,
    ) -> Result<T, ServiceError> {
        serde_json::from_slice(&response.body).map_err(|error| self.parse_error(call, &error))
    }

    /// Parses a part of an answer.
    pub(crate) fn parse_value<T: DeserializeOwned>(
        &self,
        call: &Call,
        value: Value,
    ) -> Result<T, ServiceError> {
        serde_json::from_value(value).map_err(|error| self.parse_error(call, &error))
    }

    fn parse_error(&self, call: &Call, error: &serde_json::Error) -> ServiceError {
        ServiceError::InvalidResponse {
            service: self.service,
            what: call.description(),
            why: truncate_line(&error.to_string()),
            is_outcome_unknown: call.effect == RequestEffect::Write,
        }
    }

    /// Sends a call. Returns the response if its status is 2xx or 304, and an error otherwise.
    pub fn send(&self, call: &Call) -> Result<Response, ServiceError> {
        let key = self.keys.get(KEY_TIMEOUT);
        let key = key.map_err(|source| ServiceError::NoKey { service: self.service, source })?;
        let sent = self.send_with(call, key.as_ref());
        let refused = sent.as_ref().is_err_and(|error| error.status() == Some(401));
        let other = key.filter(|_| refused).and_then(|key| self.keys.other_than(&key, KEY_TIMEOUT));
        match other {
            // A call without valid authorization had no effect, so even a write can be sent again.
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
                    if let Some(wait) = rate_limit::requested_delay(&response, now, limits) {
                        limits += 1;
                        self.wait_for_limit(call, wait, limits)?;
                        continue;
                    }
                    if matches!(response.status, 200..=299 | 304) {
                        return Ok(response);
                    }
                    (
                        self.refused_error(call, response.status, &error_message(&response)),
                        response.status >= 500,
                    )
                }
                Err(TransportError::RateLimited { wait }) => {
                    return Err(self.rate_limit_error(call, wait));
                }
                Err(TransportError::Network { why, may_have_arrived }) => {
                    let is_outcome_unknown =
                        call.effect == RequestEffect::Write && may_have_arrived;
                    let (place, what) = (self.transport.address(), call.description());
                    let why = truncate_line(&why);
                    (
                        ServiceError::NoResponse {
                            service: self.service,
                            place,
                            what,
                            why,
                            is_outcome_unknown,
                        },
                        true,
                    )
                }
            };
            if !wait || call.effect == RequestEffect::Write || retries == MAX_RETRIES {
                return Err(error);
            }
            let wait = READ_BACKOFF.delay(retries);
            retries += 1;
            tracing::warn!(service = self.service, ?wait, %error, "retrying the request");
            let why = format!("{error}; retrying in {} s", wait.as_secs());
            if self.clock.wait(wait, &why).is_err() {
                return Err(error);
            }
        }
    }

    /// Sends a request, with one event before and one with its result.
    fn traced_send(&self, call: &Call, request: &Request) -> Result<Response, TransportError> {
        let (service, request_line) = (self.service, call.description());
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
        if count > MAX_LIMIT_WAITS {
            return Err(self.rate_limit_error(call, wait));
        }
        tracing::warn!(service = self.service, ?wait, count, "waiting for the rate limit");
        let why = format!("{} rate limit: waiting for {} s", self.service, wait.as_secs());
        self.clock.wait(wait, &why).map_err(|_| self.rate_limit_error(call, wait))
    }

    fn rate_limit_error(&self, call: &Call, wait: Duration) -> ServiceError {
        ServiceError::RateLimited { service: self.service, what: call.description(), wait }
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

    /// Returns the error for a refused call, with the message of the service but without the key.
    pub(crate) fn refused_error(&self, call: &Call, status: u16, message: &str) -> ServiceError {
        ServiceError::Refused {
            service: self.service,
            what: call.description(),
            status,
            message: self.sanitize(message),
            is_outcome_unknown: call.effect == RequestEffect::Write && status >= 500,
        }
    }

    /// Returns a message of the service that is safe to show: without the key, as one line of
    /// bounded length.
    pub fn sanitize(&self, message: &str) -> String {
        truncate_line(&self.keys.scrub(message))
    }
}

/// Returns the error message of a response, in the formats of GitHub, GitLab, JIRA and Linear.
fn error_message(response: &Response) -> String {
    if let Some(to) = response.header("location").filter(|_| response.status < 400) {
        return format!("the redirect to `{to}` is not followed");
    }
    let Ok(body) = serde_json::from_slice::<Value>(&response.body) else {
        return String::from_utf8_lossy(&response.body).into_owned();
    };
    let mut parts: Vec<String> = Vec::new();
    parts.extend(body["message"].as_str().map(str::to_owned));
    parts.extend(body["error"].as_str().map(str::to_owned));
    let listed = body["errorMessages"].as_array().into_iter().flatten();
    parts.extend(listed.filter_map(|text| text.as_str().map(str::to_owned)));
    match &body["errors"] {
        Value::Array(errors) => parts.extend(errors.iter().map(format_error)),
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

fn format_error(error: &Value) -> String {
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
    fn a_path_segment_is_percent_encoded() {
        assert_eq!(encode_path_segment("feature/a b?c#d"), "feature%2Fa%20b%3Fc%23d");
        assert_eq!(encode_path_segment(".."), "%2E%2E");
        assert_eq!(encode_path_segment("a..b"), "a..b");
    }

    #[test]
    fn an_error_shows_the_message_of_the_service() {
        let shown_message = |body: &str| {
            error_message(&Response { status: 422, headers: Vec::new(), body: body.into() })
        };
        assert_eq!(
            shown_message(r#"{"message":"Validation Failed","errors":["line"]}"#),
            "Validation Failed; line"
        );
        assert_eq!(
            shown_message(r#"{"message":"Bad","errors":[{"field":"head","code":"invalid"}]}"#),
            "Bad; head: invalid"
        );
        assert_eq!(
            shown_message(r#"{"errorMessages":["No issue"],"errors":{"summary":"is required"}}"#),
            "No issue; summary: is required"
        );
        assert_eq!(shown_message("<h1>Bad gateway</h1>"), "<h1>Bad gateway</h1>");
    }
}
