//! `github_get_pr`: a pull request.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::told::ToldPull;
use super::{Desk, refused};
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

pub(super) fn tool(desk: &Arc<Desk>) -> Tool {
    let desk = Arc::clone(desk);
    Tool::new(
        "github_get_pr",
        "Reads a pull request: its title, text, state, branches and last commit.",
        Effect::Reads,
        move |input| get(&desk, &input),
    )
}

fn get(desk: &Desk, input: &Input) -> Result<ToldPull, Refusal> {
    let repository = desk.repository(input.repo.as_deref())?;
    let pull = desk.github.pull(&repository, input.pr_number);
    pull.map(ToldPull::from).map_err(|error| refused(&error, "github_get_pr"))
}
