//! `cancel_task`: the cancellation of a task.

use std::sync::Arc;

use assay_store::task::{Status, TaskId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Desk;
use super::name::Name;
use crate::mcp::{Effect, Refusal, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the task.
    #[schemars(with = "Name")]
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

pub(super) fn tool(desk: &Arc<Desk>) -> Tool {
    let desk = Arc::clone(desk);
    Tool::new(
        "cancel_task",
        "Calls off a task that waits or that an agent works on. What depends on it is blocked \
         then.",
        Effect::Changes,
        move |input| cancel(&desk, &input),
    )
}

fn cancel(desk: &Desk, input: &Input) -> Result<Output, Refusal> {
    let id = &input.task_id;
    desk.task(id)?;
    let by = match desk.parent()? {
        Some(parent) => parent.task.started_by.unwrap_or(parent.task.assigned_to),
        None => "mcp".to_owned(),
    };
    desk.queue.cancel(id, &by).map_err(|error| Refusal::of(&error))?;
    Ok(Output { success: true, task_id: id.to_string(), status: Status::Cancelled.to_string() })
}
