//! `github_update_pr`: another title, text, base or state for a pull request.

use std::sync::Arc;

use assay_services::github::PullUpdate;
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
    /// The number of the pull request.
    #[schemars(range(min = 1))]
    pr_number: u64,
    /// What it is to be called.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 250))]
    title: Option<Title>,
    /// What it is to say, in Markdown, in place of what it says.
    #[serde(default)]
    #[schemars(with = "String", length(max = 60_000))]
    body: Option<String>,
    /// The branch that it is to be for.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 250))]
    base: Option<String>,
    /// Whether it is to be open or closed.
    #[serde(default)]
    #[schemars(with = "State")]
    state: Option<State>,
}

/// Where a pull request is to stand.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum State {
    Open,
    Closed,
}

pub(super) fn tool(desk: &Arc<Desk>) -> Tool {
    let desk = Arc::clone(desk);
    Tool::new(
        "github_update_pr",
        "Changes the title, the text, the base or the state of a pull request; what is left out \
         stays.",
        Effect::Changes,
        move |input| update(&desk, input),
    )
}

fn update(desk: &Desk, input: Input) -> Result<ToldPull, Refusal> {
    desk.check(Deed::WriteOnGithub)?;
    let repository = desk.repository(input.repo.as_deref())?;
    let update = PullUpdate {
        title: input.title.as_ref().map(|title| cleared(title.as_str())),
        body: input.body.as_deref().map(cleared),
        base: input.base,
        open: input.state.map(|state| state == State::Open),
    };
    if update == PullUpdate::default() {
        return Err(Refusal::new(
            "there is nothing to change: give `title`, `body`, `base` or `state`",
        ));
    }
    let updated = desk.github.update_pull(&repository, input.pr_number, &update);
    updated.map(ToldPull::from).map_err(|error| refused(&error, "github_get_pr"))
}
