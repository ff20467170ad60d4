//! The reviews of ours on a pull request, and which of them still agree with the draft:
//! [`Verdicts`].
//!
//! A service uses the newest verdict of each reviewer. So an earlier review with the right verdict is
//! not enough: no other verdict may follow it, and it must be about the current commits.

use std::collections::BTreeSet;

use assay_findings::post::{ReviewCall, ReviewDraft, ReviewEvent, ReviewKey};

use super::review_state::{ReviewEntry, ReviewStatus};

/// The reason for dismissing an approval of other commits.
const OTHER_COMMITS: &str = "This review is for other commits.";
/// The reason for dismissing an approval of the same commits for another base branch.
const OTHER_BRANCH: &str = "This review is for these commits on another base branch.";
/// The reason for dismissing an approval of the same change.
const NOT_APPROVED: &str = "A newer review of the same change does not approve it.";
/// The reason for dismissing a request for changes.
const READY: &str = "The change is ready now.";

/// A review of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OwnReview {
    id: Option<u64>,
    /// The key by which the review is recognised; `None` for reviews that the owner of the account
    /// wrote.
    key: Option<ReviewKey>,
    state: ReviewStatus,
    commit: Option<String>,
}

impl OwnReview {
    /// Returns the reason why the review is about another change than a draft, or `None` if it is
    /// not.
    fn other_change_reason(&self, draft: &ReviewDraft) -> Option<&'static str> {
        if self.commit.as_deref() != Some(draft.head()) {
            return Some(OTHER_COMMITS);
        }
        let key = self.key.as_ref()?;
        key.has_other_base(draft.key()).then_some(OTHER_BRANCH)
    }
}

/// The reviews of ours on a pull request, the oldest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Verdicts(Vec<OwnReview>);

impl Verdicts {
    /// Adds a review of ours that is newer than the others, with its key.
    pub(super) fn add(&mut self, review: &ReviewEntry, key: Option<ReviewKey>) {
        let commit = review.commit.as_ref().map(|commit| commit.as_str().to_owned());
        self.0.push(OwnReview { id: review.id, key, state: review.state, commit });
    }

    /// Records a review that was just sent.
    pub(super) fn add_sent(&mut self, id: u64, call: &ReviewCall) {
        let state = match call.event {
            ReviewEvent::Approve => ReviewStatus::Approved,
            ReviewEvent::RequestChanges => ReviewStatus::ChangesRequested,
            ReviewEvent::Comment => ReviewStatus::Commented,
        };
        let (key, commit) = (Some(call.key.clone()), Some(call.commit.clone()));
        self.0.push(OwnReview { id: Some(id), key, state, commit });
    }

    /// Records that a review was dismissed.
    pub(super) fn mark_dismissed(&mut self, id: u64) {
        for review in self.0.iter_mut().filter(|review| review.id == Some(id)) {
            review.state = ReviewStatus::Dismissed;
        }
    }

    /// Returns the keys of the reviews that count. The review of the draft counts only if no other
    /// verdict followed it.
    pub(super) fn counted_keys(&self, draft: &ReviewDraft) -> BTreeSet<ReviewKey> {
        let mut keys: BTreeSet<ReviewKey> =
            self.0.iter().filter_map(|review| review.key.clone()).collect();
        let has_verdict = match draft.event() {
            ReviewEvent::Approve | ReviewEvent::RequestChanges => true,
            ReviewEvent::Comment => false,
        };
        if has_verdict && self.latest(draft).is_none() {
            keys.remove(draft.key());
        }
        keys
    }

    /// Returns the review with the verdict of a draft, if no other verdict followed it. It may be a
    /// comment, if no more was permitted.
    fn latest(&self, draft: &ReviewDraft) -> Option<&OwnReview> {
        let is_drafts = |review: &OwnReview| review.key.as_ref() == Some(draft.key());
        let says_something = |review: &&OwnReview| match review.state {
            ReviewStatus::Approved | ReviewStatus::ChangesRequested => true,
            ReviewStatus::Commented => is_drafts(review),
            ReviewStatus::Dismissed | ReviewStatus::Pending => false,
        };
        self.0.iter().rev().find(says_something).filter(|review| is_drafts(review))
    }

    /// Returns the next review of ours to dismiss, and the reason: an approval of another change if
    /// this one is not approved, an approval of the same change if a complete review no longer
    /// approves it, and a request for changes if the change is ready and no approval takes its
    /// place.
    pub(super) fn next_stale(
        &self,
        draft: &ReviewDraft,
        is_forbidden: impl Fn(u64) -> bool,
    ) -> Option<(u64, &'static str)> {
        let is_approved = self.latest(draft).is_some_and(|it| it.state == ReviewStatus::Approved);
        self.0.iter().filter(|review| review.key.is_some()).find_map(|review| {
            let why = match review.state {
                ReviewStatus::Approved => review
                    .other_change_reason(draft)
                    .or_else(|| draft.is_ready().then_some(NOT_APPROVED))
                    .filter(|_| draft.event() != ReviewEvent::Approve),
                ReviewStatus::ChangesRequested => {
                    (draft.is_ready() && !is_approved).then_some(READY)
                }
                ReviewStatus::Commented | ReviewStatus::Dismissed | ReviewStatus::Pending => None,
            };
            review.id.filter(|id| !is_forbidden(*id)).zip(why)
        })
    }
}
