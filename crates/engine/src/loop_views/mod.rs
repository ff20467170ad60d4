//! Validation loops as plain values with JSON schemas, for pages, reports and the API:
//! [`LoopDetailView`].
//!
//! All content comes from the journal of a loop, and is redacted. [`round`] has the rounds,
//! [`event`] the lines of the journal, and [`screenshot`] the pictures of end-to-end checks.

pub mod event;
pub mod round;
pub mod screenshot;

use assay_validate::artifacts::StatusReport;
use assay_validate::criterion::CriterionLine;
use assay_validate::event::IssueDecision;
use assay_validate::journal::Entry;
use assay_validate::loop_state::LoopState;
use assay_validate::tree_hash::TreeHash;
use schemars::JsonSchema;
use serde::Serialize;

use self::event::LoopEventView;
use self::round::LoopRoundView;
use crate::loop_session::SpecLocation;

/// The maximum number of rounds in a view, the newest ones.
pub const MAX_ROUNDS: usize = 20;

/// The maximum number of lines of the journal in a view, the newest ones.
pub const MAX_EVENTS: usize = 100;

/// A validation loop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoopView {
    /// The id of the loop: the name of the spec's folder, or its path if the name is not unique.
    pub id: String,
    /// The path of the spec's folder, from the root.
    pub folder: String,
    /// The status on the current tree: pending, in_review, rejected, fixes_applied, approved,
    /// human_escalation, or unknown.
    pub status: String,
    /// The reason that a person has to act, or that the status is unknown; null if there is none.
    pub reason: Option<String>,
    /// The number of rounds.
    pub rounds: u32,
    /// The time of the last round; null before the first one.
    pub last_check: Option<String>,
    /// The number of open issues.
    pub open_issues: usize,
    /// The number of acceptance criteria that the last round judged.
    pub criteria: usize,
    /// The number of those criteria that are met.
    pub criteria_met: usize,
}

/// A validation loop with its rounds and its journal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct LoopDetailView {
    /// The loop.
    #[serde(flatten)]
    pub summary: LoopView,
    /// The digest of the current tree, which a sign-off can name.
    pub tree: String,
    /// The rounds, the newest first.
    pub history: Vec<LoopRoundView>,
    /// True if the loop has more rounds than are listed.
    pub has_more_rounds: bool,
    /// The sign-offs and decisions of persons.
    pub sign_offs: Vec<LoopSignOffView>,
    /// True if a sign-off of the whole tree has an effect now.
    pub awaits_sign_off: bool,
    /// True if the last round reviewed the current tree, so that its issues can be decided.
    pub is_current: bool,
    /// The newest lines of the journal, the newest first.
    pub journal: Vec<LoopEventView>,
    /// True if the journal has more lines than are listed.
    pub has_more_events: bool,
}

/// The sign-off of a tree, or the decision on one issue of a tree, by a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoopSignOffView {
    /// The name of the person.
    pub by: String,
    /// The title of the issue; null if the person signed off the whole tree.
    pub about: Option<String>,
    /// The reason; null if the person signed off the whole tree.
    pub because: Option<String>,
    /// True if the tree changed since, so that the sign-off has no effect.
    pub is_void: bool,
}

/// A loop as its journal describes it.
struct RecordedLoop<'a> {
    place: &'a SpecLocation,
    entries: Vec<Entry>,
    state: LoopState,
    is_own: bool,
    tree: TreeHash,
}

impl<'a> RecordedLoop<'a> {
    fn read(place: &'a SpecLocation) -> anyhow::Result<RecordedLoop<'a>> {
        let (entries, state, is_own) = place.journal()?;
        Ok(RecordedLoop { place, entries, state, is_own, tree: place.tree()? })
    }

    fn summary(&self, id: &str) -> anyhow::Result<LoopView> {
        let status = self.place.status_of(&self.state, self.is_own, &self.tree);
        let criteria = self.criteria();
        Ok(LoopView {
            criteria: criteria.len(),
            criteria_met: criteria.iter().filter(|line| line.is_met()).count(),
            rounds: self.state.round,
            ..LoopView::of_status(id, self.place, status)
        })
    }

    /// Returns the criteria of the last reviewed round, with the decisions of persons.
    fn criteria(&self) -> Vec<CriterionLine> {
        let last = self.state.history.iter().rev().find_map(|it| Some((it, it.review()?)));
        let decided = last.map(|(round, review)| self.state.with_decisions(review, &round.tree));
        decided.map(|review| review.criteria).unwrap_or_default()
    }

    /// Returns the sign-offs and decisions of persons. Those on another tree are void.
    fn sign_offs(&self) -> Vec<LoopSignOffView> {
        let view = |by: &str, tree: &TreeHash, decision: Option<&IssueDecision>| LoopSignOffView {
            by: redacted(by),
            about: decision.map(|decision| redacted(&decision.title)),
            because: decision.map(|decision| redacted(&decision.because)),
            is_void: !self.is_own || *tree != self.tree,
        };
        let whole = self.state.sign_offs.iter().map(|(by, tree)| view(by, tree, None));
        let single = self.state.decisions.iter().map(|it| view(&it.by, &it.tree, Some(it)));
        whole.chain(single).collect()
    }

    /// Returns the rounds, the newest first, with the round in progress.
    fn rounds(&self) -> impl Iterator<Item = LoopRoundView> {
        let open = self.state.open.iter().map(LoopRoundView::of_open);
        let closed = self.state.history.iter().rev();
        open.chain(closed.map(|round| LoopRoundView::of(round, &self.state)))
    }
}

impl LoopView {
    /// Returns the view of the loop of a spec.
    pub fn read(id: &str, place: &SpecLocation) -> anyhow::Result<LoopView> {
        RecordedLoop::read(place)?.summary(id)
    }

    /// Returns the view of a loop whose state cannot be read.
    pub fn unknown(id: &str, folder: &str, error: &anyhow::Error) -> LoopView {
        LoopView {
            id: id.to_owned(),
            folder: folder.to_owned(),
            status: "unknown".to_owned(),
            reason: Some(redacted(&format!("{error:#}"))),
            ..LoopView::default()
        }
    }

    fn of_status(id: &str, place: &SpecLocation, status: StatusReport) -> LoopView {
        LoopView {
            id: id.to_owned(),
            folder: place.spec.folder.display().to_string(),
            status: status.status.to_owned(),
            reason: status.escalation_reason.as_deref().map(redacted),
            rounds: status.qa_sessions,
            last_check: status.last_check,
            open_issues: status.issues_found.len(),
            ..LoopView::default()
        }
    }
}

impl LoopDetailView {
    /// Returns the view of the loop of a spec, with its rounds and its journal.
    pub fn read(id: &str, place: &SpecLocation) -> anyhow::Result<LoopDetailView> {
        let recorded = RecordedLoop::read(place)?;
        let (state, entries) = (&recorded.state, &recorded.entries);
        let history: Vec<LoopRoundView> = recorded.rounds().take(MAX_ROUNDS + 1).collect();
        let last = state.history.last().filter(|round| round.tree == recorded.tree);
        Ok(LoopDetailView {
            summary: recorded.summary(id)?,
            tree: recorded.tree.0.clone(),
            has_more_rounds: history.len() > MAX_ROUNDS,
            history: history.into_iter().take(MAX_ROUNDS).collect(),
            sign_offs: recorded.sign_offs(),
            awaits_sign_off: place.awaits_sign_off(state, recorded.is_own, &recorded.tree),
            is_current: recorded.is_own && last.is_some(),
            journal: entries.iter().rev().take(MAX_EVENTS).map(LoopEventView::from).collect(),
            has_more_events: entries.len() > MAX_EVENTS,
        })
    }

    /// Returns the issues of the last round that a person can decide now.
    pub fn decidable(&self) -> impl Iterator<Item = &round::LoopIssueView> {
        let last = self.history.first().filter(|_| self.is_current);
        let issues = last.map(|round| round.issues.as_slice()).unwrap_or_default();
        issues.iter().filter(|issue| issue.can_be_decided)
    }
}

fn redacted(text: &str) -> String {
    assay_rules::redact(text).into_owned()
}

#[cfg(test)]
mod tests;
