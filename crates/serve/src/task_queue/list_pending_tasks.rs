//! `list_pending_tasks`: the waiting tasks, in the order in which they are claimed.

use std::sync::Arc;

use assay_store::queue::TaskFilter;
use assay_store::task::{AgentId, TaskStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::name_schema::NameSchema;
use super::{TaskLine, TaskTools, limit};
use crate::mcp::{Effect, Refusal, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Return only tasks for this agent; by default all.
    #[serde(default)]
    #[schemars(with = "NameSchema")]
    agent_id: Option<AgentId>,
    /// The maximum number of tasks, 50 by default.
    #[serde(default)]
    #[schemars(with = "u8", range(min = 1, max = 200))]
    limit: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The tasks, next one first.
    tasks: Vec<TaskLine>,
    /// The number of tasks that are not listed.
    left_out: usize,
}

pub(super) fn tool(tools: &Arc<TaskTools>) -> Tool {
    let own = Arc::clone(tools);
    let tool = Tool::new(
        "list_pending_tasks",
        "Lists the pending tasks in the order in which agents claim them, with the reason why a \
         task cannot be claimed yet.",
        Effect::Reads,
        move |input| list(&own, &input),
    );
    tool.with_choices("agent_id", &tools.agents.names())
}

fn list(tools: &TaskTools, input: &Input) -> Result<Output, Refusal> {
    let queue = input.agent_id.as_ref().map(|agent| tools.agents.queue_of(agent)).transpose()?;
    let filter = TaskFilter {
        queue: queue.cloned(),
        statuses: vec![TaskStatus::Pending],
        context: None,
        limit: Some(limit(input.limit)),
    };
    let tasks: Vec<TaskLine> = tools.list(&filter)?.into_iter().map(TaskLine::from).collect();
    let counts = tools.queue.count().map_err(|error| Refusal::of(&error))?;
    let counted = counts.iter().filter(|count| queue.is_none_or(|queue| *queue == count.queue));
    let all: usize = counted.map(|count| count.ready + count.waiting + count.blocked).sum();
    let left_out = all.saturating_sub(tasks.len());
    Ok(Output { tasks, left_out })
}
