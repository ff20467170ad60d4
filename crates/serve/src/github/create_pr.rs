//! `github_create_pr`: a new pull request.

use std::sync::Arc;

use assay_services::github::{NewPull, PullState};
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
    /// The title; start it with the ticket, such as `[PROJ-123]`, if there is one.
    #[schemars(length(min = 1, max = 250))]
    title: Title,
    /// The description, in Markdown.
    #[serde(default)]
    #[schemars(length(max = 60_000))]
    body: String,
    /// The branch to merge, which must exist on GitHub.
    #[schemars(length(min = 1, max = 250))]
    head: String,
    /// The branch to merge into; by default the default branch of the repository.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 250))]
    base: Option<String>,
    /// True to open the pull request as a draft.
    #[serde(default)]
    draft: bool,
}

pub(super) fn tool(tools: &Arc<GithubTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "github_create_pr",
        "Opens a pull request for a branch. Returns the open pull request of the branch if there \
         is one.",
        Effect::Adds,
        move |input| create(&tools, input),
    )
}

fn create(tools: &GithubTools, input: Input) -> Result<PullRequestDto, Refusal> {
    tools.check(Capability::WriteOnGithub)?;
    let repository = tools.repository(input.repo.as_deref())?;
    let failed = |error| to_refusal(&error, "github_get_pr_by_branch");
    let standing = tools.github.pull_of_branch(&repository, &input.head).map_err(failed)?;
    if let Some(pull) = standing.filter(|pull| pull.state == PullState::Open) {
        return Ok(pull.into());
    }
    let base = match input.base {
        Some(base) => base,
        None => tools.github.default_branch(&repository).map_err(failed)?,
    };
    let new = NewPull {
        title: redact_outgoing(input.title.as_str()),
        body: redact_outgoing(&input.body),
        head: input.head,
        base,
        draft: input.draft,
    };
    tools.github.open_pull(&repository, &new).map(PullRequestDto::from).map_err(failed)
}
