//! Our reviews on a pull request, and which of them still say what we say today: [`Verdicts`].
//!
//! GitHub goes by the newest verdict of each reviewer, so one that was right once is not enough: it
//! must not be followed by another, and what it was about must still be there.

use std::collections::BTreeSet;

use assay_findings::post::{Draft, Event, ReviewCall, ReviewKey};

use crate::github::{StandingReview, StandsAs};

/// Says why an approval is taken back.
const OTHER_COMMITS: &str = "It was about other commits.";
/// Says why an approval of the same commits is.
const OTHER_BRANCH: &str = "It was about these commits for another branch.";
/// Why an approval of the same change is taken back.
const NOT_APPROVED: &str = "A newer review of the same change does not approve it.";
/// Says why it is no more asked for changes.
const READY: &str = "The change is ready by now.";

/// A review of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OwnReview {
    id: Option<u64>,
    /// What it is told again by; whoever lends us an account writes reviews without one.
    key: Option<ReviewKey>,
    state: StandsAs,
    commit: Option<String>,
}

impl OwnReview {
    /// Says why it is about something else than a draft.
    fn is_of_another_change(&self, draft: &Draft) -> Option<&'static str> {
        if self.commit.as_deref() != Some(draft.head()) {
            return Some(OTHER_COMMITS);
        }
        let key = self.key.as_ref()?;
        key.is_against_another_than(draft.key()).then_some(OTHER_BRANCH)
    }
}

/// Our reviews on a pull request, the oldest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Verdicts(Vec<OwnReview>);

impl Verdicts {
    /// Takes a review of ours that is newer than those before, with the key that it carries.
    pub(super) fn add(&mut self, review: &StandingReview, key: Option<ReviewKey>) {
        let commit = review.commit.as_ref().map(|commit| commit.as_str().to_owned());
        self.0.push(OwnReview { id: review.id, key, state: review.state, commit });
    }

    /// Notes a review that was just sent.
    pub(super) fn sent(&mut self, id: u64, call: &ReviewCall) {
        let state = match call.event {
            Event::Approve => StandsAs::Approved,
            Event::RequestChanges => StandsAs::ChangesRequested,
            Event::Comment => StandsAs::Commented,
        };
        let (key, commit) = (Some(call.key.clone()), Some(call.commit.clone()));
        self.0.push(OwnReview { id: Some(id), key, state, commit });
    }

    /// Notes that a review was taken back.
    pub(super) fn dismissed(&mut self, id: u64) {
        for review in self.0.iter_mut().filter(|review| review.id == Some(id)) {
            review.state = StandsAs::Dismissed;
        }
    }

    /// Gives the reviews that stand. That of the draft does only if no other verdict followed it.
    pub(super) fn standing(&self, draft: &Draft) -> BTreeSet<ReviewKey> {
        let mut keys: BTreeSet<ReviewKey> =
            self.0.iter().filter_map(|review| review.key.clone()).collect();
        let has_verdict = match draft.event() {
            Event::Approve | Event::RequestChanges => true,
            Event::Comment => false,
        };
        if has_verdict && self.latest(draft).is_none() {
            keys.remove(draft.key());
        }
        keys
    }

    /// Gives the review that carries the verdict of a draft, if nothing else was said since. It may
    /// be a comment, where nothing more was permitted.
    fn latest(&self, draft: &Draft) -> Option<&OwnReview> {
        let is_drafts = |review: &OwnReview| review.key.as_ref() == Some(draft.key());
        let says_something = |review: &&OwnReview| match review.state {
            StandsAs::Approved | StandsAs::ChangesRequested => true,
            StandsAs::Commented => is_drafts(review),
            StandsAs::Dismissed | StandsAs::Pending => false,
        };
        self.0.iter().rev().find(says_something).filter(|review| is_drafts(review))
    }

    /// Returns the next review of ours that is to be taken back, and why: an approval of another
    /// change where this one is not approved, an approval of the same change where a complete review
    /// does not approve it any more, and a request for changes where the change is ready and no
    /// approval takes its place.
    pub(super) fn next_stale(
        &self,
        draft: &Draft,
        is_left: impl Fn(u64) -> bool,
    ) -> Option<(u64, &'static str)> {
        let is_approved = self.latest(draft).is_some_and(|it| it.state == StandsAs::Approved);
        self.0.iter().filter(|review| review.key.is_some()).find_map(|review| {
            let why = match review.state {
                StandsAs::Approved => review
                    .is_of_another_change(draft)
                    .or_else(|| draft.is_ready().then_some(NOT_APPROVED))
                    .filter(|_| draft.event() != Event::Approve),
                StandsAs::ChangesRequested => (draft.is_ready() && !is_approved).then_some(READY),
                StandsAs::Commented | StandsAs::Dismissed | StandsAs::Pending => None,
            };
            review.id.filter(|id| !is_left(*id)).zip(why)
        })
    }
}
