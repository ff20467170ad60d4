//! Waking those who wait: who cries out that there is something, and who listens.
//!
//! A notice holds a lock on the whole database until its transaction is on the disk, so that not even
//! two transactions with one share a write. So it is no part of a push: [`Crier`] looks after the
//! push whether somebody has found nothing in the queue since the last notice, and only then sends
//! one.

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

/// What a notice names that is for everybody. It is no queue's name.
pub(super) const EVERYBODY: &str = "*";

/// How long the crier rests between two looks: a queue that is pushed to all the time need not be
/// looked at all the time.
const REST: Duration = Duration::from_millis(4);

/// How long a listener hears nothing before it asks whether the server is still there.
const SILENCE: Duration = Duration::from_secs(30);

/// How long a listener that was told of a task takes to ask for the next notice, unless somebody finds
/// the queue empty before.
const ASKS_AGAIN: Duration = Duration::from_secs(1);

/// Delays between a listener's attempts to reach the server.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(5));

const CRY: &str = "UPDATE assay_queues SET hungry = false
    WHERE name = ANY ($1::text[]) AND hungry RETURNING pg_notify($2::text, name)";

/// Notes that somebody waits for tasks of a queue.
pub(super) const HUNGRY: &str = "INSERT INTO assay_queues (name, hungry) VALUES ($1::text, true)
    ON CONFLICT (name) DO UPDATE SET hungry = true WHERE NOT assay_queues.hungry";

/// The channel for the tables in a schema.
pub(super) fn channel(schema: &str) -> String {
    let hash = blake3::hash(schema.as_bytes()).to_hex();
    format!("assay_{}", &hash[..16])
}

/// Tells those who are hungry of new tasks, from a thread of its own.
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
        // Without a thread nobody is woken, and those who wait look for themselves now and then.
        let thread = thread.spawn(move || cry_all(&own, &pool, &channel)).ok();
        Crier { desk, thread }
    }

    /// Has it told that there may be something in these queues.
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
        // Who was not told looks for itself after its own time.
        let _ = pool.run(patience, |conn, _| Ok(conn.execute(CRY, &[&names, &channel])?));
        let work = desk.lock();
        let rest = desk.changed.wait_timeout_while(work, REST, |work| !work.closed);
        drop(rest.unwrap_or_else(PoisonError::into_inner));
    }
}

impl PgQueue {
    /// Sends a notice at once, whoever is there to hear it.
    pub(super) fn tell(&self, whom: &str) -> Result<(), QueueError> {
        let channel: &str = &self.channel;
        self.pool.run(Patience::Restart, |conn, _| {
            conn.execute("SELECT pg_notify($1::text, $2::text)", &[&channel, &whom])?;
            Ok(())
        })
    }

    /// Tells, from now on, when there may be something to claim for a queue.
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
    /// The notice that wakes the listener.
    word: String,
    shutdown: Shutdown,
}

/// A listener that ends with this value.
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
        // Where the server is away the listener is looking for it, or soon will be, and sees that it
        // is to stop.
        if let (Ok(_), Some(thread)) = (told, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

/// Listens for one watch.
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
                        // What was said meanwhile is lost, so there may be something.
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

    /// Listens until the connection breaks or it is told to stop.
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
                    // What was pushed between the notice and now was not told.
                    has_asked = true;
                    self.bell.ring();
                }
                Ok(None) | Err(_) => return,
            }
        }
    }
}
