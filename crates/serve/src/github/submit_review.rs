//! `github_submit_review`: a review of a pull request, in one call.
//!
//! The tool asks for changes and comments. It does not approve: an approval follows from a review by
//! assay, which decides it in `assay_findings::post::approval`, and never from a caller's word.

use std::sync::Arc;

use assay_services::github::{Event, NewReview};
use assay_services::permit::Deed;
use assay_store::pulls::RepositoryName;
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
    /// What it says of the whole. APPROVE is refused: an approval follows from a review by assay.
    event: Word,
    /// What to say of the whole, in Markdown.
    #[serde(default)]
    #[schemars(length(max = 60_000))]
    body: String,
    /// The commit that you looked at, as github_get_pr gave it; the review is refused where the pull
    /// request has another by now.
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
        "Sends a review of a pull request: requests changes or comments, with comments on lines of \
         the diff. All of it is sent, or nothing where one line is not in the diff.",
        Effect::Adds,
        move |input| submit(&desk, input),
    )
}

fn submit(desk: &Desk, input: Input) -> Result<Output, Refusal> {
    desk.check(Deed::WriteOnGithub)?;
    let repository = desk.repository(input.repo.as_deref())?;
    let event = match input.event {
        Word::Approve => return Err(not_approved(&repository, input.pr_number)),
        Word::RequestChanges => Event::RequestChanges,
        Word::Comment => Event::Comment,
    };
    if input.body.trim().is_empty() {
        return Err(Refusal::new("`body` is empty: say what the review comes to"));
    }
    let comments = input.comments.into_iter().map(|comment| {
        on_lines(comment.path, comment.start_line, comment.line, cleared(&comment.body))
    });
    let comments = comments.collect::<Result<_, _>>()?;
    let failed = |error| refused(&error, "github_get_pr_comments");
    let commit = desk.github.pull(&repository, input.pr_number).map_err(failed)?.head.commit;
    if input.head_commit.as_ref().is_some_and(|seen| *seen != commit.as_str()) {
        return Err(Refusal::new(format!(
            "the pull request is at {commit} by now; nothing was sent. Look at it again."
        )));
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

/// Refuses an approval, and names the way to one.
fn not_approved(repository: &RepositoryName, number: u64) -> Refusal {
    Refusal::new(format!(
        "an approval is not sent by this tool: it follows from a review by assay, not from a \
         caller's word. `assay review --pr {repository}#{number} --post` and tasks of the type \
         `review` approve where `github.when_ready: approve` is set, every required reader answered, \
         a model read the change, and nothing is open at `should` or above. Nothing was sent; send \
         COMMENT instead."
    ))
}
