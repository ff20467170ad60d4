//! How a pull request is told to a model: [`ToldPull`], and texts that are [`cut`] or [`named`].

use assay_base::text::split_chars;
use assay_services::github::{PullRequest, PullState};
use schemars::JsonSchema;
use serde::Serialize;

/// How many characters of a text are told.
const SHOWN: usize = 8_000;

/// How many characters of a name are told.
const NAME: usize = 300;

/// How many labels are told.
const LABELS: usize = 100;

/// Cuts a text of somebody else's to what is told, and says so in it.
pub(super) fn cut(text: &str) -> String {
    cut_to(text, SHOWN)
}

/// Cuts what somebody else called something to what is told, and says so in it.
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
    /// Its number.
    number: u64,
    /// What it is called.
    title: String,
    /// What it says, cut where it is long.
    body: String,
    /// `open`, `closed` or `merged`.
    state: String,
    /// Whether it is not meant to be reviewed yet.
    draft: bool,
    /// Who opened it.
    author: String,
    /// The branch that is to be merged.
    branch: String,
    /// Whether that branch is in another repository.
    from_fork: bool,
    /// The last commit of that branch.
    head_commit: String,
    /// The branch that it is for.
    base: String,
    /// Its labels.
    labels: Vec<String>,
    /// Where people find it.
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
