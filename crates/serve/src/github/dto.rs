//! The pull request as a model sees it, [`PullRequestDto`], and the truncation of texts
//! ([`truncate_text`]) and names ([`truncate_name`]).

use assay_base::text::split_chars;
use assay_services::github::{PullRequest, PullState};
use schemars::JsonSchema;
use serde::Serialize;

/// The maximum number of characters of a text.
const MAX_TEXT: usize = 8_000;

/// The maximum number of characters of a name.
const MAX_NAME: usize = 300;

/// The maximum number of labels.
const MAX_LABELS: usize = 100;

/// Truncates an untrusted text to `MAX_TEXT` characters and marks the cut.
pub(super) fn truncate_text(text: &str) -> String {
    truncate(text, MAX_TEXT)
}

/// Truncates an untrusted name to `MAX_NAME` characters and marks the cut.
pub(super) fn truncate_name(name: &str) -> String {
    truncate(name, MAX_NAME)
}

fn truncate(text: &str, most: usize) -> String {
    match split_chars(text, most) {
        (whole, "") => whole.to_owned(),
        (kept, rest) => format!("{kept}… ({} more bytes)", rest.len()),
    }
}

/// A pull request.
#[derive(Serialize, JsonSchema)]
pub(super) struct PullRequestDto {
    /// The number of the pull request.
    number: u64,
    /// The title of the pull request.
    title: String,
    /// The description, truncated if it is long.
    body: String,
    /// The state: `open`, `closed` or `merged`.
    state: String,
    /// True for a draft, which is not ready for review.
    draft: bool,
    /// The login of the author.
    author: String,
    /// The head branch, which is to be merged.
    branch: String,
    /// True if the head branch is in another repository.
    from_fork: bool,
    /// The last commit of the head branch.
    head_commit: String,
    /// The base branch, which the pull request is merged into.
    base: String,
    /// The labels of the pull request.
    labels: Vec<String>,
    /// The web address of the pull request.
    url: String,
}

impl From<PullRequest> for PullRequestDto {
    fn from(pull: PullRequest) -> PullRequestDto {
        let state = match pull.state {
            _ if pull.merged => "merged",
            PullState::Open => "open",
            PullState::Closed => "closed",
        };
        PullRequestDto {
            number: pull.number,
            title: truncate_name(&pull.title),
            body: truncate_text(&pull.body),
            state: state.to_owned(),
            draft: pull.draft,
            author: pull.author,
            from_fork: pull.head.repository != pull.base.repository,
            branch: pull.head.branch,
            head_commit: pull.head.commit.to_string(),
            base: pull.base.branch,
            labels: pull.labels.iter().take(MAX_LABELS).map(|label| truncate_name(label)).collect(),
            url: pull.url,
        }
    }
}
