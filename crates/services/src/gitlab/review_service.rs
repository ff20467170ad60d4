//! A merge request of GitLab as a place for reviews: [`GitLabMergeRequest`].
//!
//! A comment on lines is a discussion. GitLab has no review with a verdict: a verdict that does not
//! approve is in the summary alone, and an approval is GitLab's own approval, together with a note
//! that carries the key of the review. So an approval that a person gave is never withdrawn.

use std::cell::RefCell;

use assay_findings::post::marker::{self, Marker};
use assay_findings::post::{DiffPosition, FileComment, ReviewCall, ReviewEvent, ReviewKey};
use assay_store::pulls::CommitId;

use super::discussions::{Discussion, Note};
use super::{DiffRefs, GitLab, ProjectPath, SERVICE, position};
use crate::http::{Call, ServiceClock, ServiceError};
use crate::post::{
    ConversationComment, ReviewEntry, ReviewService, ReviewState, ReviewStatus, Submission, Thread,
    ThreadComment,
};

/// The text before the commit in the note of an approval.
const REVIEWED: &str = "Reviewed commit `";

/// The statuses with which GitLab refuses an approval: the account may not approve, has approved
/// before, or the head commit is another one.
const APPROVAL_REFUSALS: [u16; 6] = [401, 403, 404, 405, 409, 422];

/// A merge request of GitLab.
pub struct GitLabMergeRequest<'a> {
    gitlab: &'a GitLab,
    project: &'a ProjectPath,
    number: u64,
    /// The commits that positions refer to, as last read.
    refs: RefCell<Option<DiffRefs>>,
}

impl<'a> GitLabMergeRequest<'a> {
    /// Creates the merge request with a number.
    pub fn new(
        gitlab: &'a GitLab,
        project: &'a ProjectPath,
        number: u64,
    ) -> GitLabMergeRequest<'a> {
        GitLabMergeRequest { gitlab, project, number, refs: RefCell::default() }
    }

    /// Starts a discussion at a place of the diff.
    fn discuss(
        &self,
        body: &str,
        position: Option<&DiffPosition>,
    ) -> Result<Submission, ServiceError> {
        let refs = self.refs.borrow().clone();
        let Some((position, refs)) = position.zip(refs) else {
            return Ok(Submission::Rejected(self.misplaced()));
        };
        let position = position::to_json(position, &refs);
        match self.gitlab.start_discussion(self.project, self.number, body, &position) {
            Ok(started) => {
                Ok(Submission::Accepted(started.notes.first().map_or(0, |note| note.id)))
            }
            Err(error) if matches!(error.status(), Some(400 | 422)) => {
                Ok(Submission::Rejected(error))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the error for a comment whose place in the diff is not known.
    fn misplaced(&self) -> ServiceError {
        ServiceError::Refused {
            service: SERVICE,
            what: format!("commenting on {}", self.place()),
            status: 400,
            message: "the line is not in the diff".to_owned(),
            is_outcome_unknown: false,
        }
    }

    /// Approves the merge request, with a note that carries the key of the review.
    fn approve(&self, call: &ReviewCall) -> Result<Submission, ServiceError> {
        let (gitlab, project, number) = (self.gitlab, self.project, self.number);
        let user = gitlab.user()?.id;
        let discussions = gitlab.discussions(project, number)?;
        let existing = own_reviews(&discussions, user)
            .find(|(_, key)| *key == call.key)
            .map(|(note, _)| note.id);
        let note = match existing {
            Some(note) => note,
            None => {
                let body = format!("{REVIEWED}{}`.\n\n{}", call.commit, call.body);
                gitlab.note(project, number, &body)?.id
            }
        };
        if gitlab.is_approved_by(project, number, user)? {
            return Ok(Submission::Accepted(note));
        }
        match gitlab.approve(project, number, &call.commit) {
            Ok(()) => Ok(Submission::Accepted(note)),
            Err(error)
                if error.status().is_some_and(|status| APPROVAL_REFUSALS.contains(&status)) =>
            {
                Ok(Submission::Rejected(error))
            }
            Err(error) => Err(error),
        }
    }
}

impl ReviewService for GitLabMergeRequest<'_> {
    fn name(&self) -> &'static str {
        SERVICE
    }

    fn place(&self) -> String {
        format!("{}!{}", self.project, self.number)
    }

    fn clock(&self) -> &dyn ServiceClock {
        self.gitlab.clock()
    }

    fn takes_batches(&self) -> bool {
        false
    }

    fn review_state(&self) -> Result<ReviewState, ServiceError> {
        let (gitlab, project, number) = (self.gitlab, self.project, self.number);
        let request = gitlab.merge_request(project, number)?;
        if request.diff_refs.is_none() {
            let call = Call::get(gitlab.merge_request_path(project, number, ""));
            return Err(gitlab.unreadable(&call, "GitLab has not prepared the diff yet"));
        }
        self.refs.replace(request.diff_refs);
        let user = gitlab.user()?.id;
        let discussions = gitlab.discussions(project, number)?;
        let has_reviews = own_reviews(&discussions, user).next().is_some();
        let is_approved = has_reviews && gitlab.is_approved_by(project, number, user)?;
        Ok(ReviewState {
            head: Some(request.sha),
            base: Some(request.target_branch),
            threads: discussions.iter().filter_map(|it| to_thread(it, user)).collect(),
            comments: discussions.iter().filter_map(|it| to_comment(it, user)).collect(),
            reviews: to_reviews(&discussions, user, is_approved),
        })
    }

    fn head_and_base(&self) -> Result<(CommitId, String), ServiceError> {
        let request = self.gitlab.merge_request(self.project, self.number)?;
        Ok((request.sha, request.target_branch))
    }

    fn submit_review(&self, call: &ReviewCall) -> Result<Submission, ServiceError> {
        if let Some(comment) = call.comments.first() {
            return self.discuss(&comment.body, comment.position.as_ref());
        }
        match call.event {
            ReviewEvent::Approve => self.approve(call),
            // The summary has the verdict.
            ReviewEvent::RequestChanges | ReviewEvent::Comment => Ok(Submission::Accepted(0)),
        }
    }

    fn comment_on_file(&self, comment: &FileComment) -> Result<Submission, ServiceError> {
        self.discuss(&comment.body, comment.position.as_ref())
    }

    fn comment(&self, body: &str) -> Result<u64, ServiceError> {
        self.gitlab.note(self.project, self.number, body).map(|note| note.id)
    }

    fn update_comment(&self, id: u64, body: &str) -> Result<(), ServiceError> {
        self.gitlab.update_note(self.project, self.number, id, body).map(drop)
    }

    fn resolve(&self, thread: &str) -> Result<(), ServiceError> {
        self.gitlab.set_resolved(self.project, self.number, thread, true)
    }

    fn unresolve(&self, thread: &str) -> Result<(), ServiceError> {
        self.gitlab.set_resolved(self.project, self.number, thread, false)
    }

    fn dismiss(&self, _: u64, _: &str) -> Result<(), ServiceError> {
        self.gitlab.unapprove(self.project, self.number)
    }
}

/// Returns the first notes of the discussions in the conversation.
fn conversation(discussions: &[Discussion]) -> impl Iterator<Item = &Note> {
    let first = discussions.iter().filter_map(|discussion| discussion.notes.first());
    first.filter(|note| !note.system && !note.is_on_diff())
}

/// Returns our notes with the key of a review, the oldest first.
fn own_reviews(discussions: &[Discussion], user: u64) -> impl Iterator<Item = (&Note, ReviewKey)> {
    let own = conversation(discussions).filter(move |note| note.author.id == user);
    own.filter_map(|note| match marker::read(&note.body) {
        Some(Marker::Review(key)) => Some((note, key)),
        Some(Marker::Finding(..) | Marker::Summary(_) | Marker::Answer(_)) | None => None,
    })
}

fn to_thread(discussion: &Discussion, user: u64) -> Option<Thread> {
    let first = discussion.notes.first().filter(|note| note.is_on_diff())?;
    let path = first.position.as_ref().and_then(|it| it.new_path.clone().or(it.old_path.clone()));
    let by_its_author = first.resolved_by.as_ref().is_some_and(|by| by.id == first.author.id);
    let comments = discussion
        .notes
        .iter()
        .map(|note| ThreadComment { body: note.body.clone(), is_ours: note.author.id == user });
    Some(Thread {
        id: discussion.id.clone(),
        is_resolved: first.resolved,
        is_outdated: false,
        is_resolved_by_its_author: first.resolved && by_its_author,
        path: path.unwrap_or_default(),
        comments: comments.collect(),
    })
}

fn to_comment(discussion: &Discussion, user: u64) -> Option<ConversationComment> {
    let note = conversation(std::slice::from_ref(discussion)).next()?;
    let is_ours = note.author.id == user;
    Some(ConversationComment { id: Some(note.id), body: note.body.clone(), is_ours })
}

/// Returns our reviews. GitLab has one approval of a user, which the newest note is about.
fn to_reviews(discussions: &[Discussion], user: u64, is_approved: bool) -> Vec<ReviewEntry> {
    let mut reviews: Vec<ReviewEntry> = own_reviews(discussions, user)
        .map(|(note, _)| ReviewEntry {
            id: Some(note.id),
            body: note.body.clone(),
            state: ReviewStatus::Dismissed,
            is_ours: true,
            commit: reviewed_commit(&note.body),
        })
        .collect();
    if let Some(newest) = reviews.last_mut().filter(|_| is_approved) {
        newest.state = ReviewStatus::Approved;
    }
    reviews
}

/// Returns the commit that the note of an approval names.
fn reviewed_commit(body: &str) -> Option<CommitId> {
    let rest = body.lines().next()?.strip_prefix(REVIEWED)?;
    rest.split('`').next()?.parse().ok()
}
