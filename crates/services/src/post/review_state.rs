//! The state of a pull request as a service shows it: [`ReviewState`], with threads, comments and
//! reviews, and which of them are ours.

use assay_store::pulls::CommitId;
use serde::Deserialize;

/// The review state of a pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewState {
    /// The head commit; `None` before the first page was read.
    pub head: Option<CommitId>,
    /// The base branch; `None` before the first page was read.
    pub base: Option<String>,
    /// The threads on its lines and files.
    pub threads: Vec<Thread>,
    /// The comments in its conversation.
    pub comments: Vec<ConversationComment>,
    /// The reviews, the oldest first.
    pub reviews: Vec<ReviewEntry>,
}

/// A thread on a line or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// The id of the thread.
    pub id: String,
    /// True if a user resolved the thread.
    pub is_resolved: bool,
    /// True if its line is gone.
    pub is_outdated: bool,
    /// True if the author of its first comment resolved it.
    pub is_resolved_by_its_author: bool,
    /// The path of the file.
    pub path: String,
    /// The comments of the thread, the oldest first.
    pub comments: Vec<ThreadComment>,
}

/// A comment in a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadComment {
    /// The text of the comment.
    pub body: String,
    /// True if we wrote it.
    pub is_ours: bool,
}

/// A comment in the conversation of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationComment {
    /// The id with which the comment is updated; `None` if the service gives none.
    pub id: Option<u64>,
    /// The text of the comment.
    pub body: String,
    /// True if we wrote it.
    pub is_ours: bool,
}

/// The state of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ReviewStatus {
    /// The review approves the change.
    Approved,
    /// The review requests changes.
    ChangesRequested,
    /// The review has no verdict.
    Commented,
    /// The review had a verdict, and was dismissed.
    Dismissed,
    /// The review is not submitted, and only its author sees it.
    Pending,
}

/// A review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewEntry {
    /// The id with which the review is dismissed; `None` if the service gives none.
    pub id: Option<u64>,
    /// The text of the review.
    pub body: String,
    /// The state of the review.
    pub state: ReviewStatus,
    /// True if we wrote it.
    pub is_ours: bool,
    /// The commit that was reviewed; `None` if it is gone.
    pub commit: Option<CommitId>,
}
