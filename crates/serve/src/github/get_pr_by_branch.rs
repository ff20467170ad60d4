//! `github_get_pr_by_branch`: the pull request of a branch.

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
    /// The head branch of the pull request.
    #[schemars(length(min = 1, max = 250))]
    branch: String,
}

pub(super) fn tool(tools: &Arc<GithubTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "github_get_pr_by_branch",
        "Returns the pull request of a branch: the open one, or else the latest closed one.",
        Effect::Reads,
        move |input| get(&tools, &input),
    )
}

fn get(tools: &GithubTools, input: &Input) -> Result<PullRequestDto, Refusal> {
    let repository = tools.repository(input.repo.as_deref())?;
    let found = tools.github.pull_of_branch(&repository, &input.branch);
    let found = found.map_err(|error| to_refusal(&error, "github_get_pr_by_branch"))?;
    found.map(PullRequestDto::from).ok_or_else(|| {
        Refusal::new(format!("`{repository}` has no pull request of branch `{}`", input.branch))
    })
}
