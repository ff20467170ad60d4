//! `cancel_task`: the cancellation of a task.

use std::sync::Arc;

use assay_store::task::{TaskId, TaskStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TaskTools;
use super::name_schema::NameSchema;
use crate::mcp::{Effect, Refusal, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the task.
    #[schemars(with = "NameSchema")]
    task_id: TaskId,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// Always true: a failure is returned as an error.
    success: bool,
    /// The id of the task.
    task_id: String,
    /// The status of the task.
    status: String,
}

pub(super) fn tool(tools: &Arc<TaskTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "cancel_task",
        "Cancels a pending or running task. Tasks that depend on it become blocked.",
        Effect::Changes,
        move |input| cancel(&tools, &input),
    )
}

fn cancel(tools: &TaskTools, input: &Input) -> Result<Output, Refusal> {
    let id = &input.task_id;
    tools.task(id)?;
    let by = match tools.parent()? {
        Some(parent) => parent.task.started_by.unwrap_or(parent.task.assigned_to),
        None => "mcp".to_owned(),
    };
    tools.queue.cancel(id, &by).map_err(|error| Refusal::of(&error))?;
    Ok(Output { success: true, task_id: id.to_string(), status: TaskStatus::Cancelled.to_string() })
}
