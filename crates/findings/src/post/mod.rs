//! The review of a pull request: [`compose()`] turns a synthesis into a [`ReviewDraft`] of comments
//! and a summary, with every finding in exactly one of them.
//!
//! [`answer()`] is the reply to a comment with commands, and [`explain`] the explanation of a finding.
//! This module sends nothing. The client that posts a draft finds out which comments exist and
//! which are refused ([`PostedState`]), asks the draft for the rest, and decides no text. All text
//! of findings is treated as hostile: it cannot forge a [`marker`], end a fence, load an image or
//! mention a user.

mod answer;
mod approval;
mod call;
mod check_run;
mod comment;
mod compose;
mod dialect;
mod diff;
mod file_cache;
mod layout;
pub mod marker;
mod placement;
mod resolution;
mod suggestion;
mod summary;
mod text;
mod ticket;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use self::call::append_marker;
use self::summary::SummaryPage;
use crate::path::RepoPath;
use crate::verdict::VerdictState;

pub use self::answer::{ExplainedVote, answer, explain};
pub use self::approval::{Approval, ReadyAction, WithheldReason, approval};
pub use self::call::{FileComment, LineComment, ReviewCall};
pub use self::check_run::{Annotation, AnnotationLevel, CheckRun, Conclusion, check_run};
pub use self::compose::{DraftInputs, compose};
pub use self::dialect::CommentDialect;
pub use self::diff::{
    DiffLine, DiffLineKind, DiffPosition, DiffSide, FileHunks, HunkLines, PullRequestDiff,
};
pub use self::marker::{Finders, Fingerprint, ReviewKey};
pub use self::placement::{CommentPlace, SummaryReason};
pub use self::resolution::{Resolution, TicketResolutions, TrackedFinding, ticket_resolutions};
pub use self::suggestion::SyntaxChecker;
pub use self::summary::spare_part;
pub use self::ticket::ticket_comment;

/// The maximum length of a body with its marker, in bytes; the service accepts a little more.
const MAX_BODY_BYTES: usize = 60_000;
/// The maximum number of comments in one call.
const MAX_COMMENTS_PER_CALL: usize = 30;
/// The maximum number of comments on one pull request.
const MAX_INLINE_COMMENTS: usize = 100;
/// The maximum length of a reason in a review's body, in characters.
const MAX_REASON_CHARS: usize = 300;

/// The effect of a review on its pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ReviewEvent {
    /// The review approves the pull request.
    Approve,
    /// The review blocks the pull request.
    RequestChanges,
    /// The review only comments.
    Comment,
}

impl ReviewEvent {
    /// Returns the event as the service's API spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            ReviewEvent::Approve => "APPROVE",
            ReviewEvent::RequestChanges => "REQUEST_CHANGES",
            ReviewEvent::Comment => "COMMENT",
        }
    }

    /// Returns the event of a review. Only an approval that is granted results in `Approve`.
    fn of(state: VerdictState, approval: &Approval) -> ReviewEvent {
        match (approval, state) {
            (Approval::Granted, _) => ReviewEvent::Approve,
            (Approval::Withheld(_), VerdictState::NotReady) => ReviewEvent::RequestChanges,
            (
                Approval::Withheld(_),
                VerdictState::Ready
                | VerdictState::ReadyWithFixes
                | VerdictState::NothingToReview
                | VerdictState::Incomplete,
            ) => ReviewEvent::Comment,
        }
    }
}

/// A review that is ready to be posted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewDraft {
    head: String,
    /// The branch that the commits were compared with, if its name is known.
    #[serde(default)]
    base: Option<String>,
    event: ReviewEvent,
    /// The Markdown of the service that the texts are sent to.
    #[serde(default)]
    dialect: CommentDialect,
    /// True if the change is ready, whatever the event of the review is.
    #[serde(default)]
    is_ready: bool,
    /// The reviewers whose silence proves that a finding is gone; empty if a required reviewer did
    /// not complete its review.
    #[serde(rename = "looked")]
    reliable: Finders,
    /// The findings that exist, or may exist, and are not posted.
    #[serde(default)]
    #[serde(rename = "untold")]
    unposted: BTreeSet<Fingerprint>,
    /// The verdict in a sentence or two.
    verdict: String,
    key: ReviewKey,
    posts: Vec<Post>,
    /// The findings that are gone or were dismissed, and need no comment any more.
    settled: BTreeSet<Fingerprint>,
    page: SummaryPage,
}

/// A finding of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// The fingerprint by which the finding is recognised.
    pub fingerprint: Fingerprint,
    /// The file of the finding.
    pub path: Option<RepoPath>,
    /// The place where the finding is shown.
    pub place: CommentPlace,
    /// The position of the place in the diff; `None` if the finding is in the summary.
    #[serde(default)]
    position: Option<DiffPosition>,
    /// The severity, of the seven levels.
    severity: String,
    /// The text of the comment; empty if the finding is in the summary.
    body: String,
    /// The text in the summary, if there is no comment.
    entry: String,
    /// The text in the summary on one line, if there is little room.
    line: String,
}

/// The state of a pull request: the comments and reviews that exist on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostedState {
    /// The findings that have a comment.
    pub visible: BTreeSet<Fingerprint>,
    /// The findings whose comment was refused, each with the reason.
    pub refused: BTreeMap<Fingerprint, String>,
    /// The reviews that exist, and whose verdict no later review replaced.
    pub reviews: BTreeSet<ReviewKey>,
}

impl ReviewDraft {
    /// Returns the commit that was reviewed.
    pub fn head(&self) -> &str {
        &self.head
    }

    /// Sets the branch that the commits were compared with: compared with another branch, they are
    /// another change.
    pub fn with_base(self, base: Option<String>) -> ReviewDraft {
        let key = base.as_deref().map_or_else(|| self.key.clone(), |base| self.key.with_base(base));
        ReviewDraft { base, key, ..self }
    }

    /// Returns the branch that the commits were compared with, if it is known.
    pub fn base(&self) -> Option<&str> {
        self.base.as_deref()
    }

    /// Returns the event of the review.
    pub fn event(&self) -> ReviewEvent {
        self.event
    }

    /// Returns true if the change is ready, whatever the event of the review is.
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Returns the key of the review that carries the verdict.
    pub fn key(&self) -> &ReviewKey {
        &self.key
    }

    /// Returns the findings, the worst first.
    pub fn posts(&self) -> &[Post] {
        &self.posts
    }

    /// Returns the calls that post the missing comments, the worst first. The first call carries
    /// the verdict, unless the verdict exists already.
    pub fn calls(&self, posted: &PostedState) -> Vec<ReviewCall> {
        let missing: Vec<LineComment> =
            self.missing(posted).filter_map(|post| self.line_comment(post)).collect();
        let mut chunks = missing.chunks(MAX_COMMENTS_PER_CALL);
        let mut calls = Vec::new();
        if !posted.reviews.contains(&self.key) {
            let comments = chunks.next().unwrap_or_default().to_vec();
            let (commit, event) = (self.head.clone(), self.event);
            let body = append_marker(&self.dialect.adapt(&self.verdict), &self.key);
            calls.push(ReviewCall { key: self.key.clone(), commit, event, body, comments });
        }
        for comments in chunks {
            calls.push(ReviewCall::of_comments(&self.key, &self.head, comments.to_vec()));
        }
        calls
    }

    /// Returns the missing comments on files, which are posted one by one.
    pub fn file_comments(&self, posted: &PostedState) -> Vec<FileComment> {
        let comment = |post: &Post| {
            let path = post.path.clone().filter(|_| post.place == CommentPlace::File)?;
            let (fingerprint, commit) = (post.fingerprint.clone(), self.head.clone());
            let (position, body) = (post.position.clone(), self.dialect.adapt(&post.body));
            Some(FileComment { fingerprint, commit, path, position, body })
        };
        self.missing(posted).filter_map(comment).collect()
    }

    /// Returns the findings whose comments can be resolved: those that are known to be gone or were
    /// dismissed, and those that every reviewer that found them looked for again, reliably, and did
    /// not report.
    pub fn resolvable_comments(
        &self,
        comments: &BTreeMap<Fingerprint, Finders>,
    ) -> BTreeSet<Fingerprint> {
        let open: BTreeSet<&Fingerprint> =
            self.posts.iter().map(|post| &post.fingerprint).chain(&self.unposted).collect();
        let is_settled = |(print, by): &(&Fingerprint, &Finders)| {
            let is_gone = self.settled.contains(print) || by.is_subset_of(&self.reliable);
            is_gone && !open.contains(print)
        };
        comments.iter().filter(is_settled).map(|(print, _)| print.clone()).collect()
    }

    /// Returns the parts of the summary, which contains every finding without a comment.
    pub fn summary(&self, posted: &PostedState) -> Vec<String> {
        let parts = summary::parts(&self.page, &self.posts, posted);
        parts.iter().map(|part| self.dialect.adapt(part)).collect()
    }

    fn line_comment(&self, post: &Post) -> Option<LineComment> {
        let comment = post.as_line_comment()?;
        Some(LineComment { body: self.dialect.adapt(&comment.body), ..comment })
    }

    fn missing<'a>(&'a self, posted: &'a PostedState) -> impl Iterator<Item = &'a Post> {
        self.posts.iter().filter(|post| {
            !posted.visible.contains(&post.fingerprint)
                && !posted.refused.contains_key(&post.fingerprint)
        })
    }
}
