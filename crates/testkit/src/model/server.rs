//! Who listens: [`FakeModel`].

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::connection::Connection;
use super::dialect::Refused;
use super::reply::Reply;
use super::{Asked, Dialect, Script};
use crate::http::Request;
use crate::listener::Listener;

/// A model's server on 127.0.0.1. With it end all its connections and threads.
#[derive(Debug)]
pub struct FakeModel {
    listener: Listener,
    shared: Arc<Shared>,
}

/// How it is served.
#[derive(Default)]
pub struct Options {
    /// The port; 0 for any that is free.
    pub port: u16,
    /// The key that every request needs; if `None`, none does.
    pub key: Option<String>,
    /// What is told of each request before it is answered.
    pub told: Option<Told>,
}

/// Who is told of requests.
pub type Told = Box<dyn Fn(&Received) + Send + Sync>;

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Received {
    /// The method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The start line and all header fields, byte for byte.
    pub head: Vec<u8>,
    /// The body, byte for byte.
    pub body: Vec<u8>,
    /// The status that is answered with.
    pub status: u16,
    /// Why it was refused, if the request itself was not in order.
    pub refused: Option<String>,
}

/// What the threads of a server have in common.
struct Shared {
    script: Box<dyn Script + 'static>,
    options: Options,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    received: Vec<Received>,
    /// How many requests were put to the script.
    asked: usize,
}

impl FakeModel {
    /// Starts one on any free port that needs no key.
    pub fn start(script: impl Script + 'static) -> FakeModel {
        FakeModel::start_with(Options::default(), script).unwrap()
    }

    /// Starts one; it fails if the port is taken.
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

    /// Gives the address without a path: `http://127.0.0.1:4711`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Gives the address to connect to.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Gives everything that was received so far, refused or not, in order.
    pub fn requests(&self) -> Vec<Received> {
        self.shared.state().received.clone()
    }

    /// Waits until so many requests have been received, and gives all; fails after a minute.
    pub fn wait_for(&self, requests: usize) -> Vec<Received> {
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

    /// Waits until no connection is open; fails after a minute.
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
        // A script that panicked holds no lock of ours.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides what to say to a request, and keeps the request.
    fn reply(&self, request: &Request) -> Reply {
        let dialect = Dialect::guess(request);
        let (reply, refused) = match self.decide(request, dialect) {
            Ok(reply) => (reply, None),
            Err(refused) => (Reply::refusal(dialect, &refused), Some(refused.message)),
        };
        let received = Received {
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

    fn decide(&self, request: &Request, dialect: Dialect) -> Result<Reply, Refused> {
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

    fn asked(&self, request: &Request, dialect: Dialect) -> Result<Asked, Refused> {
        let body = dialect.check(request)?;
        let read = dialect.read(&body);
        let number = {
            let mut state = self.state();
            state.asked += 1;
            state.asked
        };
        Ok(Asked {
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
