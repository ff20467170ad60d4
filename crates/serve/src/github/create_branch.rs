//! `github_create_branch`: a new branch.

use std::sync::Arc;

use assay_services::http::ServiceError;
use assay_services::permit::Capability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::GithubTools;
use crate::mcp::{Effect, Refusal, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The repository, as owner/name; optional if exactly one is configured.
    #[serde(default)]
    #[schemars(with = "String", length(min = 3, max = 140))]
    repo: Option<String>,
    /// The name of the new branch.
    #[schemars(length(min = 1, max = 250))]
    branch: String,
    /// The branch to start from; by default the default branch of the repository.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 250))]
    from: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The name of the branch.
    branch: String,
    /// The commit at the tip of the branch.
    commit: String,
}

pub(super) fn tool(tools: &Arc<GithubTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "github_create_branch",
        "Creates a branch on GitHub, at the head commit of another one. Returns the branch if it \
         already exists at that commit.",
        Effect::Adds,
        move |input| create(&tools, input),
    )
}

fn create(tools: &GithubTools, input: Input) -> Result<Output, Refusal> {
    tools.check(Capability::Push)?;
    let repository = tools.repository(input.repo.as_deref())?;
    let failed = |error: ServiceError| Refusal::of(&error);
    let from = match input.from {
        Some(from) => from,
        None => tools.github.default_branch(&repository).map_err(failed)?,
    };
    let Some(at) = tools.github.branch(&repository, &from).map_err(failed)? else {
        return Err(Refusal::new(format!("unknown branch `{from}` in `{repository}`")));
    };
    let branch = input.branch;
    match tools.github.branch(&repository, &branch).map_err(failed)? {
        Some(commit) if commit == at => return Ok(Output { branch, commit: commit.to_string() }),
        Some(commit) => {
            return Err(Refusal::new(format!(
                "branch `{branch}` already exists, at {commit}: use it, or choose another name"
            )));
        }
        None => {}
    }
    let made = tools.github.create_branch(&repository, &branch, &at);
    let commit = made.map_err(|error| match error.is_outcome_unknown() {
        true => Refusal::new(format!(
            "{}. The branch may have been created nevertheless: call github_create_branch again, \
             which creates no branch twice.",
            Refusal::of(&error)
        )),
        false => failed(error),
    })?;
    Ok(Output { branch, commit: commit.to_string() })
}
