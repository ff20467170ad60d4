//! The guarantees of a task queue as a trait, [`Queue`], and the types of its operations.
//!
//! The stores (`files`, `postgres`) implement the trait. `transitions` decides the transitions of a
//! task.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::durable_fs::DiskError;
use crate::task::{AgentId, Moment, QueueName, Task, TaskError, TaskId, TaskKind, TaskStatus};

/// The reason why a queue rejected or failed an operation.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// The task is not valid.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// A task with this id exists, in whatever status.
    #[error("task `{id}` already exists ({status}, in `{queue}`)")]
    AlreadyExists {
        /// The id of the task.
        id: TaskId,
        /// The queue of the existing task.
        queue: QueueName,
        /// The status of the existing task.
        status: TaskStatus,
    },
    /// The queue has its maximum number of pending tasks.
    #[error(
        "queue `{queue}` is full: at most {most} tasks may wait; let agents complete some, cancel \
         some, or raise `safeguards.max_queue_size`"
    )]
    Full {
        /// The queue.
        queue: QueueName,
        /// The maximum number of pending tasks.
        most: usize,
    },
    /// The task has priority 0, which only escalations may have.
    #[error("task `{id}` has priority 0, which is reserved for escalations; use 1 to 100")]
    ReservedPriority {
        /// The id of the task.
        id: TaskId,
    },
    /// The new task has the kind and queue of its parent, which is in progress: an agent would
    /// request its own work again.
    #[error("task `{parent}` is in progress; a `{kind}` task for the same queue would repeat it")]
    RepeatsParent {
        /// The parent, which is in progress.
        parent: TaskId,
        /// The kind of both tasks.
        kind: TaskKind,
    },
    /// No task has this id.
    #[error("unknown task `{0}`")]
    Unknown(TaskId),
    /// The caller does not hold the lease of the task any more.
    #[error("agent `{agent}` no longer holds the lease of task `{id}` (fence {fence})")]
    NotHeld {
        /// The task.
        id: TaskId,
        /// The agent of the lease.
        agent: AgentId,
        /// The fence of the lease.
        fence: u64,
    },
    /// The status of the task does not allow the operation.
    #[error("task `{id}` is {status}; only {wanted} tasks can be {done}")]
    WrongStatus {
        /// The task.
        id: TaskId,
        /// The current status.
        status: TaskStatus,
        /// The statuses that allow the operation.
        wanted: &'static str,
        /// The operation, as a participle such as "cancelled".
        done: &'static str,
    },
    /// Another process has joined as this agent.
    #[error("agent `{agent}` is already running ({holder}); use another name for this agent")]
    AgentRunning {
        /// The name of the agent.
        agent: AgentId,
        /// Information about the other process, such as its pid.
        holder: String,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] DiskError),
    /// The index of the file queue cannot be used.
    #[error("cannot access the queue index `{path}`: {message}")]
    Index {
        /// The path of the index.
        path: PathBuf,
        /// The error of SQLite.
        message: String,
    },
    /// The database cannot be reached.
    #[error("cannot connect to the queue database")]
    Unreachable {
        /// The error of the connection.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The database is up but accepts no writes now.
    #[error("the queue database accepts no writes now: {message}")]
    Unwritable {
        /// The message of the database.
        message: String,
    },
    /// The database rejected a statement.
    #[error("error of the queue database: {message}")]
    Database {
        /// The message of the database.
        message: String,
    },
    /// The tables do not exist, or have another version.
    #[error("the queue tables are {found}; run `assay queue migrate`")]
    NotMigrated {
        /// The state of the tables.
        found: String,
    },
}

impl QueueError {
    /// Returns true if a retry after a short wait may succeed.
    pub fn is_transient(&self) -> bool {
        match self {
            QueueError::Unreachable { .. } | QueueError::Unwritable { .. } => true,
            QueueError::File(error) => error.is_transient(),
            _ => false,
        }
    }

    /// Returns true if the error rejects one task only, so the rest of the batch can proceed.
    fn rejects_one_task(&self) -> bool {
        match self {
            QueueError::Task(_)
            | QueueError::AlreadyExists { .. }
            | QueueError::Full { .. }
            | QueueError::ReservedPriority { .. }
            | QueueError::RepeatsParent { .. } => true,
            QueueError::Unknown(_)
            | QueueError::NotHeld { .. }
            | QueueError::WrongStatus { .. }
            | QueueError::AgentRunning { .. }
            | QueueError::File(_)
            | QueueError::Index { .. }
            | QueueError::Unreachable { .. }
            | QueueError::Unwritable { .. }
            | QueueError::Database { .. }
            | QueueError::NotMigrated { .. } => false,
        }
    }
}

/// The retry policy and the capacity of queues.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// The delay after the first failure of a task.
    pub initial_backoff: Duration,
    /// The factor by which the delay grows with each further failure.
    pub backoff_multiplier: f64,
    /// The maximum delay.
    pub max_backoff: Duration,
    /// The maximum number of retries of a task, unless its failure sets another limit.
    pub max_retries: u32,
    /// The maximum number of pending tasks in a queue.
    pub max_queue_size: usize,
    /// The queue for tasks that need a person.
    pub escalations: QueueName,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            initial_backoff: Duration::from_secs(30),
            backoff_multiplier: 2.0,
            max_backoff: Duration::from_secs(240),
            max_retries: 5,
            max_queue_size: 100,
            escalations: "architect".parse().expect("it is a name"),
        }
    }
}

impl Policy {
    /// Returns the delay before the retry with this number, counted from 1.
    pub fn backoff(&self, retry_count: u32) -> Duration {
        let exponent = i32::try_from(retry_count.saturating_sub(1)).unwrap_or(i32::MAX);
        let seconds = self.initial_backoff.as_secs_f64() * self.backoff_multiplier.powi(exponent);
        let longest = self.max_backoff.as_secs_f64();
        Duration::from_secs_f64(if seconds.is_finite() { seconds.min(longest) } else { longest })
    }
}

/// A task with its queue.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedTask {
    /// The queue.
    pub queue: QueueName,
    /// The task.
    pub task: Task,
}

/// The right to work on a task. The holder must renew the lease before it expires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The task.
    pub task: TaskId,
    /// The queue of the task.
    pub queue: QueueName,
    /// The agent that holds the lease.
    pub agent: AgentId,
    /// The fencing token: it grows with every claim of the task, and operations with an older one
    /// are rejected.
    pub fence: u64,
}

/// A claimed task with its lease.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedTask {
    /// The lease of the task.
    pub lease: Lease,
    /// The task, in progress.
    pub task: Task,
}

/// The kind and duration of a lease.
///
/// Agents claim while they are alive, and scripts for a time. Tasks that wait for a person are not
/// claimed by agents, so that an escalation never occupies an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseKind {
    /// The lease ends after this time, or at once when the process that joined under the agent's
    /// name is gone. Agents claim this way, so tasks that wait for a person are skipped.
    WhileAlive(Duration),
    /// The lease ends after this time, whether or not the process lives: for scripts that claim in
    /// one process and complete in another.
    ByTime(Duration),
}

impl LeaseKind {
    /// Returns the time until the lease expires if it is not renewed.
    pub fn time(self) -> Duration {
        match self {
            LeaseKind::WhileAlive(time) | LeaseKind::ByTime(time) => time,
        }
    }
}

/// The result of working on a task, as the agent reports it.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskResult {
    /// The task is done.
    Completed {
        /// The summary of the result.
        summary: String,
        /// Keys to add to the context of the task, for its later readers.
        context: serde_json::Map<String, serde_json::Value>,
        /// The tasks that follow from this one.
        follow_ups: Vec<QueuedTask>,
    },
    /// The attempt failed.
    Failed(AttemptFailure),
    /// The task was not finished, without a failure: it becomes pending again.
    Released {
        /// The reason why the task was not finished.
        reason: String,
    },
}

/// A failed attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptFailure {
    /// The error message.
    pub error: String,
    /// The limit of retries.
    pub retry_limit: RetryLimit,
}

/// The limit of retries after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryLimit {
    /// At most this many retries; `None` for the limit of the policy.
    AtMost(Option<u32>),
    /// No retry: the failure is permanent.
    Never,
}

/// The effect of settling a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettleOutcome {
    /// The task is completed, and its follow-up tasks are pending.
    Completed,
    /// The task was completed before under the same lease, and nothing was changed.
    AlreadyCompleted,
    /// The task is retried after a delay.
    Retry {
        /// The delay until the retry.
        after: Duration,
    },
    /// The task failed permanently.
    Failed {
        /// The task that informs a person; `None` if the failed task is itself an escalation.
        escalation: Option<TaskId>,
    },
    /// The task is pending again.
    Released,
}

/// The claimability of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ClaimState {
    /// The task can be claimed.
    Ready,
    /// The task waits for its retry after a failure, or for its `run_at`.
    #[serde(rename = "resting")]
    Backoff {
        /// Seconds until the task can be claimed, at least 1.
        seconds: u64,
    },
    /// The task waits for dependencies that can still be completed.
    Waiting {
        /// The ids of the open dependencies.
        on: Vec<TaskId>,
    },
    /// The task waits for a dependency that cannot be completed without intervention.
    Blocked {
        /// The reason why the dependency cannot be completed.
        reason: String,
    },
    /// An agent holds the lease of the task.
    #[serde(rename = "held")]
    Leased {
        /// The agent.
        by: AgentId,
        /// Seconds until the lease expires, unless it is renewed.
        seconds: u64,
    },
    /// The task is completed, failed or cancelled.
    #[serde(rename = "over")]
    Done,
}

/// A task in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedTask {
    /// The queue of the task.
    pub queue: QueueName,
    /// The claimability of the task.
    #[serde(rename = "standing")]
    pub claim_state: ClaimState,
    /// The task.
    pub task: Task,
}

/// The selection of tasks for a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskFilter {
    /// Only tasks of this queue; `None` for all queues.
    pub queue: Option<QueueName>,
    /// Only tasks with one of these statuses; if empty, all but completed tasks.
    pub statuses: Vec<TaskStatus>,
    /// Only tasks whose context has this value under this key; `None` for all.
    pub context: Option<(String, String)>,
    /// The maximum number of tasks, in the order in which they would be claimed; of completed
    /// tasks, the newest.
    pub limit: Option<usize>,
}

/// The number of tasks of a queue by state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QueueCounts {
    /// The queue.
    pub queue: QueueName,
    /// Tasks that can be claimed now.
    pub ready: usize,
    /// Tasks that are delayed, and tasks with dependencies that can still be completed.
    pub waiting: usize,
    /// Tasks with a dependency that cannot be completed without intervention.
    pub blocked: usize,
    /// Tasks that an agent holds.
    pub in_progress: usize,
    /// Tasks that are done.
    pub completed: usize,
    /// Tasks that failed permanently.
    pub failed: usize,
    /// Tasks that were cancelled.
    pub cancelled: usize,
}

/// The work of all queues: the number of tasks, and the first tasks of each state in the order in
/// which they would be claimed.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueOverview {
    /// The number of tasks of each queue by state.
    pub counts: Vec<QueueCounts>,
    /// The first tasks that an agent holds.
    pub running: Vec<ListedTask>,
    /// The first tasks with a dependency that cannot be completed without intervention.
    pub blocked: Vec<ListedTask>,
    /// The first other pending tasks.
    pub waiting: Vec<ListedTask>,
    /// The first tasks that failed permanently.
    pub failed: Vec<ListedTask>,
}

/// A task that was recovered from an agent that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveredTask {
    /// The task.
    pub task: TaskId,
    /// The queue of the task.
    pub queue: QueueName,
    /// The agent that held the task; `None` if unknown.
    pub held_by: Option<String>,
}

/// The activity of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// The agent waits for a task.
    Idle,
    /// The agent works on a task.
    Working,
    /// The agent claims no tasks.
    Paused,
    /// The agent finishes its task and ends.
    Stopping,
    /// The agent has ended.
    Stopped,
}

/// The heartbeat of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// The name of the agent.
    pub agent: AgentId,
    /// The queue that the agent works on.
    pub queue: QueueName,
    /// The activity of the agent.
    pub state: AgentState,
    /// The task that the agent works on; `None` if it has none.
    pub task: Option<TaskId>,
    /// The time at which the agent entered this state.
    pub since: Moment,
    /// The time of the heartbeat.
    pub at: Moment,
    /// The maximum number of seconds until the next heartbeat.
    pub every_seconds: u64,
    /// The host name of the machine.
    pub host: String,
    /// The process id of the agent.
    pub pid: u32,
    /// The version of the program.
    pub version: String,
}

/// The status of an agent: its last heartbeat, and whether it is alive.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentHealth {
    /// The last heartbeat.
    #[serde(flatten)]
    pub heartbeat: Heartbeat,
    /// True if the agent is alive.
    pub alive: bool,
    /// True if the agent is paused, alone or with all agents.
    pub paused: bool,
}

/// The target of a pause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PauseTarget {
    /// A single agent.
    Agent(AgentId),
    /// All agents.
    All,
}

/// The registration of an agent under its name.
///
/// While the registration exists, no other process can join under the name. When it is dropped, or
/// its process dies, the leases that were claimed [while alive](LeaseKind::WhileAlive) under the
/// name end.
pub trait Registration: Send {}

/// A queue of tasks for agents.
///
/// Every store gives these guarantees, and the conformance suite checks them on each:
///
/// - Of any number of competing processes, one holds a task. Renewing and settling with an old
///   fence is rejected. Leases expire by the clock of the store.
/// - Tasks are claimed by priority, then by creation time, then by id; only tasks whose
///   dependencies are all completed and that are not delayed.
/// - A push that returned survives a crash. A task is completed together with all its follow-up
///   tasks, or not at all.
/// - The cost of push, claim and settle does not grow with the number of tasks.
///
/// A store does not interpret tasks: [`crate::transitions`] decides their transitions.
pub trait Queue: Send + Sync {
    /// Adds tasks to their queues, all or none.
    fn push(&self, tasks: Vec<QueuedTask>) -> Result<(), QueueError>;

    /// Adds tasks to their queues independently: a rejected task does not affect the others. A task
    /// whose result is `Ok` survives a crash. A large batch costs hardly more than one push.
    fn push_all(&self, tasks: Vec<QueuedTask>) -> Vec<Result<(), QueueError>> {
        push_by_halves(self, tasks)
    }

    /// Claims at most `at_most` tasks of a queue, in the order of the queue.
    fn claim(
        &self,
        queue: &QueueName,
        agent: &AgentId,
        lease_kind: LeaseKind,
        at_most: usize,
    ) -> Result<Vec<ClaimedTask>, QueueError>;

    /// Extends a lease to `time` from now.
    fn renew(&self, lease: &Lease, time: Duration) -> Result<(), QueueError>;

    /// Records the result of a task. A task that was already settled under the same lease is
    /// rejected, except that a repeated completion returns [`SettleOutcome::AlreadyCompleted`]: the
    /// first reply may have been lost.
    fn settle(&self, lease: &Lease, result: TaskResult) -> Result<SettleOutcome, QueueError>;

    /// Settles several tasks independently.
    fn settle_all(
        &self,
        results: Vec<(Lease, TaskResult)>,
    ) -> Vec<Result<SettleOutcome, QueueError>> {
        results.into_iter().map(|(lease, what)| self.settle(&lease, what)).collect()
    }

    /// Returns a task with its claimability.
    fn get(&self, id: &TaskId) -> Result<ListedTask, QueueError>;

    /// Returns the tasks that match a filter.
    fn list(&self, filter: &TaskFilter) -> Result<Vec<ListedTask>, QueueError>;

    /// Counts the tasks of all queues.
    fn count(&self) -> Result<Vec<QueueCounts>, QueueError>;

    /// Counts the tasks of all queues, and returns at most `most` tasks of each state. A server may
    /// call this often: the cost hardly grows with the number of tasks, and a task that a person
    /// added as a file may be seen a little later than by [`list`](Queue::list).
    fn overview(&self, most: usize) -> Result<QueueOverview, QueueError>;

    /// Cancels a task that is pending or in progress. An agent that holds the task loses its lease.
    fn cancel(&self, id: &TaskId, by: &str) -> Result<(), QueueError>;

    /// Makes a failed or cancelled task pending again, without its failures.
    fn retry(&self, id: &TaskId) -> Result<(), QueueError>;

    /// Adds tasks with the status that they have, except those whose id exists, and returns the
    /// number of new tasks. A task that was in progress elsewhere becomes pending. A repetition
    /// changes nothing.
    fn restore(&self, tasks: Vec<QueuedTask>) -> Result<usize, QueueError>;

    /// Removes tasks that were completed, failed or cancelled longer ago than this, and returns
    /// their number. Dependencies of a task that is not completed stay. The id of a removed task
    /// may be used again.
    fn prune(&self, older_than: Duration) -> Result<usize, QueueError>;

    /// Recovers tasks whose lease has expired or whose agent is gone.
    fn recover(&self) -> Result<Vec<RecoveredTask>, QueueError>;

    /// Returns a watch that wakes its waiter, from now on, when a task of a queue may be claimable
    /// or something changed for an agent of the queue.
    fn watch(&self, queue: &QueueName) -> Result<Watch, QueueError>;

    /// Returns the time until a delayed task of a queue may become claimable; `None` if no task is
    /// delayed.
    fn next_ready(&self, queue: &QueueName) -> Result<Option<Duration>, QueueError>;

    /// Registers an agent under its name, and ends the leases that an earlier agent of that name
    /// held.
    fn join(&self, agent: &AgentId) -> Result<Box<dyn Registration>, QueueError>;

    /// Stores the heartbeat of an agent.
    fn record_heartbeat(&self, heartbeat: &Heartbeat) -> Result<(), QueueError>;

    /// Returns the status of all agents.
    fn agents(&self) -> Result<Vec<AgentHealth>, QueueError>;

    /// Stops an agent, or all, from claiming tasks. Tasks in progress continue.
    fn pause(&self, target: &PauseTarget) -> Result<(), QueueError>;

    /// Lets an agent claim tasks again. For all agents, pauses of single agents end as well.
    fn resume(&self, target: &PauseTarget) -> Result<(), QueueError>;

    /// Returns true if an agent must not claim tasks.
    fn is_paused(&self, agent: &AgentId) -> Result<bool, QueueError>;
}

/// Pushes all tasks together. If one is rejected, pushes each half separately, down to single
/// tasks.
fn push_by_halves<Q: Queue + ?Sized>(
    queue: &Q,
    mut tasks: Vec<QueuedTask>,
) -> Vec<Result<(), QueueError>> {
    match queue.push(tasks.clone()) {
        Ok(()) => tasks.iter().map(|_| Ok(())).collect(),
        Err(error) if tasks.len() < 2 || !error.rejects_one_task() => {
            repeat_error(tasks.len(), error)
        }
        Err(_) => {
            let rest = tasks.split_off(tasks.len() / 2);
            let mut answers = push_by_halves(queue, tasks);
            answers.extend(push_by_halves(queue, rest));
            answers
        }
    }
}

/// Copies the error of a batch for each of its members.
pub(crate) fn repeat_error<T>(number: usize, error: QueueError) -> Vec<Result<T, QueueError>> {
    let message = error.to_string();
    let again = |_| match &error {
        QueueError::File(DiskError { path, source }) => {
            let source = std::io::Error::new(source.kind(), source.to_string());
            QueueError::File(DiskError { path: path.clone(), source })
        }
        QueueError::Index { path, message } => {
            QueueError::Index { path: path.clone(), message: message.clone() }
        }
        QueueError::Unwritable { message } => QueueError::Unwritable { message: message.clone() },
        passing if passing.is_transient() => {
            QueueError::Unreachable { source: message.clone().into() }
        }
        _ => QueueError::Database { message: message.clone() },
    };
    let mut answers: Vec<Result<T, QueueError>> = (1..number).map(again).map(Err).collect();
    answers.extend((number > 0).then_some(Err(error)));
    answers
}

/// A wake-up channel of a queue, for waiting without polling.
pub struct Watch {
    receiver: Receiver<()>,
    waker: Waker,
    _source: Box<dyn Send>,
}

/// A handle that wakes one [`Watch`] from any thread.
#[derive(Debug, Clone)]
pub struct Waker(SyncSender<()>);

impl Waker {
    /// Wakes the watch. Wake-ups that were not consumed yet coalesce.
    pub fn wake(&self) {
        let _ = self.0.try_send(());
    }
}

impl Watch {
    /// Returns a watch that is woken by the source that `start` returns. The source lives as long
    /// as the watch.
    pub fn new<S, E>(start: impl FnOnce(Waker) -> Result<S, E>) -> Result<Watch, E>
    where
        S: Send + 'static,
    {
        let (sender, receiver) = sync_channel(1);
        let waker = Waker(sender);
        let source = start(waker.clone())?;
        Ok(Watch { receiver, waker, _source: Box::new(source) })
    }

    /// Returns a watch that only its own bell wakes: for a caller that has to poll.
    pub fn none() -> Watch {
        let (sender, receiver) = sync_channel(1);
        Watch { receiver, waker: Waker(sender), _source: Box::new(()) }
    }

    /// Waits until something may have changed, or for `at_most`. Returns true if something may have
    /// changed.
    pub fn wait(&self, at_most: Duration) -> bool {
        match self.receiver.recv_timeout(at_most) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => false,
        }
    }

    /// Returns the handle that wakes this watch.
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }
}
