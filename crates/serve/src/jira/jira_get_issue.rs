//! `jira_get_issue`: one ticket with its latest comments.

use std::sync::Arc;

use assay_services::jira::Comment;
use assay_store::pulls::TicketKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::jira_search_issues::TicketLine;
use super::{JiraTools, TicketKeySchema, truncate};
use crate::mcp::{Effect, Refusal, Tool};

/// The maximum number of characters of a description, and of a comment.
const MAX_DESCRIPTION: usize = 20_000;
const MAX_COMMENT: usize = 4_000;

/// The default number of comments in an answer.
const DEFAULT_COMMENTS: usize = 10;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The key of the ticket, such as PROJ-123.
    #[schemars(with = "TicketKeySchema")]
    issue_key: TicketKey,
    /// The number of latest comments to return, 10 by default.
    #[serde(default)]
    #[schemars(with = "u8", range(max = 50))]
    comments: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    #[serde(flatten)]
    listed: TicketLine,
    /// The description of the ticket.
    description: String,
    /// True if the end of the description is missing.
    description_cut: bool,
    /// The comments, latest first.
    comments: Vec<TicketComment>,
    /// The number of older comments that are not returned.
    older_comments: usize,
}

#[derive(Serialize, JsonSchema)]
struct TicketComment {
    /// The name of the author.
    author: String,
    /// The time at which the comment was written.
    created: String,
    /// The text of the comment.
    text: String,
    /// True if the end of the text is missing.
    cut: bool,
}

impl From<Comment> for TicketComment {
    fn from(comment: Comment) -> TicketComment {
        let (text, is_cut) = truncate(&comment.text, MAX_COMMENT);
        TicketComment { author: comment.author, created: comment.created, text, cut: is_cut }
    }
}

pub(super) fn tool(tools: &Arc<JiraTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "jira_get_issue",
        "Returns a ticket with its description, status and latest comments.",
        Effect::Reads,
        move |input: Input| {
            let issue =
                tools.jira()?.issue(&input.issue_key, input.comments.unwrap_or(DEFAULT_COMMENTS));
            let issue = issue.map_err(|error| Refusal::of(&error))?;
            let (description, description_cut) = truncate(&issue.description, MAX_DESCRIPTION);
            Ok(Output {
                listed: issue.header.into(),
                description,
                description_cut,
                comments: issue.comments.into_iter().map(TicketComment::from).collect(),
                older_comments: issue.older_comments,
            })
        },
    )
}
