//! `jira_search_issues`: tickets by JQL.

use std::sync::Arc;

use assay_rules::redact;
use assay_services::jira::IssueHeader;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{JiraTools, truncate};
use crate::mcp::{Effect, Refusal, Tool};

/// The default number of tickets in an answer.
const DEFAULT_LIMIT: usize = 20;

/// The maximum number of characters of a summary.
const MAX_SUMMARY: usize = 255;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The query, such as: project = PROJ AND status = "Code Review" ORDER BY created DESC
    #[schemars(length(min = 1, max = 4_000))]
    jql: String,
    /// The maximum number of tickets, 20 by default.
    #[serde(default)]
    #[schemars(with = "u8", range(min = 1, max = 100))]
    limit: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The tickets that match.
    issues: Vec<TicketLine>,
    /// True if more tickets match; use a narrower query to get them.
    more: bool,
}

/// A ticket in a list.
#[derive(Serialize, JsonSchema)]
pub(super) struct TicketLine {
    /// The key of the ticket.
    key: String,
    /// The summary of the ticket.
    summary: String,
    /// The status of the ticket.
    status: String,
    /// The type of the ticket.
    #[serde(rename = "type")]
    kind: String,
    /// The name of the assignee.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    assignee: Option<String>,
    /// The labels of the ticket.
    labels: Vec<String>,
    /// The key of the parent: an epic, or the ticket of a subtask.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    parent: Option<String>,
}

impl From<IssueHeader> for TicketLine {
    fn from(listed: IssueHeader) -> TicketLine {
        let IssueHeader { key, summary, status, kind, assignee, labels, parent } = listed;
        TicketLine {
            key: key.as_str().to_owned(),
            summary: truncate(&summary, MAX_SUMMARY).0,
            status,
            kind,
            assignee,
            labels: labels.into_iter().take(20).collect(),
            parent: parent.map(|key| key.as_str().to_owned()),
        }
    }
}

pub(super) fn tool(tools: &Arc<JiraTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "jira_search_issues",
        "Searches tickets with JQL.",
        Effect::Reads,
        move |input: Input| {
            let most = input.limit.unwrap_or(DEFAULT_LIMIT);
            let found = tools.jira()?.search(&redact(&input.jql), most);
            let found = found.map_err(|error| Refusal::of(&error))?;
            let issues = found.issues.into_iter().map(TicketLine::from).collect();
            Ok(Output { issues, more: found.more })
        },
    )
}
