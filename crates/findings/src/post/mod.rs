//! A pull request's review, composed: [`compose()`] turns a synthesis into a [`Draft`] of comments
//! and a summary, every finding in exactly one of them.
//!
//! Nothing is sent from here. Whoever posts a draft finds out what stands already and what is
//! refused ([`Standing`]), asks the draft what is left to say, and decides nothing about words. All
//! text of findings is taken to be hostile: it forges no [`marker`], ends no fence, loads no image
//! and tells nobody.

mod anchor;
mod approval;
mod call;
mod check_run;
mod comment;
mod compose;
mod diff;
mod files;
mod fitting;
pub mod marker;
mod suggestion;
mod summary;
mod text;
mod ticket;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use self::call::signed;
use self::summary::Page;
use crate::path::RepoPath;
use crate::verdict::State;

pub use self::anchor::{Place, Why};
pub use self::approval::{Approval, WhenReady, Withheld, approval};
pub use self::call::{FileComment, LineComment, ReviewCall};
pub use self::check_run::{Annotation, AnnotationLevel, CheckRun, Conclusion, check_run};
pub use self::compose::{Surroundings, compose};
pub use self::diff::{Diff, FileHunks, HunkLines, Kind, Side};
pub use self::marker::{Finders, Fingerprint, ReviewKey};
pub use self::suggestion::Parses;
pub use self::summary::spare_part;
pub use self::ticket::ticket_comment;

/// The most bytes of a body, with its marker; the service takes a little more.
const BODY: usize = 60_000;
/// The most comments that one call carries.
const COMMENTS: usize = 30;
/// The most comments on one pull request.
const INLINE: usize = 100;
/// The most characters of a reason in a review's body.
const REASON: usize = 300;

/// What a review does to a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Event {
    /// It lets it through.
    Approve,
    /// It holds it up.
    RequestChanges,
    /// It says something.
    Comment,
}

impl Event {
    /// Gives the event its word in the service's interface.
    pub fn as_str(self) -> &'static str {
        match self {
            Event::Approve => "APPROVE",
            Event::RequestChanges => "REQUEST_CHANGES",
            Event::Comment => "COMMENT",
        }
    }

    /// Returns the event of a review. An approval that is granted is the only way to `Approve`.
    fn of(state: State, approval: &Approval) -> Event {
        match (approval, state) {
            (Approval::Granted, _) => Event::Approve,
            (Approval::Withheld(_), State::NotReady) => Event::RequestChanges,
            (
                Approval::Withheld(_),
                State::Ready | State::ReadyWithFixes | State::NothingToReview | State::Incomplete,
            ) => Event::Comment,
        }
    }
}

/// A review that is ready to be posted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    head: String,
    /// The branch that the commits were held against, where it is known by name.
    #[serde(default)]
    base: Option<String>,
    event: Event,
    /// Whether the change is ready, whatever the review does about it.
    #[serde(default)]
    is_ready: bool,
    /// Who looks alike each time and has, where all who had to did: what they do not find any more
    /// is gone.
    looked: Finders,
    /// What is there, or may be, and is not told.
    #[serde(default)]
    untold: BTreeSet<Fingerprint>,
    /// The verdict in a sentence or two.
    verdict: String,
    key: ReviewKey,
    posts: Vec<Post>,
    /// What is gone or was dismissed, and needs no comment any more.
    settled: BTreeSet<Fingerprint>,
    page: Page,
}

/// One finding of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// What it is told again by.
    pub fingerprint: Fingerprint,
    /// Its file.
    pub path: Option<RepoPath>,
    /// Where it is shown.
    pub place: Place,
    /// How bad it is, of the seven levels.
    severity: String,
    /// Its comment; empty where it is in the summary.
    body: String,
    /// What the summary says where there is no comment.
    entry: String,
    /// The same on one line.
    line: String,
}

/// What stands on a pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The findings that have a comment.
    pub visible: BTreeSet<Fingerprint>,
    /// The findings whose comment was refused, and why.
    pub refused: BTreeMap<Fingerprint, String>,
    /// The reviews that stand, and whose verdict no later one took the place of.
    pub reviews: BTreeSet<ReviewKey>,
}

impl Draft {
    /// Gives the commit that was reviewed.
    pub fn head(&self) -> &str {
        &self.head
    }

    /// Says which branch the commits were held against: for another one, they are another change.
    pub fn against(self, base: Option<String>) -> Draft {
        let key = base.as_deref().map_or_else(|| self.key.clone(), |base| self.key.against(base));
        Draft { base, key, ..self }
    }

    /// Gives the branch that the commits were held against, where it is known.
    pub fn base(&self) -> Option<&str> {
        self.base.as_deref()
    }

    /// Gives what its review does to the pull request.
    pub fn event(&self) -> Event {
        self.event
    }

    /// Says whether the change is ready, whatever the review does about it.
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Gives the key of the review that carries the verdict.
    pub fn key(&self) -> &ReviewKey {
        &self.key
    }

    /// Gives its findings, the worst first.
    pub fn posts(&self) -> &[Post] {
        &self.posts
    }

    /// Gives the calls that post what is not there yet, the worst first. The first one carries the
    /// verdict, unless that stands already.
    pub fn calls(&self, standing: &Standing) -> Vec<ReviewCall> {
        let missing: Vec<LineComment> =
            self.missing(standing).filter_map(Post::as_line_comment).collect();
        let mut chunks = missing.chunks(COMMENTS);
        let mut calls = Vec::new();
        if !standing.reviews.contains(&self.key) {
            let comments = chunks.next().unwrap_or_default().to_vec();
            let (commit, event) = (self.head.clone(), self.event);
            let body = signed(&self.verdict, &self.key);
            calls.push(ReviewCall { key: self.key.clone(), commit, event, body, comments });
        }
        for comments in chunks {
            calls.push(ReviewCall::of_comments(&self.key, &self.head, comments.to_vec()));
        }
        calls
    }

    /// Gives the comments on files that are not there yet, which are posted one by one.
    pub fn file_comments(&self, standing: &Standing) -> Vec<FileComment> {
        let comment = |post: &Post| {
            let path = post.path.clone().filter(|_| post.place == Place::File)?;
            let (fingerprint, commit) = (post.fingerprint.clone(), self.head.clone());
            Some(FileComment { fingerprint, commit, path, body: post.body.clone() })
        };
        self.missing(standing).filter_map(comment).collect()
    }

    /// Gives the findings that can be resolved, of those that have a comment: what is known to be
    /// gone or was dismissed, and what all who found it looked for, surely, and did not find again.
    pub fn settled(&self, comments: &BTreeMap<Fingerprint, Finders>) -> BTreeSet<Fingerprint> {
        let open: BTreeSet<&Fingerprint> =
            self.posts.iter().map(|post| &post.fingerprint).chain(&self.untold).collect();
        let is_settled = |(print, by): &(&Fingerprint, &Finders)| {
            let is_gone = self.settled.contains(print) || by.are_among(&self.looked);
            is_gone && !open.contains(print)
        };
        comments.iter().filter(is_settled).map(|(print, _)| print.clone()).collect()
    }

    /// Writes the parts of the summary, in which every finding is that has no comment.
    pub fn summary(&self, standing: &Standing) -> Vec<String> {
        summary::parts(&self.page, &self.posts, standing)
    }

    fn missing<'a>(&'a self, standing: &'a Standing) -> impl Iterator<Item = &'a Post> {
        self.posts.iter().filter(|post| {
            !standing.visible.contains(&post.fingerprint)
                && !standing.refused.contains_key(&post.fingerprint)
        })
    }
}
