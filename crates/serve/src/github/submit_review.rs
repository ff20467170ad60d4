//! `github_submit_review`: a review of a pull request, in one call.
//!
//! The tool can request changes or comment. It does not approve: an approval follows from a review
//! by assay, which is decided in `assay_findings::post::approval`, and never from the word of a
//! caller.

use std::sync::Arc;

use assay_services::github::{Event, NewReview};
use assay_services::permit::Capability;
use assay_store::pulls::RepositoryName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::add_pr_comment::on_lines;
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
    /// The decision on the whole. APPROVE is refused: an approval follows from a review by assay.
    event: ReviewDecision,
    /// The text on the whole, in Markdown.
    #[serde(default)]
    #[schemars(length(max = 60_000))]
    body: String,
    /// The commit that you reviewed, as returned by github_get_pr. The review is refused if the
    /// pull request has another head commit by now.
    #[serde(default)]
    #[schemars(with = "String", length(min = 40, max = 64))]
    head_commit: Option<String>,
    /// Comments on lines.
    #[serde(default)]
    #[schemars(length(max = 50))]
    comments: Vec<Comment>,
}

/// The decision of a review on the whole.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum ReviewDecision {
    Approve,
    RequestChanges,
    Comment,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Comment {
    /// The path of the file.
    #[schemars(length(min = 1, max = 4_096))]
    path: String,
    /// The line after the change, or the last line of a range; it must be in the diff.
    #[schemars(range(min = 1))]
    line: u32,
    /// The first line of a range that ends at `line`.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1))]
    start_line: Option<u32>,
    /// The text of the comment, in Markdown.
    #[schemars(length(min = 1, max = 60_000))]
    body: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The id of the review.
    id: u64,
    /// The state of the review, such as `CHANGES_REQUESTED`.
    state: String,
    /// The web address of the review.
    url: String,
}

pub(super) fn tool(tools: &Arc<GithubTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "github_submit_review",
        "Submits a review of a pull request: requests changes or comments, with comments on lines \
         of the diff. Nothing is sent if one line is not in the diff.",
        Effect::Adds,
        move |input| submit(&tools, input),
    )
}

fn submit(tools: &GithubTools, input: Input) -> Result<Output, Refusal> {
    tools.check(Capability::WriteOnGithub)?;
    let repository = tools.repository(input.repo.as_deref())?;
    let event = match input.event {
        ReviewDecision::Approve => return Err(refuse_approval(&repository, input.pr_number)),
        ReviewDecision::RequestChanges => Event::RequestChanges,
        ReviewDecision::Comment => Event::Comment,
    };
    if input.body.trim().is_empty() {
        return Err(Refusal::new("`body` is empty: write a summary of the review"));
    }
    let comments = input.comments.into_iter().map(|comment| {
        on_lines(comment.path, comment.start_line, comment.line, redact_outgoing(&comment.body))
    });
    let comments = comments.collect::<Result<_, _>>()?;
    let failed = |error| to_refusal(&error, "github_get_pr_comments");
    let commit = tools.github.pull(&repository, input.pr_number).map_err(failed)?.head.commit;
    if input.head_commit.as_ref().is_some_and(|seen| *seen != commit.as_str()) {
        return Err(Refusal::new(format!(
            "the pull request has the new head commit {commit}; nothing was sent. Review the new \
             commit."
        )));
    }
    let review = NewReview { commit, event, body: redact_outgoing(&input.body), comments };
    let posted = tools.github.submit_review(&repository, input.pr_number, &review);
    let posted = posted.map_err(|error| match error.status() {
        Some(422) if !review.comments.is_empty() => Refusal::new(format!(
            "{}. Nothing was sent. Each line must be in the diff, which github_get_pr_diff \
             returns; comment on other lines in `body`.",
            Refusal::of(&error)
        )),
        _ => failed(error),
    })?;
    Ok(Output { id: posted.id, state: posted.state, url: posted.html_url })
}

/// Refuses an approval with a text that names the commands that can approve.
fn refuse_approval(repository: &RepositoryName, number: u64) -> Refusal {
    Refusal::new(format!(
        "this tool cannot approve: an approval follows from a review by assay only. `assay review \
         --pr {repository}#{number} --post` and tasks of type `review` approve if \
         `github.when_ready: approve` is set, every required reader answered, a model read the \
         change, and nothing is open at `should` or above. Nothing was sent; send COMMENT \
         instead."
    ))
}
