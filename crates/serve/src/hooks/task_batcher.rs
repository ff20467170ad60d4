//! From deliveries to the queue: [`TaskBatcher`].
//!
//! One thread takes all waiting tasks and pushes them together, so that many cost hardly more than
//! one. The sender of a delivery is answered when its task is on the disk, and not before.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use assay_findings::write::escape::chain;
use assay_store::queue::{Queue, QueueError, QueuedTask};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::Log;
use super::delivery_log::{DeliveryId, DeliveryKey, DeliveryLog, RecentDeliveries};
use super::hook_answer::HookAnswer;

/// The maximum number of tasks that wait for the thread.
const MAX_WAITING: usize = 256;

/// The maximum number of tasks in one push.
const MAX_BATCH: usize = 64;

/// A task that waits to be pushed.
struct PendingTask {
    task: QueuedTask,
    delivery: Option<DeliveryId>,
    answer: oneshot::Sender<HookAnswer>,
}

/// A batching writer of tasks. Dropping it pushes the waiting tasks first.
pub(super) struct TaskBatcher {
    sender: Option<SyncSender<PendingTask>>,
    thread: Option<JoinHandle<()>>,
    deliveries: Arc<Mutex<RecentDeliveries>>,
}

impl TaskBatcher {
    /// Reads the recorded deliveries and starts the thread.
    pub(super) fn start(queue: Arc<dyn Queue>, seen: &Path, log: Log) -> io::Result<TaskBatcher> {
        let (log_file, deliveries) = DeliveryLog::open(seen).map_err(io::Error::other)?;
        let deliveries = Arc::new(Mutex::new(deliveries));
        let (sender, pending) = sync_channel(MAX_WAITING);
        let mut pusher = BatchPusher { queue, deliveries: Arc::clone(&deliveries), log_file, log };
        let thread = thread::Builder::new().name("task-batcher".to_owned());
        let thread = thread.spawn(move || pusher.run(&pending))?;
        Ok(TaskBatcher { sender: Some(sender), thread: Some(thread), deliveries })
    }

    /// Pushes a task and returns the answer. A delivery that was received before is not pushed
    /// again.
    pub(super) async fn push_task(
        &self,
        task: QueuedTask,
        delivery: Option<DeliveryId>,
        until: Instant,
    ) -> HookAnswer {
        let id = task.task.id.clone();
        let seen = delivery.clone().map(|delivery| (delivery, id.clone()));
        if seen.is_some_and(|seen| lock(&self.deliveries).contains(&seen)) {
            return HookAnswer::already_there(id, "this delivery was already received");
        }
        let (answer, reply) = oneshot::channel();
        let sender = self.sender.as_ref().expect("it is there until the end");
        match sender.try_send(PendingTask { task, delivery, answer }) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                return HookAnswer::retry_later("too many concurrent tasks");
            }
            Err(TrySendError::Disconnected(_)) => {
                return HookAnswer::retry_later("the server is stopping");
            }
        }
        match timeout_at(until, reply).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => HookAnswer::retry_later("the server is stopping"),
            // The task may still be pushed. A retry is then answered with "already there".
            Err(_) => {
                HookAnswer::retry_later("the queue does not answer, or its database is unreachable")
            }
        }
    }
}

impl Drop for TaskBatcher {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // If the thread panicked, no task is left to wait for.
            let _ = thread.join();
        }
    }
}

fn lock(deliveries: &Mutex<RecentDeliveries>) -> MutexGuard<'_, RecentDeliveries> {
    deliveries.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The work of the thread.
struct BatchPusher {
    queue: Arc<dyn Queue>,
    deliveries: Arc<Mutex<RecentDeliveries>>,
    log_file: DeliveryLog,
    log: Log,
}

impl BatchPusher {
    fn run(&mut self, pending: &Receiver<PendingTask>) {
        while let Ok(first) = pending.recv() {
            let more = pending.try_iter().take(MAX_BATCH - 1);
            self.push(std::iter::once(first).chain(more).collect());
        }
    }

    fn push(&mut self, pending: Vec<PendingTask>) {
        let tasks = pending.iter().map(|one| one.task.clone()).collect();
        let done = self.queue.push_all(tasks);
        if let Some(error) =
            done.iter().filter_map(|done| done.as_ref().err()).find(concerns_operator)
        {
            (self.log)(&format!("cannot write to the queue: {}", chain(error)));
        }
        let mut seen = Vec::new();
        for (PendingTask { task, delivery, answer }, done) in pending.into_iter().zip(&done) {
            let id = task.task.id;
            if matches!(done, Ok(()) | Err(QueueError::AlreadyExists { .. })) {
                let new = delivery.map(|delivery| (delivery, id.clone()));
                new.iter().for_each(|new: &DeliveryKey| lock(&self.deliveries).insert(new.clone()));
                seen.extend(new);
            }
            // The request may have timed out or been closed meanwhile.
            let _ = answer.send(HookAnswer::from_push(id, done));
        }
        if let Err(error) = self.log_file.write(&seen, &self.deliveries) {
            (self.log)(&format!("cannot store the received deliveries: {}", chain(&error)));
        }
    }
}

/// Returns true if the operator of the server has to know of an error of the queue.
fn concerns_operator(error: &&QueueError) -> bool {
    !matches!(
        error,
        QueueError::AlreadyExists { .. }
            | QueueError::Full { .. }
            | QueueError::Task(_)
            | QueueError::ReservedPriority { .. }
            | QueueError::RepeatsParent { .. }
    )
}
