//! `get_queue_status`: the number of tasks by status, and the agents at work.

use std::sync::Arc;

use assay_store::queue::{AgentHealth, AgentState, QueueCounts};
use assay_store::task::AgentId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::name_schema::NameSchema;
use super::{DEFAULT_LIMIT, TaskTools};
use crate::mcp::{Effect, Refusal, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Return only the queue of this agent; by default all queues.
    #[serde(default)]
    #[schemars(with = "NameSchema")]
    agent_id: Option<AgentId>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The number of tasks in each queue, by state.
    queues: Vec<StatusCounts>,
    /// The registered agents.
    agents: Vec<Worker>,
    /// The number of queues and agents that are not listed.
    left_out: usize,
}

#[derive(Serialize, JsonSchema)]
struct StatusCounts {
    /// The name of the queue.
    queue: String,
    /// Tasks that can be claimed now.
    ready: usize,
    /// Tasks in back-off, and tasks that wait for others.
    waiting: usize,
    /// Tasks that wait for a condition that is not met without an intervention.
    blocked: usize,
    /// Tasks with a lease.
    in_progress: usize,
    /// Tasks that are completed.
    completed: usize,
    /// Tasks that failed.
    failed: usize,
    /// Tasks that were cancelled.
    cancelled: usize,
}

impl From<QueueCounts> for StatusCounts {
    fn from(count: QueueCounts) -> StatusCounts {
        let QueueCounts {
            ready, waiting, blocked, in_progress, completed, failed, cancelled, ..
        } = count;
        let queue = count.queue.to_string();
        StatusCounts { queue, ready, waiting, blocked, in_progress, completed, failed, cancelled }
    }
}

#[derive(Serialize, JsonSchema)]
struct Worker {
    /// The id of the agent.
    id: String,
    /// The queue of the agent.
    queue: String,
    /// The state of the agent: idle, working, paused, stopping or stopped.
    state: String,
    /// The id of the task that the agent works on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    task: Option<String>,
    /// The time of the last heartbeat.
    last_seen: String,
    /// True if the agent is alive.
    alive: bool,
    /// True if the agent must not claim tasks.
    paused: bool,
}

impl From<AgentHealth> for Worker {
    fn from(seen: AgentHealth) -> Worker {
        let beat = seen.heartbeat;
        Worker {
            id: beat.agent.to_string(),
            queue: beat.queue.to_string(),
            state: state_word(beat.state).to_owned(),
            task: beat.task.map(|task| task.to_string()),
            last_seen: beat.at.to_string(),
            alive: seen.alive,
            paused: seen.paused,
        }
    }
}

fn state_word(state: AgentState) -> &'static str {
    match state {
        AgentState::Idle => "idle",
        AgentState::Working => "working",
        AgentState::Paused => "paused",
        AgentState::Stopping => "stopping",
        AgentState::Stopped => "stopped",
    }
}

pub(super) fn tool(tools: &Arc<TaskTools>) -> Tool {
    let own = Arc::clone(tools);
    let tool = Tool::new(
        "get_queue_status",
        "Returns the number of tasks of each queue by state, and the state of the agents.",
        Effect::Reads,
        move |input| status(&own, &input),
    );
    tool.with_choices("agent_id", &tools.agents.names())
}

fn status(tools: &TaskTools, input: &Input) -> Result<Output, Refusal> {
    let only = input.agent_id.as_ref().map(|agent| tools.agents.queue_of(agent)).transpose()?;
    let mut counts = tools.queue.count().map_err(|error| Refusal::of(&error))?;
    counts.retain(|count| only.is_none_or(|only| *only == count.queue));
    let mut seen = tools.queue.agents().map_err(|error| Refusal::of(&error))?;
    seen.retain(|seen| only.is_none_or(|only| *only == seen.heartbeat.queue));
    let left_out =
        counts.len().saturating_sub(DEFAULT_LIMIT) + seen.len().saturating_sub(DEFAULT_LIMIT);
    Ok(Output {
        queues: counts.into_iter().take(DEFAULT_LIMIT).map(StatusCounts::from).collect(),
        agents: seen.into_iter().take(DEFAULT_LIMIT).map(Worker::from).collect(),
        left_out,
    })
}
