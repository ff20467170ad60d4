//! Posts a review on a pull request: [`post`] makes the pull request show a draft, exactly once,
//! whatever fails. A hosting service takes part by implementing [`ReviewService`].
//!
//! The state of the pull request is read first, and read again whenever it is not known whether a
//! write took effect; the remaining steps are computed from that state alone (`remote_review`). So
//! it does not matter where an earlier attempt stopped: each finding has its comment, or its entry
//! in the summary, exactly once. Comments are recognised by their markers, and only comments that
//! we wrote ourselves count.

mod remote_review;
mod review_service;
mod review_state;
mod verdicts;

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use assay_base::backoff::Backoff;
use assay_findings::post::{self as draft, Fingerprint, ReviewDraft};
use assay_store::pulls::CommitId;

use self::remote_review::{OwnThread, OwnedItem, RemoteReview, Step};
pub use self::review_service::{ReviewService, Submission};
pub use self::review_state::{
    ConversationComment, ReviewEntry, ReviewState, ReviewStatus, Thread, ThreadComment,
};
use crate::http::ServiceError;

/// The maximum number of failed steps in a row before the review is left for a later attempt.
const MAX_FAILURES: u32 = 4;

/// Delays before the state is read again after a failed write: the service may still be processing a
/// review whose response was lost.
const POST_BACKOFF: Backoff = Backoff::new(Duration::from_secs(30), Duration::from_secs(240));

/// The result of posting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostOutcome {
    /// The pull request shows the draft.
    Posted(PostReport),
    /// The pull request is a different change by now, which gets its own review: no more is posted.
    Superseded(SupersededReason),
}

/// The reason why a review is superseded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SupersededReason {
    /// The pull request has another head commit.
    NewHead(CommitId),
    /// The pull request has another base branch.
    NewBase(String),
}

impl fmt::Display for SupersededReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SupersededReason::NewHead(head) => {
                write!(f, "has the new head commit {}", head.short())
            }
            SupersededReason::NewBase(base) => write!(f, "now targets `{base}`"),
        }
    }
}

/// The state of a pull request after posting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PostReport {
    /// The findings that have a comment.
    pub visible: BTreeSet<Fingerprint>,
    /// The number of comments that were added.
    pub added: usize,
    /// The number of threads that were resolved, as their finding is gone.
    pub resolved: usize,
    /// The number of threads that were reopened, as their finding is back.
    pub reopened: usize,
    /// The number of findings whose comments the service rejected; they are in the summary.
    pub refused: usize,
    /// The number of our threads and reviews that we may not resolve, reopen or dismiss.
    pub not_permitted: usize,
}

/// Posts a draft on a pull request. `posted` are the findings that are known to have had a comment:
/// a comment that a user deleted is not created again.
pub fn post(
    service: &dyn ReviewService,
    draft: &ReviewDraft,
    posted: &BTreeSet<Fingerprint>,
) -> Result<PostOutcome, ServiceError> {
    let (base, report) = (draft.base(), PostReport::default());
    let mut poster = Poster { service, base, posted, report };
    match poster.reconcile(draft) {
        Ok(()) => Ok(PostOutcome::Posted(poster.report)),
        Err(StopReason::Superseded(moved)) => Ok(PostOutcome::Superseded(moved)),
        Err(StopReason::Failed(error)) => Err(error),
    }
}

/// Returns true if reading the state again and retrying may help. A missing permission, or a
/// missing object, stays missing.
fn is_retryable(error: &ServiceError) -> bool {
    // A rate limit that exceeds the maximum wait is left to a later attempt.
    let is_limit = matches!(error, ServiceError::RateLimited { .. });
    !is_limit && (error.is_transient() || error.is_outcome_unknown() || error.status() == Some(422))
}

/// Returns true if the service does not permit a change, now or later.
fn is_not_permitted(error: &ServiceError) -> bool {
    matches!(error.status(), Some(403 | 404 | 422))
}

/// The reason to stop posting.
enum StopReason {
    /// The pull request is a different change by now.
    Superseded(SupersededReason),
    Failed(ServiceError),
}

impl From<ServiceError> for StopReason {
    fn from(error: ServiceError) -> StopReason {
        StopReason::Failed(error)
    }
}

struct Poster<'a> {
    service: &'a dyn ReviewService,
    /// The base branch that the draft is about; `None` if it is not known.
    base: Option<&'a str>,
    posted: &'a BTreeSet<Fingerprint>,
    report: PostReport,
}

impl Poster<'_> {
    /// Runs one step after the other until no step is left.
    fn reconcile(&mut self, draft: &ReviewDraft) -> Result<(), StopReason> {
        let mut remote = self.read_state(draft, RemoteReview::default())?;
        let mut failures = 0;
        while let Some(step) = remote.next_step(draft) {
            let error = match self.apply(step, &mut remote) {
                Ok(()) => {
                    failures = 0;
                    continue;
                }
                Err(StopReason::Failed(error)) => error,
                Err(moved) => return Err(moved),
            };
            failures += 1;
            if failures > MAX_FAILURES || !is_retryable(&error) {
                return Err(StopReason::Failed(error));
            }
            self.wait(failures, &error)?;
            remote = self.read_state(draft, remote)?;
        }
        self.report.refused = remote.refused.len();
        self.report.not_permitted = remote.forbidden.len();
        self.report.visible = remote.threads.into_keys().collect();
        Ok(())
    }

    fn read_state(
        &self,
        draft: &ReviewDraft,
        before: RemoteReview,
    ) -> Result<RemoteReview, StopReason> {
        let state = self.service.review_state()?;
        if let (Some(head), Some(base)) = (&state.head, &state.base) {
            self.check_current(draft.head(), head, base)?;
        }
        self.check_pending(&state)?;
        let mut remote = RemoteReview::from_state(&state, before);
        remote.reject_deleted(self.posted);
        Ok(remote)
    }

    /// Fails if a pending review of ours exists: the service would reject every write, without a
    /// reason.
    fn check_pending(&self, state: &ReviewState) -> Result<(), ServiceError> {
        let mut own = state.reviews.iter().filter(|review| review.is_ours);
        if !own.any(|review| review.state == ReviewStatus::Pending) {
            return Ok(());
        }
        let place = self.service.place();
        Err(ServiceError::Refused {
            service: self.service.name(),
            what: format!("posting a review on {place}"),
            status: 422,
            message: format!(
                "you have a pending review on {place}; submit or delete the pending review"
            ),
            is_outcome_unknown: false,
        })
    }

    /// Reads the pull request and fails if it is a different change by now. The call is cheap, and
    /// a verdict on the wrong change would do harm.
    fn recheck_current(&self, reviewed: &str) -> Result<(), StopReason> {
        let (head, base) = self.service.head_and_base()?;
        self.check_current(reviewed, &head, &base)
    }

    /// Fails if the pull request is a different change by now: the comments would be read as
    /// comments on that change.
    fn check_current(&self, reviewed: &str, head: &CommitId, base: &str) -> Result<(), StopReason> {
        if head.as_str() != reviewed {
            return Err(StopReason::Superseded(SupersededReason::NewHead(head.clone())));
        }
        match self.base.is_none_or(|reviewed| reviewed == base) {
            true => Ok(()),
            false => Err(StopReason::Superseded(SupersededReason::NewBase(base.to_owned()))),
        }
    }

    fn wait(&self, failures: u32, error: &ServiceError) -> Result<(), ServiceError> {
        let time = POST_BACKOFF.delay(failures - 1);
        let why = format!("{error}; checking again in {} s", time.as_secs());
        let waited = self.service.clock().wait(time, &why);
        waited.map_err(|_| ServiceError::RateLimited {
            service: self.service.name(),
            what: "posting the review".to_owned(),
            wait: time,
        })
    }

    /// Runs a step, and records the new state.
    fn apply(&mut self, step: Step, remote: &mut RemoteReview) -> Result<(), StopReason> {
        let service = self.service;
        match step {
            Step::Review(call) => self.review(call, remote)?,
            Step::CommentOnFile(comment) => self.comment_on_file(&comment, remote)?,
            Step::NewPart(part, body) => {
                let id = service.comment(&body)?;
                remote.summary.insert(part, (id, body));
            }
            Step::ChangePart(part, id, body) => {
                service.update_comment(id, &body)?;
                remote.summary.insert(part, (id, body));
            }
            Step::Reopen(id) => {
                if was_changed(service.unresolve(&id), OwnedItem::Thread(id.clone()), remote)? {
                    self.report.reopened += 1;
                    mark_resolved(remote, &id, false);
                }
            }
            Step::Resolve(id) => {
                if was_changed(service.resolve(&id), OwnedItem::Thread(id.clone()), remote)? {
                    self.report.resolved += 1;
                    mark_resolved(remote, &id, true);
                }
            }
            Step::Dismiss(id, head, why) => {
                self.recheck_current(&head)?;
                let dismissed = service.dismiss(id, why);
                if was_changed(dismissed, OwnedItem::Review(id), remote)? {
                    remote.reviews.mark_dismissed(id);
                }
            }
        }
        Ok(())
    }

    /// Sends a review. If the service rejects it, the review is split until the rejected part is
    /// found.
    fn review(
        &mut self,
        call: draft::ReviewCall,
        remote: &mut RemoteReview,
    ) -> Result<(), StopReason> {
        if !self.service.takes_batches()
            && !call.comments.is_empty()
            && let Some(parts) = call.clone().split()
        {
            return self.review_parts(parts, remote);
        }
        if call.event != draft::ReviewEvent::Comment {
            self.recheck_current(&call.commit)?;
        }
        match self.service.submit_review(&call)? {
            Submission::Accepted(id) => {
                self.report.added += call.comments.len();
                remote.reviews.add_sent(id, &call);
                let prints = call.comments.into_iter().map(|comment| comment.fingerprint);
                prints.for_each(|print| add_thread(remote, print));
                Ok(())
            }
            Submission::Rejected(error) => {
                // Comments on commits that were replaced by a force push are rejected, though they
                // are valid.
                self.recheck_current(&call.commit)?;
                self.split_rejected(call, remote, error)
            }
        }
    }

    /// Sends the first part if it has a verdict, and leaves the rest to the next steps.
    fn review_parts(
        &mut self,
        [first, second]: [draft::ReviewCall; 2],
        remote: &mut RemoteReview,
    ) -> Result<(), StopReason> {
        // A verdict without comments is sent at once: `next_part` skips calls without comments,
        // and the verdict would be the next missing call anyway.
        remote.parts.push(second);
        match first.comments.is_empty() {
            true => self.review(first, remote),
            false => {
                remote.parts.push(first);
                Ok(())
            }
        }
    }

    fn split_rejected(
        &mut self,
        mut call: draft::ReviewCall,
        remote: &mut RemoteReview,
        error: ServiceError,
    ) -> Result<(), StopReason> {
        if let Some(parts) = call.clone().split() {
            return self.review_parts(parts, remote);
        }
        if let Some(comment) = call.comments.pop() {
            let message = error.message().unwrap_or_default().to_owned();
            remote.refused.insert(comment.fingerprint, message);
            return Ok(());
        }
        match call.event {
            // A user cannot approve, or request changes on, their own pull request; on others, they
            // need the permission.
            draft::ReviewEvent::Approve | draft::ReviewEvent::RequestChanges => {
                call.event = draft::ReviewEvent::Comment;
                self.review(call, remote)
            }
            draft::ReviewEvent::Comment => Err(error.into()),
        }
    }

    fn comment_on_file(
        &mut self,
        comment: &draft::FileComment,
        remote: &mut RemoteReview,
    ) -> Result<(), StopReason> {
        match self.service.comment_on_file(comment)? {
            Submission::Accepted(_) => {
                self.report.added += 1;
                add_thread(remote, comment.fingerprint.clone());
                Ok(())
            }
            Submission::Rejected(error) => {
                self.recheck_current(&comment.commit)?;
                let message = error.message().unwrap_or_default().to_owned();
                remote.refused.insert(comment.fingerprint.clone(), message);
                Ok(())
            }
        }
    }
}

/// Returns true if an object of ours was changed. An object that we may not change is left as it
/// is: an outdated comment is better than no review.
fn was_changed<T>(
    changed: Result<T, ServiceError>,
    what: OwnedItem,
    remote: &mut RemoteReview,
) -> Result<bool, ServiceError> {
    match changed {
        Ok(_) => Ok(true),
        Err(error) if is_not_permitted(&error) => {
            remote.forbidden.insert(what);
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Records a thread that was just created; its id is not known until the state is read again.
fn add_thread(remote: &mut RemoteReview, fingerprint: Fingerprint) {
    let new = OwnThread { id: String::new(), is_resolved: false, is_resolved_by_us: false };
    remote.threads.entry(fingerprint).or_default().push(new);
}

fn mark_resolved(remote: &mut RemoteReview, id: &str, is_resolved: bool) {
    let threads = remote.threads.values_mut().flatten().filter(|thread| thread.id == id);
    for thread in threads {
        thread.is_resolved = is_resolved;
        thread.is_resolved_by_us = is_resolved;
    }
}
