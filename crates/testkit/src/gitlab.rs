//! A fake GitLab: [`FakeGitLab`] holds merge requests of one project, their discussions and
//! approvals.
//!
//! The fake is stricter than the real GitLab: it refuses unknown fields, a position whose numbers do
//! not belong to one line of the diff, a line code that is not that of the line, and text that the
//! real one would carry out as a command. It was written by GitLab's own definitions of its routes,
//! and `cargo xtask conformance gitlab` uses it through the client python-gitlab.

mod discussions;
mod position;
mod refusal;
mod routes;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::web::{Answer, RunningService, Service, ServiceRequest};

/// The project, with a subgroup.
pub const PROJECT: &str = "group/sub/demo";

/// The token of the account that posts.
pub const TOKEN: &str = "glpat-assay-secret";

/// The token of another user.
pub const OTHER_TOKEN: &str = "glpat-ann";

/// A fault that occurs once, on the next request that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// An answer with a status; the request has no effect.
    Before(u16),
    /// An answer with a status; the request takes effect.
    After(u16),
    /// A cut connection; the request has no effect.
    CutBefore,
    /// A cut connection; the request takes effect.
    CutAfter,
    /// A rate limit with a wait in seconds.
    Limit(u32),
}

/// A GitLab in memory.
#[derive(Clone)]
pub struct FakeGitLab(Arc<Mutex<State>>);

/// A merge request as a test sets it up.
#[derive(Debug, Clone)]
pub struct NewMergeRequest {
    /// The head commit.
    pub head: String,
    /// The unified diff, as git prints it.
    pub diff: String,
}

pub(crate) struct State {
    pub(crate) requests: Vec<MergeRequest>,
    faults: Vec<(String, Fault)>,
    log: Vec<(String, bool)>,
    pub(crate) next_id: u64,
    /// True if the account of [`TOKEN`] may not approve.
    pub(crate) forbids_approval: bool,
    /// A random schedule of faults: the state of the generator, one in how many, and the faults.
    schedule: Option<(u64, u64, Vec<Fault>)>,
}

pub(crate) struct MergeRequest {
    pub(crate) head: String,
    pub(crate) diff: position::Diff,
    pub(crate) discussions: Vec<Discussion>,
    pub(crate) approved_by: Vec<u64>,
}

/// A discussion or a single note.
#[derive(Debug, Clone, PartialEq)]
pub struct Discussion {
    /// The id of the discussion.
    pub id: String,
    /// The notes, the oldest first.
    pub notes: Vec<Note>,
    /// The user that resolved it; `None` if it is open.
    pub resolved_by: Option<u64>,
    /// The place in the diff, in the form of the API; null for the conversation.
    pub position: Value,
}

/// A note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The id of the note.
    pub id: u64,
    /// The id of the author.
    pub author: u64,
    /// The text.
    pub body: String,
}

/// The id of the user of [`TOKEN`].
pub const USER: u64 = 11;

/// The id of the user of [`OTHER_TOKEN`].
pub const OTHER_USER: u64 = 12;

impl Default for FakeGitLab {
    fn default() -> FakeGitLab {
        FakeGitLab::new()
    }
}

impl FakeGitLab {
    /// Creates an empty GitLab.
    pub fn new() -> FakeGitLab {
        FakeGitLab(Arc::new(Mutex::new(State {
            requests: Vec::new(),
            faults: Vec::new(),
            log: Vec::new(),
            next_id: 100,
            forbids_approval: false,
            schedule: None,
        })))
    }

    /// Opens a merge request, and returns its number.
    pub fn open(&self, new: &NewMergeRequest) -> u64 {
        let mut state = self.state();
        state.requests.push(MergeRequest {
            head: new.head.clone(),
            diff: position::Diff::parse(&new.diff),
            discussions: Vec::new(),
            approved_by: Vec::new(),
        });
        state.requests.len() as u64
    }

    /// Sets the head commit and the diff of a merge request, as a push does. Approvals stay.
    pub fn push(&self, number: u64, new: &NewMergeRequest) {
        let mut state = self.state();
        let request = &mut state.requests[number as usize - 1];
        request.head.clone_from(&new.head);
        request.diff = position::Diff::parse(&new.diff);
    }

    /// Forbids the account of [`TOKEN`] to approve.
    pub fn forbid_approval(&self) {
        self.state().forbids_approval = true;
    }

    /// Injects a fault into the next request whose method and path contain all words of `on`.
    pub fn fail_next(&self, on: &str, fault: Fault) {
        self.state().faults.push((on.to_owned(), fault));
    }

    /// Injects random faults into about one request in `one_in`.
    pub fn fail_at_random(&self, seed: u64, one_in: u64, faults: &[Fault]) {
        self.state().schedule = Some((seed | 1, one_in, faults.to_vec()));
    }

    /// Ends all injected faults.
    pub fn stop_failing(&self) {
        let mut state = self.state();
        state.schedule = None;
        state.faults.clear();
    }

    /// Returns the discussions of a merge request.
    pub fn discussions(&self, number: u64) -> Vec<Discussion> {
        self.state().requests[number as usize - 1].discussions.clone()
    }

    /// Returns the users that approve a merge request.
    pub fn approved_by(&self, number: u64) -> Vec<u64> {
        self.state().requests[number as usize - 1].approved_by.clone()
    }

    /// Returns the number of requests that changed the state.
    pub fn writes(&self) -> usize {
        self.state().log.iter().filter(|(_, took_effect)| *took_effect).count()
    }

    /// Serves over TCP, on any free port, until the process ends.
    pub fn serve(&self) -> RunningService {
        RunningService::start(Arc::new(self.clone()))
    }

    /// Sends a request with a token, in process.
    pub fn ask(&self, token: &str, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let answer = self.answer(&ServiceRequest {
            method: method.to_owned(),
            target: format!("/api/v4{path}"),
            headers: vec![
                ("private-token".to_owned(), token.to_owned()),
                ("content-type".to_owned(), "application/json".to_owned()),
            ],
            body: if body.is_null() { Vec::new() } else { body.to_string().into_bytes() },
        });
        let answer = answer.unwrap();
        (answer.status, serde_json::from_slice(&answer.body).unwrap_or_default())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the next id.
    pub(crate) fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    fn fault(&mut self, request: &str) -> Option<Fault> {
        let fits = |on: &str| on.split_whitespace().all(|word| request.contains(word));
        if let Some(at) = self.faults.iter().position(|(on, _)| fits(on)) {
            return Some(self.faults.remove(at).1);
        }
        let (seed, one_in, faults) = self.schedule.as_mut()?;
        // A generator with a period of 2^64 - 1 is random enough for a schedule.
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        let is_fault = (*seed >> 8) % *one_in == 0;
        is_fault.then(|| faults[(*seed >> 24) as usize % faults.len()])
    }
}

impl Service for FakeGitLab {
    fn answer(&self, asked: &ServiceRequest) -> Option<Answer> {
        let mut state = self.state();
        let line = format!("{} {}", asked.method, asked.path());
        let fault = state.fault(&line);
        let refused = |status: u16| Answer::json(status, &json!({ "message": "injected" }));
        match fault {
            Some(Fault::CutBefore) => return None,
            Some(Fault::Before(status)) => return Some(refused(status)),
            Some(Fault::Limit(seconds)) => {
                let body = json!({ "message": "Retry later" });
                return Some(Answer::json(429, &body).with("retry-after", &seconds.to_string()));
            }
            Some(Fault::After(_) | Fault::CutAfter) | None => {}
        }
        let answer = routes::answer(&mut state, asked);
        let took_effect = asked.method != "GET" && answer.status < 300;
        state.log.push((line, took_effect));
        match fault {
            Some(Fault::CutAfter) => None,
            Some(Fault::After(status)) => Some(refused(status)),
            _ => Some(answer),
        }
    }
}
