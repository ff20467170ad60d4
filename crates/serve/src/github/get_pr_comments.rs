//! `github_get_pr_comments`: what is said on a pull request.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::told::cut;
use super::{Desk, refused};
use crate::mcp::{Effect, Refusal, Tool};

/// How many comments of each kind are given at the most.
const MOST: usize = 200;

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
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The comments on lines and files.
    on_lines: Vec<OnLine>,
    /// The comments below the pull request.
    below: Vec<Below>,
    /// Whether there are more than these.
    more: bool,
}

#[derive(Serialize, JsonSchema)]
struct OnLine {
    /// Its number.
    id: u64,
    /// Who wrote it.
    author: String,
    /// The file.
    path: String,
    /// The line, unless it is about the whole file or the line is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    line: Option<u64>,
    /// The comment that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    in_reply_to: Option<u64>,
    /// What it says, cut where it is long.
    body: String,
    /// Where people find it.
    url: String,
}

#[derive(Serialize, JsonSchema)]
struct Below {
    /// Its number.
    id: u64,
    /// Who wrote it.
    author: String,
    /// What it says, cut where it is long.
    body: String,
    /// Where people find it.
    url: String,
}

pub(super) fn tool(desk: &Arc<Desk>) -> Tool {
    let desk = Arc::clone(desk);
    Tool::new(
        "github_get_pr_comments",
        "Reads the comments on a pull request: those on lines and files, and those below it.",
        Effect::Reads,
        move |input| get(&desk, &input),
    )
}

fn get(desk: &Desk, input: &Input) -> Result<Output, Refusal> {
    let repository = desk.repository(input.repo.as_deref())?;
    let failed = |error| refused(&error, "github_get_pr_comments");
    let number = input.pr_number;
    let on_lines = desk.github.review_comments(&repository, number, MOST).map_err(failed)?;
    let below = desk.github.comments(&repository, number, MOST).map_err(failed)?;
    let more = on_lines.1 || below.1;
    let on_lines = on_lines.0.into_iter().map(|comment| OnLine {
        id: comment.id,
        author: comment.author,
        path: comment.path,
        line: comment.line,
        in_reply_to: comment.in_reply_to,
        body: cut(&comment.body),
        url: comment.url,
    });
    let below = below.0.into_iter().map(|comment| Below {
        id: comment.id,
        author: comment.author,
        body: cut(&comment.body),
        url: comment.url,
    });
    Ok(Output { on_lines: on_lines.collect(), below: below.collect(), more })
}
