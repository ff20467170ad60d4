//! `github_get_check_runs`: the results of checks on a pull request or a commit.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dto::truncate_name;
use super::{GithubTools, to_refusal};
use crate::mcp::{Effect, Refusal, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The repository, as owner/name; optional if exactly one is configured.
    #[serde(default)]
    #[schemars(with = "String", length(min = 3, max = 140))]
    repo: Option<String>,
    /// The number of the pull request, whose last commit is used.
    #[serde(default)]
    #[schemars(with = "u64", range(min = 1))]
    pr_number: Option<u64>,
    /// A commit or a branch, instead of a pull request.
    #[serde(default, rename = "ref")]
    #[schemars(with = "String", length(min = 1, max = 250))]
    reference: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The commit or branch that the checks ran on.
    #[serde(rename = "ref")]
    reference: String,
    /// The check runs.
    check_runs: Vec<CheckRunDto>,
    /// True if there are more check runs than these.
    more: bool,
}

#[derive(Serialize, JsonSchema)]
struct CheckRunDto {
    /// The id of the check run.
    id: u64,
    /// The name of the check.
    name: String,
    /// The status: `queued`, `in_progress` or `completed`.
    status: String,
    /// The conclusion of a completed check run, such as `success`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    conclusion: Option<String>,
    /// The web address of the check run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    url: Option<String>,
}

pub(super) fn tool(tools: &Arc<GithubTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "github_get_check_runs",
        "Returns the check runs of the head commit of a pull request, or of a commit or a branch.",
        Effect::Reads,
        move |input| get(&tools, &input),
    )
}

fn get(tools: &GithubTools, input: &Input) -> Result<Output, Refusal> {
    let repository = tools.repository(input.repo.as_deref())?;
    let failed = |error| to_refusal(&error, "github_get_check_runs");
    let reference = match (input.pr_number, &input.reference) {
        (None, Some(reference)) => reference.clone(),
        (Some(number), None) => {
            tools.github.pull(&repository, number).map_err(failed)?.head.commit.to_string()
        }
        _ => return Err(Refusal::new("give either `pr_number` or `ref`")),
    };
    let (runs, more) = tools.github.check_runs(&repository, &reference).map_err(failed)?;
    let check_runs = runs.into_iter().map(|run| CheckRunDto {
        id: run.id,
        name: truncate_name(&run.name),
        status: run.status,
        conclusion: run.conclusion,
        url: run.html_url,
    });
    Ok(Output { reference, check_runs: check_runs.collect(), more })
}
