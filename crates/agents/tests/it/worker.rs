//! Tests of a worker with a queue that is not always reachable.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay_agents::config::framework::{TaskSettings, policy};
use assay_agents::config::roster::{Permission, Roster};
use assay_agents::log::{Log, LogFormat};
use assay_agents::task_handler::{HandlerError, HandlerRegistry, Job, TaskHandler, TaskOutcome};
use assay_agents::worker::{Worker, WorkerExit};
use assay_base::clock::Clock;
use assay_base::shutdown::Shutdown;
use assay_store::files::FileQueue;
use assay_store::queue::{
    AgentHealth, ClaimedTask, Heartbeat, Lease, LeaseKind, ListedTask, PauseTarget, Queue,
    QueueCounts, QueueError, QueueOverview, QueuedTask, RecoveredTask, Registration, SettleOutcome,
    TaskFilter, TaskResult, Watch,
};
use assay_store::task::{AgentId, QueueName, Task, TaskId};
use tempfile::TempDir;

/// A queue that is unreachable for the next calls of `join` and `settle`, counted separately.
struct UnreliableQueue {
    queue: FileQueue,
    joins: AtomicU32,
    settlements: AtomicU32,
}

fn fail_while_positive(left: &AtomicU32) -> Result<(), QueueError> {
    match left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) {
        Ok(_) => Err(QueueError::Unreachable { source: "nobody answers".into() }),
        Err(_) => Ok(()),
    }
}

impl Queue for UnreliableQueue {
    fn join(&self, agent: &AgentId) -> Result<Box<dyn Registration>, QueueError> {
        fail_while_positive(&self.joins)?;
        self.queue.join(agent)
    }

    fn settle(&self, lease: &Lease, result: TaskResult) -> Result<SettleOutcome, QueueError> {
        fail_while_positive(&self.settlements)?;
        self.queue.settle(lease, result)
    }

    fn push(&self, tasks: Vec<QueuedTask>) -> Result<(), QueueError> {
        self.queue.push(tasks)
    }

    fn claim(
        &self,
        queue: &QueueName,
        agent: &AgentId,
        lease_kind: LeaseKind,
        at_most: usize,
    ) -> Result<Vec<ClaimedTask>, QueueError> {
        self.queue.claim(queue, agent, lease_kind, at_most)
    }

    fn renew(&self, lease: &Lease, time: Duration) -> Result<(), QueueError> {
        self.queue.renew(lease, time)
    }

    fn get(&self, id: &TaskId) -> Result<ListedTask, QueueError> {
        self.queue.get(id)
    }

    fn list(&self, filter: &TaskFilter) -> Result<Vec<ListedTask>, QueueError> {
        self.queue.list(filter)
    }

    fn count(&self) -> Result<Vec<QueueCounts>, QueueError> {
        self.queue.count()
    }

    fn overview(&self, most: usize) -> Result<QueueOverview, QueueError> {
        self.queue.overview(most)
    }

    fn cancel(&self, id: &TaskId, by: &str) -> Result<(), QueueError> {
        self.queue.cancel(id, by)
    }

    fn retry(&self, id: &TaskId) -> Result<(), QueueError> {
        self.queue.retry(id)
    }

    fn restore(&self, tasks: Vec<QueuedTask>) -> Result<usize, QueueError> {
        self.queue.restore(tasks)
    }

    fn prune(&self, older_than: Duration) -> Result<usize, QueueError> {
        self.queue.prune(older_than)
    }

    fn recover(&self) -> Result<Vec<RecoveredTask>, QueueError> {
        self.queue.recover()
    }

    fn watch(&self, queue: &QueueName) -> Result<Watch, QueueError> {
        self.queue.watch(queue)
    }

    fn next_ready(&self, queue: &QueueName) -> Result<Option<Duration>, QueueError> {
        self.queue.next_ready(queue)
    }

    fn record_heartbeat(&self, heartbeat: &Heartbeat) -> Result<(), QueueError> {
        self.queue.record_heartbeat(heartbeat)
    }

    fn agents(&self) -> Result<Vec<AgentHealth>, QueueError> {
        self.queue.agents()
    }

    fn pause(&self, target: &PauseTarget) -> Result<(), QueueError> {
        self.queue.pause(target)
    }

    fn resume(&self, target: &PauseTarget) -> Result<(), QueueError> {
        self.queue.resume(target)
    }

    fn is_paused(&self, agent: &AgentId) -> Result<bool, QueueError> {
        self.queue.is_paused(agent)
    }
}

/// A handler in which the first task waits until the second begins, which requests the shutdown.
struct BlockingHandler {
    started: Sender<()>,
    seen: Mutex<Receiver<()>>,
    shutdown: Shutdown,
}

impl TaskHandler for BlockingHandler {
    fn required_permission(&self) -> Permission {
        Permission::Read
    }

    fn handle(&self, job: &Job<'_>) -> Result<TaskOutcome, HandlerError> {
        if job.task.id.as_str() == "first" {
            let _ = self.seen.lock().unwrap().recv();
        } else {
            self.shutdown.request();
            self.started.send(()).unwrap();
        }
        Ok(TaskOutcome::done(job.task.id.as_str()))
    }
}

fn addressed(id: &str) -> QueuedTask {
    let json = format!(
        r#"{{ "id": "{id}", "type": "review", "created_at": "2026-02-03T10:00:00.000Z",
              "title": "Review" }}"#
    );
    let task = Task::parse(json.as_bytes()).unwrap();
    QueuedTask { queue: "qa".parse().unwrap(), task }
}

/// Returns a worker with some tasks, and a queue that fails the given numbers of calls.
fn worker(
    folder: &TempDir,
    tasks: &[&str],
    joins: u32,
    settlements: u32,
    timeout: Duration,
) -> Worker {
    let task = TaskSettings::default();
    let policy = policy(&task, &Default::default(), &Default::default());
    let queue = FileQueue::open(&folder.path().join("queue"), policy, &Clock::system()).unwrap();
    queue.push(tasks.iter().map(|id| addressed(id)).collect()).unwrap();
    let roster = Roster::parse(Some("- id: qa\n"), &task).unwrap();
    let mut agent = roster.find("qa").unwrap().clone();
    agent.timeout = timeout;
    let shutdown = Shutdown::default();
    let (started, seen) = mpsc::channel();
    let work = BlockingHandler { started, seen: Mutex::new(seen), shutdown: shutdown.clone() };
    Worker {
        queue: Arc::new(UnreliableQueue {
            queue,
            joins: joins.into(),
            settlements: settlements.into(),
        }),
        agent: Arc::new(agent),
        name: "qa".parse().unwrap(),
        handlers: Arc::new(HandlerRegistry::default().with("review", work)),
        log: Arc::new(
            Log::open(&folder.path().join("logs"), "qa", LogFormat::Plain, &Clock::system())
                .unwrap(),
        ),
        notifiers: Arc::new([]),
        on_wait: Box::new(|_| {}),
        clock: Clock::system(),
        shutdown,
        lease: Duration::from_millis(1),
        grace: Duration::from_secs(60),
        host: "here".to_owned(),
        version: "1".to_owned(),
    }
}

#[test]
fn a_worker_that_cannot_settle_an_abandoned_task_claims_no_other() {
    let folder = TempDir::new().unwrap();
    let worker = worker(&folder, &["first", "second"], 0, u32::MAX, Duration::from_millis(1));
    assert_eq!(worker.run().unwrap(), WorkerExit::TaskAbandoned);
    let second = worker.queue.get(&"second".parse().unwrap()).unwrap();
    assert_eq!(second.task.status.to_string(), "pending");
}

#[test]
fn a_worker_waits_for_a_queue_that_it_cannot_join_yet() {
    let folder = TempDir::new().unwrap();
    let worker = worker(&folder, &["second"], 1, 0, Duration::from_secs(60));
    assert_eq!(worker.run().unwrap(), WorkerExit::ShutdownRequested);
    let second = worker.queue.get(&"second".parse().unwrap()).unwrap();
    assert_eq!(second.task.status.to_string(), "completed");
}

#[test]
fn a_worker_exits_on_shutdown_while_the_queue_is_unreachable() {
    let folder = TempDir::new().unwrap();
    let mut at_join = worker(&folder, &[], u32::MAX, 0, Duration::from_secs(60));
    at_join.shutdown.request();
    assert_eq!(at_join.run().unwrap(), WorkerExit::ShutdownRequested);
    // The task requests the shutdown, and its outcome cannot be stored.
    at_join = worker(&folder, &["second"], 0, u32::MAX, Duration::from_secs(60));
    at_join.lease = Duration::from_secs(3600);
    assert_eq!(at_join.run().unwrap(), WorkerExit::ShutdownRequested);
}
