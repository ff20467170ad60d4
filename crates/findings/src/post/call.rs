//! The requests that post a draft: [`ReviewCall`], [`LineComment`] and [`FileComment`].

use serde::{Deserialize, Serialize};

use super::marker::Marker;
use super::{CommentPlace, DiffPosition, DiffSide, Fingerprint, Post, ReviewEvent, ReviewKey};
use crate::path::RepoPath;

/// The body of a call that only carries comments.
const CONTINUED_BODY: &str = "More comments of the same review.";

/// A call that posts a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewCall {
    /// The key by which the review is recognised; the body contains it, too.
    pub key: ReviewKey,
    /// The reviewed commit.
    pub commit: String,
    /// The event of the review.
    pub event: ReviewEvent,
    /// The text of the review.
    pub body: String,
    /// The comments on lines.
    pub comments: Vec<LineComment>,
}

/// A comment on lines of the diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineComment {
    /// The fingerprint by which the comment is recognised; the body contains it, too.
    pub fingerprint: Fingerprint,
    /// The path of the file.
    pub path: RepoPath,
    /// The side of the diff.
    pub side: DiffSide,
    /// The first line, from 1; `None` if there is only one.
    pub start: Option<u32>,
    /// The last line, from 1.
    pub line: u32,
    /// The position with the numbers of both sides, for services that need them; `None` in a
    /// message of an earlier version.
    #[serde(default)]
    pub position: Option<DiffPosition>,
    /// The text of the comment.
    pub body: String,
}

/// A comment on a file of the diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileComment {
    /// The fingerprint by which the comment is recognised; the body contains it, too.
    pub fingerprint: Fingerprint,
    /// The reviewed commit.
    pub commit: String,
    /// The path of the file.
    pub path: RepoPath,
    /// The position of the file in the diff; `None` in a message of an earlier version.
    #[serde(default)]
    pub position: Option<DiffPosition>,
    /// The text of the comment.
    pub body: String,
}

/// Appends the marker to the body of a review.
pub(super) fn append_marker(text: &str, key: &ReviewKey) -> String {
    format!("{text}\n\n{}", Marker::Review(key.clone()))
}

impl ReviewCall {
    /// Creates a call with comments alone, which belong to the review `of`.
    pub(super) fn of_comments(
        of: &ReviewKey,
        commit: &str,
        comments: Vec<LineComment>,
    ) -> ReviewCall {
        let findings = comments.iter().map(|comment| comment.fingerprint.as_str());
        let key = ReviewKey::from_texts([of.as_str()].into_iter().chain(findings));
        let (commit, body) = (commit.to_owned(), append_marker(CONTINUED_BODY, &key));
        ReviewCall { key, commit, event: ReviewEvent::Comment, body, comments }
    }

    /// Splits a call that was refused, so that its valid part is accepted: first the event from its
    /// comments, then the comments in halves. Returns `None` if the call cannot be split.
    pub fn split(mut self) -> Option<[ReviewCall; 2]> {
        let kept = match self.event {
            ReviewEvent::Approve | ReviewEvent::RequestChanges => 0,
            ReviewEvent::Comment => self.comments.len() / 2,
        };
        if self.comments.len() == kept || (kept == 0 && self.event == ReviewEvent::Comment) {
            return None;
        }
        let rest = self.comments.split_off(kept);
        let rest = ReviewCall::of_comments(&self.key, &self.commit, rest);
        Some([self, rest])
    }
}

impl Post {
    pub(super) fn as_line_comment(&self) -> Option<LineComment> {
        let CommentPlace::DiffLines { side, start, line } = self.place else { return None };
        let path = self.path.clone()?;
        let (fingerprint, position) = (self.fingerprint.clone(), self.position.clone());
        let body = self.body.clone();
        Some(LineComment { fingerprint, path, side, start, line, position, body })
    }
}
