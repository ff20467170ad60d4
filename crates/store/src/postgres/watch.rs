//! Wake-ups by NOTIFY: [`NotifySender`] sends them, and a listener thread for each watch receives
//! them by LISTEN.
//!
//! A transaction with a NOTIFY locks the whole database until it is committed, so two of them
//! cannot be written to disk together. Therefore a push contains no NOTIFY. After the push,
//! [`NotifySender`] sends one from its own thread, and only if a consumer has found the queue empty
//! since the last notification: `assay_queues.hungry` is true for such a queue.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use assay_base::backoff::Backoff;
use assay_base::shutdown::Shutdown;
use postgres::Client;
use postgres::fallible_iterator::FallibleIterator;

use super::pool::{Pool, RetryMode, to_queue_error};
use super::{PgQueue, ticket};
use crate::queue::{QueueError, Waker, Watch};
use crate::task::QueueName;

/// The payload of a notification for all watches. No queue has this name.
pub(super) const ALL_WATCHES: &str = "*";

/// The minimum time between two checks of the sender: a queue under constant pushes need not be
/// checked all the time.
const MIN_CHECK_INTERVAL: Duration = Duration::from_millis(4);

/// The time without notifications after which a listener checks its connection.
const CONNECTION_CHECK_INTERVAL: Duration = Duration::from_secs(30);

/// The time after a notification at which a listener marks its queue as waiting again, unless
/// another consumer finds the queue empty before.
const REMARK_DELAY: Duration = Duration::from_secs(1);

/// Delays between a listener's attempts to reach the server.
const LISTEN_BACKOFF: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(5));

/// Sends a notification for each queue that has a waiting consumer, and clears the mark.
const NOTIFY_WAITING: &str = "UPDATE assay_queues SET hungry = false
    WHERE name = ANY ($1::text[]) AND hungry RETURNING pg_notify($2::text, name)";

/// Marks a queue as having a waiting consumer.
pub(super) const MARK_WAITING: &str =
    "INSERT INTO assay_queues (name, hungry) VALUES ($1::text, true)
    ON CONFLICT (name) DO UPDATE SET hungry = true WHERE NOT assay_queues.hungry";

/// Returns the name of the channel for the tables in a schema.
pub(super) fn channel(schema: &str) -> String {
    let hash = blake3::hash(schema.as_bytes()).to_hex();
    format!("assay_{}", &hash[..16])
}

/// The background thread that sends NOTIFY for queues with waiting consumers.
pub(super) struct NotifySender {
    state: Arc<SenderState>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct SenderState {
    pending: Mutex<PendingQueues>,
    changed: Condvar,
}

#[derive(Default)]
struct PendingQueues {
    queues: BTreeSet<QueueName>,
    closed: bool,
}

impl SenderState {
    fn lock(&self) -> MutexGuard<'_, PendingQueues> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NotifySender {
    pub(super) fn start(pool: Arc<Pool>, channel: Arc<str>) -> NotifySender {
        let state = Arc::new(SenderState::default());
        let own = Arc::clone(&state);
        let thread = std::thread::Builder::new().name("pg-notify".to_owned());
        // Without the thread there are no notifications, and waiting consumers poll from time to
        // time.
        let thread = thread.spawn(move || run_sender(&own, &pool, &channel)).ok();
        NotifySender { state, thread }
    }

    /// Requests a notification for queues that may have a claimable task.
    pub(super) fn request<'a>(&self, queues: impl IntoIterator<Item = &'a QueueName>) {
        let mut pending = self.state.lock();
        for queue in queues {
            if !pending.queues.contains(queue) {
                pending.queues.insert(queue.clone());
                self.state.changed.notify_one();
            }
        }
    }
}

impl Drop for NotifySender {
    fn drop(&mut self) {
        self.state.lock().closed = true;
        self.state.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run_sender(state: &SenderState, pool: &Pool, channel: &str) {
    loop {
        let mut pending = state.lock();
        while pending.queues.is_empty() && !pending.closed {
            pending = state.changed.wait(pending).unwrap_or_else(PoisonError::into_inner);
        }
        if pending.queues.is_empty() {
            return;
        }
        let queues = std::mem::take(&mut pending.queues);
        let closed = pending.closed;
        drop(pending);
        let names: Vec<&str> = queues.iter().map(QueueName::as_str).collect();
        let retry_mode = if closed { RetryMode::Never } else { RetryMode::UntilRestarted };
        // A consumer that is not notified polls after its own timeout.
        let _ =
            pool.run(retry_mode, |conn, _| Ok(conn.execute(NOTIFY_WAITING, &[&names, &channel])?));
        let pending = state.lock();
        let rest = state
            .changed
            .wait_timeout_while(pending, MIN_CHECK_INTERVAL, |pending| !pending.closed);
        drop(rest.unwrap_or_else(PoisonError::into_inner));
    }
}

impl PgQueue {
    /// Sends a notification at once, also if no queue has a waiting consumer.
    pub(super) fn notify_now(&self, payload: &str) -> Result<(), QueueError> {
        let channel: &str = &self.channel;
        self.pool.run(RetryMode::UntilRestarted, |conn, _| {
            conn.execute("SELECT pg_notify($1::text, $2::text)", &[&channel, &payload])?;
            Ok(())
        })
    }

    /// Returns a watch that is woken, from now on, when a task of a queue may be claimable.
    pub(super) fn watch(&self, queue: &QueueName) -> Result<Watch, QueueError> {
        let client = listen(&self.pool, &self.channel, queue).map_err(|error| {
            match error.as_db_error() {
                Some(_) => to_queue_error(&error),
                None => QueueError::Unreachable { source: error.into() },
            }
        })?;
        Watch::new(|waker| {
            let end = Arc::new(ListenerEnd {
                stop_payload: format!("stop {}", ticket()),
                shutdown: Shutdown::default(),
            });
            let listener = Listener {
                pool: Arc::clone(&self.pool),
                channel: Arc::clone(&self.channel),
                queue: queue.clone(),
                waker,
                end: Arc::clone(&end),
            };
            let thread = std::thread::Builder::new().name(format!("watch on {queue}"));
            let thread = thread.spawn(move || listener.run(client)).map_err(|error| {
                let message = format!("cannot start the LISTEN thread: {error}");
                QueueError::Database { message }
            })?;
            let (pool, channel) = (Arc::clone(&self.pool), Arc::clone(&self.channel));
            Ok(ListenerHandle { pool, channel, end, thread: Some(thread) })
        })
    }
}

fn listen(pool: &Pool, channel: &str, queue: &QueueName) -> Result<Client, postgres::Error> {
    let mut client = pool.connect()?;
    client.batch_execute(&format!("LISTEN \"{channel}\""))?;
    client.execute(MARK_WAITING, &[&queue.as_str()])?;
    Ok(client)
}

/// The request for the end of a listener.
struct ListenerEnd {
    /// The payload that wakes the listener.
    stop_payload: String,
    shutdown: Shutdown,
}

/// The handle of a listener thread, which stops the thread on drop.
struct ListenerHandle {
    pool: Arc<Pool>,
    channel: Arc<str>,
    end: Arc<ListenerEnd>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for ListenerHandle {
    fn drop(&mut self) {
        self.end.shutdown.request();
        let (channel, stop_payload): (&str, &str) = (&self.channel, &self.end.stop_payload);
        let sent = self.pool.run(RetryMode::Never, |conn, _| {
            Ok(conn.execute("SELECT pg_notify($1::text, $2::text)", &[&channel, &stop_payload])?)
        });
        // If the server cannot be reached, the listener is reconnecting or soon will be, and then
        // sees the request.
        if let (Ok(_), Some(thread)) = (sent, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

/// The listener of one watch.
struct Listener {
    pool: Arc<Pool>,
    channel: Arc<str>,
    queue: QueueName,
    waker: Waker,
    end: Arc<ListenerEnd>,
}

impl Listener {
    fn run(&self, first: Client) {
        let mut client = Some(first);
        let mut retries = 0;
        while !self.end.shutdown.is_requested() {
            match client.take() {
                Some(mut connected) => {
                    retries = 0;
                    self.listen_on(&mut connected);
                }
                None => match listen(&self.pool, &self.channel, &self.queue) {
                    Ok(connected) => {
                        client = Some(connected);
                        // Notifications during the outage are lost, so a task may be claimable.
                        self.waker.wake();
                    }
                    Err(_) => {
                        self.end.shutdown.wait(LISTEN_BACKOFF.delay(retries));
                        retries += 1;
                    }
                },
            }
        }
    }

    /// Listens until the connection breaks or the shutdown is requested.
    fn listen_on(&self, client: &mut Client) {
        let mut is_marked = true;
        while !self.end.shutdown.is_requested() {
            let time = if is_marked { CONNECTION_CHECK_INTERVAL } else { REMARK_DELAY };
            let notice = client.notifications().timeout_iter(time).next();
            match notice {
                Ok(Some(notice)) => {
                    let payload = notice.payload();
                    if payload == self.queue.as_str() || payload == ALL_WATCHES {
                        self.waker.wake();
                        is_marked = false;
                    }
                }
                Ok(None) if is_marked && client.batch_execute("").is_ok() => {}
                Ok(None)
                    if !is_marked
                        && client.execute(MARK_WAITING, &[&self.queue.as_str()]).is_ok() =>
                {
                    // A task that was pushed between the notification and now caused no
                    // notification.
                    is_marked = true;
                    self.waker.wake();
                }
                Ok(None) | Err(_) => return,
            }
        }
    }
}
