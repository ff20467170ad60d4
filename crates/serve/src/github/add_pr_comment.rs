//! `github_add_pr_comment`: a comment on a pull request, one of its files, or lines of a file.

use std::sync::Arc;

use assay_services::github::{LineComment, Side};
use assay_services::permit::Capability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GithubTools, redact_outgoing, to_refusal};
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
    /// The text of the comment, in Markdown.
    #[schemars(length(min = 1, max = 60_000))]
    body: String,
    /// The path of the file to comment on; omit it to comment on the whole pull request.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 4_096))]
    path: Option<String>,
    /// The line of the file after the change, which must be in the diff; omit it to comment on the
    /// whole file.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1))]
    line: Option<u32>,
    /// The first line of a range that ends at `line`.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1))]
    start_line: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The id of the comment.
    id: u64,
    /// The web address of the comment.
    url: String,
}

pub(super) fn tool(tools: &Arc<GithubTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "github_add_pr_comment",
        "Comments on a pull request, on one of its files, or on lines in its diff. For several \
         comments use github_submit_review, which sends them together.",
        Effect::Adds,
        move |input| add(&tools, &input),
    )
}

fn add(tools: &GithubTools, input: &Input) -> Result<Output, Refusal> {
    tools.check(Capability::WriteOnGithub)?;
    let repository = tools.repository(input.repo.as_deref())?;
    let (number, body) = (input.pr_number, redact_outgoing(&input.body));
    let failed = |error| to_refusal(&error, "github_get_pr_comments");
    let head = || Ok(tools.github.pull(&repository, number).map_err(failed)?.head.commit);
    let posted = match (&input.path, input.line) {
        (None, None) if input.start_line.is_none() => {
            let posted = tools.github.comment(&repository, number, &body).map_err(failed)?;
            return Ok(Output { id: posted.id, url: posted.url });
        }
        (Some(path), None) if input.start_line.is_none() => {
            tools.github.comment_on_file(&repository, number, &head()?, path, &body)
        }
        (Some(path), Some(line)) => {
            let comment = on_lines(path.clone(), input.start_line, line, body)?;
            tools.github.comment_on_lines(&repository, number, &head()?, &comment)
        }
        (None, _) => {
            return Err(Refusal::new("`line` and `start_line` need the `path` of their file"));
        }
        (Some(_), None) => return Err(Refusal::new("`start_line` requires `line`")),
    };
    let posted = posted.map_err(failed)?;
    Ok(Output { id: posted.id, url: posted.url })
}

/// Builds a comment on a line, or on a range of lines, of the file after the change. Refuses a
/// range whose start is after its end.
pub(super) fn on_lines(
    path: String,
    start_line: Option<u32>,
    line: u32,
    body: String,
) -> Result<LineComment, Refusal> {
    let start_line = start_line.filter(|&start| start != line);
    if start_line.is_some_and(|start| start > line) {
        return Err(Refusal::new("`start_line` must be before `line`"));
    }
    let start_side = start_line.map(|_| Side::Right);
    Ok(LineComment { path, line, side: Side::Right, start_line, start_side, body })
}
