//! A pull request of GitHub as a place for reviews: [`GitHubPull`].

use assay_findings::post::{DiffSide, FileComment, ReviewCall, ReviewEvent};
use assay_store::pulls::{CommitId, RepositoryName};

use super::{Event, GitHub, LineComment, NewReview, SERVICE, Side};
use crate::http::{ServiceClock, ServiceError};
use crate::post::{ReviewService, ReviewState, Submission};

/// A pull request of GitHub.
pub struct GitHubPull<'a> {
    /// The client.
    pub github: &'a GitHub,
    /// The repository of the pull request.
    pub repository: &'a RepositoryName,
    /// The number of the pull request.
    pub number: u64,
}

impl ReviewService for GitHubPull<'_> {
    fn name(&self) -> &'static str {
        SERVICE
    }

    fn place(&self) -> String {
        format!("{}#{}", self.repository, self.number)
    }

    fn clock(&self) -> &dyn ServiceClock {
        self.github.clock()
    }

    fn takes_batches(&self) -> bool {
        true
    }

    fn review_state(&self) -> Result<ReviewState, ServiceError> {
        self.github.review_state(self.repository, self.number)
    }

    fn head_and_base(&self) -> Result<(CommitId, String), ServiceError> {
        let pull = self.github.pull(self.repository, self.number)?;
        Ok((pull.head.commit, pull.base.branch))
    }

    fn submit_review(&self, call: &ReviewCall) -> Result<Submission, ServiceError> {
        let review = to_new_review(call);
        let sent = self.github.submit_review(self.repository, self.number, &review);
        to_submission(sent.map(|posted| posted.id))
    }

    fn comment_on_file(&self, comment: &FileComment) -> Result<Submission, ServiceError> {
        let commit = commit(&comment.commit);
        let (path, body) = (comment.path.as_str(), &comment.body);
        let sent = self.github.comment_on_file(self.repository, self.number, &commit, path, body);
        to_submission(sent.map(|comment| comment.id))
    }

    fn comment(&self, body: &str) -> Result<u64, ServiceError> {
        self.github.comment(self.repository, self.number, body).map(|comment| comment.id)
    }

    fn update_comment(&self, id: u64, body: &str) -> Result<(), ServiceError> {
        self.github.update_comment(self.repository, id, body).map(drop)
    }

    fn resolve(&self, thread: &str) -> Result<(), ServiceError> {
        self.github.resolve(thread)
    }

    fn unresolve(&self, thread: &str) -> Result<(), ServiceError> {
        self.github.unresolve(thread)
    }

    fn dismiss(&self, review: u64, why: &str) -> Result<(), ServiceError> {
        self.github.dismiss_review(self.repository, self.number, review, why).map(drop)
    }
}

/// Returns the answer to a review or a comment. GitHub refuses invalid content with status 422.
fn to_submission(sent: Result<u64, ServiceError>) -> Result<Submission, ServiceError> {
    match sent {
        Ok(id) => Ok(Submission::Accepted(id)),
        Err(error) if error.status() == Some(422) => Ok(Submission::Rejected(error)),
        Err(error) => Err(error),
    }
}

fn to_new_review(call: &ReviewCall) -> NewReview {
    let comments = call.comments.iter().map(|comment| {
        let side = match comment.side {
            DiffSide::Left => Side::Left,
            DiffSide::Right => Side::Right,
        };
        LineComment {
            path: comment.path.to_string(),
            line: comment.line,
            side,
            start_line: comment.start,
            start_side: comment.start.map(|_| side),
            body: comment.body.clone(),
        }
    });
    NewReview {
        commit: commit(&call.commit),
        event: match call.event {
            ReviewEvent::Approve => Event::Approve,
            ReviewEvent::RequestChanges => Event::RequestChanges,
            ReviewEvent::Comment => Event::Comment,
        },
        body: call.body.clone(),
        comments: comments.collect(),
    }
}

/// Returns the commit of a draft, which is known to be the head of the pull request.
fn commit(text: &str) -> CommitId {
    text.parse().expect("the head of a pull request is a commit")
}
