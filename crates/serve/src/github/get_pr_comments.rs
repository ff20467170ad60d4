//! `github_get_pr_comments`: the reviews of a pull request, the comments on its lines, and the
//! conversation below it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dto::truncate_text;
use super::{GithubTools, to_refusal};
use crate::mcp::{Effect, Refusal, Tool};

/// The maximum number of entries that are read of each kind.
const MAX_ENTRIES: usize = 1_000;

/// The maximum number of bytes of entries in one answer.
const MAX_ANSWER_BYTES: usize = 100_000;

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
    /// The `next_offset` of the last answer; 0 for the first call.
    #[serde(default)]
    offset: usize,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The reviews with a text or a decision on the whole; their comments on lines are in
    /// `on_lines`.
    reviews: Vec<Review>,
    /// The comments on lines and files.
    on_lines: Vec<LineComment>,
    /// The comments in the conversation below the pull request.
    below: Vec<PullComment>,
    /// The offset of the next part, if there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    next_offset: Option<usize>,
    /// True if there are more entries than this tool can read.
    more: bool,
}

#[derive(Serialize, JsonSchema)]
struct Review {
    /// The id of the review.
    id: u64,
    /// The login of the author.
    author: String,
    /// The state: `APPROVED`, `CHANGES_REQUESTED`, `COMMENTED` or `DISMISSED`.
    state: String,
    /// The reviewed commit, unless it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    commit: Option<String>,
    /// The text of the review, truncated if it is long.
    body: String,
    /// The web address of the review.
    url: String,
}

impl Review {
    /// Returns true if the review is submitted, and is more than a container of its comments.
    fn has_content(&self) -> bool {
        match self.state.as_str() {
            "PENDING" => false,
            "COMMENTED" => !self.body.trim().is_empty(),
            _ => true,
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct LineComment {
    /// The id of the comment.
    id: u64,
    /// The login of the author.
    author: String,
    /// The path of the file.
    path: String,
    /// The line, unless the comment is on the whole file or the line is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    line: Option<u64>,
    /// The id of the comment that this one replies to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    in_reply_to: Option<u64>,
    /// The text of the comment, truncated if it is long.
    body: String,
    /// The web address of the comment.
    url: String,
}

#[derive(Serialize, JsonSchema)]
struct PullComment {
    /// The id of the comment.
    id: u64,
    /// The login of the author.
    author: String,
    /// The text of the comment, truncated if it is long.
    body: String,
    /// The web address of the comment.
    url: String,
}

pub(super) fn tool(tools: &Arc<GithubTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "github_get_pr_comments",
        "Returns the reviews and comments of a pull request, on lines, on files and on the whole. \
         A long list is returned in parts: call the tool again with the returned offset.",
        Effect::Reads,
        move |input| get(&tools, &input),
    )
}

fn get(tools: &GithubTools, input: &Input) -> Result<Output, Refusal> {
    let repository = tools.repository(input.repo.as_deref())?;
    let failed = |error| to_refusal(&error, "github_get_pr_comments");
    let number = input.pr_number;
    let reviews = tools.github.reviews(&repository, number, MAX_ENTRIES).map_err(failed)?;
    let on_lines =
        tools.github.review_comments(&repository, number, MAX_ENTRIES).map_err(failed)?;
    let below = tools.github.comments(&repository, number, MAX_ENTRIES).map_err(failed)?;
    let more = reviews.1 || on_lines.1 || below.1;
    let reviews = reviews.0.into_iter().map(|review| Review {
        id: review.id,
        author: review.author,
        state: review.state,
        commit: review.commit.map(|commit| commit.to_string()),
        body: truncate_text(&review.body),
        url: review.url,
    });
    let on_lines = on_lines.0.into_iter().map(|comment| LineComment {
        id: comment.id,
        author: comment.author,
        path: comment.path,
        line: comment.line,
        in_reply_to: comment.in_reply_to,
        body: truncate_text(&comment.body),
        url: comment.url,
    });
    let below = below.0.into_iter().map(|comment| PullComment {
        id: comment.id,
        author: comment.author,
        body: truncate_text(&comment.body),
        url: comment.url,
    });
    let mut page = Page { offset: input.offset, ..Page::default() };
    let reviews = reviews.filter(Review::has_content);
    let reviews = reviews.filter(|review| page.add(review)).collect();
    let on_lines = on_lines.filter(|comment| page.add(comment)).collect();
    let below = below.filter(|comment| page.add(comment)).collect();
    Ok(Output { reviews, on_lines, below, next_offset: page.next, more })
}

/// A page of entries, counted over all kinds one after the other.
#[derive(Default)]
struct Page {
    offset: usize,
    /// The number of entries seen so far.
    seen: usize,
    /// The number of bytes of the entries on the page.
    bytes: usize,
    /// The index of the first entry after the page; `None` while all entries fit.
    next: Option<usize>,
}

impl Page {
    /// Adds an entry to the page if it is not before the offset and fits; the first always fits.
    /// Returns true if the entry was added.
    fn add(&mut self, entry: &impl Serialize) -> bool {
        let at = self.seen;
        self.seen += 1;
        if at < self.offset || self.next.is_some() {
            return false;
        }
        let bytes = serde_json::to_vec(entry).map_or(MAX_ANSWER_BYTES, |bytes| bytes.len());
        let fits = self.bytes == 0 || self.bytes + bytes <= MAX_ANSWER_BYTES;
        match fits {
            true => self.bytes += bytes,
            false => self.next = Some(at),
        }
        fits
    }
}
