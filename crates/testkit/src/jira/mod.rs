//! A fake JIRA: [`FakeJira`] holds tickets and their workflow, as a cloud or a self-hosted server.
//!
//! The fake is stricter than the real JIRA: it refuses and records every invalid request.

mod adf;
mod routes;
mod tickets;

use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use self::tickets::Tickets;
use crate::web::{Answer, RunningService, Service, ServiceRequest};

/// The user of the cloud.
pub const USER: &str = "ada@example.org";

/// The API token of the user.
pub const TOKEN: &str = "jira-token-0123456789";

/// The key of the only project.
pub const PROJECT: &str = "PROJ";

/// A fault that occurs once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// An answer with a status; the request has no effect.
    Before(u16),
    /// An answer with an error status; the request takes effect.
    After(u16),
    /// A cut connection; the request has no effect.
    CutBefore,
    /// A cut connection; the request takes effect.
    CutAfter,
    /// A rate limit with a wait in seconds.
    Limit(u32),
    /// An HTML page.
    Html,
}

/// A JIRA in memory.
#[derive(Clone)]
pub struct FakeJira(Arc<Mutex<State>>);

struct State {
    is_cloud: bool,
    tickets: Tickets,
    /// The faults, each with a part of the request and the number of such requests before it.
    faults: Vec<(String, usize, Fault)>,
    asked: Vec<String>,
    problems: Vec<String>,
}

/// An invalid request: the status, the reason, and the field.
#[derive(Debug)]
struct RequestError {
    status: u16,
    message: Option<String>,
    field: Option<(String, String)>,
}

impl RequestError {
    fn new(status: u16, message: impl Into<String>) -> RequestError {
        RequestError { status, message: Some(message.into()), field: None }
    }

    fn field(name: &str, why: impl Into<String>) -> RequestError {
        RequestError { status: 400, message: None, field: Some((name.to_owned(), why.into())) }
    }
}

impl FakeJira {
    /// Creates a JIRA in the cloud.
    pub fn cloud() -> FakeJira {
        FakeJira::new(true)
    }

    /// Creates a self-hosted JIRA.
    pub fn server() -> FakeJira {
        FakeJira::new(false)
    }

    fn new(is_cloud: bool) -> FakeJira {
        let tickets = Tickets::new(is_cloud);
        let state = State {
            is_cloud,
            tickets,
            faults: Vec::new(),
            asked: Vec::new(),
            problems: Vec::new(),
        };
        FakeJira(Arc::new(Mutex::new(state)))
    }

    /// Serves the fake over TCP.
    pub fn serve(&self) -> RunningService {
        RunningService::start(Arc::new(self.clone()))
    }

    /// Adds a ticket, and returns its key.
    pub fn add(&self, kind: &str, summary: &str) -> String {
        self.state().tickets.add(kind, summary)
    }

    /// Sets a field of a ticket without validation.
    pub fn set(&self, key: &str, field: &str, value: Value) {
        self.state().tickets.set(key, field, value);
    }

    /// Adds a comment of another user, from plain text.
    pub fn say(&self, key: &str, text: &str) {
        let mut state = self.state();
        let body = match state.is_cloud {
            true => json!({ "type": "doc", "version": 1, "content": [
                { "type": "paragraph", "content": [{ "type": "text", "text": text }] }] }),
            false => json!(text),
        };
        state.tickets.comment(key, "Grace", body);
    }

    /// Injects a fault into the next request that contains a text, as in `POST /rest/api/3/issue`.
    pub fn fail(&self, request: &str, fault: Fault) {
        self.fail_after(request, 0, fault);
    }

    /// Injects a fault into a request that contains a text, after a number of such requests.
    pub fn fail_after(&self, request: &str, before: usize, fault: Fault) {
        self.state().faults.push((request.to_owned(), before, fault));
    }

    /// Drops the faults that have not occurred yet.
    pub fn recover(&self) {
        self.state().faults.clear();
    }

    /// Returns the status of a ticket.
    pub fn status(&self, key: &str) -> String {
        self.state().tickets.status(key)
    }

    /// Returns a field of a ticket.
    pub fn field(&self, key: &str, field: &str) -> Value {
        self.state().tickets.field(key, field)
    }

    /// Returns the comments on a ticket as they were sent, the oldest first.
    pub fn comments(&self, key: &str) -> Vec<Value> {
        self.state().tickets.comments(key)
    }

    /// Returns the keys of all tickets.
    pub fn keys(&self) -> Vec<String> {
        self.state().tickets.keys()
    }

    /// Returns all requests so far, as method and path.
    pub fn asked(&self) -> Vec<String> {
        self.state().asked.clone()
    }

    /// Returns all writes so far, failed ones included.
    pub fn writes(&self) -> Vec<String> {
        let reads = |asked: &String| asked.starts_with("GET ") || asked.contains("/search");
        self.asked().into_iter().filter(|asked| !reads(asked)).collect()
    }

    /// Returns the reasons of all invalid requests so far.
    pub fn problems(&self) -> Vec<String> {
        self.state().problems.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

impl Service for FakeJira {
    fn answer(&self, asked: &ServiceRequest) -> Option<Answer> {
        let mut state = self.state();
        let line = format!("{} {}", asked.method, asked.path());
        state.asked.push(line.clone());
        match state.next_fault(&line) {
            None => Some(state.answer(asked)),
            Some(Fault::Before(status)) => Some(server_error(status)),
            Some(Fault::After(status)) => {
                state.answer(asked);
                Some(server_error(status))
            }
            Some(Fault::CutBefore) => None,
            Some(Fault::CutAfter) => {
                state.answer(asked);
                None
            }
            Some(Fault::Limit(seconds)) => {
                let body = json!({ "errorMessages": ["Rate limit exceeded."], "errors": {} });
                Some(Answer::json(429, &body).with("retry-after", &seconds.to_string()))
            }
            Some(Fault::Html) => Some(page(200, "<html><body>Log in</body></html>")),
        }
    }
}

impl State {
    /// Returns the fault of a request, and counts the request for faults of later ones.
    fn next_fault(&mut self, line: &str) -> Option<Fault> {
        let matches = |(request, ..): &&mut (String, usize, Fault)| line.contains(request.as_str());
        let due = self
            .faults
            .iter()
            .position(|(request, before, _)| *before == 0 && line.contains(request.as_str()));
        let fault = due.map(|at| self.faults.remove(at).2);
        self.faults.iter_mut().filter(matches).for_each(|it| it.1 = it.1.saturating_sub(1));
        fault
    }
}

fn server_error(status: u16) -> Answer {
    page(status, "<html><body><h1>Trouble</h1></body></html>")
}

fn page(status: u16, text: &str) -> Answer {
    let headers = vec![("content-type".to_owned(), "text/html".to_owned())];
    Answer { status, headers, body: text.into() }
}

impl State {
    fn answer(&mut self, asked: &ServiceRequest) -> Answer {
        match routes::route(self.is_cloud, &mut self.tickets, asked) {
            Ok(answer) => answer,
            Err(RequestError { status, message, field }) => {
                let told =
                    message.clone().or(field.as_ref().map(|(name, why)| format!("{name}: {why}")));
                let line = format!("{} {}", asked.method, asked.path());
                self.problems.push(format!("{line}: {}", told.unwrap_or_default()));
                let errors: serde_json::Map<String, Value> =
                    field.into_iter().map(|(name, why)| (name, json!(why))).collect();
                let messages: Vec<String> = message.into_iter().collect();
                Answer::json(status, &json!({ "errorMessages": messages, "errors": errors }))
            }
        }
    }
}
