//! `github_update_pr`: a new title, text, base or state for a pull request.

use std::sync::Arc;

use assay_services::github::PullUpdate;
use assay_services::permit::Capability;
use schemars::JsonSchema;
use serde::Deserialize;

use super::dto::PullRequestDto;
use super::{GithubTools, redact_outgoing, to_refusal};
use crate::mcp::{Effect, Refusal, Title, Tool};

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
    /// The new title.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 250))]
    title: Option<Title>,
    /// The new description, in Markdown; it replaces the old one.
    #[serde(default)]
    #[schemars(with = "String", length(max = 60_000))]
    body: Option<String>,
    /// The new base branch.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 250))]
    base: Option<String>,
    /// The new state: open or closed.
    #[serde(default)]
    #[schemars(with = "State")]
    state: Option<State>,
}

/// The requested state of a pull request.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum State {
    Open,
    Closed,
}

pub(super) fn tool(tools: &Arc<GithubTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "github_update_pr",
        "Updates the title, description, base branch or state of a pull request; omitted fields \
         stay unchanged.",
        Effect::Changes,
        move |input| update(&tools, input),
    )
}

fn update(tools: &GithubTools, input: Input) -> Result<PullRequestDto, Refusal> {
    tools.check(Capability::WriteOnGithub)?;
    let repository = tools.repository(input.repo.as_deref())?;
    let update = PullUpdate {
        title: input.title.as_ref().map(|title| redact_outgoing(title.as_str())),
        body: input.body.as_deref().map(redact_outgoing),
        base: input.base,
        open: input.state.map(|state| state == State::Open),
    };
    if update == PullUpdate::default() {
        return Err(Refusal::new("nothing to change: give `title`, `body`, `base` or `state`"));
    }
    let updated = tools.github.update_pull(&repository, input.pr_number, &update);
    updated.map(PullRequestDto::from).map_err(|error| to_refusal(&error, "github_get_pr"))
}
