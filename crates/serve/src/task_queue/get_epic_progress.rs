//! `get_epic_progress`: how far the tasks of an epic have come.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_store::queue::Filter;
use assay_store::task::Status;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Desk, Line, limit};
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
    /// Always true: what is refused is answered with an error.
    success: bool,
    /// The epic.
    epic_key: String,
    /// How many tasks it has.
    total: usize,
    /// How many of them are completed.
    completed: usize,
    /// How much of it that is, in per cent.
    percent_complete: usize,
    /// The same, under its older name.
    percent: usize,
    /// How many stand where.
    by_status: BTreeMap<String, usize>,
    /// How many there are of each kind of work.
    by_type: BTreeMap<String, usize>,
    /// Those that are not completed.
    open: Vec<Line>,
    /// How many more are not completed.
    left_out: usize,
}

pub(super) fn tool(desk: &Arc<Desk>) -> Tool {
    let desk = Arc::clone(desk);
    Tool::new(
        "get_epic_progress",
        "Says how many tasks of an epic are done, and lists those that are not.",
        Effect::Reads,
        move |input: Input| progress(&desk, input.epic_key),
    )
}

fn progress(desk: &Desk, epic_key: String) -> Result<Output, Refusal> {
    let filter = Filter {
        queue: None,
        statuses: Status::ALL.to_vec(),
        context: Some(("epic_key".to_owned(), epic_key.clone())),
        limit: None,
    };
    let tasks = desk.list(&filter)?;
    let mut by_status: BTreeMap<String, usize> =
        Status::ALL.iter().map(|status| (status.to_string(), 0)).collect();
    let mut by_type = BTreeMap::new();
    for listed in &tasks {
        *by_status.entry(listed.task.status.to_string()).or_default() += 1;
        *by_type.entry(listed.task.kind.to_string()).or_default() += 1;
    }
    let total = tasks.len();
    let is_open = |status: Status| status != Status::Completed;
    let mut open: Vec<Line> =
        tasks.into_iter().filter(|listed| is_open(listed.task.status)).map(Line::from).collect();
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
