//! The state of our review on a pull request, and the next step to take: [`RemoteReview`],
//! [`Step`].

use std::collections::{BTreeMap, BTreeSet};

use assay_findings::post::marker::{self, Marker};
use assay_findings::post::{
    FileComment, Finders, Fingerprint, PostedState, ReviewCall, ReviewDraft, spare_part,
};

use super::review_state::ReviewState;
use super::verdicts::Verdicts;

/// The reason, in the summary, why a finding has no comment.
const DELETED: &str = "the comment was deleted";

/// A thread that we started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnThread {
    pub(super) id: String,
    pub(super) is_resolved: bool,
    /// True if we resolved it, and not a person.
    pub(super) is_resolved_by_us: bool,
}

/// The objects of ours on a pull request. Objects of other users are ignored, whatever they look
/// like.
#[derive(Debug, Clone, Default)]
pub(super) struct RemoteReview {
    /// The threads of each finding. A finding has one thread; if it has more, all are treated
    /// alike.
    pub(super) threads: BTreeMap<Fingerprint, Vec<OwnThread>>,
    /// The reviewers that found each finding with a thread.
    found_by: BTreeMap<Fingerprint, Finders>,
    pub(super) reviews: Verdicts,
    /// The parts of the summary: the id and the text of the comment, by the number of the part.
    pub(super) summary: BTreeMap<u32, (u64, String)>,
    /// The findings whose comments the service rejected, each with the reason.
    pub(super) refused: BTreeMap<Fingerprint, String>,
    /// The remaining parts of rejected calls, the next one last.
    pub(super) parts: Vec<ReviewCall>,
    /// The objects that we may not change, and leave as they are.
    pub(super) forbidden: BTreeSet<OwnedItem>,
}

/// An object of ours that is changed as a whole.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OwnedItem {
    Thread(String),
    Review(u64),
}

/// The next step to take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Review(ReviewCall),
    CommentOnFile(FileComment),
    NewPart(u32, String),
    ChangePart(u32, u64, String),
    Reopen(String),
    Resolve(String),
    /// Dismisses a review: its id, the commit that is reviewed now, and the reason.
    Dismiss(u64, String, &'static str),
}

impl RemoteReview {
    /// Reads the state of a pull request. Rejections and missing permissions of `before` are
    /// retained.
    pub(super) fn from_state(state: &ReviewState, before: RemoteReview) -> RemoteReview {
        let RemoteReview { refused, parts, forbidden, .. } = before;
        let mut remote = RemoteReview { refused, parts, forbidden, ..RemoteReview::default() };
        for thread in &state.threads {
            let first = thread.comments.first().filter(|comment| comment.is_ours);
            let marker = first.and_then(|comment| marker::read(&comment.body));
            if let Some(Marker::Finding(fingerprint, by)) = marker {
                remote.found_by.insert(fingerprint.clone(), by);
                remote.threads.entry(fingerprint).or_default().push(OwnThread {
                    id: thread.id.clone(),
                    is_resolved: thread.is_resolved,
                    is_resolved_by_us: thread.is_resolved_by_its_author,
                });
            }
        }
        for review in state.reviews.iter().filter(|review| review.is_ours) {
            let key = match marker::read(&review.body) {
                Some(Marker::Review(key)) => Some(key),
                Some(Marker::Finding(..) | Marker::Summary(_) | Marker::Answer(_)) | None => None,
            };
            remote.reviews.add(review, key);
        }
        for comment in state.comments.iter().filter(|comment| comment.is_ours) {
            // A comment without an id cannot be updated, so a new one takes its place.
            let part = marker::read(&comment.body).zip(comment.id);
            if let Some((Marker::Summary(number), id)) = part {
                // If there are two summaries, the first one is used.
                remote.summary.entry(number).or_insert((id, comment.body.clone()));
            }
        }
        remote
    }

    /// Records findings whose comments were posted earlier, and are gone, as rejected.
    pub(super) fn reject_deleted(&mut self, posted: &BTreeSet<Fingerprint>) {
        let gone = posted.iter().filter(|fingerprint| !self.threads.contains_key(*fingerprint));
        let gone: Vec<Fingerprint> = gone.cloned().collect();
        for fingerprint in gone {
            self.refused.entry(fingerprint).or_insert_with(|| DELETED.to_owned());
        }
    }

    fn posted_state(&self, draft: &ReviewDraft) -> PostedState {
        PostedState {
            visible: self.threads.keys().cloned().collect(),
            refused: self.refused.clone(),
            reviews: self.reviews.counted_keys(draft),
        }
    }

    /// Returns the next step towards a draft. Findings are posted before anything is resolved or
    /// dismissed, so that a failure there hides no finding.
    pub(super) fn next_step(&mut self, draft: &ReviewDraft) -> Option<Step> {
        let standing = self.posted_state(draft);
        let part = self.next_part(&standing);
        part.map(Step::Review)
            .or_else(|| draft.calls(&standing).into_iter().next().map(Step::Review))
            .or_else(|| draft.file_comments(&standing).into_iter().next().map(Step::CommentOnFile))
            .or_else(|| self.next_summary(&draft.summary(&standing)))
            .or_else(|| self.next_thread(draft))
            .or_else(|| self.next_dismissal(draft))
    }

    /// Returns the next part of a rejected call, without comments that exist by now.
    fn next_part(&mut self, standing: &PostedState) -> Option<ReviewCall> {
        while let Some(mut call) = self.parts.pop() {
            call.comments.retain(|comment| {
                let fingerprint = &comment.fingerprint;
                !standing.visible.contains(fingerprint)
                    && !standing.refused.contains_key(fingerprint)
            });
            if !call.comments.is_empty() {
                return Some(call);
            }
        }
        None
    }

    fn next_thread(&self, draft: &ReviewDraft) -> Option<Step> {
        let found: BTreeSet<&Fingerprint> =
            draft.posts().iter().map(|post| &post.fingerprint).collect();
        let settled = draft.resolvable_comments(&self.found_by);
        let may_change = |id: &str| !self.forbidden.contains(&OwnedItem::Thread(id.to_owned()));
        self.threads.iter().find_map(|(fingerprint, threads)| {
            let threads = || threads.iter().filter(|thread| may_change(&thread.id));
            // A thread that a person resolved stays resolved.
            let back = || threads().find(|thread| thread.is_resolved_by_us);
            let open = || threads().find(|thread| !thread.is_resolved);
            match (found.contains(fingerprint), settled.contains(fingerprint)) {
                (true, _) => back().map(|thread| Step::Reopen(thread.id.clone())),
                (false, true) => open().map(|thread| Step::Resolve(thread.id.clone())),
                (false, false) => None,
            }
        })
    }

    fn next_dismissal(&self, draft: &ReviewDraft) -> Option<Step> {
        let is_forbidden = |id| self.forbidden.contains(&OwnedItem::Review(id));
        let stale = self.reviews.next_stale(draft, is_forbidden);
        stale.map(|(id, why)| Step::Dismiss(id, draft.head().to_owned(), why))
    }

    fn next_summary(&self, wanted: &[String]) -> Option<Step> {
        let wanted: BTreeMap<u32, &String> = (1..).zip(wanted).collect();
        let new = wanted.iter().find(|(number, _)| !self.summary.contains_key(number));
        if let Some((number, body)) = new {
            return Some(Step::NewPart(*number, (*body).clone()));
        }
        self.summary.iter().find_map(|(&number, (id, body))| {
            let spare = || spare_part(number);
            let wanted = wanted.get(&number).map_or_else(spare, |&body| body.clone());
            (wanted.trim() != body.trim()).then_some(Step::ChangePart(number, *id, wanted))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::post::ConversationComment;

    #[test]
    fn a_summary_part_without_a_comment_id_is_posted_anew() {
        let body = Marker::Summary(1).to_string();
        let remote = |ids: &[Option<u64>]| {
            let comment = |&id| ConversationComment { id, body: body.clone(), is_ours: true };
            let comments = ids.iter().map(comment).collect();
            RemoteReview::from_state(
                &ReviewState { comments, ..ReviewState::default() },
                RemoteReview::default(),
            )
        };
        let wanted = ["new".to_owned()];
        let new = Step::NewPart(1, "new".to_owned());
        assert_eq!(remote(&[None]).next_summary(&wanted), Some(new));
        let changed = Step::ChangePart(1, 7, "new".to_owned());
        assert_eq!(remote(&[None, Some(7)]).next_summary(&wanted), Some(changed));
    }
}
