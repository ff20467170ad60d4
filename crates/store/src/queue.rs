//! What a queue promises: [`Queue`], kept by every store.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::disk::DiskError;
use crate::task::{AgentId, Kind, Moment, QueueName, Status, Task, TaskError, TaskId};

/// Why a queue did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// What was given is no task.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// A task with that name is there, or was.
    #[error("task `{id}` is already there ({status}, in `{queue}`)")]
    AlreadyThere {
        /// Its name.
        id: TaskId,
        /// The queue that it is in.
        queue: QueueName,
        /// Where it stands.
        status: Status,
    },
    /// Too many tasks wait.
    #[error(
        "queue `{queue}` has no room for that: {most} tasks may wait in it; let agents work some \
         off, cancel some, or raise `safeguards.max_queue_size`"
    )]
    Full {
        /// The queue.
        queue: QueueName,
        /// How many may wait.
        most: usize,
    },
    /// Only escalations come before everything else.
    #[error("task `{id}` has priority 0, which is for escalations; 1 comes first among the others")]
    NotUrgent {
        /// Its name.
        id: TaskId,
    },
    /// An agent asks itself for what it is doing.
    #[error(
        "task `{parent}` is being worked on; a `{kind}` task for the same queue would be it again"
    )]
    OwnTask {
        /// The task that is being worked on.
        parent: TaskId,
        /// The kind of both.
        kind: Kind,
    },
    /// There is no such task.
    #[error("there is no task `{0}`")]
    Unknown(TaskId),
    /// Whoever asks does not hold the task any more.
    #[error("task `{id}` is not held by `{agent}` with number {fence} any more")]
    NotHeld {
        /// The task.
        id: TaskId,
        /// Who asks.
        agent: AgentId,
        /// The number that it was claimed with.
        fence: u64,
    },
    /// A task stands where that cannot be done.
    #[error("task `{id}` is {status}; only {wanted} tasks can be {done}")]
    WrongStatus {
        /// The task.
        id: TaskId,
        /// Where it stands.
        status: Status,
        /// Where it would have to stand.
        wanted: &'static str,
        /// What was asked for.
        done: &'static str,
    },
    /// An agent of that name is at work.
    #[error("agent `{agent}` is running already ({holder}); give this one another name")]
    AgentRuns {
        /// Its name.
        agent: AgentId,
        /// What is known of the other.
        holder: String,
    },
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] DiskError),
    /// The index beside the files cannot be used.
    #[error("could not use the index `{path}`: {message}")]
    Index {
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// The database does not answer.
    #[error("the queue's database cannot be reached")]
    Unreachable {
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The database takes no writes now.
    #[error("the queue's database takes no writes now: {message}")]
    Unwritable {
        /// What it says.
        message: String,
    },
    /// The database refuses.
    #[error("the queue's database refuses: {message}")]
    Database {
        /// What it says.
        message: String,
    },
    /// The database was not set up, or for another version.
    #[error("the queue's tables are {found}; `assay queue migrate` brings them up to date")]
    NotMigrated {
        /// What is there.
        found: String,
    },
}

impl QueueError {
    /// Says whether waiting a little may help.
    pub fn is_passing(&self) -> bool {
        match self {
            QueueError::Unreachable { .. } | QueueError::Unwritable { .. } => true,
            QueueError::File(error) => error.is_passing(),
            _ => false,
        }
    }

    /// Says whether it is one of the tasks that is refused, so that others may get through.
    fn is_about_a_task(&self) -> bool {
        match self {
            QueueError::Task(_)
            | QueueError::AlreadyThere { .. }
            | QueueError::Full { .. }
            | QueueError::NotUrgent { .. }
            | QueueError::OwnTask { .. } => true,
            QueueError::Unknown(_)
            | QueueError::NotHeld { .. }
            | QueueError::WrongStatus { .. }
            | QueueError::AgentRuns { .. }
            | QueueError::File(_)
            | QueueError::Index { .. }
            | QueueError::Unreachable { .. }
            | QueueError::Unwritable { .. }
            | QueueError::Database { .. }
            | QueueError::NotMigrated { .. } => false,
        }
    }
}

/// How tasks are tried again, and how many may wait.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// How long a task rests after its first failure.
    pub initial_backoff: Duration,
    /// How much longer after each further one.
    pub backoff_multiplier: f64,
    /// How long at the most.
    pub max_backoff: Duration,
    /// How often a task is tried again, unless whoever fails at it says otherwise.
    pub max_retries: u32,
    /// How many tasks may wait in a queue.
    pub max_queue_size: usize,
    /// Where tasks for a person go.
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
    /// How long a task rests that was tried again so often.
    pub fn backoff(&self, retry_count: u32) -> Duration {
        let exponent = i32::try_from(retry_count.saturating_sub(1)).unwrap_or(i32::MAX);
        let seconds = self.initial_backoff.as_secs_f64() * self.backoff_multiplier.powi(exponent);
        let longest = self.max_backoff.as_secs_f64();
        Duration::from_secs_f64(if seconds.is_finite() { seconds.min(longest) } else { longest })
    }
}

/// A task and the queue that it is for.
#[derive(Debug, Clone, PartialEq)]
pub struct Addressed {
    /// The queue.
    pub queue: QueueName,
    /// The task.
    pub task: Task,
}

/// The right to work on a task. Whoever has it must renew it before its time is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The task.
    pub task: TaskId,
    /// Its queue.
    pub queue: QueueName,
    /// Who holds it.
    pub agent: AgentId,
    /// Grows with every claim of the task: what is done with an old number is refused.
    pub fence: u64,
}

/// A task that was claimed.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// The right to work on it.
    pub lease: Lease,
    /// The task, in progress.
    pub task: Task,
}

/// How long a claim holds.
///
/// Agents claim while they are alive, and scripts for a time. Tasks that wait for a person are
/// passed over for agents, so that an escalation never occupies an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tenure {
    /// When its time is over, or at once when the agent that joined under that name is gone. This
    /// is how agents claim, so tasks that wait for a person are passed over.
    WhileAlive(Duration),
    /// When its time is over, whoever lives: for scripts that claim in one process and complete in
    /// another.
    ByTime(Duration),
}

impl Tenure {
    /// How long it lasts unless it is renewed.
    pub fn time(self) -> Duration {
        match self {
            Tenure::WhileAlive(time) | Tenure::ByTime(time) => time,
        }
    }
}

/// What came of working on a task.
#[derive(Debug, Clone, PartialEq)]
pub enum Settlement {
    /// It is done.
    Completed {
        /// What came of it.
        summary: String,
        /// What is to be added to its context for those who read it later.
        context: serde_json::Map<String, serde_json::Value>,
        /// What follows from it.
        follow_ups: Vec<Addressed>,
    },
    /// It failed.
    Failed(Failure),
    /// It was not finished and nobody is to blame: it waits again.
    GivenBack {
        /// Why.
        reason: String,
    },
}

/// A try that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// Why.
    pub error: String,
    /// Whether it can get better.
    pub again: Again,
}

/// Whether a failed task is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// So often at the most; as often as the queue says if nothing is given.
    AtMost(Option<u32>),
    /// Never: it cannot get better.
    Never,
}

/// What became of a settled task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// It is completed, and what follows from it waits.
    Completed,
    /// It was completed before under the same lease, and nothing was done again.
    AlreadyCompleted,
    /// It is tried again after some time.
    Retry {
        /// How long it rests.
        after: Duration,
    },
    /// It is given up.
    Failed {
        /// The task that tells a person, unless it was for one itself.
        escalation: Option<TaskId>,
    },
    /// It waits again.
    GivenBack,
}

/// Where a task stands, as seen from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Standing {
    /// It can be claimed.
    Ready,
    /// It rests after a failure.
    Resting {
        /// For so many seconds more.
        seconds: u64,
    },
    /// It waits for others, which can still be completed.
    Waiting {
        /// Which.
        on: Vec<TaskId>,
    },
    /// It waits for what will not come by itself.
    Blocked {
        /// Why.
        reason: String,
    },
    /// An agent works on it.
    Held {
        /// Who.
        by: AgentId,
        /// For so many seconds more, unless it is renewed.
        seconds: u64,
    },
    /// It is done, given up or called off.
    Over,
}

/// A task as it is listed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listed {
    /// Its queue.
    pub queue: QueueName,
    /// Where it stands.
    pub standing: Standing,
    /// The task.
    pub task: Task,
}

/// Which tasks are listed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Those of this queue, or all.
    pub queue: Option<QueueName>,
    /// Those that stand there, or all but the completed ones.
    pub statuses: Vec<Status>,
    /// Those whose context has this value under this key.
    pub context: Option<(String, String)>,
    /// So many at the most, in the order in which they would be claimed; the newest completed ones.
    pub limit: Option<usize>,
}

/// How many tasks of a queue stand where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Count {
    /// The queue.
    pub queue: QueueName,
    /// Those that can be claimed now.
    pub ready: usize,
    /// Those that rest, or wait for others.
    pub waiting: usize,
    /// Those that wait for what will not come by itself.
    pub blocked: usize,
    /// Those that an agent holds.
    pub in_progress: usize,
    /// Those that are done.
    pub completed: usize,
    /// Those that were given up.
    pub failed: usize,
    /// Those that were called off.
    pub cancelled: usize,
}

/// A task that was taken from an agent that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// The task.
    pub task: TaskId,
    /// Its queue.
    pub queue: QueueName,
    /// Who held it, where that is known.
    pub held_by: Option<String>,
}

/// What an agent is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// It waits for a task.
    Idle,
    /// It works on one.
    Working,
    /// It takes no task.
    Paused,
    /// It finishes its task and ends.
    Stopping,
    /// It has ended.
    Stopped,
}

/// A sign of life.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Who.
    pub agent: AgentId,
    /// The queue that it works on.
    pub queue: QueueName,
    /// What it does.
    pub state: AgentState,
    /// The task that it works on.
    pub task: Option<TaskId>,
    /// Since when it does that.
    pub since: Moment,
    /// When it gave this sign.
    pub at: Moment,
    /// When it gives the next one at the latest, in seconds.
    pub every_seconds: u64,
    /// The machine.
    pub host: String,
    /// The process.
    pub pid: u32,
    /// The version of the program.
    pub version: String,
}

/// A heartbeat and whether whoever gave it still lives.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Seen {
    /// The sign.
    #[serde(flatten)]
    pub heartbeat: Heartbeat,
    /// Whether it lives.
    pub alive: bool,
    /// Whether it is to take no task.
    pub paused: bool,
}

/// Whom a pause is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// One agent.
    Agent(AgentId),
    /// All of them.
    All,
}

/// Keeps an agent's name for as long as it is held.
///
/// While it is held nobody else joins under that name. When it is dropped, or its process dies, the
/// leases that were claimed [while alive](Tenure::WhileAlive) under that name end.
pub trait Presence: Send {}

/// Tasks for agents.
///
/// What every store keeps, and the conformance suite proves of each:
///
/// - Of any number of processes that try, one holds a task. Renewing and settling with an old
///   number is refused. Time is the store's own.
/// - Tasks come by priority, then by creation time, then by name; only those whose dependencies
///   are all completed and that rest no more.
/// - A push that returned survives a crash. A task is completed together with all that follows from
///   it, or not at all.
/// - What it costs to push, claim and settle does not grow with the number of tasks.
///
/// A store decides nothing about what a task means: [`crate::steps`] says what becomes of it.
pub trait Queue: Send + Sync {
    /// Puts tasks in their queues, all or none.
    fn push(&self, tasks: Vec<Addressed>) -> Result<(), QueueError>;

    /// Puts tasks in their queues, each for itself: one that is refused holds up no other. Whoever
    /// is answered for has been pushed for good; many at once cost hardly more than one.
    fn push_all(&self, tasks: Vec<Addressed>) -> Vec<Result<(), QueueError>> {
        push_by_halves(self, tasks)
    }

    /// Claims the tasks of a queue whose turn it is, at most so many.
    fn claim(
        &self,
        queue: &QueueName,
        agent: &AgentId,
        tenure: Tenure,
        at_most: usize,
    ) -> Result<Vec<Claimed>, QueueError>;

    /// Holds a task for as much longer from now.
    fn renew(&self, lease: &Lease, time: Duration) -> Result<(), QueueError>;

    /// Says what came of a task. What was settled before with the same lease is refused, except that a
    /// repeated completion is answered with [`Settled::AlreadyCompleted`]: the first answer may have
    /// been lost.
    fn settle(&self, lease: &Lease, settlement: Settlement) -> Result<Settled, QueueError>;

    /// Settles several tasks, each for itself.
    fn settle_all(
        &self,
        settlements: Vec<(Lease, Settlement)>,
    ) -> Vec<Result<Settled, QueueError>> {
        settlements.into_iter().map(|(lease, what)| self.settle(&lease, what)).collect()
    }

    /// Finds a task.
    fn get(&self, id: &TaskId) -> Result<Listed, QueueError>;

    /// Lists tasks.
    fn list(&self, filter: &Filter) -> Result<Vec<Listed>, QueueError>;

    /// Counts the tasks of all queues.
    fn count(&self) -> Result<Vec<Count>, QueueError>;

    /// Calls off a task that waits or that an agent holds; the agent then holds it no more.
    fn cancel(&self, id: &TaskId, by: &str) -> Result<(), QueueError>;

    /// Lets a failed or cancelled task wait again, as if it had never been tried.
    fn retry(&self, id: &TaskId) -> Result<(), QueueError>;

    /// Puts tasks in as they stand, but for those that are there; says how many were new. What was
    /// in progress elsewhere waits here. Done again, it changes nothing.
    fn restore(&self, tasks: Vec<Addressed>) -> Result<usize, QueueError>;

    /// Removes tasks that were completed, given up or called off so long ago, and returns how many. A task
    /// that one that is not completed depends on stays. The name of a removed task may be used again.
    fn prune(&self, older_than: Duration) -> Result<usize, QueueError>;

    /// Takes back what nobody holds any more: leases whose time is over or whose agent is gone.
    fn recover(&self) -> Result<Vec<Recovered>, QueueError>;

    /// Tells, from now on, when there may be something to claim for a queue, or something changed
    /// for an agent of it.
    fn watch(&self, queue: &QueueName) -> Result<Watch, QueueError>;

    /// Says how long it is until a task of a queue has rested enough, if one rests.
    fn next_ready(&self, queue: &QueueName) -> Result<Option<Duration>, QueueError>;

    /// Keeps an agent's name, and ends what an earlier agent of that name held.
    fn join(&self, agent: &AgentId) -> Result<Box<dyn Presence>, QueueError>;

    /// Gives a sign of life.
    fn beat(&self, heartbeat: &Heartbeat) -> Result<(), QueueError>;

    /// Lists the signs of life.
    fn agents(&self) -> Result<Vec<Seen>, QueueError>;

    /// Keeps an agent, or all, from taking tasks. What is under way goes on.
    fn pause(&self, who: &Who) -> Result<(), QueueError>;

    /// Lets an agent take tasks again, or all of them whoever paused them.
    fn resume(&self, who: &Who) -> Result<(), QueueError>;

    /// Says whether an agent is to take no task.
    fn is_paused(&self, agent: &AgentId) -> Result<bool, QueueError>;
}

/// Pushes all together, and where one is refused, one half after the other, until it stands alone.
fn push_by_halves<Q: Queue + ?Sized>(
    queue: &Q,
    mut tasks: Vec<Addressed>,
) -> Vec<Result<(), QueueError>> {
    match queue.push(tasks.clone()) {
        Ok(()) => tasks.iter().map(|_| Ok(())).collect(),
        Err(error) if tasks.len() < 2 || !error.is_about_a_task() => {
            same_for_all(tasks.len(), error)
        }
        Err(_) => {
            let rest = tasks.split_off(tasks.len() / 2);
            let mut answers = push_by_halves(queue, tasks);
            answers.extend(push_by_halves(queue, rest));
            answers
        }
    }
}

/// Tells all of so many who asked together why nothing came of it.
pub(crate) fn same_for_all<T>(number: usize, error: QueueError) -> Vec<Result<T, QueueError>> {
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
        passing if passing.is_passing() => {
            QueueError::Unreachable { source: message.clone().into() }
        }
        _ => QueueError::Database { message: message.clone() },
    };
    let mut answers: Vec<Result<T, QueueError>> = (1..number).map(again).map(Err).collect();
    answers.extend((number > 0).then_some(Err(error)));
    answers
}

/// Wakes whoever waits for a queue, without polling it.
pub struct Watch {
    receiver: Receiver<()>,
    bell: Bell,
    _source: Box<dyn Send>,
}

/// Wakes one [`Watch`] from anywhere.
#[derive(Debug, Clone)]
pub struct Bell(SyncSender<()>);

impl Bell {
    /// Wakes it. Rings that nobody heard yet are one.
    pub fn ring(&self) {
        let _ = self.0.try_send(());
    }
}

impl Watch {
    /// A watch whose bell is rung by what `start` gives, which lives as long as the watch.
    pub fn new<S, E>(start: impl FnOnce(Bell) -> Result<S, E>) -> Result<Watch, E>
    where
        S: Send + 'static,
    {
        let (sender, receiver) = sync_channel(1);
        let bell = Bell(sender);
        let source = start(bell.clone())?;
        Ok(Watch { receiver, bell, _source: Box::new(source) })
    }

    /// A watch that hears nothing but its own bell: for whoever has to look by the clock.
    pub fn deaf() -> Watch {
        let (sender, receiver) = sync_channel(1);
        Watch { receiver, bell: Bell(sender), _source: Box::new(()) }
    }

    /// Waits until something may have changed, or so long. Says whether something may have.
    pub fn wait(&self, at_most: Duration) -> bool {
        match self.receiver.recv_timeout(at_most) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => false,
        }
    }

    /// What wakes it.
    pub fn bell(&self) -> Bell {
        self.bell.clone()
    }
}
