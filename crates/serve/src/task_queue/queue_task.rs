//! `queue_task_for_agent`: a task for another agent.
//!
//! A model does not choose where its work belongs: the repository, tickets and workflow of the new
//! task are those of the task that the agent works on.

use std::sync::Arc;

use assay_store::interval::Interval;
use assay_store::queue::{QueueError, QueuedTask};
use assay_store::task::{AgentId, MAX_TASK, Moment, Priority, Task, TaskId, TaskKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::name_schema::NameSchema;
use super::{TaskTools, pull_reviews};
use crate::mcp::{Effect, Refusal, Title, Tool};

/// The context keys that a task inherits from the task of its creator, whatever the creator passes:
/// a model must not invent where its work belongs.
const INHERITED_KEYS: [&str; 5] =
    ["github_repo", "jira_project", "jira_key", "epic_key", "workflow"];

/// The prefix of keys that belong to the workflow, such as the number of reviews of a change.
const WORKFLOW_PREFIX: char = '_';

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the agent that is to do the task.
    #[schemars(with = "NameSchema")]
    agent_id: AgentId,
    /// The type of work: review, fix, implementation, validation, architecture, planning,
    /// qa_verification or escalation.
    #[schemars(with = "NameSchema", length(max = 40))]
    task_type: TaskKind,
    /// The title, on one line.
    #[schemars(length(min = 1, max = 1_000))]
    title: Title,
    /// The work to do, with everything that the agent needs to know.
    #[schemars(length(min = 1, max = 200_000))]
    description: String,
    /// The subject of the work, such as jira_key, github_repo, pr_number and branch_name.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 100))]
    context: Map<String, Value>,
    /// The ids of tasks that have to be completed first.
    #[serde(default)]
    #[schemars(with = "Vec<NameSchema>", length(max = 50))]
    depends_on: Vec<TaskId>,
    /// The priority: 1 comes first, 100 last. 0 is for escalations.
    #[serde(default)]
    #[schemars(with = "u8", range(max = 100))]
    priority: Priority,
    /// The acceptance criteria, one line each.
    #[serde(default)]
    #[schemars(length(max = 50), inner(length(min = 1, max = 2_000)))]
    acceptance_criteria: Vec<String>,
    /// The earliest time to start, such as 2026-02-03T02:00:00Z; by default at once.
    #[serde(default)]
    #[schemars(with = "String", length(max = 40))]
    run_at: Option<Moment>,
    /// The interval at which the task is repeated, such as 6h or 1d; by default it runs once.
    #[serde(default)]
    #[schemars(with = "String", length(max = 20))]
    repeat_every: Option<Interval>,
    /// The plan of the work, in any form.
    #[serde(default)]
    #[schemars(with = "Map<String, Value>")]
    plan: Option<Map<String, Value>>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// Always true: a failure is returned as an error.
    success: bool,
    /// The id of the task.
    task_id: String,
    /// True if the task existed before: a pull request is reviewed once at each commit.
    already_there: bool,
    /// The id of the agent that is to do the task.
    agent_id: String,
    /// The queue of the task.
    queue: String,
    /// The status of the task.
    status: String,
    /// The context of the task, with the keys inherited from the task of the caller.
    context: Map<String, Value>,
}

pub(super) fn tool(tools: &Arc<TaskTools>) -> Tool {
    let own = Arc::clone(tools);
    let tool = Tool::new(
        "queue_task_for_agent",
        "Queues a task for an agent, which claims it in order of priority. If you work on a task \
         yourself, the new one belongs to the same repository, tickets and workflow. The review of \
         a pull request (github_repo and pr_number in the context) is queued once for each of its \
         commits; the answer says if it already exists.",
        Effect::Adds,
        move |input| queue(&own, input),
    );
    tool.with_choices("agent_id", &tools.agents.names())
}

fn queue(tools: &TaskTools, input: Input) -> Result<Output, Refusal> {
    let queue = tools.agents.queue_of(&input.agent_id)?.clone();
    if !input.task_type.is_known() {
        return Err(Refusal::new(format!(
            "unknown task type `{}`; known types: {}",
            input.task_type,
            TaskKind::KNOWN.join(", ")
        )));
    }
    for id in &input.depends_on {
        tools.task(id)?;
    }
    let parent = tools.parent()?.map(|listed| listed.task);
    let now = Moment::now(&tools.clock);
    let id = TaskId::generate(&input.task_type, input.agent_id.as_str(), now);
    let id = id.map_err(|error| Refusal::of(&error))?;
    let mut task = Task::new(id, input.task_type, input.title.as_str(), now);
    task.priority = input.priority;
    task.assigned_to = input.agent_id.to_string();
    task.description = input.description;
    task.depends_on = input.depends_on;
    task.run_at = input.run_at;
    task.repeat_every = input.repeat_every;
    task.acceptance_criteria = input.acceptance_criteria;
    task.plan = input.plan.map_or(Value::Null, Value::Object);
    task.context = input.context;
    task.context.retain(|key, _| !key.starts_with(WORKFLOW_PREFIX));
    task.created_by = match &parent {
        Some(parent) => parent.started_by.clone().unwrap_or_else(|| parent.assigned_to.clone()),
        None => "mcp".to_owned(),
    };
    if let Some(parent) = parent {
        inherit(&mut task.context, &parent.context);
        task.parent_task_id = Some(parent.id);
    }
    pull_reviews::complete_review_task(tools, &mut task)?;
    let size = task.to_json().len();
    if size > MAX_TASK {
        let most = MAX_TASK;
        let message =
            format!("the task has {size} bytes; the limit is {most}; shorten its context");
        return Err(Refusal::new(message));
    }
    match tools.queue.push(vec![QueuedTask { queue: queue.clone(), task: task.clone() }]) {
        Ok(()) => Ok(Output::of(task, queue.to_string(), false)),
        Err(QueueError::AlreadyExists { id, queue, .. }) => {
            Ok(Output::of(tools.task(&id)?.task, queue.to_string(), true))
        }
        Err(error) => Err(Refusal::of(&error)),
    }
}

impl Output {
    fn of(task: Task, queue: String, already_there: bool) -> Output {
        Output {
            success: true,
            task_id: task.id.to_string(),
            already_there,
            agent_id: task.assigned_to,
            queue,
            status: task.status.to_string(),
            context: task.context,
        }
    }
}

/// Copies the keys that a caller must not choose from the parent. If the parent is about a pull
/// request, all other values of these keys are removed: the review of an outsider's pull request
/// was not trusted with them, and neither is a task that follows from it.
fn inherit(context: &mut Map<String, Value>, parent: &Map<String, Value>) {
    if parent.contains_key("pr_number") {
        context.retain(|key, _| !INHERITED_KEYS.contains(&key.as_str()));
    }
    let is_taken_over =
        |key: &str| INHERITED_KEYS.contains(&key) || key.starts_with(WORKFLOW_PREFIX);
    for (key, value) in parent.iter().filter(|(key, _)| is_taken_over(key)) {
        context.insert(key.clone(), value.clone());
    }
}
