//! A hosting service that reviews are posted on: the trait [`ReviewService`], for one pull request.

use assay_findings::post::{FileComment, ReviewCall};
use assay_store::pulls::CommitId;

use super::review_state::ReviewState;
use crate::http::{ServiceClock, ServiceError};

/// The answer of a service to a review or a comment.
#[derive(Debug)]
pub enum Submission {
    /// The service shows it, under an id.
    Accepted(u64),
    /// The service refuses its content: a place outside of the diff, or a verdict that the account
    /// may not give.
    Rejected(ServiceError),
}

/// A pull request or merge request of a hosting service.
///
/// An implementation sends each write at most once, and reports an unknown outcome as an error: the
/// engine reads the state again and computes the remaining steps. It must not remember what it has
/// sent, nor change the text of a comment, by which the comment is recognised.
pub trait ReviewService {
    /// Returns the name of the service.
    fn name(&self) -> &'static str;

    /// Returns the name of the pull request for messages, such as `owner/repo#7`.
    fn place(&self) -> String;

    /// Returns the clock that the client waits by.
    fn clock(&self) -> &dyn ServiceClock;

    /// Returns true if a review takes several comments and a verdict in one call. Otherwise each
    /// call has one comment, or the verdict.
    fn takes_batches(&self) -> bool;

    /// Reads the review state of the pull request.
    fn review_state(&self) -> Result<ReviewState, ServiceError>;

    /// Reads the head commit and the base branch of the pull request.
    fn head_and_base(&self) -> Result<(CommitId, String), ServiceError>;

    /// Sends a review.
    fn submit_review(&self, call: &ReviewCall) -> Result<Submission, ServiceError>;

    /// Creates a comment on a file as a whole.
    fn comment_on_file(&self, comment: &FileComment) -> Result<Submission, ServiceError>;

    /// Creates a comment in the conversation, and returns its id.
    fn comment(&self, body: &str) -> Result<u64, ServiceError>;

    /// Updates a comment in the conversation.
    fn update_comment(&self, id: u64, body: &str) -> Result<(), ServiceError>;

    /// Resolves a thread.
    fn resolve(&self, thread: &str) -> Result<(), ServiceError>;

    /// Reopens a thread.
    fn unresolve(&self, thread: &str) -> Result<(), ServiceError>;

    /// Withdraws the verdict of a review of ours, with the reason.
    fn dismiss(&self, review: u64, why: &str) -> Result<(), ServiceError>;
}
