//! `jira_create_epic`: a new epic.

use std::sync::Arc;

use assay_services::jira::NewTicket;
use schemars::JsonSchema;
use serde::Deserialize;

use super::jira_create_issue::create;
use super::{JiraTools, TicketText};
use crate::mcp::{Effect, Tool};

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
struct Input {
    #[serde(flatten)]
    text: TicketText,
    /// The key of the project; by default the configured one.
    #[serde(default)]
    #[schemars(with = "String", regex(pattern = r"^[A-Z][A-Z0-9_]{0,40}$"))]
    project: Option<String>,
}

pub(super) fn tool(tools: &Arc<JiraTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new("jira_create_epic", "Creates an epic.", Effect::Adds, move |input: Input| {
        create(&tools, input.project.as_deref(), &NewTicket::Epic, &input.text.draft())
    })
}
