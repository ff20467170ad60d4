//! From deliveries to the queue: [`Intake`].
//!
//! One thread takes all waiting tasks and pushes them together, so that many cost hardly more than
//! one. The sender of a delivery is answered when its task is on the disk, and not before.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use assay_findings::write::escape::chain;
use assay_store::queue::{Addressed, Queue, QueueError};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::Log;
use super::answer::Answer;
use super::deliveries::{Book, Deliveries, DeliveryId, Seen};

/// The maximum number of tasks that wait for the thread.
const WAITING: usize = 256;

/// The maximum number of tasks in one push.
const TOGETHER: usize = 64;

/// A task that waits to be pushed.
struct Coming {
    task: Addressed,
    delivery: Option<DeliveryId>,
    answer: oneshot::Sender<Answer>,
}

/// A batching writer of tasks. Dropping it pushes the waiting tasks first.
pub(super) struct Intake {
    way: Option<SyncSender<Coming>>,
    thread: Option<JoinHandle<()>>,
    deliveries: Arc<Mutex<Deliveries>>,
}

impl Intake {
    /// Reads the recorded deliveries and starts the thread.
    pub(super) fn start(queue: Arc<dyn Queue>, seen: &Path, log: Log) -> io::Result<Intake> {
        let (book, deliveries) = Book::open(seen).map_err(io::Error::other)?;
        let deliveries = Arc::new(Mutex::new(deliveries));
        let (way, coming) = sync_channel(WAITING);
        let mut pusher = Pusher { queue, deliveries: Arc::clone(&deliveries), book, log };
        let thread = thread::Builder::new().name("intake".to_owned());
        let thread = thread.spawn(move || pusher.work(&coming))?;
        Ok(Intake { way: Some(way), thread: Some(thread), deliveries })
    }

    /// Pushes a task and returns the answer. A delivery that was received before is not pushed
    /// again.
    pub(super) async fn take(
        &self,
        task: Addressed,
        delivery: Option<DeliveryId>,
        until: Instant,
    ) -> Answer {
        let id = task.task.id.clone();
        let seen = delivery.clone().map(|delivery| (delivery, id.clone()));
        if seen.is_some_and(|seen| lock(&self.deliveries).knows(&seen)) {
            return Answer::already_there(id, "this delivery was taken in before");
        }
        let (answer, told) = oneshot::channel();
        let way = self.way.as_ref().expect("it is there until the end");
        match way.try_send(Coming { task, delivery, answer }) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Answer::later("too many tasks come at once"),
            Err(TrySendError::Disconnected(_)) => return Answer::later("the server is stopping"),
        }
        match timeout_at(until, told).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Answer::later("the server is stopping"),
            // The task may still be pushed. A retry is then answered with "already there".
            Err(_) => Answer::later("the queue does not answer, or its database is away"),
        }
    }
}

impl Drop for Intake {
    fn drop(&mut self) {
        self.way = None;
        if let Some(thread) = self.thread.take() {
            // If the thread panicked, no task is left to wait for.
            let _ = thread.join();
        }
    }
}

fn lock(deliveries: &Mutex<Deliveries>) -> MutexGuard<'_, Deliveries> {
    deliveries.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The work of the thread.
struct Pusher {
    queue: Arc<dyn Queue>,
    deliveries: Arc<Mutex<Deliveries>>,
    book: Book,
    log: Log,
}

impl Pusher {
    fn work(&mut self, coming: &Receiver<Coming>) {
        while let Ok(first) = coming.recv() {
            let more = coming.try_iter().take(TOGETHER - 1);
            self.push(std::iter::once(first).chain(more).collect());
        }
    }

    fn push(&mut self, coming: Vec<Coming>) {
        let tasks = coming.iter().map(|one| one.task.clone()).collect();
        let done = self.queue.push_all(tasks);
        if let Some(error) = done.iter().filter_map(|done| done.as_ref().err()).find(is_ours) {
            (self.log)(&format!("the queue cannot be written to: {}", chain(error)));
        }
        let mut seen = Vec::new();
        for (Coming { task, delivery, answer }, done) in coming.into_iter().zip(&done) {
            let id = task.task.id;
            if matches!(done, Ok(()) | Err(QueueError::AlreadyThere { .. })) {
                let new = delivery.map(|delivery| (delivery, id.clone()));
                new.iter().for_each(|new: &Seen| lock(&self.deliveries).put(new.clone()));
                seen.extend(new);
            }
            // The request may have timed out or been closed meanwhile.
            let _ = answer.send(Answer::of(id, done));
        }
        if let Err(error) = self.book.write(&seen, &self.deliveries) {
            (self.log)(&format!("deliveries are not remembered: {}", chain(&error)));
        }
    }
}

/// Returns true if the operator of the server has to know of an error of the queue.
fn is_ours(error: &&QueueError) -> bool {
    !matches!(
        error,
        QueueError::AlreadyThere { .. }
            | QueueError::Full { .. }
            | QueueError::Task(_)
            | QueueError::NotUrgent { .. }
            | QueueError::OwnTask { .. }
    )
}
