//! Decides the next step of a loop from its state alone: [`Step`].

use assay_change::Patch;
use assay_findings::recurring::{self, Recurrence};

use crate::ending::{Ending, Limits};
use crate::issue::Issue;
use crate::standing::{Fixing, Round, Standing};
use crate::state::State;
use crate::tree_hash::TreeHash;

/// The next step of a loop.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Review the tree.
    Review,
    /// Send these issues to the fixer.
    Fix(Vec<Issue>),
    /// Apply the patch of the fixer.
    PutIn {
        /// The patch of the fixer.
        patch: Patch,
        /// The tree that the fixer started from.
        tree: TreeHash,
    },
    /// End the loop.
    End(Ending),
}

impl Standing {
    /// Returns the next step.
    pub fn next(&self, limits: &Limits) -> Step {
        match &self.state {
            State::Approved(_) => return Step::End(Ending::Approved),
            State::HandedOver(ending) => return Step::End(ending.clone()),
            State::Pending | State::InReview | State::Rejected | State::FixesApplied => {}
        }
        if self.errors_in_a_row >= limits.errors_in_a_row || self.errors >= limits.errors {
            return Step::End(Ending::Errors {
                errors: self.errors,
                last: self.last_error.clone(),
            });
        }
        if let Some(Fixing { tree, made: Some((patch, _)) }) = &self.fixing {
            return Step::PutIn { patch: patch.clone(), tree: tree.clone() };
        }
        let is_settled = matches!(self.state, State::Rejected | State::FixesApplied);
        if is_settled && !self.epoch().is_empty() && self.awaits_decision() {
            return Step::End(Ending::AwaitsDecision);
        }
        match self.state == State::Rejected {
            true => self.after_rejection(limits),
            false => self.used_up(limits).map_or(Step::Review, Step::End),
        }
    }

    fn after_rejection(&self, limits: &Limits) -> Step {
        let issues = self.issues();
        let recurring = match self.wanted() {
            Some(_) => Vec::new(),
            None => self.recurring(limits),
        };
        if !recurring.is_empty() {
            let named = |Recurrence { issue, count }: Recurrence| (issues[issue].clone(), count);
            return Step::End(Ending::Recurring {
                issues: recurring.into_iter().map(named).collect(),
            });
        }
        self.used_up(limits).map_or_else(|| Step::Fix(self.fixable()), Step::End)
    }

    fn used_up(&self, limits: &Limits) -> Option<Ending> {
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
            self.epoch().iter().map(|round| self.compared_round(round)).collect();
        let Some(current) = rounds.pop() else { return Vec::new() };
        recurring::find_recurrences_at(
            &current.issues, &rounds, limits.recurring, limits.similarity,
        )
    }

    fn compared_round(&self, round: &Round) -> recurring::IssueRound {
        let issues = round.seen().map(|seen| self.with_decisions(seen, &round.tree).issues);
        let issues = issues.unwrap_or_default().iter().map(told).collect();
        recurring::IssueRound { status: None, issues }
    }

    /// Returns the rounds of this epoch that had an issue, each with the issue as that round
    /// reported it.
    pub(crate) fn appearances(&self, issue: &Issue) -> Vec<(&Round, &Issue)> {
        let mut found = Vec::new();
        for round in self.epoch() {
            let issues = round.seen().map(|seen| seen.issues.as_slice()).unwrap_or_default();
            let is_same = |other: &&Issue| {
                if issue.key.is_some() || other.key.is_some() {
                    return issue.key == other.key;
                }
                let other = recurring::IssueRound { status: None, issues: vec![told(other)] };
                !recurring::find_recurrences(&[told(issue)], &[other], 2).is_empty()
            };
            found.extend(issues.iter().find(is_same).map(|issue| (round, issue)));
        }
        found
    }
}

fn told(issue: &Issue) -> recurring::RoundIssue {
    recurring::RoundIssue {
        title: Some(issue.title.clone()),
        description: issue.description.clone(),
        file: issue.file.clone(),
        line: issue.line,
        key: issue.key.clone(),
    }
}
