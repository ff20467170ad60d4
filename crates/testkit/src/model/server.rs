//! The server of the fake model: [`FakeModel`].

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::connection::Connection;
use super::dialect::ApiRefusal;
use super::reply::Reply;
use super::{Dialect, PromptRequest, Script};
use crate::http::Request;
use crate::listener::Listener;

/// A server on 127.0.0.1. Its connections and threads end when the value is dropped.
#[derive(Debug)]
pub struct FakeModel {
    listener: Listener,
    shared: Arc<Shared>,
}

/// The options of a server.
#[derive(Default)]
pub struct Options {
    /// The port; 0 for any free port.
    pub port: u16,
    /// The key that every request needs; if `None`, no key is needed.
    pub key: Option<String>,
    /// The observer of requests, called before each answer; `None` for no observer.
    pub told: Option<RequestObserver>,
}

/// An observer of requests.
pub type RequestObserver = Box<dyn Fn(&ReceivedRequest) + Send + Sync>;

/// A request with its outcome.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// The method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The start line and all header fields, byte for byte.
    pub head: Vec<u8>,
    /// The body, byte for byte.
    pub body: Vec<u8>,
    /// The status of the answer.
    pub status: u16,
    /// The reason why the request was invalid; `None` if it was valid.
    pub refused: Option<String>,
}

/// The shared state of a server's threads.
struct Shared {
    script: Box<dyn Script + 'static>,
    options: Options,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    received: Vec<ReceivedRequest>,
    /// The number of requests that were passed to the script.
    asked: usize,
}

impl FakeModel {
    /// Starts a server on any free port, without a key.
    pub fn start(script: impl Script + 'static) -> FakeModel {
        FakeModel::start_with(Options::default(), script).unwrap()
    }

    /// Starts a server. Fails if the port is in use.
    pub fn start_with(options: Options, script: impl Script + 'static) -> io::Result<FakeModel> {
        let port = options.port;
        let shared = Arc::new(Shared {
            script: Box::new(script),
            options,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let listener = Listener::start(port, {
            let shared = Arc::clone(&shared);
            move |open, stream| {
                let reply = |request: &Request| shared.reply(request);
                Connection::new(&reply, open).run(stream)
            }
        })?;
        Ok(FakeModel { listener, shared })
    }

    /// Returns the address without a path: `http://127.0.0.1:4711`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Returns the address to connect to.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Returns all requests so far in order, refused ones included.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.shared.state().received.clone()
    }

    /// Waits for a number of requests, and returns all requests. Panics after a minute.
    pub fn wait_for(&self, requests: usize) -> Vec<ReceivedRequest> {
        let (state, waited) = self
            .shared
            .changed
            .wait_timeout_while(self.shared.state(), Duration::from_secs(60), |state| {
                state.received.len() < requests
            })
            .unwrap();
        let came = state.received.len();
        assert!(!waited.timed_out(), "only {came} of {requests} requests came");
        state.received.clone()
    }

    /// Waits until no connection is open. Panics after a minute.
    pub fn wait_until_idle(&self) {
        self.listener.wait_until_idle();
    }

    /// Serves until the process ends.
    pub fn serve(mut self) {
        self.listener.join().unwrap();
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        let ended = self.listener.end();
        assert!(ended.is_ok() || thread::panicking(), "the fake model's script panicked");
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // A script that panicked did not hold this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the reply to a request, and stores the request.
    fn reply(&self, request: &Request) -> Reply {
        let dialect = Dialect::guess(request);
        let (reply, refused) = match self.decide(request, dialect) {
            Ok(reply) => (reply, None),
            Err(refused) => (Reply::refusal(dialect, &refused), Some(refused.message)),
        };
        let received = ReceivedRequest {
            method: request.method.clone(),
            path: request.target.clone(),
            head: request.head.clone(),
            body: request.body.clone(),
            status: reply.status,
            refused,
        };
        if let Some(told) = &self.options.told {
            told(&received);
        }
        self.state().received.push(received);
        self.changed.notify_all();
        reply
    }

    fn decide(&self, request: &Request, dialect: Dialect) -> Result<Reply, ApiRefusal> {
        if let Some(key) = &self.options.key {
            dialect.check_key(request, key)?;
        }
        match (request.method.as_str(), request.path()) {
            ("GET", "/v1/models") => Ok(Reply::json(200, &dialect.models())),
            ("POST", "/v1/messages/count_tokens") => {
                let body = dialect.check(request)?;
                Ok(Reply::json(200, &json!({ "input_tokens": body.to_string().len() / 4 })))
            }
            ("POST", path) if Dialect::of(path).is_some() => {
                let asked = self.asked(request, dialect)?;
                Ok(Reply::to(&asked, &self.script.answer(&asked)))
            }
            _ => Err(dialect.no_such_path(request)),
        }
    }

    fn asked(&self, request: &Request, dialect: Dialect) -> Result<PromptRequest, ApiRefusal> {
        let body = dialect.check(request)?;
        let read = dialect.read(&body);
        let number = {
            let mut state = self.state();
            state.asked += 1;
            state.asked
        };
        Ok(PromptRequest {
            dialect,
            path: request.target.clone(),
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            system: read.system,
            user: read.user,
            schema: read.schema,
            body,
            headers: request.headers.clone(),
            number,
        })
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}
