//! The MCP server `task-queue`: tasks for agents, and the findings that go with them.
//!
//! [`server`] makes it from a [`Desk`]: the queue, the agents that there are, and the task that
//! whoever calls is working on. A tool is one file and one line in [`server`]. Names are checked
//! before anything is looked up by them, and lists are cut, with a count of what is left out.

mod cancel_task;
mod get_epic_progress;
mod get_findings;
mod get_queue_status;
mod get_task_details;
mod list_pending_tasks;
mod name;
mod pulls;
mod queue_task;
mod report_findings;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use assay_base::clock::Clock;
use assay_review::handed_in::HandedIn;
use assay_services::github::GitHub;
use assay_store::pulls::RepositoryName;
use assay_store::queue::{Filter, Listed, Queue, QueueError};
use assay_store::task::{AgentId, QueueName, TaskId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::mcp::{Refusal, Server};

/// The name of the server.
pub const NAME: &str = "task-queue";

/// What a model is told of the tools together.
const INSTRUCTIONS: &str = "Tasks for agents. Queue work for another agent with \
    queue_task_for_agent, look at what waits and what became of it, and hand in what a review \
    found with report_findings. Findings are checked against the code: quote the lines that they \
    are about.";

/// So many tasks or findings are listed unless more are asked for.
const LISTED: usize = 50;

/// So many are listed at the most.
const MOST_LISTED: usize = 200;

/// The agents that there are, with the queue of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agents(BTreeMap<AgentId, QueueName>);

impl FromIterator<(AgentId, QueueName)> for Agents {
    fn from_iter<T: IntoIterator<Item = (AgentId, QueueName)>>(agents: T) -> Agents {
        Agents(agents.into_iter().collect())
    }
}

impl Agents {
    /// Their names.
    fn names(&self) -> Vec<&str> {
        self.0.keys().map(AgentId::as_str).collect()
    }

    /// The queue of one.
    fn queue_of(&self, agent: &AgentId) -> Result<&QueueName, Refusal> {
        self.0.get(agent).ok_or_else(|| {
            Refusal::new(format!(
                "there is no agent `{agent}`; there are {}",
                self.names().join(", ")
            ))
        })
    }
}

/// What the tools work on.
pub struct Desk {
    /// The tasks.
    pub queue: Arc<dyn Queue>,
    /// The agents that tasks can be queued for.
    pub agents: Agents,
    /// The task that whoever calls is working on, if it is an agent.
    pub parent: Option<TaskId>,
    /// What was handed in for tasks.
    pub reports: HandedIn,
    /// The repository, for findings to be held against.
    pub root: PathBuf,
    /// Where pull requests are looked up, if they can be.
    pub github: Option<GitHub>,
    /// The time of new tasks.
    pub clock: Clock,
    /// The repositories whose pull requests are looked up; if it is empty, those of any are.
    pub repositories: Vec<RepositoryName>,
}

impl Desk {
    /// Finds a task.
    fn task(&self, id: &TaskId) -> Result<Listed, Refusal> {
        self.queue.get(id).map_err(|error| match error {
            QueueError::Unknown(id) => Refusal::new(format!(
                "there is no task `{id}`; list_pending_tasks tells which there are"
            )),
            error => Refusal::of(&error),
        })
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Listed>, Refusal> {
        self.queue.list(filter).map_err(|error| Refusal::of(&error))
    }

    /// The task that whoever calls is working on.
    fn parent(&self) -> Result<Option<Listed>, Refusal> {
        let Some(id) = &self.parent else { return Ok(None) };
        self.queue.get(id).map(Some).map_err(|error| match error {
            QueueError::Unknown(id) => Refusal::new(format!(
                "AGENT_TASK_ID names task `{id}`, which is not in the queue; what new tasks take \
                 over from it cannot be told"
            )),
            error => Refusal::of(&error),
        })
    }
}

/// Makes the server.
pub fn server(desk: Desk, version: &'static str) -> Server {
    let desk = Arc::new(desk);
    let tools = vec![
        queue_task::tool(&desk),
        get_queue_status::tool(&desk),
        list_pending_tasks::tool(&desk),
        get_task_details::tool(&desk),
        get_epic_progress::tool(&desk),
        cancel_task::tool(&desk),
        get_findings::tool(&desk),
        report_findings::tool(&desk),
    ];
    Server::new(NAME, version, INSTRUCTIONS, tools)
}

/// A task in a list.
#[derive(Debug, Serialize, JsonSchema)]
struct Line {
    /// Its name.
    id: String,
    /// What kind of work it is.
    #[serde(rename = "type")]
    kind: String,
    /// What it is called.
    title: String,
    /// Where it stands.
    status: String,
    /// Whether it can be claimed, rests, waits for others, is blocked, is held or is over.
    state: String,
    /// Why it is blocked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    blocked_because: Option<String>,
    /// How urgent it is: lower comes first.
    priority: u8,
    /// Its queue.
    queue: String,
    /// Who is to do it.
    assigned_to: String,
    /// Since when it is there.
    created_at: String,
    /// What has to be completed before.
    depends_on: Vec<String>,
}

impl From<Listed> for Line {
    fn from(listed: Listed) -> Line {
        let Listed { queue, standing, task } = listed;
        let (state, blocked_because) = told(standing);
        Line {
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

/// The word for where a task stands, and why it is blocked if it is.
fn told(standing: assay_store::queue::Standing) -> (&'static str, Option<String>) {
    use assay_store::queue::Standing;
    match standing {
        Standing::Ready => ("ready", None),
        Standing::Resting { .. } => ("resting", None),
        Standing::Waiting { .. } => ("waiting", None),
        Standing::Blocked { reason } => ("blocked", Some(reason)),
        Standing::Held { .. } => ("held", None),
        Standing::Over => ("over", None),
    }
}

/// How many are to be listed.
fn limit(asked: Option<usize>) -> usize {
    asked.unwrap_or(LISTED).min(MOST_LISTED)
}

#[cfg(test)]
mod tests;
