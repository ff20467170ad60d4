//! A connection to one page: calls, each with its answer, and the events of the page.
//!
//! A thread reads all messages, so that a page that logs without end uses a bounded amount of
//! memory, and so that a dialog, which would block all other calls, is answered at once: an alert
//! is accepted, and a question is cancelled. The thread ends with the connection.

use std::collections::HashMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use assay_base::clock::Deadline;
use serde_json::{Value, json};
use tungstenite::error::CapacityError;
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

use super::console::{Entry, Ring};
use super::endpoint::{Endpoint, Window};
use super::error::{Gone, PageError, ReachError};
use super::network::Network;
use super::untrusted::short;

/// The maximum size of one message, in bytes: more than a screenshot of a large window.
const MOST: usize = 64 << 20;

/// The timeout for connecting, and for writing a message.
const TIME: Duration = Duration::from_secs(5);

/// A connection to a page.
pub(super) struct Connection {
    shared: Arc<Shared>,
    stream: TcpStream,
    reader: Option<JoinHandle<()>>,
}

struct Shared {
    inbox: Mutex<Inbox>,
    news: Condvar,
    writer: Mutex<WebSocket<TcpStream>>,
}

/// The state that is built from the messages of the page.
#[derive(Default)]
struct Inbox {
    /// Calls without a reader yet: `None` until the answer arrives.
    calls: HashMap<u64, Option<Value>>,
    last_call: u64,
    console: Ring,
    network: Network,
    dialogs: u64,
    events: u64,
    gone: Option<Gone>,
}

/// The reason why a call has no result.
#[derive(Debug)]
pub(super) enum CallError {
    /// The page is gone.
    Gone(Gone),
    /// No answer arrived in time.
    TimedOut,
    /// DevTools refused the call, with this message.
    Refused(String),
}

impl Connection {
    /// Connects to a window.
    pub(super) fn open(endpoint: Endpoint, window: &Window) -> Result<Connection, ReachError> {
        let in_use = || ReachError::WindowInUse { at: endpoint.to_string(), id: window.id.clone() };
        let path = window.path().ok_or_else(in_use)?;
        let stream = TcpStream::connect_timeout(&endpoint.address(), TIME);
        let stream = stream.map_err(|_| endpoint.nobody())?;
        let other = |error: std::io::Error| endpoint.is_other(short(&error.to_string()));
        stream.set_read_timeout(Some(TIME)).map_err(other)?;
        stream.set_write_timeout(Some(TIME)).map_err(other)?;
        stream.set_nodelay(true).map_err(other)?;
        let config = WebSocketConfig::default().max_message_size(Some(MOST));
        let config = config.max_frame_size(Some(MOST));
        let url = format!("ws://{endpoint}{path}");
        let ours = stream.try_clone().map_err(other)?;
        let handshake = tungstenite::client::client_with_config(url, ours, Some(config));
        let (socket, _) =
            handshake.map_err(|error| endpoint.is_other(short(&error.to_string())))?;
        stream.set_read_timeout(None).map_err(other)?;
        // Both ends of the stream are used at the same time. DevTools send no pings, so the reader,
        // which would answer them, never writes.
        let writer = stream.try_clone().map_err(other)?;
        let writer = WebSocket::from_raw_socket(writer, Role::Client, Some(config));
        let shared = Arc::new(Shared {
            inbox: Mutex::default(),
            news: Condvar::new(),
            writer: Mutex::new(writer),
        });
        let theirs = Arc::clone(&shared);
        let reader = std::thread::Builder::new().name("devtools".to_owned());
        let reader = reader.spawn(move || theirs.read(socket)).map_err(other)?;
        Ok(Connection { shared, stream, reader: Some(reader) })
    }

    /// Calls a method and waits for its answer.
    pub(super) fn call(
        &self,
        method: &str,
        params: &Value,
        deadline: Deadline,
    ) -> Result<Value, CallError> {
        let id = {
            let mut inbox = self.shared.inbox();
            inbox.last_call += 1;
            let id = inbox.last_call;
            inbox.calls.insert(id, None);
            id
        };
        self.shared.send(id, method, params);
        let mut inbox = self.shared.inbox();
        loop {
            if let Some(Some(_)) = inbox.calls.get(&id) {
                let answer = inbox.calls.remove(&id).flatten().unwrap_or_default();
                return result(answer);
            }
            let left = deadline.left();
            let end = match &inbox.gone {
                Some(gone) => Some(CallError::Gone(gone.clone())),
                None => left.is_zero().then_some(CallError::TimedOut),
            };
            if let Some(end) = end {
                // An answer that arrives later has no reader.
                inbox.calls.remove(&id);
                return Err(end);
            }
            let waited = self.shared.news.wait_timeout(inbox, left);
            inbox = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until an event of the page arrives, or until `longest` has passed: not all changes
    /// have events.
    pub(super) fn wait_for_news(&self, longest: Duration) {
        let inbox = self.shared.inbox();
        let before = inbox.events;
        let waited = self.shared.news.wait_timeout_while(inbox, longest, |inbox| {
            inbox.events == before && inbox.gone.is_none()
        });
        drop(waited);
    }

    /// Waits until no request is in flight, or until the deadline. Returns the network's activity
    /// count at that moment, or `None` at the deadline or when the page is gone.
    pub(super) fn wait_for_idle_network(&self, deadline: Deadline) -> Option<u64> {
        let left = deadline.left();
        let inbox = self.shared.inbox();
        let waited = self.shared.news.wait_timeout_while(inbox, left, |inbox| {
            !inbox.network.is_idle() && inbox.gone.is_none()
        });
        let inbox = waited.unwrap_or_else(PoisonError::into_inner).0;
        inbox.network.is_idle().then(|| inbox.network.activity())
    }

    /// Returns true if no request is in flight and nothing was loaded since an activity count.
    pub(super) fn is_idle_since(&self, activity: u64) -> bool {
        let inbox = self.shared.inbox();
        inbox.network.is_idle() && inbox.network.activity() == activity
    }

    /// Returns the addresses of some requests that are in flight.
    pub(super) fn pending_requests(&self) -> Vec<String> {
        self.shared.inbox().network.pending()
    }

    /// Sets the frame whose documents have a status.
    pub(super) fn set_main_frame(&self, frame: &str) {
        self.shared.inbox().network.set_main_frame(frame);
    }

    /// Returns the HTTP status of the document of a loader.
    pub(super) fn status_of(&self, loader: &str) -> Option<u16> {
        self.shared.inbox().network.status_of(loader)
    }

    /// Returns the console entries from a number on.
    pub(super) fn console_since(&self, number: u64) -> Vec<Entry> {
        self.shared.inbox().console.since(number)
    }

    /// Returns the number that the next console entry will have.
    pub(super) fn next_entry(&self) -> u64 {
        self.shared.inbox().console.next()
    }

    /// Returns the number of dialogs that the page has opened.
    pub(super) fn dialogs(&self) -> u64 {
        self.shared.inbox().dialogs
    }

    /// Returns the reason why the page is gone, or `None` while it exists.
    pub(super) fn gone(&self) -> Option<Gone> {
        self.shared.inbox().gone.clone()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

impl Shared {
    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, id: u64, method: &str, params: &Value) {
        let message = json!({ "id": id, "method": method, "params": params }).to_string();
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = writer.send(Message::text(message)) {
            self.end(ended(&error));
        }
    }

    /// Reads messages until the connection ends.
    fn read(&self, mut socket: WebSocket<TcpStream>) {
        loop {
            match socket.read() {
                Ok(Message::Text(text)) => self.take(&text),
                Ok(Message::Close(_)) => break self.end(Gone::Closed),
                Ok(_) => {}
                Err(error) => break self.end(ended(&error)),
            }
        }
    }

    fn take(&self, text: &str) {
        let Ok(mut message) = serde_json::from_str::<Value>(text) else {
            return self.end(Gone::Broken { why: "what came is no JSON".to_owned() });
        };
        if let Some(id) = message["id"].as_u64() {
            if let Some(answer) = self.inbox().calls.get_mut(&id) {
                *answer = Some(message);
            }
            self.news.notify_all();
            return;
        }
        let params = message["params"].take();
        let method = message["method"].as_str().unwrap_or_default();
        {
            let mut inbox = self.inbox();
            inbox.console.take(method, &params);
            inbox.network.observe(method, &params);
            // A page may load without end; that is no reason to query it more often.
            inbox.events += u64::from(!method.starts_with("Network."));
        }
        match method {
            "Page.javascriptDialogOpening" => self.answer_dialog(&params),
            "Inspector.detached" => self.end(Gone::Closed),
            "Inspector.targetCrashed" => self.end(Gone::Crashed),
            _ => self.news.notify_all(),
        }
    }

    /// Answers a dialog without changing data: an alert, and leaving the page, are accepted; a
    /// question is cancelled.
    fn answer_dialog(&self, params: &Value) {
        let accept = !matches!(params["type"].as_str(), Some("confirm" | "prompt"));
        let id = {
            let mut inbox = self.inbox();
            inbox.dialogs += 1;
            inbox.last_call += 1;
            inbox.last_call
        };
        self.send(id, "Page.handleJavaScriptDialog", &json!({ "accept": accept }));
        self.news.notify_all();
    }

    fn end(&self, gone: Gone) {
        // The first reason is the true one: later errors follow from it.
        self.inbox().gone.get_or_insert(gone);
        self.news.notify_all();
    }
}

fn ended(error: &tungstenite::Error) -> Gone {
    use tungstenite::Error::{AlreadyClosed, Capacity, ConnectionClosed, Protocol};
    use tungstenite::error::ProtocolError::ResetWithoutClosingHandshake;
    match error {
        ConnectionClosed | AlreadyClosed | Protocol(ResetWithoutClosingHandshake) => Gone::Closed,
        Capacity(CapacityError::MessageTooLong { .. }) => Gone::Flooded { most: MOST },
        other => Gone::Broken { why: short(&other.to_string()) },
    }
}

fn result(mut answer: Value) -> Result<Value, CallError> {
    match answer["error"]["message"].as_str() {
        Some(message) => Err(CallError::Refused(short(message))),
        None => Ok(answer["result"].take()),
    }
}

impl CallError {
    /// Returns true if the page was changing its document, so that the call can be repeated.
    pub(super) fn is_passing(&self) -> bool {
        let passing = [
            "find context", "context was destroyed", "navigated", "No frame",
            "Promise was collected",
        ];
        match self {
            CallError::Refused(message) => passing.iter().any(|it| message.contains(it)),
            CallError::Gone(_) | CallError::TimedOut => false,
        }
    }

    /// Converts the error for the caller, with the call that it belongs to.
    pub(super) fn of(self, method: &str, doing: &str, after: Duration, dialogs: u64) -> PageError {
        match self {
            CallError::Gone(gone) => PageError::Gone(gone),
            CallError::TimedOut => PageError::TimedOut { doing: doing.to_owned(), after, dialogs },
            CallError::Refused(message) => {
                PageError::Refused { method: method.to_owned(), message }
            }
        }
    }
}
