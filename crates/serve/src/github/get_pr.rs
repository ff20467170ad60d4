//! `github_get_pr`: a pull request.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::dto::PullRequestDto;
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
}

pub(super) fn tool(tools: &Arc<GithubTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "github_get_pr",
        "Returns a pull request: its title, description, state, branches and head commit.",
        Effect::Reads,
        move |input| get(&tools, &input),
    )
}

fn get(tools: &GithubTools, input: &Input) -> Result<PullRequestDto, Refusal> {
    let repository = tools.repository(input.repo.as_deref())?;
    let pull = tools.github.pull(&repository, input.pr_number);
    pull.map(PullRequestDto::from).map_err(|error| to_refusal(&error, "github_get_pr"))
}
