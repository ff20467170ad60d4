//! The pull request as a model sees it, [`ToldPull`], and the truncation of texts ([`cut`]) and
//! names ([`named`]).

use assay_base::text::split_chars;
use assay_services::github::{PullRequest, PullState};
use schemars::JsonSchema;
use serde::Serialize;

/// The maximum number of characters of a text.
const SHOWN: usize = 8_000;

/// The maximum number of characters of a name.
const NAME: usize = 300;

/// The maximum number of labels.
const LABELS: usize = 100;

/// Truncates an untrusted text to `SHOWN` characters and marks the cut.
pub(super) fn cut(text: &str) -> String {
    cut_to(text, SHOWN)
}

/// Truncates an untrusted name to `NAME` characters and marks the cut.
pub(super) fn named(name: &str) -> String {
    cut_to(name, NAME)
}

fn cut_to(text: &str, most: usize) -> String {
    match split_chars(text, most) {
        (whole, "") => whole.to_owned(),
        (kept, rest) => format!("{kept}… ({} more bytes)", rest.len()),
    }
}

/// A pull request.
#[derive(Serialize, JsonSchema)]
pub(super) struct ToldPull {
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

impl From<PullRequest> for ToldPull {
    fn from(pull: PullRequest) -> ToldPull {
        let state = match pull.state {
            _ if pull.merged => "merged",
            PullState::Open => "open",
            PullState::Closed => "closed",
        };
        ToldPull {
            number: pull.number,
            title: named(&pull.title),
            body: cut(&pull.body),
            state: state.to_owned(),
            draft: pull.draft,
            author: pull.author,
            from_fork: pull.head.repository != pull.base.repository,
            branch: pull.head.branch,
            head_commit: pull.head.commit.to_string(),
            base: pull.base.branch,
            labels: pull.labels.iter().take(LABELS).map(|label| named(label)).collect(),
            url: pull.url,
        }
    }
}
