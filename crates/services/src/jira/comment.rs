//! Comments on tickets: [`Jira::comment`], and [`Jira::comment_once`], which is idempotent;
//! [`Jira::put_comment`] replaces the text of an earlier comment.
//!
//! A comment that is created once ends with a separate line, `assay:` and a [`CommentMarker`], by
//! which the comment is found again. A property of the comment would be invisible to people, but a
//! JIRA server lists properties only for single comments, so a line is the only thing that both
//! cloud and server return in a list.

use std::fmt;
use std::str::FromStr;

use assay_base::percent::encode_path;
use assay_base::text::first_chars;
use assay_store::pulls::TicketKey;
use serde_json::{Value, json};

use super::issue::{ApiComment, CommentPage};
use super::{Jira, JiraError, document};
use crate::http::Call;
use crate::outcome::CommentOutcome;

/// The prefix of a marker's line.
const PREFIX: &str = "assay:";

/// The number of comments per page, and the maximum number of pages, in a search for a marker;
/// older messages are not sent again anyway.
const PAGE_SIZE: usize = 100;
const MAX_PAGES: usize = 10;

/// The error for a text that is no marker.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid marker `{0}`: expected 1 to 80 letters, digits and dashes")]
pub struct CommentMarkerError(String);

/// The id of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentMarker(Box<str>);

impl CommentMarker {
    /// Creates a marker from any text: the text itself, or its hash if the text is no marker.
    pub fn from_text(text: &str) -> CommentMarker {
        text.parse().unwrap_or_else(|_| {
            let hash = blake3::hash(text.as_bytes()).to_hex();
            CommentMarker(hash[..32].into())
        })
    }
}

impl FromStr for CommentMarker {
    type Err = CommentMarkerError;

    fn from_str(text: &str) -> Result<CommentMarker, CommentMarkerError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        match (1..=80).contains(&text.len()) && text.bytes().all(fits) {
            true => Ok(CommentMarker(text.into())),
            false => Err(CommentMarkerError(first_chars(text, 80).to_owned())),
        }
    }
}

impl fmt::Display for CommentMarker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0)
    }
}

impl Jira {
    /// Creates a comment on a ticket and returns the id of the comment.
    pub fn comment(&self, key: &TicketKey, text: &str) -> Result<String, JiraError> {
        let before = self.comments(key, 0, 1)?;
        let body = self.body(text);
        match self.post_comment(key, &body) {
            Err(error) if error.is_outcome_unknown() => {
                // A comment that is new and has the same text is ours.
                let after = self.comments(key, 0, PAGE_SIZE)?;
                let known = before.comments.first().map(|comment| comment.id.as_str());
                let wanted = document::read(&body);
                let new = after.comments.iter().take_while(|it| Some(it.id.as_str()) != known);
                let mut ours = new.filter(|it| is_same_text(&document::read(&it.body), &wanted));
                ours.next().map(|comment| comment.id.clone()).ok_or(error)
            }
            posted => posted,
        }
    }

    /// Creates a comment on a ticket unless it exists already. An existing comment is found even if
    /// its response was lost, or if the process that created it crashed before it could record
    /// that.
    pub fn comment_once(
        &self,
        key: &TicketKey,
        marker: &CommentMarker,
        text: &str,
    ) -> Result<CommentOutcome, JiraError> {
        if self.find_comment(key, marker)?.is_some() {
            return Ok(CommentOutcome::Existing);
        }
        let body = self.body(&format!("{text}\n\n{marker}"));
        let Err(error) = self.post_comment(key, &body) else { return Ok(CommentOutcome::Created) };
        if !error.is_outcome_unknown() {
            return Err(error);
        }
        if self.find_comment(key, marker)?.is_none() {
            self.post_comment(key, &body)?;
        }
        Ok(CommentOutcome::Created)
    }

    /// Creates a comment on a ticket, or replaces the text of the comment that has the marker.
    pub fn put_comment(
        &self,
        key: &TicketKey,
        marker: &CommentMarker,
        text: &str,
    ) -> Result<CommentOutcome, JiraError> {
        match self.replace_comment(key, marker, text)? {
            Some(outcome) => Ok(outcome),
            None => self.comment_once(key, marker, text),
        }
    }

    /// Replaces the text of the comment that has the marker. Returns `None` if there is none.
    pub fn replace_comment(
        &self,
        key: &TicketKey,
        marker: &CommentMarker,
        text: &str,
    ) -> Result<Option<CommentOutcome>, JiraError> {
        let Some(found) = self.find_comment(key, marker)? else { return Ok(None) };
        let body = self.body(&format!("{text}\n\n{marker}"));
        if is_same_text(&document::read(&found.body), &document::read(&body)) {
            return Ok(Some(CommentOutcome::Existing));
        }
        let path = self.path_of(key.as_str(), &format!("/comment/{}", encode_path(&found.id)));
        let _: Value = self.api.json(&Call::put(path, json!({ "body": body })))?;
        Ok(Some(CommentOutcome::Updated))
    }

    fn post_comment(&self, key: &TicketKey, body: &Value) -> Result<String, JiraError> {
        let call = Call::post(self.path_of(key.as_str(), "/comment"), json!({ "body": body }));
        let posted: Value = self.api.json(&call)?;
        Ok(posted["id"].as_str().unwrap_or_default().to_owned())
    }

    /// Returns the comment whose last line is a marker; of several on one page, the oldest.
    fn find_comment(
        &self,
        key: &TicketKey,
        marker: &CommentMarker,
    ) -> Result<Option<ApiComment>, JiraError> {
        let line = marker.to_string();
        for page in 0..MAX_PAGES {
            let CommentPage { comments, total } =
                self.comments(key, page * PAGE_SIZE, PAGE_SIZE)?;
            let is_last_page = comments.is_empty() || (page + 1) * PAGE_SIZE >= total;
            let has_marker = |comment: &ApiComment| {
                let text = document::read(&comment.body);
                text.lines().last().is_some_and(|last| last.trim() == line)
            };
            // A later comment with the marker is a copy of another user.
            let found = comments.into_iter().rfind(has_marker);
            if found.is_some() || is_last_page {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// Returns true if two texts are equal apart from white space.
fn is_same_text(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}
