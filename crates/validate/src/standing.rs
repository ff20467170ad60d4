//! Where a loop stands: [`Standing`], what the journal adds up to.
//!
//! There is no other memory: a run that begins, or goes on after a crash, reads the journal and knows
//! what the one before knew.

use std::collections::BTreeSet;

use assay_change::Patch;
use assay_checks::check::CheckOutcome;

use crate::bar::Bar;
use crate::ending::Ending;
use crate::event::Decision;
use crate::event::{Begun, Disposition, Event, Left, Seen, TakenItem};
use crate::issue::{Issue, IssueKind, Remedy};
use crate::journal::Entry;
use crate::kept::KeptRun;
use crate::plan::SignoffStatus;
use crate::state::{Refused, State};
use crate::surroundings::Surroundings;
use crate::tree_hash::TreeHash;

/// Where a loop stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Standing {
    /// Which state it is in.
    pub state: State,
    /// What was exported before the review that is under way.
    before_review: SignoffStatus,
    /// How many rounds were begun, over all epochs.
    pub round: u32,
    /// Every round that came to something, over all epochs.
    pub history: Vec<Round>,
    /// How many of them were before this epoch, and count no more.
    before_epoch: usize,
    /// When this epoch began.
    pub begun: String,
    /// The commit on top of which the implementation was made.
    pub base: Option<String>,
    /// How many rounds broke down one after another.
    pub(crate) errors_in_a_row: u32,
    /// How many did in all.
    pub(crate) errors: u32,
    /// Why the last of them did.
    pub(crate) last_error: String,
    /// For how many rounds nothing got better.
    pub(crate) stalled: u32,
    /// Whether the round that follows is known to be no better already.
    is_idle: bool,
    /// What failed last.
    fingerprint: Option<Vec<String>>,
    /// The tree of the round that is open.
    pub open: Option<OpenRound>,
    /// What is being fixed.
    pub fixing: Option<Fixing>,
    /// What a person wanted at the beginning of this epoch.
    pub feedback: Option<Feedback>,
    /// The digests of all papers that the loop itself wrote, or took.
    papers: BTreeSet<String>,
    /// The papers that it left behind when it ended.
    pub left: Left,
    /// Whether it ended, with all papers written.
    pub has_ended: bool,
    /// The tree that the loop stopped at; `None` while it runs, and where the journal does not say.
    pub stopped_at: Option<TreeHash>,
    /// Who vouched for which tree.
    pub vouched: Vec<(String, TreeHash)>,
    /// What persons decided, over all epochs.
    pub decisions: Vec<Decision>,
    /// The highest bar of any round, over all epochs.
    pub bar: Bar,
    /// Whether any epoch has begun.
    pub has_begun: bool,
    /// The tests of the first tree that was judged, as git keeps them.
    pub kept_tests: Option<String>,
    /// The surroundings of the first tree that was judged.
    pub first_surroundings: Option<Surroundings>,
    /// The surroundings of the last tree that was judged.
    pub surroundings: Surroundings,
    /// The folders that the last fixer made repositories of, and the tree that it was given: its work was
    /// not taken.
    pub refused_fix: Option<(TreeHash, Vec<String>)>,
}

/// A round that was begun and came to nothing yet.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenRound {
    /// Which.
    pub number: u32,
    /// When it began.
    pub begun: String,
    /// The tree that is looked at.
    pub tree: TreeHash,
    /// The checks that were run on it.
    pub checks: Vec<CheckOutcome>,
    /// What the checks said with kept tests in place.
    pub kept: Vec<KeptRun>,
    /// What lay around the tree when the round began.
    pub surroundings: Surroundings,
}

/// A fix on its way.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixing {
    /// The tree that it starts from.
    pub tree: TreeHash,
    /// What was done, once it is, with what the fixer says of it.
    pub made: Option<(Patch, String)>,
}

/// What a person wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Feedback {
    /// Item by item.
    pub items: Vec<TakenItem>,
    /// The digest of what they wrote.
    pub digest: String,
    /// Where it is kept.
    pub archived: String,
    /// Whether the fixer changed something about it, once it is done.
    pub changed_something: Option<bool>,
}

/// A round that came to something.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// Which.
    pub number: u32,
    /// When it began.
    pub begun: String,
    /// When it ended.
    pub at: String,
    /// The tree.
    pub tree: TreeHash,
    /// What the checks came to.
    pub checks: Vec<CheckOutcome>,
    /// What they said with kept tests in place.
    pub kept: Vec<KeptRun>,
    /// What lay around the tree when the round began.
    pub surroundings: Surroundings,
    /// What came of it.
    pub came_to: CameTo,
    /// What the fixer did about it.
    pub fix: Option<Fix>,
}

/// What a fixer did about a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// When it was done.
    pub at: String,
    /// What the fixer says of it.
    pub said: String,
    /// Whether the tree is another one since.
    pub changed_something: bool,
}

/// What came of a round.
#[derive(Debug, Clone, PartialEq)]
pub enum CameTo {
    /// It was looked at to its end: approved where nothing was wrong.
    Verdict(Seen),
    /// It broke down.
    Error(String),
}

impl Feedback {
    fn is_open(&self) -> bool {
        self.changed_something.is_none()
    }
}

impl Round {
    /// Gives what was seen, if it was looked at to its end.
    pub fn seen(&self) -> Option<&Seen> {
        match &self.came_to {
            CameTo::Verdict(seen) => Some(seen),
            CameTo::Error(_) => None,
        }
    }
}

impl Standing {
    /// Adds up what happened.
    pub fn of(entries: &[Entry]) -> Result<Standing, Refused> {
        let mut standing = Standing::default();
        for entry in entries {
            standing.take(&entry.at, &entry.event)?;
        }
        Ok(standing)
    }

    /// Takes in what happened next.
    pub fn take(&mut self, at: &str, event: &Event) -> Result<(), Refused> {
        match event {
            Event::EpochBegun { why, base } => {
                self.begin(*why, base.as_deref());
                self.begun = at.to_owned();
                Ok(())
            }
            Event::BarRaised { bar } => {
                self.bar.raise(bar);
                Ok(())
            }
            Event::ReviewBegun { round, tree } => {
                self.round = *round;
                self.fixing = None;
                self.before_review = match self.exported() {
                    // Somebody did something about it, or it were not looked at again.
                    SignoffStatus::Rejected => SignoffStatus::FixesApplied,
                    other => other,
                };
                let (number, begun, tree) = (*round, at.to_owned(), tree.clone());
                let (checks, kept) = (Vec::new(), Vec::new());
                let surroundings = self.surroundings.clone();
                self.open = Some(OpenRound { number, begun, tree, checks, kept, surroundings });
                self.state.become_(State::InReview)
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
            Event::Reviewed { seen } => self.reviewed(at, seen),
            Event::Failed { why } => self.failed(at, why),
            Event::FixBegun { tree, request } => {
                self.papers.insert(request.clone());
                self.fixing = Some(Fixing { tree: tree.clone(), made: None });
                Ok(())
            }
            Event::FixMade { patch, said } => {
                let made = (patch.clone(), said.clone());
                self.fixing.iter_mut().for_each(|fixing| fixing.made = Some(made.clone()));
                Ok(())
            }
            Event::Fixed { tree } => self.fixed(at, tree),
            Event::FeedbackTaken { items, digest, archived } => {
                self.papers.insert(digest.clone());
                let (items, digest, archived) = (items.clone(), digest.clone(), archived.clone());
                let changed_something = None;
                self.feedback = Some(Feedback { items, digest, archived, changed_something });
                self.state.become_(State::Rejected)
            }
            Event::SignedOff { by, tree } => self.signed_off(by, tree),
            Event::Decided { decision } => self.decided(decision),
            Event::EndBegun { ending, papers, tree } => {
                self.stopped_at.clone_from(tree);
                self.ends(ending, papers)
            }
            Event::Ended => {
                self.has_ended = true;
                Ok(())
            }
        }
    }

    fn begin(&mut self, why: Begun, base: Option<&str>) {
        // A person, or an edit, is behind it, so it may begin wherever the loop stands.
        self.state = match why {
            Begun::First | Begun::Changed | Begun::Feedback | Begun::Elsewhere => State::Pending,
            // Somebody did something about what was wrong.
            Begun::RequestDeleted | Begun::Resumed | Begun::TreeChanged => State::FixesApplied,
        };
        if why == Begun::Elsewhere {
            // Nobody here knows who that was.
            self.vouched.clear();
            self.decisions.clear();
            // Nor is there what git keeps on the other machine.
            self.kept_tests = None;
            (self.first_surroundings, self.surroundings) = (None, Surroundings::default());
        }
        self.has_begun = true;
        self.base = base.map(str::to_owned);
        self.before_epoch = self.history.len();
        (self.errors_in_a_row, self.errors, self.stalled) = (0, 0, 0);
        (self.fingerprint, self.open, self.fixing) = (None, None, None);
        (self.is_idle, self.has_ended, self.left) = (false, false, Left::default());
        (self.feedback, self.stopped_at) = (None, None);
    }

    fn reviewed(&mut self, at: &str, seen: &Seen) -> Result<(), Refused> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let undecided = self.with_decisions(seen, &open.tree).issues;
        self.state.become_(match undecided.is_empty() {
            false => State::Rejected,
            true => self.without_issues(seen, &open.tree),
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
        self.close(open, at, CameTo::Verdict(seen.clone()));
        Ok(())
    }

    /// Returns the state of a loop whose tree has no open issue.
    fn without_issues(&self, seen: &Seen, tree: &TreeHash) -> State {
        match seen.needs_sign_off && !self.is_vouched(tree) {
            true => State::HandedOver(Ending::AwaitsSignOff),
            false => State::Approved(tree.clone()),
        }
    }

    fn failed(&mut self, at: &str, why: &str) -> Result<(), Refused> {
        self.errors_in_a_row += 1;
        self.errors += 1;
        self.last_error = why.to_owned();
        // Fixing can break down too, and then what was wrong still is.
        self.fixing = None;
        let Some(open) = self.open.take() else { return Ok(()) };
        self.close(open, at, CameTo::Error(why.to_owned()));
        // It is looked at again, as it was.
        self.state.become_(State::Pending)
    }

    fn close(&mut self, open: OpenRound, at: &str, came_to: CameTo) {
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
            came_to,
            fix,
        });
    }

    fn fixed(&mut self, at: &str, tree: &TreeHash) -> Result<(), Refused> {
        let Some(Fixing { tree: before, made }) = self.fixing.take() else { return Ok(()) };
        let changed_something = before != *tree;
        let repositories = made.as_ref().map(|(patch, _)| patch.repositories().to_vec());
        self.refused_fix =
            repositories.filter(|folders| !folders.is_empty()).map(|folders| (before, folders));
        let said = made.map(|(_, said)| said).unwrap_or_default();
        if let Some(round) = self.epoch_mut().last_mut() {
            round.fix = Some(Fix { at: at.to_owned(), said, changed_something });
        }
        // A fix that changes nothing is none.
        if !changed_something {
            self.is_idle = true;
            self.stalled += 1;
        }
        // Once something was done about it, it is not undone by a round in which nothing was.
        if let Some(feedback) =
            self.feedback.as_mut().filter(|it| it.changed_something != Some(true))
        {
            feedback.changed_something = Some(changed_something);
        }
        self.errors_in_a_row = 0;
        self.state.become_(State::FixesApplied)
    }

    fn signed_off(&mut self, by: &str, tree: &TreeHash) -> Result<(), Refused> {
        self.vouched.push((by.to_owned(), tree.clone()));
        let is_awaited = self.state == State::HandedOver(Ending::AwaitsSignOff)
            && self.history.last().is_some_and(|round| round.tree == *tree);
        if !is_awaited {
            return Ok(());
        }
        (self.has_ended, self.left) = (false, Left::default());
        self.state.become_(State::Approved(tree.clone()))
    }

    /// Takes in a decision. Where the last round saw that very tree and nothing else is wrong with it,
    /// nothing has to be run again.
    fn decided(&mut self, decision: &Decision) -> Result<(), Refused> {
        self.decisions.push(decision.clone());
        let can_settle = match &self.state {
            State::Rejected => self.wanted().is_none(),
            State::HandedOver(Ending::Errors { .. }) => false,
            State::HandedOver(_) => true,
            State::Pending | State::InReview | State::FixesApplied | State::Approved(_) => false,
        };
        let last = self.history.last().filter(|round| can_settle && round.tree == decision.tree);
        let Some((tree, seen)) = last.and_then(|round| Some((&round.tree, round.seen()?))) else {
            return Ok(());
        };
        if !self.with_decisions(seen, tree).issues.is_empty() {
            return Ok(());
        }
        // A person is behind it, so it may follow on any state that a review left.
        self.state = self.without_issues(seen, tree);
        (self.has_ended, self.left, self.open) = (false, Left::default(), None);
        Ok(())
    }

    fn ends(&mut self, ending: &Ending, papers: &Left) -> Result<(), Refused> {
        self.papers.extend(papers.request.clone());
        self.papers.extend(papers.escalation.clone());
        self.left = papers.clone();
        let is_there = match &self.state {
            State::Approved(_) => *ending == Ending::Approved,
            State::HandedOver(known) => known == ending,
            _ => false,
        };
        match ending {
            _ if is_there => Ok(()),
            // Only a review approves, or a person.
            Ending::Approved => {
                Err(Refused { from: self.state.name(), to: SignoffStatus::Approved.name() })
            }
            handed => self.state.become_(State::HandedOver(handed.clone())),
        }
    }

    /// Gives the rounds of this epoch, which are those that count.
    pub fn epoch(&self) -> &[Round] {
        &self.history[self.before_epoch..]
    }

    /// Gives the rounds that a fixer worked after, which what is there now is held against: those of
    /// this epoch, and the last one before it where a fixer began it on a person's word.
    pub fn compared(&self) -> &[Round] {
        let before = &self.history[..self.before_epoch];
        let last = before.iter().rposition(|round| round.seen().is_some());
        match (&self.feedback, last) {
            (Some(_), Some(last)) => &self.history[last..],
            (Some(_) | None, _) => self.epoch(),
        }
    }

    /// Returns true if a round approved its tree, decisions included.
    pub(crate) fn is_approving(&self, round: &Round) -> bool {
        let seen = round.seen().map(|seen| (seen, self.with_decisions(seen, &round.tree)));
        seen.is_some_and(|(seen, decided)| {
            let is_vouched = !seen.needs_sign_off || self.is_vouched(&round.tree);
            decided.issues.is_empty() && is_vouched
        })
    }

    fn epoch_mut(&mut self) -> &mut [Round] {
        &mut self.history[self.before_epoch..]
    }

    /// Says whether it is approved, for some tree.
    pub fn is_approved(&self) -> bool {
        matches!(self.state, State::Approved(_))
    }

    /// Gives what a person wants, as long as nobody did anything about it.
    pub fn wanted(&self) -> Option<&Feedback> {
        self.feedback.as_ref().filter(|feedback| feedback.is_open())
    }

    /// Gives what a person wanted and nobody did anything about.
    pub(crate) fn unheard(&self) -> Vec<Issue> {
        let unheard = self.feedback.iter().filter(|it| it.changed_something == Some(false));
        let items = unheard.flat_map(|feedback| &feedback.items);
        let items = items.filter(|item| item.disposition == Disposition::HandedToTheFixer);
        items.map(|item| item.issue.clone()).collect()
    }

    /// Gives what is wrong: what a person wrote down, or else what the last round that came to a
    /// verdict says.
    pub fn issues(&self) -> Vec<Issue> {
        if let Some(feedback) = self.wanted() {
            let open = feedback.items.iter();
            let open = open.filter(|item| item.disposition == Disposition::HandedToTheFixer);
            return open.map(|item| item.issue.clone()).collect();
        }
        let seen = self.history.iter().rev().find_map(|round| Some((round, round.seen()?)));
        seen.map(|(round, seen)| self.with_decisions(seen, &round.tree).issues).unwrap_or_default()
    }

    /// Returns the issue of a fix of a tree that was not taken, because the fixer made a folder a
    /// repository of its own.
    pub(crate) fn refused_fix(&self, tree: &TreeHash) -> Option<Issue> {
        let (_, folders) = self.refused_fix.as_ref().filter(|(of, _)| of == tree)?;
        let names: Vec<String> = folders.iter().map(|folder| format!("`{folder}`")).collect();
        let why = format!(
            "the fixer made {} a repository of its own, of which git takes no file, so nothing of its work \
             was taken; write the files without a repository around them",
            names.join(", ")
        );
        let title = format!("The fixer left a repository within the tree: {}", folders.join(", "));
        let issue = Issue::new(title, IssueKind::Security);
        Some(
            issue.with_key(format!("fixer-repository:{}", folders.join(":"))).with_description(why),
        )
    }

    /// Returns the open issues that a fixer may remove. All others are for a person alone.
    pub fn fixable(&self) -> Vec<Issue> {
        let mut issues = self.issues();
        issues.retain(|issue| issue.remedy.can_be_fixed());
        issues
    }

    /// Returns true if the loop waits for a person and the tree is another one since.
    pub fn was_changed_while_waiting(&self, tree: &TreeHash) -> bool {
        let is_waiting = matches!(self.state, State::HandedOver(_)) && self.has_ended;
        is_waiting && self.stopped_at.as_ref().is_some_and(|stopped| stopped != tree)
    }

    /// Returns what the last round that came to a verdict found besides, which blocks nothing.
    pub fn remarks(&self) -> Vec<Issue> {
        let seen = self.history.iter().rev().find_map(Round::seen);
        seen.map(|seen| seen.remarks.clone()).unwrap_or_default()
    }

    /// Returns true if what is wrong waits for a person alone: each issue can only be decided, or is a
    /// criterion that nothing can tell and the fixer changed nothing about.
    pub(crate) fn awaits_decision(&self) -> bool {
        if self.wanted().is_some() || !self.unheard().is_empty() {
            return false;
        }
        let issues = self.issues();
        let may_fix = self.state == State::Rejected || !self.is_idle;
        let is_for_person = |issue: &Issue| match issue.remedy {
            Remedy::Fix => false,
            Remedy::FixOrDecision => !may_fix && issue.kind == IssueKind::AcceptanceCriteria,
            Remedy::Decision | Remedy::SpecEdit => true,
        };
        !issues.is_empty() && issues.iter().all(is_for_person)
    }

    /// Says whether a paper is known by its digest: the loop wrote it, or took it before.
    pub fn knows_paper(&self, digest: &str) -> bool {
        self.papers.contains(digest)
    }

    /// Says whether somebody vouched for a tree.
    pub fn is_vouched(&self, tree: &TreeHash) -> bool {
        self.vouched.iter().any(|(_, vouched)| vouched == tree)
    }

    /// Gives the word under which the state is exported: one of those that the plan knows.
    pub fn exported(&self) -> SignoffStatus {
        match &self.state {
            State::Pending => SignoffStatus::Pending,
            State::Rejected => SignoffStatus::Rejected,
            State::FixesApplied => SignoffStatus::FixesApplied,
            State::Approved(_) => SignoffStatus::Approved,
            State::HandedOver(_) => SignoffStatus::HumanEscalation,
            State::InReview => self.before_review,
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
