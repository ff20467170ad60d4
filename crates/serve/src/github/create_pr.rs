//! `github_create_pr`: a new pull request.

use std::sync::Arc;

use assay_services::github::{NewPull, PullState};
use assay_services::permit::Deed;
use schemars::JsonSchema;
use serde::Deserialize;

use super::told::ToldPull;
use super::{Desk, cleared, refused};
use crate::mcp::{Effect, Refusal, Title, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The repository, as owner/name; where one alone is configured it can be left out.
    #[serde(default)]
    #[schemars(with = "String", length(min = 3, max = 140))]
    repo: Option<String>,
    /// What it is to be called; begin it with the ticket, such as `[PROJ-123]`, where there is one.
    #[schemars(length(min = 1, max = 250))]
    title: Title,
    /// What it is to say, in Markdown.
    #[serde(default)]
    #[schemars(length(max = 60_000))]
    body: String,
    /// The branch that is to be merged, which has to be on GitHub.
    #[schemars(length(min = 1, max = 250))]
    head: String,
    /// The branch that it is for; where it is left out, the repository's own.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 250))]
    base: Option<String>,
    /// Whether it is not meant to be reviewed yet.
    #[serde(default)]
    draft: bool,
}

pub(super) fn tool(desk: &Arc<Desk>) -> Tool {
    let desk = Arc::clone(desk);
    Tool::new(
        "github_create_pr",
        "Opens a pull request for a branch. Where the branch has an open one, that one is given.",
        Effect::Adds,
        move |input| create(&desk, input),
    )
}

fn create(desk: &Desk, input: Input) -> Result<ToldPull, Refusal> {
    desk.check(Deed::WriteOnGithub)?;
    let repository = desk.repository(input.repo.as_deref())?;
    let failed = |error| refused(&error, "github_get_pr_by_branch");
    let standing = desk.github.pull_of_branch(&repository, &input.head).map_err(failed)?;
    if let Some(pull) = standing.filter(|pull| pull.state == PullState::Open) {
        return Ok(pull.into());
    }
    let base = match input.base {
        Some(base) => base,
        None => desk.github.default_branch(&repository).map_err(failed)?,
    };
    let new = NewPull {
        title: cleared(input.title.as_str()),
        body: cleared(&input.body),
        head: input.head,
        base,
        draft: input.draft,
    };
    desk.github.open_pull(&repository, &new).map(ToldPull::from).map_err(failed)
}
