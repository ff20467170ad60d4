//! `get_task_details`: one task in full.

use std::sync::Arc;

use assay_base::text::first_chars;
use assay_store::queue::{ClaimState, QueueError};
use assay_store::task::{Task, TaskId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::TaskTools;
use super::name_schema::NameSchema;
use crate::mcp::{Effect, Refusal, Tool};

/// The maximum number of characters of a task's texts; a description can be longer than a model
/// reads at once.
const MAX_TEXT: usize = 50_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the task.
    #[schemars(with = "NameSchema")]
    task_id: TaskId,
}

/// The task, or an error.
#[derive(Serialize, JsonSchema)]
struct Output {
    /// The task; texts and lists that are too long are truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    task: Option<Value>,
    /// The queue of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    queue: Option<String>,
    /// The claim state: `state`, and its details.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    standing: Option<ClaimState>,
    /// The error if there is no such task.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    error: Option<String>,
}

pub(super) fn tool(tools: &Arc<TaskTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "get_task_details",
        "Returns one task with its description, context, state, attempts and result.",
        Effect::Reads,
        move |input| details(&tools, &input),
    )
}

fn details(tools: &TaskTools, input: &Input) -> Result<Output, Refusal> {
    match tools.queue.get(&input.task_id) {
        Ok(listed) => Ok(Output {
            task: Some(to_json(&listed.task)),
            queue: Some(listed.queue.to_string()),
            standing: Some(listed.claim_state),
            error: None,
        }),
        // An unknown task is an answer and not a refusal: the caller may want to know whether it
        // exists.
        Err(QueueError::Unknown(id)) => Ok(Output {
            task: None,
            queue: None,
            standing: None,
            error: Some(format!("Task {id} not found")),
        }),
        Err(error) => Err(Refusal::of(&error)),
    }
}

fn to_json(task: &Task) -> Value {
    let mut task = serde_json::to_value(task).expect("a task is JSON");
    let mut budget = MAX_TEXT;
    shorten(&mut task, &mut budget);
    task
}

/// Truncates texts once no room is left, and marks the cut.
fn shorten(value: &mut Value, budget: &mut usize) {
    match value {
        Value::String(text) => {
            let length = text.chars().count();
            if length > *budget {
                let kept = first_chars(text, *budget);
                *text = format!("{kept}… ({} characters left out)", length - *budget);
            }
            *budget = budget.saturating_sub(length);
        }
        Value::Array(items) => {
            let mut at = 0;
            while at < items.len() && *budget > 0 {
                shorten(&mut items[at], budget);
                *budget = budget.saturating_sub(1);
                at += 1;
            }
            let left_out = items.len() - at;
            items.truncate(at);
            if left_out > 0 {
                items.push(json!(format!("… ({left_out} left out)")));
            }
        }
        Value::Object(fields) => fields.values_mut().for_each(|field| shorten(field, budget)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
