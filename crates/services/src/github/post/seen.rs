//! What stands on a pull request of ours, and what is left to do: [`Seen`], [`Step`].

use std::collections::{BTreeMap, BTreeSet};

use assay_findings::post::marker::{self, Marker};
use assay_findings::post::{
    Draft, FileComment, Finders, Fingerprint, ReviewCall, Standing, spare_part,
};

use super::verdicts::Verdicts;
use crate::github::ReviewState;

/// Why a finding is told in the summary whose comment is gone.
const DELETED: &str = "somebody deleted it";

/// A thread of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnThread {
    pub(super) id: String,
    pub(super) is_resolved: bool,
    /// Whether we resolved it, and not a person.
    pub(super) is_resolved_by_us: bool,
}

/// What stands on a pull request of ours. Whatever others wrote counts for nothing, whatever it
/// looks like.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    /// The threads on findings. One finding has one; where it has more, all are treated alike.
    pub(super) threads: BTreeMap<Fingerprint, Vec<OwnThread>>,
    /// Who found what has a thread.
    found_by: BTreeMap<Fingerprint, Finders>,
    pub(super) reviews: Verdicts,
    /// The parts of the summary: where each is, and what it says.
    pub(super) summary: BTreeMap<u32, (u64, String)>,
    /// The findings whose comments were refused.
    pub(super) refused: BTreeMap<Fingerprint, String>,
    /// What is left of calls that were refused as a whole, the next last.
    pub(super) parts: Vec<ReviewCall>,
    /// What we may not change, and leave as it is.
    pub(super) left: BTreeSet<Own>,
}

/// Something of ours that is changed as a whole.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Own {
    Thread(String),
    Review(u64),
}

/// The next thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Review(ReviewCall),
    CommentOnFile(FileComment),
    NewPart(u32, String),
    ChangePart(u32, u64, String),
    Reopen(String),
    Resolve(String),
    /// Takes back a review, as of the commit that was reviewed now, for a reason.
    Dismiss(u64, String, &'static str),
}

impl Seen {
    /// Reads what stands there, on top of what was refused before.
    pub(super) fn of(state: &ReviewState, before: Seen) -> Seen {
        let Seen { refused, parts, left, .. } = before;
        let mut seen = Seen { refused, parts, left, ..Seen::default() };
        for thread in &state.threads {
            let first = thread.comments.first().filter(|comment| comment.is_ours);
            let marker = first.and_then(|comment| marker::read(&comment.body));
            if let Some(Marker::Finding(fingerprint, by)) = marker {
                seen.found_by.insert(fingerprint.clone(), by);
                seen.threads.entry(fingerprint).or_default().push(OwnThread {
                    id: thread.id.clone(),
                    is_resolved: thread.is_resolved,
                    is_resolved_by_us: thread.is_resolved_by_its_author,
                });
            }
        }
        for review in state.reviews.iter().filter(|review| review.is_ours) {
            let key = match marker::read(&review.body) {
                Some(Marker::Review(key)) => Some(key),
                Some(Marker::Finding(..) | Marker::Summary(_)) | None => None,
            };
            seen.reviews.add(review, key);
        }
        for comment in state.comments.iter().filter(|comment| comment.is_ours) {
            // One without a number cannot be changed, so another takes its place.
            let part = marker::read(&comment.body).zip(comment.id);
            if let Some((Marker::Summary(number), id)) = part {
                // The first one stays the summary, should there be two.
                seen.summary.entry(number).or_insert((id, comment.body.clone()));
            }
        }
        seen
    }

    /// Takes findings whose comments stood there once, and are gone, for refused.
    pub(super) fn leave_deleted(&mut self, posted: &BTreeSet<Fingerprint>) {
        let gone = posted.iter().filter(|fingerprint| !self.threads.contains_key(*fingerprint));
        let gone: Vec<Fingerprint> = gone.cloned().collect();
        for fingerprint in gone {
            self.refused.entry(fingerprint).or_insert_with(|| DELETED.to_owned());
        }
    }

    fn standing(&self, draft: &Draft) -> Standing {
        Standing {
            visible: self.threads.keys().cloned().collect(),
            refused: self.refused.clone(),
            reviews: self.reviews.standing(draft),
        }
    }

    /// Finds the next thing to do for a draft to stand there. What is found is told before anything
    /// is put away, so that what goes wrong there hides nothing.
    pub(super) fn next(&mut self, draft: &Draft) -> Option<Step> {
        let standing = self.standing(draft);
        let part = self.next_part(&standing);
        part.map(Step::Review)
            .or_else(|| draft.calls(&standing).into_iter().next().map(Step::Review))
            .or_else(|| draft.file_comments(&standing).into_iter().next().map(Step::CommentOnFile))
            .or_else(|| self.next_summary(&draft.summary(&standing)))
            .or_else(|| self.next_thread(draft))
            .or_else(|| self.next_dismissal(draft))
    }

    /// Takes what is left of a refused call, without what stands by now.
    fn next_part(&mut self, standing: &Standing) -> Option<ReviewCall> {
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

    fn next_thread(&self, draft: &Draft) -> Option<Step> {
        let found: BTreeSet<&Fingerprint> =
            draft.posts().iter().map(|post| &post.fingerprint).collect();
        let settled = draft.settled(&self.found_by);
        let may_change = |id: &str| !self.left.contains(&Own::Thread(id.to_owned()));
        self.threads.iter().find_map(|(fingerprint, threads)| {
            let threads = || threads.iter().filter(|thread| may_change(&thread.id));
            // A person who resolved one has decided.
            let back = || threads().find(|thread| thread.is_resolved_by_us);
            let open = || threads().find(|thread| !thread.is_resolved);
            match (found.contains(fingerprint), settled.contains(fingerprint)) {
                (true, _) => back().map(|thread| Step::Reopen(thread.id.clone())),
                (false, true) => open().map(|thread| Step::Resolve(thread.id.clone())),
                (false, false) => None,
            }
        })
    }

    fn next_dismissal(&self, draft: &Draft) -> Option<Step> {
        let is_left = |id| self.left.contains(&Own::Review(id));
        let stale = self.reviews.next_stale(draft, is_left);
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
    use crate::github::StandingComment;

    #[test]
    fn a_part_of_the_summary_that_cannot_be_changed_is_written_anew() {
        let body = Marker::Summary(1).to_string();
        let seen = |ids: &[Option<u64>]| {
            let comment = |&id| StandingComment { id, body: body.clone(), is_ours: true };
            let comments = ids.iter().map(comment).collect();
            Seen::of(&ReviewState { comments, ..ReviewState::default() }, Seen::default())
        };
        let wanted = ["new".to_owned()];
        let new = Step::NewPart(1, "new".to_owned());
        assert_eq!(seen(&[None]).next_summary(&wanted), Some(new));
        let changed = Step::ChangePart(1, 7, "new".to_owned());
        assert_eq!(seen(&[None, Some(7)]).next_summary(&wanted), Some(changed));
    }
}
