//! `jira_create_epic_with_subtasks`: an epic and its tickets.

use std::sync::Arc;

use assay_rules::redact;
use assay_services::jira::EpicChild;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::jira_create_issue::task;
use super::{JiraTools, TicketText};
use crate::mcp::{Effect, Refusal, Tool};

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
struct Input {
    #[serde(flatten)]
    text: TicketText,
    /// The tickets of the epic, created in this order.
    #[schemars(length(min = 1, max = 30))]
    subtasks: Vec<SubtaskInput>,
    /// The key of the project; by default the configured one.
    #[serde(default)]
    #[schemars(with = "String", regex(pattern = r"^[A-Z][A-Z0-9_]{0,40}$"))]
    project: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
struct SubtaskInput {
    #[serde(flatten)]
    text: TicketText,
    /// The type of the ticket: Task by default, or Story, Bug or another type of the project.
    #[serde(default = "task")]
    #[schemars(length(min = 1, max = 60))]
    issue_type: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The key of the epic.
    epic: String,
    /// The keys of the tickets in the epic.
    subtasks: Vec<String>,
}

pub(super) fn tool(tools: &Arc<JiraTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "jira_create_epic_with_subtasks",
        "Creates an epic and its tickets, in order. If one fails, the error lists the created \
         tickets, which stay.",
        Effect::Adds,
        move |input| create(&tools, input),
    )
}

fn create(tools: &JiraTools, input: Input) -> Result<Output, Refusal> {
    tools.check_creating()?;
    let project = tools.project(input.project.as_deref())?;
    let child = |part: SubtaskInput| EpicChild {
        kind: redact(&part.issue_type).into_owned(),
        draft: part.text.draft(),
    };
    let children: Vec<EpicChild> = input.subtasks.into_iter().map(child).collect();
    let made = tools.jira()?.create_epic_with(&project, &input.text.draft(), &children);
    let (epic, made) = made.map_err(|error| Refusal::of(&error))?;
    Ok(Output {
        epic: epic.as_str().to_owned(),
        subtasks: made.iter().map(|key| key.as_str().to_owned()).collect(),
    })
}
