//! `jira_transition_issue`: a transition of a ticket in its workflow.

use std::sync::Arc;

use assay_services::outcome::TransitionOutcome;
use assay_store::pulls::TicketKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{JiraTools, TicketKeySchema, not_permitted};
use crate::mcp::{Effect, Refusal, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The key of the ticket, such as PROJ-123.
    #[schemars(with = "TicketKeySchema")]
    issue_key: TicketKey,
    /// The target: code_review, approved or changes_requested, or the name of a transition or of a
    /// status of the workflow.
    #[schemars(length(min = 1, max = 100), regex(pattern = r"\S"))]
    transition: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The current status.
    status: String,
    /// The previous status, if the ticket was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    from: Option<String>,
    /// True if the ticket was moved; false if it was in the target status already.
    moved: bool,
}

pub(super) fn tool(tools: &Arc<JiraTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "jira_transition_issue",
        "Moves a ticket to another status, by a transition of its workflow.",
        Effect::Changes,
        move |input| transition(&tools, &input),
    )
}

fn transition(tools: &JiraTools, input: &Input) -> Result<Output, Refusal> {
    let wanted = tools.names.resolve(&input.transition);
    tools.permit.check_transition(wanted).map_err(|error| not_permitted(&error))?;
    let moved = tools.jira()?.transition(&input.issue_key, wanted);
    Ok(match moved.map_err(|error| Refusal::of(&error))? {
        TransitionOutcome::Moved { from, to } => {
            Output { status: to, from: Some(from), moved: true }
        }
        TransitionOutcome::Unchanged { status } => Output { status, from: None, moved: false },
    })
}
