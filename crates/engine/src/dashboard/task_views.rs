//! Queues, agents and tasks as the dashboard shows them.

use assay_store::queue::{
    AgentHealth, ClaimState, ListedTask, Queue, QueueCounts, QueueError, TaskFilter,
};
use assay_store::task::{Task, TaskStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Dashboard, DashboardError, parse_limit, parse_value, redacted};
use crate::agent_status::state_text;

/// The number of tasks of each kind in the overview.
const MAX_SHOWN: usize = 20;

/// The number of tasks of a queue by state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueueView {
    /// The name of the queue.
    pub queue: String,
    /// Tasks that can be claimed now.
    pub ready: usize,
    /// Tasks that are delayed, and tasks that wait for others.
    pub waiting: usize,
    /// Tasks with a dependency that cannot be completed without an intervention.
    pub blocked: usize,
    /// Tasks that an agent holds.
    pub in_progress: usize,
    /// Tasks that are completed.
    pub completed: usize,
    /// Tasks that failed permanently.
    pub failed: usize,
    /// Tasks that were cancelled.
    pub cancelled: usize,
}

impl From<QueueCounts> for QueueView {
    fn from(counts: QueueCounts) -> QueueView {
        QueueView {
            queue: counts.queue.to_string(),
            ready: counts.ready,
            waiting: counts.waiting,
            blocked: counts.blocked,
            in_progress: counts.in_progress,
            completed: counts.completed,
            failed: counts.failed,
            cancelled: counts.cancelled,
        }
    }
}

/// The queues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueueListView {
    /// The queues, in the order of the store.
    pub queues: Vec<QueueView>,
}

/// An agent with its last heartbeat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AgentView {
    /// The id of the agent.
    pub id: String,
    /// The queue of the agent.
    pub queue: String,
    /// The state: idle, working, "working, then paused", paused, stopping, stopped or gone.
    pub state: String,
    /// The id of the task that the agent works on; null if it has none.
    pub task: Option<String>,
    /// The time at which the agent entered this state.
    pub since: String,
    /// The time of the last heartbeat.
    pub last_seen: String,
    /// The host name of the machine.
    pub host: String,
    /// True if the agent is alive.
    pub alive: bool,
    /// True if the agent must not claim tasks.
    pub paused: bool,
}

impl From<AgentHealth> for AgentView {
    fn from(seen: AgentHealth) -> AgentView {
        let state = state_text(&seen).to_owned();
        let beat = seen.heartbeat;
        AgentView {
            id: beat.agent.to_string(),
            queue: beat.queue.to_string(),
            state,
            task: beat.task.map(|task| task.to_string()),
            since: beat.since.to_string(),
            last_seen: beat.at.to_string(),
            host: redacted(&beat.host),
            alive: seen.alive,
            paused: seen.paused,
        }
    }
}

/// The agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AgentListView {
    /// The agents that ever sent a heartbeat.
    pub agents: Vec<AgentView>,
}

/// A task in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskView {
    /// The id of the task.
    pub id: String,
    /// The kind of work.
    #[serde(rename = "type")]
    pub kind: String,
    /// The title of the task.
    pub title: String,
    /// The queue of the task.
    pub queue: String,
    /// The status: pending, in_progress, completed, failed or cancelled.
    pub status: String,
    /// The claimability: ready, resting, waiting, blocked, held or over.
    pub state: String,
    /// The reason of the state or the last error; null if there is none.
    pub reason: Option<String>,
    /// The priority, from 0 (first) to 100 (last).
    pub priority: u8,
    /// The number of retries so far.
    pub retries: u32,
    /// The agent of the last attempt; null while the task is pending.
    pub agent: Option<String>,
    /// The time at which the task was created.
    pub created_at: String,
    /// The time at which the last attempt began; null while the task is pending.
    pub started_at: Option<String>,
    /// The time at which the task was completed, failed or cancelled; null before.
    pub ended_at: Option<String>,
}

impl From<ListedTask> for TaskView {
    fn from(listed: ListedTask) -> TaskView {
        let ListedTask { queue, claim_state, task } = listed;
        let (state, reason) = describe(&claim_state, &task);
        let ended = task.completed_at.or(task.failed_at);
        TaskView {
            id: task.id.to_string(),
            kind: task.kind.to_string(),
            title: redacted(&task.title),
            queue: queue.to_string(),
            status: task.status.to_string(),
            state: state.to_owned(),
            reason: reason.map(|reason| redacted(&reason)),
            priority: task.priority.get(),
            retries: task.retry_count,
            agent: task.started_by.as_deref().map(redacted),
            created_at: task.created_at.to_string(),
            started_at: task.started_at.map(|at| at.to_string()),
            ended_at: ended.map(|at| at.to_string()),
        }
    }
}

/// A task with its description and attempts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskDetailView {
    /// The task.
    #[serde(flatten)]
    pub task: TaskView,
    /// The description of the work.
    pub description: String,
    /// The agent, trigger or user that created the task.
    pub created_by: String,
    /// The tasks that must be completed first.
    pub depends_on: Vec<String>,
    /// The summary of the result; null before the task is completed.
    pub result: Option<String>,
    /// The ended attempts, the oldest first.
    pub attempts: Vec<AttemptView>,
}

/// An ended attempt at a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AttemptView {
    /// The name of the agent.
    pub agent: String,
    /// The time at which the attempt ended.
    pub ended_at: String,
    /// The outcome, as text for people.
    pub outcome: String,
}

/// The selection of tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TaskListQuery {
    /// Only tasks of this queue.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$"))]
    pub queue: Option<String>,
    /// Only tasks with this status: pending, in_progress, completed, failed or cancelled. Default:
    /// all but completed tasks.
    #[schemars(extend("enum" = TaskStatus::ALL.map(TaskStatus::as_str)))]
    pub status: Option<String>,
    /// The maximum number of tasks, from 1 to 200. Default: 50.
    #[schemars(with = "Option<u32>", range(min = 1, max = 200))]
    pub limit: Option<String>,
}

/// Tasks in the order in which they would be claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskListView {
    /// The tasks.
    pub tasks: Vec<TaskView>,
    /// True if there are more tasks than the limit.
    pub has_more: bool,
}

/// The work that is done now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkOverview {
    /// The queues.
    pub queues: Vec<QueueView>,
    /// The agents.
    pub agents: Vec<AgentView>,
    /// Tasks that an agent holds.
    pub running: Vec<TaskView>,
    /// Tasks with a dependency that cannot be completed without an intervention.
    pub blocked: Vec<TaskView>,
    /// Tasks that can be claimed, that are delayed, or that wait for others.
    pub waiting: Vec<TaskView>,
    /// Tasks that failed permanently.
    pub failed: Vec<TaskView>,
}

impl WorkOverview {
    /// Reads the work of a queue.
    pub(super) fn read(queue: &dyn Queue) -> Result<WorkOverview, QueueError> {
        let found = queue.overview(MAX_SHOWN)?;
        let tasks = |listed: Vec<ListedTask>| listed.into_iter().map(TaskView::from).collect();
        Ok(WorkOverview {
            queues: found.counts.into_iter().map(QueueView::from).collect(),
            agents: queue.agents()?.into_iter().map(AgentView::from).collect(),
            running: tasks(found.running),
            blocked: tasks(found.blocked),
            waiting: tasks(found.waiting),
            failed: tasks(found.failed),
        })
    }

    /// Returns the sum of a number over all queues.
    pub fn total(&self, number: impl Fn(&QueueView) -> usize) -> usize {
        self.queues.iter().map(number).sum()
    }
}

impl Dashboard {
    /// Returns the queues with the number of their tasks.
    pub fn queues(&self) -> Result<QueueListView, DashboardError> {
        let queues = self.queue.count()?.into_iter().map(QueueView::from).collect();
        Ok(QueueListView { queues })
    }

    /// Returns the agents.
    pub fn agents(&self) -> Result<AgentListView, DashboardError> {
        let agents = self.queue.agents()?.into_iter().map(AgentView::from).collect();
        Ok(AgentListView { agents })
    }

    /// Returns the tasks that a query selects.
    pub fn tasks(&self, query: &TaskListQuery) -> Result<TaskListView, DashboardError> {
        let limit = parse_limit(query.limit.as_deref())?;
        let status: Option<TaskStatus> = parse_value("status", query.status.as_deref())?;
        let filter = TaskFilter {
            queue: parse_value("queue", query.queue.as_deref())?,
            statuses: status.into_iter().collect(),
            context: None,
            limit: Some(limit + 1),
        };
        let mut tasks = self.list(&filter)?;
        let has_more = tasks.len() > limit;
        tasks.truncate(limit);
        Ok(TaskListView { tasks, has_more })
    }

    /// Returns a task with its attempts.
    pub fn task(&self, id: &str) -> Result<TaskDetailView, DashboardError> {
        let id = id.parse().map_err(|_| DashboardError::Unknown(format!("unknown task `{id}`")))?;
        let listed = self.queue.get(&id)?;
        let task = listed.task.clone();
        Ok(TaskDetailView {
            task: listed.into(),
            description: redacted(&task.description),
            created_by: redacted(&task.created_by),
            depends_on: task.depends_on.iter().map(ToString::to_string).collect(),
            result: task.result_summary.as_deref().map(redacted),
            attempts: task.attempts.iter().map(AttemptView::from).collect(),
        })
    }

    fn list(&self, filter: &TaskFilter) -> Result<Vec<TaskView>, DashboardError> {
        Ok(self.queue.list(filter)?.into_iter().map(TaskView::from).collect())
    }
}

impl From<&assay_store::task::Attempt> for AttemptView {
    fn from(attempt: &assay_store::task::Attempt) -> AttemptView {
        AttemptView {
            agent: redacted(&attempt.by),
            ended_at: attempt.ended_at.to_string(),
            outcome: redacted(&attempt.outcome),
        }
    }
}

/// Returns the word for the claimability of a task, and the reason of its state.
fn describe(state: &ClaimState, task: &Task) -> (&'static str, Option<String>) {
    let error = task.last_error.clone();
    match state {
        ClaimState::Ready => ("ready", error),
        ClaimState::Backoff { seconds } => {
            let wait = format!("can be claimed in {seconds} s");
            ("resting", Some(error.map_or(wait.clone(), |error| format!("{wait}: {error}"))))
        }
        ClaimState::Waiting { on } => {
            let on: Vec<&str> = on.iter().map(|id| id.as_str()).collect();
            ("waiting", Some(format!("waits for {}", on.join(", "))))
        }
        ClaimState::Blocked { reason } => ("blocked", Some(reason.clone())),
        ClaimState::Leased { by, .. } => ("held", Some(format!("held by {by}"))),
        ClaimState::Done => ("over", error.filter(|_| task.status != TaskStatus::Completed)),
    }
}
