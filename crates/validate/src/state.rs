//! Where a loop stands: [`Standing`], what the journal adds up to.
//!
//! There is no other memory: a run that begins, or goes on after a crash, reads the journal and knows
//! what the one before knew.

use assay_findings::recurring::{self, Recurrence};

use crate::ending::{Ending, Limits};
use crate::event::{Begun, Event, TreeHash};
use crate::issue::Issue;
use crate::journal::Entry;
use crate::plan::{SignoffStatus, TestsPassed};

/// Where a loop stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Standing {
    /// Which state it is in.
    pub state: State,
    /// How many rounds were begun, over all epochs.
    pub round: u32,
    /// Every round that came to something, over all epochs.
    pub history: Vec<Round>,
    /// The rounds of this epoch, which are those that count.
    epoch: Vec<Round>,
    /// How many rounds broke down one after another.
    errors_in_a_row: u32,
    /// How many did in all.
    errors: u32,
    /// Why the last of them did.
    last_error: String,
    /// For how many rounds nothing got better.
    stalled: u32,
    /// Whether the round that follows is known to be no better already.
    is_idle: bool,
    /// What failed last.
    fingerprint: Option<Vec<String>>,
    /// The tree of the round that is open.
    pub open: Option<OpenRound>,
    /// The digest of the request that was left behind.
    pub request: Option<String>,
    /// Who vouched for which tree.
    pub vouched: Vec<(String, TreeHash)>,
    /// Whether any epoch has begun.
    pub has_begun: bool,
}

/// A round that was begun and came to nothing yet.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenRound {
    /// The tree that is looked at.
    pub tree: TreeHash,
    /// The checks that were run on it.
    pub checks: Vec<(String, serde_json::Value, bool)>,
}

/// A round that came to something.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// Which.
    pub number: u32,
    /// When it ended.
    pub at: String,
    /// The tree.
    pub tree: TreeHash,
    /// What came of it.
    pub came_to: CameTo,
    /// Which groups of tests passed.
    pub tests_passed: TestsPassed,
    /// What the fixer did about it.
    pub fix: Option<String>,
}

/// What came of a round.
#[derive(Debug, Clone, PartialEq)]
pub enum CameTo {
    /// All holds.
    Approved,
    /// Something is wrong.
    Rejected(Vec<Issue>),
    /// It broke down.
    Error(String),
}

/// The states of a loop.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum State {
    /// Nobody looked yet.
    #[default]
    Pending,
    /// Somebody looks.
    InReview,
    /// Something is wrong.
    Rejected,
    /// Something was done about it.
    FixesApplied,
    /// All holds, on this tree.
    Approved(TreeHash),
    /// A person has to see to it.
    HandedOver(Ending),
}

/// What is to be done next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Look at the tree.
    Review,
    /// Have what is wrong fixed.
    Fix(Vec<Issue>),
    /// Stop.
    End(Ending),
}

impl Standing {
    /// Adds up what happened.
    pub fn of(entries: &[Entry]) -> Standing {
        let mut standing = Standing::default();
        for entry in entries {
            standing.take(&entry.at, &entry.event);
        }
        standing
    }

    /// Takes in what happened next.
    pub fn take(&mut self, at: &str, event: &Event) {
        match event {
            Event::EpochBegun { why } => self.begin(*why),
            Event::ReviewBegun { round, tree } => {
                self.round = *round;
                self.open = Some(OpenRound { tree: tree.clone(), checks: Vec::new() });
                self.state = State::InReview;
            }
            Event::Checked { name, outcome, passed } => {
                if let Some(open) = &mut self.open {
                    open.checks.push((name.clone(), outcome.clone(), *passed));
                }
            }
            Event::Reviewed { issues, tests_passed } => self.reviewed(at, issues, *tests_passed),
            Event::Failed { why } => self.failed(at, why),
            Event::FixBegun { .. } => {}
            Event::Fixed { tree, said } => self.fixed(tree, said),
            Event::FeedbackTaken { .. } => self.state = State::Rejected,
            Event::SignedOff { by, tree } => self.vouched.push((by.clone(), tree.clone())),
            Event::Ended { ending, request } => {
                self.request.clone_from(request);
                if *ending != Ending::Approved {
                    self.state = State::HandedOver(ending.clone());
                }
            }
        }
    }

    fn begin(&mut self, why: Begun) {
        self.has_begun = true;
        self.epoch.clear();
        (self.errors_in_a_row, self.errors, self.stalled) = (0, 0, 0);
        (self.fingerprint, self.request, self.open) = (None, None, None);
        self.is_idle = false;
        self.state = match why {
            Begun::First | Begun::Changed => State::Pending,
            // Somebody did something about what was wrong.
            Begun::RequestDeleted | Begun::Resumed | Begun::Feedback => State::FixesApplied,
        };
    }

    fn reviewed(&mut self, at: &str, issues: &[Issue], tests_passed: TestsPassed) {
        let Some(open) = self.open.take() else { return };
        let came_to = match issues.is_empty() {
            true => CameTo::Approved,
            false => CameTo::Rejected(issues.to_vec()),
        };
        self.state = match issues.is_empty() {
            true => State::Approved(open.tree.clone()),
            false => State::Rejected,
        };
        self.errors_in_a_row = 0;
        let fingerprint = fingerprint(issues);
        let is_same = self.fingerprint.as_ref() == Some(&fingerprint);
        match (std::mem::take(&mut self.is_idle), is_same) {
            (true, _) => {}
            (false, true) => self.stalled += 1,
            (false, false) => self.stalled = 0,
        }
        self.fingerprint = Some(fingerprint);
        self.add(Round {
            number: self.round,
            at: at.to_owned(),
            tree: open.tree,
            came_to,
            tests_passed,
            fix: None,
        });
    }

    fn failed(&mut self, at: &str, why: &str) {
        self.errors_in_a_row += 1;
        self.errors += 1;
        self.last_error = why.to_owned();
        // Fixing can break down too, and then what was wrong still is.
        let Some(open) = self.open.take() else { return };
        // It is looked at again, as it was.
        self.state = State::Pending;
        self.add(Round {
            number: self.round,
            at: at.to_owned(),
            tree: open.tree,
            came_to: CameTo::Error(why.to_owned()),
            tests_passed: TestsPassed::default(),
            fix: None,
        });
    }

    fn fixed(&mut self, tree: &TreeHash, said: &str) {
        let before = self.history.last_mut();
        let is_same = before.as_ref().is_some_and(|round| round.tree == *tree);
        if let Some(round) = before {
            round.fix = Some(said.to_owned());
        }
        if let Some(round) = self.epoch.last_mut() {
            round.fix = Some(said.to_owned());
        }
        // A fix that changes nothing is none.
        if is_same {
            self.is_idle = true;
            self.stalled += 1;
        }
        self.errors_in_a_row = 0;
        self.state = State::FixesApplied;
    }

    fn add(&mut self, round: Round) {
        self.history.push(round.clone());
        self.epoch.push(round);
    }

    /// Says what is to be done next.
    pub fn next(&self, limits: &Limits) -> Step {
        if self.errors_in_a_row >= limits.errors_in_a_row || self.errors >= limits.errors {
            return Step::End(Ending::Errors {
                errors: self.errors,
                last: self.last_error.clone(),
            });
        }
        match &self.state {
            State::Approved(_) => Step::End(Ending::Approved),
            State::HandedOver(ending) => Step::End(ending.clone()),
            State::Rejected => self.after_rejection(limits),
            State::Pending | State::InReview | State::FixesApplied => match self.rounds() {
                rounds if rounds >= limits.rounds => Step::End(Ending::TooManyRounds { rounds }),
                _ if self.stalled >= limits.stalled => {
                    Step::End(Ending::NoProgress { rounds: self.stalled })
                }
                _ => Step::Review,
            },
        }
    }

    fn after_rejection(&self, limits: &Limits) -> Step {
        let issues = self.issues();
        let recurring = self.recurring(limits.recurring);
        if !recurring.is_empty() {
            let named = |Recurrence { issue, count }: Recurrence| (issues[issue].clone(), count);
            return Step::End(Ending::Recurring {
                issues: recurring.into_iter().map(named).collect(),
            });
        }
        if self.stalled >= limits.stalled {
            return Step::End(Ending::NoProgress { rounds: self.stalled });
        }
        match self.rounds() {
            rounds if rounds >= limits.rounds => Step::End(Ending::TooManyRounds { rounds }),
            _ => Step::Fix(issues.to_vec()),
        }
    }

    /// Counts the rounds of this epoch.
    fn rounds(&self) -> u32 {
        u32::try_from(self.epoch.len()).unwrap_or(u32::MAX)
    }

    /// Gives what is wrong by the last round that came to a verdict.
    pub fn issues(&self) -> &[Issue] {
        let issues = self.history.iter().rev().find_map(|round| match &round.came_to {
            CameTo::Rejected(issues) => Some(issues.as_slice()),
            CameTo::Approved => Some(&[][..]),
            CameTo::Error(_) => None,
        });
        issues.unwrap_or_default()
    }

    /// Finds what stood in so many rounds of this epoch, the last one among them.
    fn recurring(&self, threshold: usize) -> Vec<Recurrence> {
        let told = |issue: &Issue| recurring::Issue {
            title: Some(issue.title.clone()),
            description: issue.description.clone(),
            file: issue.file.clone(),
            line: issue.line,
            key: issue.key.clone(),
        };
        let mut rounds: Vec<recurring::Round> = self
            .epoch
            .iter()
            .map(|round| match &round.came_to {
                CameTo::Rejected(issues) => recurring::Round {
                    status: Some("rejected".to_owned()),
                    issues: issues.iter().map(told).collect(),
                },
                CameTo::Approved | CameTo::Error(_) => recurring::Round::default(),
            })
            .collect();
        let Some(current) = rounds.pop() else { return Vec::new() };
        recurring::recurring(&current.issues, &rounds, threshold)
    }

    /// Gives the word under which the state is exported: one of those that the plan knows.
    pub fn exported(&self) -> SignoffStatus {
        match &self.state {
            State::Pending => SignoffStatus::Pending,
            State::Rejected => SignoffStatus::Rejected,
            State::FixesApplied => SignoffStatus::FixesApplied,
            State::Approved(_) => SignoffStatus::Approved,
            State::HandedOver(_) => SignoffStatus::HumanEscalation,
            // It shows as the state before it.
            State::InReview => match self.epoch.last().map(|round| &round.came_to) {
                Some(CameTo::Rejected(_)) => SignoffStatus::FixesApplied,
                Some(CameTo::Approved | CameTo::Error(_)) | None => SignoffStatus::Pending,
            },
        }
    }
}

/// What tells one failure from another: which issues there are, whatever their order.
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
