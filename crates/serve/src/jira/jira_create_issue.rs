//! `jira_create_issue`: a new ticket.

use std::sync::Arc;

use assay_rules::redact;
use assay_services::jira::{NewTicket, TicketDraft};
use assay_store::pulls::TicketKey;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{CreatedTicket, JiraTools, TicketKeySchema, TicketText};
use crate::mcp::{Effect, Refusal, Tool};

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
struct Input {
    #[serde(flatten)]
    text: TicketText,
    /// The type of the ticket: Task by default, or Story, Bug or another type of the project.
    #[serde(default = "task")]
    #[schemars(length(min = 1, max = 60))]
    issue_type: String,
    /// The key of the epic that the ticket belongs to.
    #[serde(default)]
    #[schemars(with = "TicketKeySchema")]
    epic_key: Option<TicketKey>,
    /// The key of the project; by default the configured one.
    #[serde(default)]
    #[schemars(with = "String", regex(pattern = r"^[A-Z][A-Z0-9_]{0,40}$"))]
    project: Option<String>,
}

pub(super) fn task() -> String {
    "Task".to_owned()
}

pub(super) fn tool(tools: &Arc<JiraTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "jira_create_issue",
        "Creates a ticket. Search for an existing one with jira_search_issues first.",
        Effect::Adds,
        move |input: Input| {
            let kind = redact(&input.issue_type).into_owned();
            let what = NewTicket::Issue { kind, epic: input.epic_key };
            create(&tools, input.project.as_deref(), &what, &input.text.draft())
        },
    )
}

/// Creates a ticket. Refuses if the caller may not create tickets.
pub(super) fn create(
    tools: &JiraTools,
    project: Option<&str>,
    what: &NewTicket,
    draft: &TicketDraft,
) -> Result<CreatedTicket, Refusal> {
    tools.check_creating()?;
    let project = tools.project(project)?;
    let key = tools.jira()?.create(&project, what, draft);
    Ok(key.map_err(|error| Refusal::of(&error))?.into())
}
