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

use super::console::{ConsoleEntry, ConsoleLog};
use super::endpoint::{Endpoint, Window};
use super::error::{AttachError, GoneReason, PageError};
use super::network::Network;
use super::untrusted::truncate_line;

/// The maximum size of one message, in bytes: more than a screenshot of a large window.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// The timeout for connecting, and for writing a message.
const IO_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection to a page.
pub(super) struct Connection {
    shared: Arc<Shared>,
    stream: TcpStream,
    reader: Option<JoinHandle<()>>,
}

struct Shared {
    inbox: Mutex<Inbox>,
    changed: Condvar,
    writer: Mutex<WebSocket<TcpStream>>,
}

/// The state that is built from the messages of the page.
#[derive(Default)]
struct Inbox {
    /// Calls without a reader yet: `None` until the answer arrives.
    calls: HashMap<u64, Option<Value>>,
    last_call: u64,
    console: ConsoleLog,
    network: Network,
    dialogs: u64,
    events: u64,
    gone: Option<GoneReason>,
}

/// The reason why a call has no result.
#[derive(Debug)]
pub(super) enum CallError {
    /// The page is gone.
    Gone(GoneReason),
    /// No answer arrived in time.
    TimedOut,
    /// DevTools refused the call, with this message.
    Refused(String),
}

impl Connection {
    /// Connects to a window.
    pub(super) fn open(endpoint: Endpoint, window: &Window) -> Result<Connection, AttachError> {
        let in_use =
            || AttachError::WindowInUse { at: endpoint.to_string(), id: window.id.clone() };
        let path = window.path().ok_or_else(in_use)?;
        let stream = TcpStream::connect_timeout(&endpoint.address(), IO_TIMEOUT);
        let stream = stream.map_err(|_| endpoint.not_listening_error())?;
        let other =
            |error: std::io::Error| endpoint.not_devtools_error(truncate_line(&error.to_string()));
        stream.set_read_timeout(Some(IO_TIMEOUT)).map_err(other)?;
        stream.set_write_timeout(Some(IO_TIMEOUT)).map_err(other)?;
        stream.set_nodelay(true).map_err(other)?;
        let config = WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE_BYTES));
        let config = config.max_frame_size(Some(MAX_MESSAGE_BYTES));
        let url = format!("ws://{endpoint}{path}");
        let ours = stream.try_clone().map_err(other)?;
        let handshake = tungstenite::client::client_with_config(url, ours, Some(config));
        let (socket, _) = handshake
            .map_err(|error| endpoint.not_devtools_error(truncate_line(&error.to_string())))?;
        stream.set_read_timeout(None).map_err(other)?;
        // Both ends of the stream are used at the same time. DevTools send no pings, so the reader,
        // which would answer them, never writes.
        let writer = stream.try_clone().map_err(other)?;
        let writer = WebSocket::from_raw_socket(writer, Role::Client, Some(config));
        let shared = Arc::new(Shared {
            inbox: Mutex::default(),
            changed: Condvar::new(),
            writer: Mutex::new(writer),
        });
        let theirs = Arc::clone(&shared);
        let reader = std::thread::Builder::new().name("devtools".to_owned());
        let reader = reader.spawn(move || theirs.read_messages(socket)).map_err(other)?;
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
                return parse_result(answer);
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
            let waited = self.shared.changed.wait_timeout(inbox, left);
            inbox = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until an event of the page arrives, or until `max_wait` has passed: not all changes
    /// have events.
    pub(super) fn wait_for_event(&self, max_wait: Duration) {
        let inbox = self.shared.inbox();
        let before = inbox.events;
        let waited = self.shared.changed.wait_timeout_while(inbox, max_wait, |inbox| {
            inbox.events == before && inbox.gone.is_none()
        });
        drop(waited);
    }

    /// Waits until no request is in flight, or until the deadline. Returns the network's activity
    /// count at that moment, or `None` at the deadline or when the page is gone.
    pub(super) fn wait_for_idle_network(&self, deadline: Deadline) -> Option<u64> {
        let left = deadline.left();
        let inbox = self.shared.inbox();
        let waited = self.shared.changed.wait_timeout_while(inbox, left, |inbox| {
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
    pub(super) fn console_since(&self, number: u64) -> Vec<ConsoleEntry> {
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
    pub(super) fn gone_reason(&self) -> Option<GoneReason> {
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
            self.end(end_reason(&error));
        }
    }

    /// Reads messages until the connection ends.
    fn read_messages(&self, mut socket: WebSocket<TcpStream>) {
        loop {
            match socket.read() {
                Ok(Message::Text(text)) => self.handle_message(&text),
                Ok(Message::Close(_)) => break self.end(GoneReason::Closed),
                Ok(_) => {}
                Err(error) => break self.end(end_reason(&error)),
            }
        }
    }

    fn handle_message(&self, text: &str) {
        let Ok(mut message) = serde_json::from_str::<Value>(text) else {
            return self
                .end(GoneReason::ConnectionBroken { why: "the message is not JSON".to_owned() });
        };
        if let Some(id) = message["id"].as_u64() {
            if let Some(answer) = self.inbox().calls.get_mut(&id) {
                *answer = Some(message);
            }
            self.changed.notify_all();
            return;
        }
        let params = message["params"].take();
        let method = message["method"].as_str().unwrap_or_default();
        {
            let mut inbox = self.inbox();
            inbox.console.record(method, &params);
            inbox.network.observe(method, &params);
            // A page may load without end; that is no reason to query it more often.
            inbox.events += u64::from(!method.starts_with("Network."));
        }
        match method {
            "Page.javascriptDialogOpening" => self.answer_dialog(&params),
            "Inspector.detached" => self.end(GoneReason::Closed),
            "Inspector.targetCrashed" => self.end(GoneReason::Crashed),
            _ => self.changed.notify_all(),
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
        self.changed.notify_all();
    }

    fn end(&self, gone: GoneReason) {
        // The first reason is the true one: later errors follow from it.
        self.inbox().gone.get_or_insert(gone);
        self.changed.notify_all();
    }
}

fn end_reason(error: &tungstenite::Error) -> GoneReason {
    use tungstenite::Error::{AlreadyClosed, Capacity, ConnectionClosed, Protocol};
    use tungstenite::error::ProtocolError::ResetWithoutClosingHandshake;
    match error {
        ConnectionClosed | AlreadyClosed | Protocol(ResetWithoutClosingHandshake) => {
            GoneReason::Closed
        }
        Capacity(CapacityError::MessageTooLong { .. }) => {
            GoneReason::TooLarge { max_bytes: MAX_MESSAGE_BYTES }
        }
        other => GoneReason::ConnectionBroken { why: truncate_line(&other.to_string()) },
    }
}

fn parse_result(mut answer: Value) -> Result<Value, CallError> {
    match answer["error"]["message"].as_str() {
        Some(message) => Err(CallError::Refused(truncate_line(message))),
        None => Ok(answer["result"].take()),
    }
}

impl CallError {
    /// Returns true if the page was changing its document, so that the call can be repeated.
    pub(super) fn is_transient(&self) -> bool {
        let transient = [
            "find context", "context was destroyed", "navigated", "No frame",
            "Promise was collected",
        ];
        match self {
            CallError::Refused(message) => transient.iter().any(|it| message.contains(it)),
            CallError::Gone(_) | CallError::TimedOut => false,
        }
    }

    /// Converts the error for the caller, with the call that it belongs to.
    pub(super) fn into_page_error(
        self,
        method: &str,
        doing: &str,
        after: Duration,
        dialogs: u64,
    ) -> PageError {
        match self {
            CallError::Gone(gone) => PageError::Gone(gone),
            CallError::TimedOut => PageError::TimedOut { doing: doing.to_owned(), after, dialogs },
            CallError::Refused(message) => {
                PageError::Refused { method: method.to_owned(), message }
            }
        }
    }
}
