//! `github_get_pr_comments`: what is said on a pull request, in reviews, on lines and below it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::told::cut;
use super::{Desk, refused};
use crate::mcp::{Effect, Refusal, Tool};

/// How many of each kind are read at the most.
const MOST: usize = 1_000;

/// How many bytes are given at a time.
const GIVEN: usize = 100_000;

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
    /// From where to go on, as the last answer said.
    #[serde(default)]
    offset: usize,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The reviews that say something of the whole; what they say of lines is among those.
    reviews: Vec<Review>,
    /// The comments on lines and files.
    on_lines: Vec<OnLine>,
    /// The comments below the pull request.
    below: Vec<Below>,
    /// From where to go on, where there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    next_offset: Option<usize>,
    /// Whether there is more than can be read so.
    more: bool,
}

#[derive(Serialize, JsonSchema)]
struct Review {
    /// Its number.
    id: u64,
    /// Who wrote it.
    author: String,
    /// Where it stands: `APPROVED`, `CHANGES_REQUESTED`, `COMMENTED` or `DISMISSED`.
    state: String,
    /// The commit that was looked at, unless it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    commit: Option<String>,
    /// What it says, cut where it is long.
    body: String,
    /// Where people find it.
    url: String,
}

impl Review {
    /// Says whether it is more than what holds its comments together, and is sent already.
    fn says_something(&self) -> bool {
        match self.state.as_str() {
            "PENDING" => false,
            "COMMENTED" => !self.body.trim().is_empty(),
            _ => true,
        }
    }
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
        "Reads what is said on a pull request: reviews, comments on lines and files, and comments \
         below it. Much of it comes in parts: call it again with the offset that it gives.",
        Effect::Reads,
        move |input| get(&desk, &input),
    )
}

fn get(desk: &Desk, input: &Input) -> Result<Output, Refusal> {
    let repository = desk.repository(input.repo.as_deref())?;
    let failed = |error| refused(&error, "github_get_pr_comments");
    let number = input.pr_number;
    let reviews = desk.github.reviews(&repository, number, MOST).map_err(failed)?;
    let on_lines = desk.github.review_comments(&repository, number, MOST).map_err(failed)?;
    let below = desk.github.comments(&repository, number, MOST).map_err(failed)?;
    let more = reviews.1 || on_lines.1 || below.1;
    let reviews = reviews.0.into_iter().map(|review| Review {
        id: review.id,
        author: review.author,
        state: review.state,
        commit: review.commit.map(|commit| commit.to_string()),
        body: cut(&review.body),
        url: review.url,
    });
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
    let mut part = Part { offset: input.offset, ..Part::default() };
    let reviews = reviews.filter(Review::says_something);
    let reviews = reviews.filter(|review| part.takes(review)).collect();
    let on_lines = on_lines.filter(|comment| part.takes(comment)).collect();
    let below = below.filter(|comment| part.takes(comment)).collect();
    Ok(Output { reviews, on_lines, below, next_offset: part.next, more })
}

/// Which of all that is said is given at a time, one kind after the other.
#[derive(Default)]
struct Part {
    offset: usize,
    /// How many were looked at.
    seen: usize,
    /// How many bytes are taken.
    bytes: usize,
    /// The first after it that does not fit.
    next: Option<usize>,
}

impl Part {
    /// Takes what is said if it is its turn and there is room; the first always fits.
    fn takes(&mut self, said: &impl Serialize) -> bool {
        let at = self.seen;
        self.seen += 1;
        if at < self.offset || self.next.is_some() {
            return false;
        }
        let bytes = serde_json::to_vec(said).map_or(GIVEN, |bytes| bytes.len());
        let fits = self.bytes == 0 || self.bytes + bytes <= GIVEN;
        match fits {
            true => self.bytes += bytes,
            false => self.next = Some(at),
        }
        fits
    }
}
