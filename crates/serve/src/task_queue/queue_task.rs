//! `queue_task_for_agent`: work for another agent.
//!
//! A model does not say where its work belongs: the repository, tickets and workflow of the new
//! task are those of the task that the agent works on.

use std::sync::Arc;

use assay_store::interval::Interval;
use assay_store::queue::{Addressed, QueueError};
use assay_store::task::{AgentId, Kind, MAX_TASK, Moment, Priority, Task, TaskId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::name::Name;
use super::{Desk, pulls};
use crate::mcp::{Effect, Refusal, Title, Tool};

/// What a task takes over from the one that its maker is working on, whatever its maker says:
/// where the work belongs is not for a model to make up.
const TRUSTED: [&str; 5] = ["github_repo", "jira_project", "jira_key", "epic_key", "workflow"];

/// The beginning of keys that belong to the workflow, such as how often a change was reviewed.
const OF_THE_WORKFLOW: char = '_';

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Who is to do it.
    #[schemars(with = "Name")]
    agent_id: AgentId,
    /// What kind of work it is: review, fix, implementation, validation, architecture,
    /// planning, qa_verification or escalation.
    #[schemars(with = "Name", length(max = 40))]
    task_type: Kind,
    /// What it is called, on one line.
    #[schemars(length(min = 1, max = 1_000))]
    title: Title,
    /// What is to be done, with everything that whoever does it needs to know.
    #[schemars(length(min = 1, max = 200_000))]
    description: String,
    /// What the work is about, such as jira_key, github_repo, pr_number and branch_name.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 100))]
    context: Map<String, Value>,
    /// Names of tasks that have to be completed before.
    #[serde(default)]
    #[schemars(with = "Vec<Name>", length(max = 50))]
    depends_on: Vec<TaskId>,
    /// How urgent it is: 1 comes first, 100 last. 0 is for escalations.
    #[serde(default)]
    #[schemars(with = "u8", range(max = 100))]
    priority: Priority,
    /// When it is done well, a line each.
    #[serde(default)]
    #[schemars(length(max = 50), inner(length(min = 1, max = 2_000)))]
    acceptance_criteria: Vec<String>,
    /// The earliest moment at which it is taken, such as 2026-02-03T02:00:00Z; at once if there is none.
    #[serde(default)]
    #[schemars(with = "String", length(max = 40))]
    run_at: Option<Moment>,
    /// How long after its time it comes again, such as 6h or 1d; once if there is none.
    #[serde(default)]
    #[schemars(with = "String", length(max = 20))]
    repeat_every: Option<Interval>,
    /// How it is to be done, in any form.
    #[serde(default)]
    #[schemars(with = "Map<String, Value>")]
    plan: Option<Map<String, Value>>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// Always true: what is refused is answered with an error.
    success: bool,
    /// The name of the task.
    task_id: String,
    /// Whether it was there before: one pull request is reviewed once at one commit.
    already_there: bool,
    /// Who is to do it.
    agent_id: String,
    /// The queue that it waits in.
    queue: String,
    /// Where it stands.
    status: String,
    /// Its context, with what it took over from the task of whoever queued it.
    context: Map<String, Value>,
}

pub(super) fn tool(desk: &Arc<Desk>) -> Tool {
    let own = Arc::clone(desk);
    let tool = Tool::new(
        "queue_task_for_agent",
        "Queues a task for an agent, which takes it when its turn comes. Where you are working on \
         a task yourself, the new one belongs to the same repository, tickets and workflow. The \
         review of a pull request (github_repo and pr_number in the context) is queued once for \
         each of its commits: where it is there already, you are told so.",
        Effect::Adds,
        move |input| queue(&own, input),
    );
    tool.with_choices("agent_id", &desk.agents.names())
}

fn queue(desk: &Desk, input: Input) -> Result<Output, Refusal> {
    let queue = desk.agents.queue_of(&input.agent_id)?.clone();
    if !input.task_type.is_known() {
        return Err(Refusal::new(format!(
            "no agent knows work of the type `{}`; there are: {}",
            input.task_type,
            Kind::KNOWN.join(", ")
        )));
    }
    for id in &input.depends_on {
        desk.task(id)?;
    }
    let parent = desk.parent()?.map(|listed| listed.task);
    let now = Moment::now(&desk.clock);
    let id = TaskId::fresh(&input.task_type, input.agent_id.as_str(), now);
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
    task.context.retain(|key, _| !key.starts_with(OF_THE_WORKFLOW));
    task.created_by = match &parent {
        Some(parent) => parent.started_by.clone().unwrap_or_else(|| parent.assigned_to.clone()),
        None => "mcp".to_owned(),
    };
    if let Some(parent) = parent {
        inherit(&mut task.context, &parent.context);
        task.parent_task_id = Some(parent.id);
    }
    pulls::complete(desk, &mut task)?;
    let size = task.to_json().len();
    if size > MAX_TASK {
        let most = MAX_TASK;
        let message =
            format!("the task has {size} bytes, and may have {most}; shorten its context");
        return Err(Refusal::new(message));
    }
    match desk.queue.push(vec![Addressed { queue: queue.clone(), task: task.clone() }]) {
        Ok(()) => Ok(Output::of(task, queue.to_string(), false)),
        Err(QueueError::AlreadyThere { id, queue, .. }) => {
            Ok(Output::of(desk.task(&id)?.task, queue.to_string(), true))
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

/// Takes over what is not for the caller to say. What the review of a pull request was not trusted
/// to say, as a stranger opened that, no task that follows from it is.
fn inherit(context: &mut Map<String, Value>, parent: &Map<String, Value>) {
    if parent.contains_key("pr_number") {
        context.retain(|key, _| !TRUSTED.contains(&key.as_str()));
    }
    let is_taken_over = |key: &str| TRUSTED.contains(&key) || key.starts_with(OF_THE_WORKFLOW);
    for (key, value) in parent.iter().filter(|(key, _)| is_taken_over(key)) {
        context.insert(key.clone(), value.clone());
    }
}
