//! `github_link_pr_to_jira`: links between a pull request and its ticket, in both directions.

use std::sync::Arc;

use assay_services::github::PullUpdate;
use assay_services::jira::{CommentMarker, Jira};
use assay_services::permit::Capability;
use assay_store::pulls::TicketKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GithubTools, to_refusal};
use crate::mcp::{Effect, Refusal, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The repository, as owner/name; optional if exactly one is configured.
    #[serde(default)]
    #[schemars(with = "String", length(min = 3, max = 140))]
    repo: Option<String>,
    /// The number of the pull request.
    #[schemars(range(min = 1))]
    pr_number: u64,
    /// The key of the ticket, such as PROJ-123.
    #[schemars(length(min = 4, max = 60))]
    jira_key: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The key of the ticket.
    jira_key: String,
    /// The web address of the pull request.
    url: String,
    /// True if this call added the ticket to the pull request.
    pull_request_changed: bool,
    /// True if the ticket has a comment with the pull request.
    ticket_told: bool,
}

pub(super) fn tool(tools: &Arc<GithubTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "github_link_pr_to_jira",
        "Adds a ticket to the description of a pull request, and comments on the ticket if JIRA is \
         configured. Repeated calls change nothing.",
        Effect::Adds,
        move |input| link(&tools, &input),
    )
}

fn link(tools: &GithubTools, input: &Input) -> Result<Output, Refusal> {
    tools.check(Capability::WriteOnGithub)?;
    if tools.tickets.is_some() {
        tools.check(Capability::WriteInJira)?;
    }
    let key: TicketKey = input.jira_key.parse().map_err(|error| Refusal::of(&error))?;
    let repository = tools.repository(input.repo.as_deref())?;
    let failed = |error| to_refusal(&error, "github_get_pr");
    let pull = tools.github.pull(&repository, input.pr_number).map_err(failed)?;
    let place = tools.tickets.as_ref().map(|tickets| tickets.url_of(&key));
    let line = match place {
        Some(place) => format!("JIRA: [{key}]({place})"),
        None => format!("JIRA: {key}"),
    };
    let pull_request_changed = !pull.body.lines().any(|own| own.trim() == line);
    if pull_request_changed {
        let body = format!("{}\n\n{line}", pull.body.trim_end());
        let body = Some(body.trim_start().to_owned());
        let update = PullUpdate { body, ..PullUpdate::default() };
        tools.github.update_pull(&repository, input.pr_number, &update).map_err(failed)?;
    }
    if let Some(tickets) = &tools.tickets {
        comment_on_ticket(tickets, &key, &pull.url)?;
    }
    let ticket_told = tools.tickets.is_some();
    Ok(Output { jira_key: key.to_string(), url: pull.url, pull_request_changed, ticket_told })
}

/// Comments on a ticket with the URL of its pull request, unless such a comment exists.
fn comment_on_ticket(tickets: &Jira, key: &TicketKey, pull_url: &str) -> Result<(), Refusal> {
    let marker = CommentMarker::from_text(&format!("link {pull_url}"));
    let told = tickets.comment_once(key, &marker, &format!("Pull request: {pull_url}"));
    told.map(|_| ()).map_err(|error| Refusal::of(&error))
}
