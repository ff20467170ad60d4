//! `github_submit_review`: a review of a pull request, in one call.

use std::sync::Arc;

use assay_services::github::{Event, NewReview};
use assay_services::permit::Deed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::add_pr_comment::on_lines;
use super::{Desk, cleared, refused};
use crate::mcp::{Effect, Refusal, Tool};

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
    /// What it says of the whole.
    event: Word,
    /// What to say of the whole, in Markdown; only an approval can do without.
    #[serde(default)]
    #[schemars(length(max = 60_000))]
    body: String,
    /// The commit that you looked at, as github_get_pr gave it; an approval needs it, and is refused
    /// where the pull request has another by now.
    #[serde(default)]
    #[schemars(with = "String", length(min = 40, max = 64))]
    head_commit: Option<String>,
    /// What to say of lines.
    #[serde(default)]
    #[schemars(length(max = 50))]
    comments: Vec<Comment>,
}

/// What a review says of the whole.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Word {
    Approve,
    RequestChanges,
    Comment,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Comment {
    /// The file.
    #[schemars(length(min = 1, max = 4_096))]
    path: String,
    /// The line, or the last of several, as it is after the change; it has to be in the diff.
    #[schemars(range(min = 1))]
    line: u32,
    /// The first line, where there are several.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1))]
    start_line: Option<u32>,
    /// What to say, in Markdown.
    #[schemars(length(min = 1, max = 60_000))]
    body: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The number of the review.
    id: u64,
    /// Where it stands, such as `APPROVED`.
    state: String,
    /// Where people find it.
    url: String,
}

pub(super) fn tool(desk: &Arc<Desk>) -> Tool {
    let desk = Arc::clone(desk);
    Tool::new(
        "github_submit_review",
        "Sends a review of a pull request: approve, request changes or comment, with comments on \
         lines of the diff. All of it is sent, or nothing where one line is not in the diff.",
        Effect::Adds,
        move |input| submit(&desk, input),
    )
}

fn submit(desk: &Desk, input: Input) -> Result<Output, Refusal> {
    desk.check(Deed::WriteOnGithub)?;
    let repository = desk.repository(input.repo.as_deref())?;
    let event = match input.event {
        Word::Approve => Event::Approve,
        Word::RequestChanges => Event::RequestChanges,
        Word::Comment => Event::Comment,
    };
    if input.body.trim().is_empty() && event != Event::Approve {
        return Err(Refusal::new("`body` is empty, which only an approval can be"));
    }
    let comments = input.comments.into_iter().map(|comment| {
        on_lines(comment.path, comment.start_line, comment.line, cleared(&comment.body))
    });
    let comments = comments.collect::<Result<_, _>>()?;
    let failed = |error| refused(&error, "github_get_pr_comments");
    let commit = desk.github.pull(&repository, input.pr_number).map_err(failed)?.head.commit;
    match &input.head_commit {
        Some(seen) if *seen != commit.as_str() => {
            return Err(Refusal::new(format!(
                "the pull request is at {commit} by now; nothing was sent. Look at it again."
            )));
        }
        None if event == Event::Approve => {
            return Err(Refusal::new(
                "`head_commit` is missing: an approval says which commit was looked at",
            ));
        }
        Some(_) | None => {}
    }
    let review = NewReview { commit, event, body: cleared(&input.body), comments };
    let posted = desk.github.submit_review(&repository, input.pr_number, &review);
    let posted = posted.map_err(|error| match error.status() {
        Some(422) if !review.comments.is_empty() => Refusal::new(format!(
            "{}. Nothing was sent. Each line has to be in the diff, which github_get_pr_diff gives; \
             say of other lines what there is to say in `body`.",
            Refusal::of(&error)
        )),
        _ => failed(error),
    })?;
    Ok(Output { id: posted.id, state: posted.state, url: posted.html_url })
}
