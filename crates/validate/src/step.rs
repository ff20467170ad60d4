//! Decides the next step of a loop from its state alone: [`Step`].
//!
//! Endings that a step itself causes (budget, moved tree, no fixer, output error) are decided in
//! `run`.

use assay_change::Patch;
use assay_findings::recurring::{self, Recurrence};

use crate::ending::{Ending, Limits};
use crate::issue::Issue;
use crate::loop_state::{LoopState, PendingFix, Round};
use crate::loop_status::LoopStatus;
use crate::tree_hash::TreeHash;

/// The next step of a loop.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Review the tree.
    Review,
    /// Send these issues to the fixer.
    Fix(Vec<Issue>),
    /// Apply the patch of the fixer.
    ApplyPatch {
        /// The patch of the fixer.
        patch: Patch,
        /// The tree that the fixer started from.
        tree: TreeHash,
    },
    /// End the loop.
    End(Ending),
}

impl LoopState {
    /// Returns the next step.
    pub fn next_step(&self, limits: &Limits) -> Step {
        match &self.state {
            LoopStatus::Approved(_) => return Step::End(Ending::Approved),
            LoopStatus::HandedOver(ending) => return Step::End(ending.clone()),
            LoopStatus::Pending
            | LoopStatus::InReview
            | LoopStatus::Rejected
            | LoopStatus::FixesApplied => {}
        }
        if self.errors_in_a_row >= limits.errors_in_a_row || self.errors >= limits.errors {
            return Step::End(Ending::Errors {
                errors: self.errors,
                last: self.last_error.clone(),
            });
        }
        if let Some(PendingFix { tree, made: Some((patch, _)) }) = &self.fixing {
            return Step::ApplyPatch { patch: patch.clone(), tree: tree.clone() };
        }
        let is_settled = matches!(self.state, LoopStatus::Rejected | LoopStatus::FixesApplied);
        if is_settled && !self.epoch().is_empty() && self.awaits_decision() {
            return Step::End(Ending::AwaitsDecision);
        }
        match self.state == LoopStatus::Rejected {
            true => self.after_rejection(limits),
            false => self.exhausted_limit(limits).map_or(Step::Review, Step::End),
        }
    }

    fn after_rejection(&self, limits: &Limits) -> Step {
        let issues = self.issues();
        let recurring = match self.open_feedback() {
            Some(_) => Vec::new(),
            None => self.recurring(limits),
        };
        if !recurring.is_empty() {
            let named = |Recurrence { issue, count }: Recurrence| (issues[issue].clone(), count);
            return Step::End(Ending::Recurring {
                issues: recurring.into_iter().map(named).collect(),
            });
        }
        self.exhausted_limit(limits).map_or_else(|| Step::Fix(self.fixable()), Step::End)
    }

    fn exhausted_limit(&self, limits: &Limits) -> Option<Ending> {
        let rounds = u32::try_from(self.epoch().len()).unwrap_or(u32::MAX);
        if self.stalled >= limits.stalled {
            return Some(Ending::NoProgress { rounds: self.stalled });
        }
        (rounds >= limits.rounds).then_some(Ending::TooManyRounds { rounds })
    }

    /// Returns the issues of the last round that occurred in at least `limits.recurring` rounds of
    /// this epoch.
    fn recurring(&self, limits: &Limits) -> Vec<Recurrence> {
        let mut rounds: Vec<recurring::IssueRound> =
            self.epoch().iter().map(|round| self.comparable_round(round)).collect();
        let Some(current) = rounds.pop() else { return Vec::new() };
        recurring::find_recurrences_at(
            &current.issues, &rounds, limits.recurring, limits.similarity,
        )
    }

    fn comparable_round(&self, round: &Round) -> recurring::IssueRound {
        let issues = round.review().map(|review| self.with_decisions(review, &round.tree).issues);
        let issues = issues.unwrap_or_default().iter().map(comparable_issue).collect();
        recurring::IssueRound { status: None, issues }
    }

    /// Returns the rounds of this epoch that had an issue, each with the issue as that round
    /// reported it.
    pub(crate) fn appearances(&self, issue: &Issue) -> Vec<(&Round, &Issue)> {
        let mut found = Vec::new();
        for round in self.epoch() {
            let issues = round.review().map(|review| review.issues.as_slice()).unwrap_or_default();
            let is_same = |other: &&Issue| {
                if issue.key.is_some() || other.key.is_some() {
                    return issue.key == other.key;
                }
                let other =
                    recurring::IssueRound { status: None, issues: vec![comparable_issue(other)] };
                !recurring::find_recurrences(&[comparable_issue(issue)], &[other], 2).is_empty()
            };
            found.extend(issues.iter().find(is_same).map(|issue| (round, issue)));
        }
        found
    }
}

fn comparable_issue(issue: &Issue) -> recurring::RoundIssue {
    recurring::RoundIssue {
        title: Some(issue.title.clone()),
        description: issue.description.clone(),
        file: issue.file.clone(),
        line: issue.line,
        key: issue.key.clone(),
    }
}
