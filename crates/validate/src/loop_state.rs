//! The state of a loop as computed from its journal: [`LoopState`].
//!
//! There is no other memory: a run that starts, or resumes after a crash, reads the journal and
//! knows all that the run before knew.

use std::collections::BTreeSet;

use assay_change::Patch;
use assay_checks::check::CheckOutcome;

use crate::ending::Ending;
use crate::event::IssueDecision;
use crate::event::{
    ArtifactDigests, EpochReason, Event, FeedbackDisposition, FeedbackItem, ReviewResult,
};
use crate::issue::{Issue, IssueKind, Remedy};
use crate::journal::Entry;
use crate::kept_tests::KeptTestRun;
use crate::loop_status::{InvalidTransition, LoopStatus};
use crate::plan::SignoffStatus;
use crate::requirements::Requirements;
use crate::surroundings::Surroundings;
use crate::tree_hash::TreeHash;

/// The state of a loop, as computed from its journal.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoopState {
    /// The current state in the state machine.
    pub state: LoopStatus,
    /// The exported status before the review that is in progress.
    before_review: SignoffStatus,
    /// The number of rounds that were begun, over all epochs.
    pub round: u32,
    /// The finished rounds, over all epochs.
    pub history: Vec<Round>,
    /// The number of finished rounds before this epoch, which count no more.
    before_epoch: usize,
    /// The time at which this epoch began.
    pub begun: String,
    /// The commit that the implementation is based on; `None` if there is none.
    pub base: Option<String>,
    /// The number of consecutive errors.
    pub(crate) errors_in_a_row: u32,
    /// The number of errors in this epoch.
    pub(crate) errors: u32,
    /// The message of the last error.
    pub(crate) last_error: String,
    /// The number of rounds without progress.
    pub(crate) stalled: u32,
    /// True if the last fix changed nothing, so that the next round is already counted as stalled.
    is_idle: bool,
    /// The fingerprint of the open issues of the last reviewed round.
    fingerprint: Option<Vec<String>>,
    /// The round in progress; `None` between rounds.
    pub open: Option<OpenRound>,
    /// The fix in progress; `None` if there is none.
    pub fixing: Option<PendingFix>,
    /// The feedback of a person at the beginning of this epoch; `None` if there is none.
    pub feedback: Option<Feedback>,
    /// The digests of all documents that the loop wrote, or read as feedback.
    known_artifacts: BTreeSet<String>,
    /// The digests of the documents that the loop wrote when it ended.
    pub artifacts: ArtifactDigests,
    /// True if the loop ended, with all documents written.
    pub has_ended: bool,
    /// The tree at the ending of the loop; `None` while the loop runs, and if the journal does not
    /// record it.
    pub stopped_at: Option<TreeHash>,
    /// The sign-offs: the name of the person, and the tree.
    pub sign_offs: Vec<(String, TreeHash)>,
    /// The decisions of persons, over all epochs.
    pub decisions: Vec<IssueDecision>,
    /// The highest requirements of any round, over all epochs.
    pub requirements: Requirements,
    /// True if any epoch has begun.
    pub has_begun: bool,
    /// The id of the git tree with the tests of the first judged tree; `None` until it is stored.
    pub kept_tests: Option<String>,
    /// The surroundings of the first judged tree.
    pub first_surroundings: Option<Surroundings>,
    /// The surroundings of the last judged tree.
    pub surroundings: Surroundings,
    /// The tree before the last fix, and the folders that the fixer turned into repositories of
    /// their own; `None` unless the fix was refused for them.
    pub refused_fix: Option<(TreeHash, Vec<String>)>,
}

/// The round in progress.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenRound {
    /// The number of the round.
    pub number: u32,
    /// The time at which the round began.
    pub begun: String,
    /// The tree under review.
    pub tree: TreeHash,
    /// The outcomes of the checks so far.
    pub checks: Vec<CheckOutcome>,
    /// The results of the checks with kept tests in place.
    pub kept: Vec<KeptTestRun>,
    /// The surroundings of the tree when the round began.
    pub surroundings: Surroundings,
}

/// The fix in progress.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingFix {
    /// The tree that the fixer starts from.
    pub tree: TreeHash,
    /// The patch and the fixer's own summary; `None` while the fixer works.
    pub made: Option<(Patch, String)>,
}

/// The feedback of a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Feedback {
    /// The items of the feedback.
    pub items: Vec<FeedbackItem>,
    /// The digest of the feedback file.
    pub digest: String,
    /// The file name that the feedback is archived under.
    pub archived: String,
    /// True if the fixer changed the tree because of the feedback; `None` until the fixer has
    /// finished.
    pub changed_something: Option<bool>,
}

/// A finished round.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// The number of the round.
    pub number: u32,
    /// The time at which the round began.
    pub begun: String,
    /// The time at which the round ended.
    pub at: String,
    /// The tree of the round.
    pub tree: TreeHash,
    /// The outcomes of the checks.
    pub checks: Vec<CheckOutcome>,
    /// The results of the checks with kept tests in place.
    pub kept: Vec<KeptTestRun>,
    /// The surroundings of the tree when the round began.
    pub surroundings: Surroundings,
    /// The outcome of the round.
    pub outcome: RoundOutcome,
    /// The fix after the round; `None` if no fixer has finished.
    pub fix: Option<Fix>,
}

/// The fix after a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The time at which the fix was applied.
    pub at: String,
    /// The fixer's own summary.
    pub summary: String,
    /// True if the fix changed the tree.
    pub changed_something: bool,
}

/// The outcome of a round.
#[derive(Debug, Clone, PartialEq)]
pub enum RoundOutcome {
    /// The review is complete; the tree passes if the result has no issues.
    Verdict(ReviewResult),
    /// The round failed with this error.
    Error(String),
}

impl Feedback {
    fn is_open(&self) -> bool {
        self.changed_something.is_none()
    }
}

impl Round {
    /// Returns the result of the review; `None` if the round failed with an error.
    pub fn review(&self) -> Option<&ReviewResult> {
        match &self.outcome {
            RoundOutcome::Verdict(review) => Some(review),
            RoundOutcome::Error(_) => None,
        }
    }
}

impl LoopState {
    /// Computes the state from the entries of a journal.
    pub fn of(entries: &[Entry]) -> Result<LoopState, InvalidTransition> {
        let mut loop_state = LoopState::default();
        for entry in entries {
            loop_state.apply(&entry.at, &entry.event)?;
        }
        Ok(loop_state)
    }

    /// Applies the next event. Fails if the event is impossible in this state.
    pub fn apply(&mut self, at: &str, event: &Event) -> Result<(), InvalidTransition> {
        match event {
            Event::EpochBegun { why, base } => {
                self.begin(*why, base.as_deref());
                self.begun = at.to_owned();
                Ok(())
            }
            Event::RequirementsRaised { requirements } => {
                self.requirements.raise(requirements);
                Ok(())
            }
            Event::ReviewBegun { round, tree } => {
                self.round = *round;
                self.fixing = None;
                self.before_review = match self.signoff_status() {
                    // Something was done about the rejection, or the tree would not be reviewed
                    // again.
                    SignoffStatus::Rejected => SignoffStatus::FixesApplied,
                    other => other,
                };
                let (number, begun, tree) = (*round, at.to_owned(), tree.clone());
                let (checks, kept) = (Vec::new(), Vec::new());
                let surroundings = self.surroundings.clone();
                self.open = Some(OpenRound { number, begun, tree, checks, kept, surroundings });
                self.state.transition_to(LoopStatus::InReview)
            }
            Event::Checked { outcome } => {
                self.open.iter_mut().for_each(|open| open.checks.push((**outcome).clone()));
                Ok(())
            }
            Event::TestsKept { tree } => {
                self.kept_tests = Some(tree.clone());
                Ok(())
            }
            Event::SurroundingsRecorded { surroundings } => {
                self.surroundings.clone_from(surroundings);
                self.first_surroundings.get_or_insert_with(|| (**surroundings).clone());
                self.open.iter_mut().for_each(|open| open.surroundings.clone_from(surroundings));
                Ok(())
            }
            Event::KeptChecked { runs } => {
                self.open.iter_mut().for_each(|open| open.kept.clone_from(runs));
                Ok(())
            }
            Event::Reviewed { review } => self.reviewed(at, review),
            Event::Failed { why } => self.failed(at, why),
            Event::FixBegun { tree, request } => {
                self.known_artifacts.insert(request.clone());
                self.fixing = Some(PendingFix { tree: tree.clone(), made: None });
                Ok(())
            }
            Event::FixMade { patch, summary } => {
                let made = (patch.clone(), summary.clone());
                self.fixing.iter_mut().for_each(|fixing| fixing.made = Some(made.clone()));
                Ok(())
            }
            Event::Fixed { tree } => self.fixed(at, tree),
            Event::FeedbackTaken { items, digest, archived } => {
                self.known_artifacts.insert(digest.clone());
                let (items, digest, archived) = (items.clone(), digest.clone(), archived.clone());
                let changed_something = None;
                self.feedback = Some(Feedback { items, digest, archived, changed_something });
                self.state.transition_to(LoopStatus::Rejected)
            }
            Event::SignedOff { by, tree } => self.signed_off(by, tree),
            Event::Decided { decision } => self.decided(decision),
            Event::EndBegun { ending, artifacts, tree } => {
                self.stopped_at.clone_from(tree);
                self.ends(ending, artifacts)
            }
            Event::Ended => {
                self.has_ended = true;
                Ok(())
            }
        }
    }

    fn begin(&mut self, why: EpochReason, base: Option<&str>) {
        // A person or an edit starts an epoch, so it may begin in any state.
        self.state = match why {
            EpochReason::First
            | EpochReason::Changed
            | EpochReason::Feedback
            | EpochReason::Elsewhere => LoopStatus::Pending,
            // A person has acted on the issues.
            EpochReason::RequestDeleted | EpochReason::Resumed | EpochReason::TreeChanged => {
                LoopStatus::FixesApplied
            }
        };
        if why == EpochReason::Elsewhere {
            // The persons who signed off on the other machine are unknown here.
            self.sign_offs.clear();
            self.decisions.clear();
            // Objects that git stores on the other machine are not available here.
            self.kept_tests = None;
            (self.first_surroundings, self.surroundings) = (None, Surroundings::default());
        }
        self.has_begun = true;
        self.base = base.map(str::to_owned);
        self.before_epoch = self.history.len();
        (self.errors_in_a_row, self.errors, self.stalled) = (0, 0, 0);
        (self.fingerprint, self.open, self.fixing) = (None, None, None);
        (self.is_idle, self.has_ended, self.artifacts) = (false, false, ArtifactDigests::default());
        (self.feedback, self.stopped_at) = (None, None);
    }

    fn reviewed(&mut self, at: &str, review: &ReviewResult) -> Result<(), InvalidTransition> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let undecided = self.with_decisions(review, &open.tree).issues;
        self.state.transition_to(match undecided.is_empty() {
            false => LoopStatus::Rejected,
            true => self.without_issues(review, &open.tree),
        })?;
        self.errors_in_a_row = 0;
        let fingerprint = fingerprint(&undecided);
        let is_same = self.fingerprint.as_ref() == Some(&fingerprint);
        match (std::mem::take(&mut self.is_idle), is_same) {
            (true, _) => {}
            (false, true) => self.stalled += 1,
            (false, false) => self.stalled = 0,
        }
        self.fingerprint = Some(fingerprint);
        self.close(open, at, RoundOutcome::Verdict(review.clone()));
        Ok(())
    }

    /// Returns the state of a loop whose tree has no open issue.
    fn without_issues(&self, review: &ReviewResult, tree: &TreeHash) -> LoopStatus {
        match review.needs_sign_off && !self.is_signed_off(tree) {
            true => LoopStatus::HandedOver(Ending::AwaitsSignOff),
            false => LoopStatus::Approved(tree.clone()),
        }
    }

    fn failed(&mut self, at: &str, why: &str) -> Result<(), InvalidTransition> {
        self.errors_in_a_row += 1;
        self.errors += 1;
        self.last_error = why.to_owned();
        // A fix can fail too, and then the issues are still open.
        self.fixing = None;
        let Some(open) = self.open.take() else { return Ok(()) };
        self.close(open, at, RoundOutcome::Error(why.to_owned()));
        // The same tree is reviewed again.
        self.state.transition_to(LoopStatus::Pending)
    }

    fn close(&mut self, open: OpenRound, at: &str, outcome: RoundOutcome) {
        let OpenRound { number, begun, tree, checks, kept, surroundings } = open;
        let (at, fix) = (at.to_owned(), None);
        self.history.push(Round {
            number,
            begun,
            at,
            tree,
            checks,
            kept,
            surroundings,
            outcome,
            fix,
        });
    }

    fn fixed(&mut self, at: &str, tree: &TreeHash) -> Result<(), InvalidTransition> {
        let Some(PendingFix { tree: before, made }) = self.fixing.take() else { return Ok(()) };
        let changed_something = before != *tree;
        let repositories = made.as_ref().map(|(patch, _)| patch.repositories().to_vec());
        self.refused_fix =
            repositories.filter(|folders| !folders.is_empty()).map(|folders| (before, folders));
        let summary = made.map(|(_, summary)| summary).unwrap_or_default();
        if let Some(round) = self.epoch_mut().last_mut() {
            round.fix = Some(Fix { at: at.to_owned(), summary, changed_something });
        }
        // A fix that changes nothing does not count as progress.
        if !changed_something {
            self.is_idle = true;
            self.stalled += 1;
        }
        // Feedback that led to a change stays handled, even if a later fix changes nothing.
        if let Some(feedback) =
            self.feedback.as_mut().filter(|it| it.changed_something != Some(true))
        {
            feedback.changed_something = Some(changed_something);
        }
        self.errors_in_a_row = 0;
        self.state.transition_to(LoopStatus::FixesApplied)
    }

    fn signed_off(&mut self, by: &str, tree: &TreeHash) -> Result<(), InvalidTransition> {
        self.sign_offs.push((by.to_owned(), tree.clone()));
        let is_awaited = self.state == LoopStatus::HandedOver(Ending::AwaitsSignOff)
            && self.history.last().is_some_and(|round| round.tree == *tree);
        if !is_awaited {
            return Ok(());
        }
        (self.has_ended, self.artifacts) = (false, ArtifactDigests::default());
        self.state.transition_to(LoopStatus::Approved(tree.clone()))
    }

    /// Records a decision. If the last round reviewed the same tree and no issue is left, the state
    /// changes without another round.
    fn decided(&mut self, decision: &IssueDecision) -> Result<(), InvalidTransition> {
        self.decisions.push(decision.clone());
        let can_settle = match &self.state {
            LoopStatus::Rejected => self.open_feedback().is_none(),
            LoopStatus::HandedOver(Ending::Errors { .. }) => false,
            LoopStatus::HandedOver(_) => true,
            LoopStatus::Pending
            | LoopStatus::InReview
            | LoopStatus::FixesApplied
            | LoopStatus::Approved(_) => false,
        };
        let last = self.history.last().filter(|round| can_settle && round.tree == decision.tree);
        let Some((tree, review)) = last.and_then(|round| Some((&round.tree, round.review()?)))
        else {
            return Ok(());
        };
        if !self.with_decisions(review, tree).issues.is_empty() {
            return Ok(());
        }
        // A person decided, so any state that a review led to may change.
        self.state = self.without_issues(review, tree);
        (self.has_ended, self.artifacts, self.open) = (false, ArtifactDigests::default(), None);
        Ok(())
    }

    fn ends(
        &mut self,
        ending: &Ending,
        artifacts: &ArtifactDigests,
    ) -> Result<(), InvalidTransition> {
        self.known_artifacts.extend(artifacts.request.clone());
        self.known_artifacts.extend(artifacts.escalation.clone());
        self.artifacts = artifacts.clone();
        let is_there = match &self.state {
            LoopStatus::Approved(_) => *ending == Ending::Approved,
            LoopStatus::HandedOver(known) => known == ending,
            _ => false,
        };
        match ending {
            _ if is_there => Ok(()),
            // Only a review or a person approves.
            Ending::Approved => Err(InvalidTransition {
                from: self.state.name(),
                to: SignoffStatus::Approved.name(),
            }),
            handed => self.state.transition_to(LoopStatus::HandedOver(handed.clone())),
        }
    }

    /// Returns the rounds of this epoch, which are those that count.
    pub fn epoch(&self) -> &[Round] {
        &self.history[self.before_epoch..]
    }

    /// Returns the rounds that the next round is compared with: those of this epoch, and the last
    /// reviewed round before it if the epoch began with a person's feedback, on which a fixer
    /// worked.
    pub fn comparable_rounds(&self) -> &[Round] {
        let before = &self.history[..self.before_epoch];
        let last = before.iter().rposition(|round| round.review().is_some());
        match (&self.feedback, last) {
            (Some(_), Some(last)) => &self.history[last..],
            (Some(_) | None, _) => self.epoch(),
        }
    }

    /// Returns true if a round approved its tree, with decisions and sign-offs taken into account.
    pub(crate) fn is_approving(&self, round: &Round) -> bool {
        let review =
            round.review().map(|review| (review, self.with_decisions(review, &round.tree)));
        review.is_some_and(|(review, decided)| {
            let is_signed_off = !review.needs_sign_off || self.is_signed_off(&round.tree);
            decided.issues.is_empty() && is_signed_off
        })
    }

    fn epoch_mut(&mut self) -> &mut [Round] {
        &mut self.history[self.before_epoch..]
    }

    /// Returns true if a tree is approved.
    pub fn is_approved(&self) -> bool {
        matches!(self.state, LoopStatus::Approved(_))
    }

    /// Returns the feedback of a person that no fixer has handled yet; `None` if there is none.
    pub fn open_feedback(&self) -> Option<&Feedback> {
        self.feedback.as_ref().filter(|feedback| feedback.is_open())
    }

    /// Returns the issues of a person's feedback after a fix that changed nothing.
    pub(crate) fn unhandled_feedback(&self) -> Vec<Issue> {
        let unhandled_feedback =
            self.feedback.iter().filter(|it| it.changed_something == Some(false));
        let items = unhandled_feedback.flat_map(|feedback| &feedback.items);
        let items = items.filter(|item| item.disposition == FeedbackDisposition::HandedToTheFixer);
        items.map(|item| item.issue.clone()).collect()
    }

    /// Returns the open issues: those of a person's feedback, or else those of the last reviewed
    /// round.
    pub fn issues(&self) -> Vec<Issue> {
        if let Some(feedback) = self.open_feedback() {
            let open = feedback.items.iter();
            let open =
                open.filter(|item| item.disposition == FeedbackDisposition::HandedToTheFixer);
            return open.map(|item| item.issue.clone()).collect();
        }
        let review = self.history.iter().rev().find_map(|round| Some((round, round.review()?)));
        review
            .map(|(round, review)| self.with_decisions(review, &round.tree).issues)
            .unwrap_or_default()
    }

    /// Returns the issue of a refused fix of the tree, in which the fixer turned a folder into a
    /// repository of its own; `None` if there is none.
    pub(crate) fn refused_fix(&self, tree: &TreeHash) -> Option<Issue> {
        let (_, folders) = self.refused_fix.as_ref().filter(|(of, _)| of == tree)?;
        let names: Vec<String> = folders.iter().map(|folder| format!("`{folder}`")).collect();
        let why = format!(
            "the fixer turned {} into a nested git repository, whose files git does not track, so \
             its changes were discarded; write the files without a nested `.git`",
            names.join(", ")
        );
        let title = format!("The fixer left a nested git repository: {}", folders.join(", "));
        let issue = Issue::new(title, IssueKind::Security);
        Some(
            issue.with_key(format!("fixer-repository:{}", folders.join(":"))).with_description(why),
        )
    }

    /// Returns the open issues that a fixer may resolve. All others need a person.
    pub fn fixable(&self) -> Vec<Issue> {
        let mut issues = self.issues();
        issues.retain(|issue| issue.remedy.can_be_fixed());
        issues
    }

    /// Returns true if the loop waits for a person and the tree has changed since.
    pub fn was_changed_while_waiting(&self, tree: &TreeHash) -> bool {
        let is_waiting = matches!(self.state, LoopStatus::HandedOver(_)) && self.has_ended;
        is_waiting && self.stopped_at.as_ref().is_some_and(|stopped| stopped != tree)
    }

    /// Returns the remarks of the last reviewed round, which block nothing.
    pub fn remarks(&self) -> Vec<Issue> {
        let review = self.history.iter().rev().find_map(Round::review);
        review.map(|review| review.remarks.clone()).unwrap_or_default()
    }

    /// Returns true if the open issues need only a person: each can only be decided, or is a
    /// criterion that cannot be judged and on which the fixer changed nothing.
    pub(crate) fn awaits_decision(&self) -> bool {
        if self.open_feedback().is_some() || !self.unhandled_feedback().is_empty() {
            return false;
        }
        let issues = self.issues();
        let may_fix = self.state == LoopStatus::Rejected || !self.is_idle;
        let is_for_person = |issue: &Issue| match issue.remedy {
            Remedy::Fix => false,
            Remedy::FixOrDecision => !may_fix && issue.kind == IssueKind::AcceptanceCriteria,
            Remedy::Decision | Remedy::SpecEdit => true,
        };
        !issues.is_empty() && issues.iter().all(is_for_person)
    }

    /// Returns true if the journal has the digest of a document: the loop wrote it, or read it as
    /// feedback before.
    pub fn knows_artifact(&self, digest: &str) -> bool {
        self.known_artifacts.contains(digest)
    }

    /// Returns true if a person signed off the tree.
    pub fn is_signed_off(&self, tree: &TreeHash) -> bool {
        self.sign_offs.iter().any(|(_, sign_offs)| sign_offs == tree)
    }

    /// Returns the status under which the state is exported to the plan.
    pub fn signoff_status(&self) -> SignoffStatus {
        match &self.state {
            LoopStatus::Pending => SignoffStatus::Pending,
            LoopStatus::Rejected => SignoffStatus::Rejected,
            LoopStatus::FixesApplied => SignoffStatus::FixesApplied,
            LoopStatus::Approved(_) => SignoffStatus::Approved,
            LoopStatus::HandedOver(_) => SignoffStatus::HumanEscalation,
            LoopStatus::InReview => self.before_review,
        }
    }
}

/// Returns a fingerprint of the issues, independent of their order.
fn fingerprint(issues: &[Issue]) -> Vec<String> {
    let told = |issue: &Issue| match &issue.key {
        Some(key) => key.clone(),
        None => format!("{}|{}", issue.title, issue.file.as_deref().unwrap_or_default()),
    };
    let mut all: Vec<String> = issues.iter().map(told).collect();
    all.sort();
    all.dedup();
    all
}
