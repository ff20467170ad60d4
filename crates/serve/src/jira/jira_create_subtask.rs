//! `jira_create_subtask`: a subtask of a ticket.

use std::sync::Arc;

use assay_services::jira::NewTicket;
use assay_store::pulls::TicketKey;
use schemars::JsonSchema;
use serde::Deserialize;

use super::jira_create_issue::create;
use super::{JiraTools, TicketKeySchema, TicketText};
use crate::mcp::{Effect, Tool};

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
struct Input {
    #[serde(flatten)]
    text: TicketText,
    /// The key of the parent ticket, which must not be an epic.
    #[schemars(with = "TicketKeySchema")]
    parent_key: TicketKey,
}

pub(super) fn tool(tools: &Arc<JiraTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "jira_create_subtask",
        "Creates a subtask of a ticket. Create the tickets of an epic with jira_create_issue.",
        Effect::Adds,
        move |input: Input| {
            // A subtask is in the project of its parent.
            let project = input.parent_key.project().to_owned();
            let what = NewTicket::Subtask { parent: input.parent_key };
            create(&tools, Some(&project), &what, &input.text.draft())
        },
    )
}
