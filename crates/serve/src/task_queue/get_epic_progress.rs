//! `get_epic_progress`: the progress of the tasks of an epic.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_store::queue::TaskFilter;
use assay_store::task::TaskStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{TaskLine, TaskTools, limit};
use crate::mcp::{Effect, Refusal, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The key of the epic, as in the tasks' `context.epic_key`, such as PROJ-100.
    #[schemars(length(min = 1, max = 128))]
    epic_key: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// Always true: a failure is returned as an error.
    success: bool,
    /// The key of the epic.
    epic_key: String,
    /// The number of tasks.
    total: usize,
    /// The number of completed tasks.
    completed: usize,
    /// The share of completed tasks in per cent.
    percent_complete: usize,
    /// The same share under its older name.
    percent: usize,
    /// The number of tasks by status.
    by_status: BTreeMap<String, usize>,
    /// The number of tasks by type.
    by_type: BTreeMap<String, usize>,
    /// The tasks that are not completed.
    open: Vec<TaskLine>,
    /// The number of tasks that are not completed and not listed.
    left_out: usize,
}

pub(super) fn tool(tools: &Arc<TaskTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "get_epic_progress",
        "Returns the number of completed tasks of an epic, and lists the others.",
        Effect::Reads,
        move |input: Input| progress(&tools, input.epic_key),
    )
}

fn progress(tools: &TaskTools, epic_key: String) -> Result<Output, Refusal> {
    let filter = TaskFilter {
        queue: None,
        statuses: TaskStatus::ALL.to_vec(),
        context: Some(("epic_key".to_owned(), epic_key.clone())),
        limit: None,
    };
    let tasks = tools.list(&filter)?;
    let mut by_status: BTreeMap<String, usize> =
        TaskStatus::ALL.iter().map(|status| (status.to_string(), 0)).collect();
    let mut by_type = BTreeMap::new();
    for listed in &tasks {
        *by_status.entry(listed.task.status.to_string()).or_default() += 1;
        *by_type.entry(listed.task.kind.to_string()).or_default() += 1;
    }
    let total = tasks.len();
    let is_open = |status: TaskStatus| status != TaskStatus::Completed;
    let mut open: Vec<TaskLine> = tasks
        .into_iter()
        .filter(|listed| is_open(listed.task.status))
        .map(TaskLine::from)
        .collect();
    let completed = total - open.len();
    let left_out = open.len().saturating_sub(limit(None));
    open.truncate(limit(None));
    let percent = (completed * 100).checked_div(total).unwrap_or(0);
    Ok(Output {
        success: true,
        epic_key,
        total,
        completed,
        percent_complete: percent,
        percent,
        by_status,
        by_type,
        open,
        left_out,
    })
}
