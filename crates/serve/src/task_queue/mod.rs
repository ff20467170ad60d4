//! The MCP server `task-queue`: tasks for agents, and their findings.
//!
//! [`server`] builds the server from a [`TaskTools`]: the queue, the configured agents, and the
//! task that the caller works on. A tool is one file and one line in [`server`]. Ids are validated
//! before they are used in a look-up, and lists are truncated, with the number of entries that are
//! left out.

mod cancel_task;
mod get_epic_progress;
mod get_findings;
mod get_queue_status;
mod get_task_details;
mod list_pending_tasks;
mod name_schema;
mod pull_reviews;
mod queue_task;
mod report_findings;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use assay_base::clock::Clock;
use assay_review::external_reports::ExternalReports;
use assay_services::github::GitHub;
use assay_store::pulls::RepositoryName;
use assay_store::queue::{ListedTask, Queue, QueueError, TaskFilter};
use assay_store::task::{AgentId, QueueName, TaskId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::mcp::{Refusal, Server};

/// The name of the server.
pub const NAME: &str = "task-queue";

/// The instructions of the server, which a model reads together with the tools.
const INSTRUCTIONS: &str = "Tasks for agents. Queue work for another agent with \
     queue_task_for_agent, inspect pending and finished tasks, and report the findings of a review \
     with report_findings. Findings are checked against the code: quote the lines that they are \
     about.";

/// The default number of listed tasks or findings.
const DEFAULT_LIMIT: usize = 50;

/// The maximum number of listed tasks or findings.
const MAX_LIMIT: usize = 200;

/// The configured agents, with the queue of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agents(BTreeMap<AgentId, QueueName>);

impl FromIterator<(AgentId, QueueName)> for Agents {
    fn from_iter<T: IntoIterator<Item = (AgentId, QueueName)>>(agents: T) -> Agents {
        Agents(agents.into_iter().collect())
    }
}

impl Agents {
    /// Returns the ids of the agents.
    fn names(&self) -> Vec<&str> {
        self.0.keys().map(AgentId::as_str).collect()
    }

    /// Returns the queue of an agent. Refuses an unknown agent.
    fn queue_of(&self, agent: &AgentId) -> Result<&QueueName, Refusal> {
        self.0.get(agent).ok_or_else(|| {
            Refusal::new(format!(
                "unknown agent `{agent}`; known agents: {}",
                self.names().join(", ")
            ))
        })
    }
}

/// The context of the tools.
pub struct TaskTools {
    /// The queue store.
    pub queue: Arc<dyn Queue>,
    /// The agents that tasks can be queued for.
    pub agents: Agents,
    /// The task that the caller works on; `None` if the caller is not an agent.
    pub parent: Option<TaskId>,
    /// The reports that were submitted for tasks.
    pub reports: ExternalReports,
    /// The root of the repository, to check findings against.
    pub root: PathBuf,
    /// The client that looks up pull requests; `None` if GitHub is not configured.
    pub github: Option<GitHub>,
    /// The clock that sets the time of new tasks.
    pub clock: Clock,
    /// The repositories whose pull requests are looked up; if empty, any.
    pub repositories: Vec<RepositoryName>,
}

impl TaskTools {
    /// Returns a task. Refuses an unknown id.
    fn task(&self, id: &TaskId) -> Result<ListedTask, Refusal> {
        self.queue.get(id).map_err(|error| match error {
            QueueError::Unknown(id) => Refusal::new(format!(
                "unknown task `{id}`; list_pending_tasks lists the pending ones"
            )),
            error => Refusal::of(&error),
        })
    }

    fn list(&self, filter: &TaskFilter) -> Result<Vec<ListedTask>, Refusal> {
        self.queue.list(filter).map_err(|error| Refusal::of(&error))
    }

    /// Returns the task that the caller works on, or `None` if the caller is not an agent.
    fn parent(&self) -> Result<Option<ListedTask>, Refusal> {
        let Some(id) = &self.parent else { return Ok(None) };
        self.queue.get(id).map(Some).map_err(|error| match error {
            QueueError::Unknown(id) => Refusal::new(format!(
                "AGENT_TASK_ID names task `{id}`, which is not in the queue; new tasks cannot \
                 inherit its context"
            )),
            error => Refusal::of(&error),
        })
    }
}

/// Builds the server.
pub fn server(tools: TaskTools, version: &'static str) -> Server {
    let tools = Arc::new(tools);
    let tools = vec![
        queue_task::tool(&tools),
        get_queue_status::tool(&tools),
        list_pending_tasks::tool(&tools),
        get_task_details::tool(&tools),
        get_epic_progress::tool(&tools),
        cancel_task::tool(&tools),
        get_findings::tool(&tools),
        report_findings::tool(&tools),
    ];
    Server::new(NAME, version, INSTRUCTIONS, tools)
}

/// A task in a list.
#[derive(Debug, Serialize, JsonSchema)]
struct TaskLine {
    /// The id of the task.
    id: String,
    /// The type of work.
    #[serde(rename = "type")]
    kind: String,
    /// The title of the task.
    title: String,
    /// The status of the task.
    status: String,
    /// The claim state: ready, resting, waiting, blocked, held or over.
    state: String,
    /// The reason that the task is blocked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    blocked_because: Option<String>,
    /// The priority: lower comes first.
    priority: u8,
    /// The queue of the task.
    queue: String,
    /// The agent that the task is assigned to.
    assigned_to: String,
    /// The time at which the task was created.
    created_at: String,
    /// The ids of tasks that have to be completed first.
    depends_on: Vec<String>,
}

impl From<ListedTask> for TaskLine {
    fn from(listed: ListedTask) -> TaskLine {
        let ListedTask { queue, claim_state, task } = listed;
        let (state, blocked_because) = describe_claim_state(claim_state);
        TaskLine {
            id: task.id.to_string(),
            kind: task.kind.to_string(),
            title: task.title,
            status: task.status.to_string(),
            state: state.to_owned(),
            blocked_because,
            priority: task.priority.get(),
            queue: queue.to_string(),
            assigned_to: task.assigned_to,
            created_at: task.created_at.to_string(),
            depends_on: task.depends_on.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Returns the word for a claim state, and the reason if the task is blocked.
fn describe_claim_state(
    claim_state: assay_store::queue::ClaimState,
) -> (&'static str, Option<String>) {
    use assay_store::queue::ClaimState;
    match claim_state {
        ClaimState::Ready => ("ready", None),
        ClaimState::Backoff { .. } => ("resting", None),
        ClaimState::Waiting { .. } => ("waiting", None),
        ClaimState::Blocked { reason } => ("blocked", Some(reason)),
        ClaimState::Leased { .. } => ("held", None),
        ClaimState::Done => ("over", None),
    }
}

/// Returns the number of entries to list.
fn limit(asked: Option<usize>) -> usize {
    asked.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT)
}

#[cfg(test)]
mod tests;
