//! What is sent to post a draft: [`ReviewCall`], [`LineComment`] and [`FileComment`].

use serde::{Deserialize, Serialize};

use super::marker::Marker;
use super::{Event, Fingerprint, Place, Post, ReviewKey, Side};
use crate::path::RepoPath;

/// What a call says that has only comments for us.
const MORE: &str = "More comments of the same review.";

/// One call that posts a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewCall {
    /// What it is told again by; its body says it too.
    pub key: ReviewKey,
    /// The commit that it is about.
    pub commit: String,
    /// What it does.
    pub event: Event,
    /// What it says.
    pub body: String,
    /// Its comments on lines.
    pub comments: Vec<LineComment>,
}

/// A comment on lines of the diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineComment {
    /// What it is told again by; its body says it too.
    pub fingerprint: Fingerprint,
    /// The file.
    pub path: RepoPath,
    /// The side.
    pub side: Side,
    /// The first line, where there are several.
    pub start: Option<u32>,
    /// The last line.
    pub line: u32,
    /// What it says.
    pub body: String,
}

/// A comment on a file of the diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileComment {
    /// What it is told again by; its body says it too.
    pub fingerprint: Fingerprint,
    /// The commit that it is about.
    pub commit: String,
    /// The file.
    pub path: RepoPath,
    /// What it says.
    pub body: String,
}

/// Ends the body of a review with its marker.
pub(super) fn signed(text: &str, key: &ReviewKey) -> String {
    format!("{text}\n\n{}", Marker::Review(key.clone()))
}

impl ReviewCall {
    /// A call with comments alone, which belong to a review.
    pub(super) fn of_comments(
        of: &ReviewKey,
        commit: &str,
        comments: Vec<LineComment>,
    ) -> ReviewCall {
        let findings = comments.iter().map(|comment| comment.fingerprint.as_str());
        let key = ReviewKey::over([of.as_str()].into_iter().chain(findings));
        let (commit, body) = (commit.to_owned(), signed(MORE, &key));
        ReviewCall { key, commit, event: Event::Comment, body, comments }
    }

    /// Parts a call that was refused, so that what is in order gets through: what it does from its
    /// comments, then the comments in halves. Nothing if there is nothing to part.
    pub fn parted(mut self) -> Option<[ReviewCall; 2]> {
        let kept = match self.event {
            Event::Approve | Event::RequestChanges => 0,
            Event::Comment => self.comments.len() / 2,
        };
        if self.comments.len() == kept || (kept == 0 && self.event == Event::Comment) {
            return None;
        }
        let rest = self.comments.split_off(kept);
        let rest = ReviewCall::of_comments(&self.key, &self.commit, rest);
        Some([self, rest])
    }
}

impl Post {
    pub(super) fn as_line_comment(&self) -> Option<LineComment> {
        let Place::Lines { side, start, line } = self.place else { return None };
        let path = self.path.clone()?;
        let (fingerprint, body) = (self.fingerprint.clone(), self.body.clone());
        Some(LineComment { fingerprint, path, side, start, line, body })
    }
}
