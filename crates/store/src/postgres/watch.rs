//! Wake-ups by NOTIFY: [`Crier`] sends them, and a listener thread for each watch receives them.
//!
//! A NOTIFY holds a lock on the whole database until its transaction is on disk, so that
//! transactions with a NOTIFY cannot share a write. So it is not part of a push: after the push,
//! [`Crier`] checks if a consumer has found the queue empty since the last notification, and only
//! then sends one.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use assay_base::backoff::Backoff;
use assay_base::shutdown::Shutdown;
use postgres::Client;
use postgres::fallible_iterator::FallibleIterator;

use super::pool::{Patience, Pool, refused};
use super::{PgQueue, ticket};
use crate::queue::{Bell, QueueError, Watch};
use crate::task::QueueName;

/// The payload of a notification for all watches. No queue has this name.
pub(super) const EVERYBODY: &str = "*";

/// The minimum time between two checks of the sender: a queue under constant pushes need not be
/// checked all the time.
const REST: Duration = Duration::from_millis(4);

/// The time without notifications after which a listener checks its connection.
const SILENCE: Duration = Duration::from_secs(30);

/// The time after a notification at which a listener marks its queue as waiting again, unless
/// another consumer finds the queue empty before.
const ASKS_AGAIN: Duration = Duration::from_secs(1);

/// Delays between a listener's attempts to reach the server.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(5));

const CRY: &str = "UPDATE assay_queues SET hungry = false
    WHERE name = ANY ($1::text[]) AND hungry RETURNING pg_notify($2::text, name)";

/// Marks a queue as having a waiting consumer.
pub(super) const HUNGRY: &str = "INSERT INTO assay_queues (name, hungry) VALUES ($1::text, true)
    ON CONFLICT (name) DO UPDATE SET hungry = true WHERE NOT assay_queues.hungry";

/// Returns the name of the channel for the tables in a schema.
pub(super) fn channel(schema: &str) -> String {
    let hash = blake3::hash(schema.as_bytes()).to_hex();
    format!("assay_{}", &hash[..16])
}

/// The background thread that sends NOTIFY for queues with waiting consumers.
pub(super) struct Crier {
    desk: Arc<CriersDesk>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct CriersDesk {
    work: Mutex<Work>,
    changed: Condvar,
}

#[derive(Default)]
struct Work {
    queues: BTreeSet<QueueName>,
    closed: bool,
}

impl CriersDesk {
    fn lock(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Crier {
    pub(super) fn start(pool: Arc<Pool>, channel: Arc<str>) -> Crier {
        let desk = Arc::new(CriersDesk::default());
        let own = Arc::clone(&desk);
        let thread = std::thread::Builder::new().name("crier".to_owned());
        // Without the thread there are no notifications, and waiting consumers poll from time to
        // time.
        let thread = thread.spawn(move || cry_all(&own, &pool, &channel)).ok();
        Crier { desk, thread }
    }

    /// Requests a notification for queues that may have a claimable task.
    pub(super) fn cry<'a>(&self, queues: impl IntoIterator<Item = &'a QueueName>) {
        let mut work = self.desk.lock();
        for queue in queues {
            if !work.queues.contains(queue) {
                work.queues.insert(queue.clone());
                self.desk.changed.notify_one();
            }
        }
    }
}

impl Drop for Crier {
    fn drop(&mut self) {
        self.desk.lock().closed = true;
        self.desk.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn cry_all(desk: &CriersDesk, pool: &Pool, channel: &str) {
    loop {
        let mut work = desk.lock();
        while work.queues.is_empty() && !work.closed {
            work = desk.changed.wait(work).unwrap_or_else(PoisonError::into_inner);
        }
        if work.queues.is_empty() {
            return;
        }
        let queues = std::mem::take(&mut work.queues);
        let closed = work.closed;
        drop(work);
        let names: Vec<&str> = queues.iter().map(QueueName::as_str).collect();
        let patience = if closed { Patience::None } else { Patience::Restart };
        // A consumer that is not notified polls after its own timeout.
        let _ = pool.run(patience, |conn, _| Ok(conn.execute(CRY, &[&names, &channel])?));
        let work = desk.lock();
        let rest = desk.changed.wait_timeout_while(work, REST, |work| !work.closed);
        drop(rest.unwrap_or_else(PoisonError::into_inner));
    }
}

impl PgQueue {
    /// Sends a notification at once, also if no queue has a waiting consumer.
    pub(super) fn tell(&self, whom: &str) -> Result<(), QueueError> {
        let channel: &str = &self.channel;
        self.pool.run(Patience::Restart, |conn, _| {
            conn.execute("SELECT pg_notify($1::text, $2::text)", &[&channel, &whom])?;
            Ok(())
        })
    }

    /// Returns a watch that is woken, from now on, when a task of a queue may be claimable.
    pub(super) fn watch(&self, queue: &QueueName) -> Result<Watch, QueueError> {
        let client = listen(&self.pool, &self.channel, queue).map_err(|error| {
            match error.as_db_error() {
                Some(_) => refused(&error),
                None => QueueError::Unreachable { source: error.into() },
            }
        })?;
        Watch::new(|bell| {
            let end = Arc::new(ListenerEnd {
                word: format!("stop {}", ticket()),
                shutdown: Shutdown::default(),
            });
            let ear = Ear {
                pool: Arc::clone(&self.pool),
                channel: Arc::clone(&self.channel),
                queue: queue.clone(),
                bell,
                end: Arc::clone(&end),
            };
            let thread = std::thread::Builder::new().name(format!("watch on {queue}"));
            let thread = thread.spawn(move || ear.hear(client)).map_err(|error| {
                let message = format!("no thread can be started to listen: {error}");
                QueueError::Database { message }
            })?;
            let (pool, channel) = (Arc::clone(&self.pool), Arc::clone(&self.channel));
            Ok(Listening { pool, channel, end, thread: Some(thread) })
        })
    }
}

fn listen(pool: &Pool, channel: &str, queue: &QueueName) -> Result<Client, postgres::Error> {
    let mut client = pool.connect()?;
    client.batch_execute(&format!("LISTEN \"{channel}\""))?;
    client.execute(HUNGRY, &[&queue.as_str()])?;
    Ok(client)
}

/// The request for the end of a listener.
struct ListenerEnd {
    /// The payload that wakes the listener.
    word: String,
    shutdown: Shutdown,
}

/// The handle of a listener thread, which stops the thread on drop.
struct Listening {
    pool: Arc<Pool>,
    channel: Arc<str>,
    end: Arc<ListenerEnd>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.end.shutdown.request();
        let (channel, word): (&str, &str) = (&self.channel, &self.end.word);
        let told = self.pool.run(Patience::None, |conn, _| {
            Ok(conn.execute("SELECT pg_notify($1::text, $2::text)", &[&channel, &word])?)
        });
        // If the server cannot be reached, the listener is reconnecting or soon will be, and then
        // sees the request.
        if let (Ok(_), Some(thread)) = (told, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

/// The listener of one watch.
struct Ear {
    pool: Arc<Pool>,
    channel: Arc<str>,
    queue: QueueName,
    bell: Bell,
    end: Arc<ListenerEnd>,
}

impl Ear {
    fn hear(&self, first: Client) {
        let mut client = Some(first);
        let mut retries = 0;
        while !self.end.shutdown.is_requested() {
            match client.take() {
                Some(mut connected) => {
                    retries = 0;
                    self.hear_on(&mut connected);
                }
                None => match listen(&self.pool, &self.channel, &self.queue) {
                    Ok(connected) => {
                        client = Some(connected);
                        // Notifications during the outage are lost, so a task may be claimable.
                        self.bell.ring();
                    }
                    Err(_) => {
                        self.end.shutdown.wait(BACKOFF.delay(retries));
                        retries += 1;
                    }
                },
            }
        }
    }

    /// Listens until the connection breaks or the shutdown is requested.
    fn hear_on(&self, client: &mut Client) {
        let mut has_asked = true;
        while !self.end.shutdown.is_requested() {
            let time = if has_asked { SILENCE } else { ASKS_AGAIN };
            let notice = client.notifications().timeout_iter(time).next();
            match notice {
                Ok(Some(notice)) => {
                    let whom = notice.payload();
                    if whom == self.queue.as_str() || whom == EVERYBODY {
                        self.bell.ring();
                        has_asked = false;
                    }
                }
                Ok(None) if has_asked && client.batch_execute("").is_ok() => {}
                Ok(None)
                    if !has_asked && client.execute(HUNGRY, &[&self.queue.as_str()]).is_ok() =>
                {
                    // A task that was pushed between the notification and now caused no
                    // notification.
                    has_asked = true;
                    self.bell.ring();
                }
                Ok(None) | Err(_) => return,
            }
        }
    }
}
