//! `jira_add_comment`: a comment on a ticket.

use std::sync::Arc;

use assay_rules::redact;
use assay_services::permit::Capability;
use assay_store::pulls::TicketKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{JiraTools, TicketKeySchema};
use crate::mcp::{Effect, Refusal, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The key of the ticket, such as PROJ-123.
    #[schemars(with = "TicketKeySchema")]
    issue_key: TicketKey,
    /// The text; paragraphs, lists with `-`, code between ``` and links are preserved.
    #[schemars(length(min = 1, max = 28_000), regex(pattern = r"\S"))]
    comment: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The id of the comment.
    comment_id: String,
}

pub(super) fn tool(tools: &Arc<JiraTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "jira_add_comment",
        "Adds a comment to a ticket.",
        Effect::Adds,
        move |input: Input| {
            tools.check(Capability::WriteInJira)?;
            let comment = redact(&input.comment).into_owned();
            let posted = tools.jira()?.comment(&input.issue_key, &comment);
            Ok(Output { comment_id: posted.map_err(|error| Refusal::of(&error))? })
        },
    )
}
