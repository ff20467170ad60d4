//! The loop itself: [`run`] executes steps until there is an ending.
//!
//! Each step is recorded in the journal before the next is decided, and each decision follows from
//! the journal alone. So a run continues after a crash in the same way as in any other case.
//!
//! A fix is made on a copy of the tree. It is applied to the tree as a whole or not at all, before
//! it is checked: checks run in the work tree, where dependencies are installed.

use assay_change::Patch;
use assay_checks::check::CheckOutcome;

use crate::bar::Bar;
use crate::ending::{Ending, Limits, MissingFixer};
use crate::event::{Begun, Event, Left, Seen, TakenItem};
use crate::issue::Issue;
use crate::journal::{Journal, JournalError};
use crate::kept::KeptRun;
use crate::next::Step;
use crate::standing::{OpenRound, Standing};
use crate::state::{Refused, State};
use crate::surroundings::Surroundings;
use crate::tree_hash::TreeHash;

/// The access of a loop to a tree: reviewing and changing it.
///
/// An implementation makes no decisions: it reports results. The fixer's own summary is stored and
/// has no influence.
pub trait Site {
    /// Returns the current time, in UTC.
    fn now(&self) -> String;

    /// Returns the commit that the implementation is based on; `None` if there is none.
    fn base(&self) -> Option<String>;

    /// Returns the requirements of spec and plan on the tree.
    fn bar(&self) -> Bar {
        Bar::default()
    }

    /// Returns the digest of the current tree.
    fn tree(&self) -> Result<TreeHash, Breakdown>;

    /// Runs the required checks that this round has not run yet, and passes each outcome to `tell`
    /// as soon as it is known.
    fn check(
        &self,
        round: &OpenRound,
        tell: &mut dyn FnMut(CheckOutcome) -> Result<(), Breakdown>,
    ) -> Result<(), Breakdown>;

    /// Stores the tests of the current tree, and returns the id of the stored git tree. Returns
    /// `None` if tests are not stored.
    fn keep_tests(&self) -> Result<Option<String>, Breakdown> {
        Ok(None)
    }

    /// Returns the surroundings of the tree, which influence results without being part of it.
    fn surroundings(&self) -> Result<Surroundings, Breakdown> {
        Ok(Surroundings::default())
    }

    /// Runs the checks once more with each version of the tests that the work under test did not
    /// write, provided that the work touched tests. `_standing` has the outcomes of the checks on
    /// the tree itself.
    fn check_kept(&self, _standing: &Standing) -> Result<Vec<KeptRun>, Breakdown> {
        Ok(Vec::new())
    }

    /// Reviews the tree, given the outcomes of the checks and the results of earlier rounds.
    fn review(&self, standing: &Standing) -> Result<Seen, Breakdown>;

    /// Returns the reason why only safe fixes are available; `None` if there is a fixer.
    fn missing_fixer(&self) -> Option<MissingFixer> {
        None
    }

    /// Runs the fixer on a copy of the tree.
    fn fix(&self, issues: &[Issue], standing: &Standing) -> Result<FixMade, Breakdown>;

    /// Applies a patch, provided that the tree is still the one that the fixer started from.
    fn put_in(&self, patch: &Patch, tree: &TreeHash) -> Result<Put, Breakdown>;

    /// Notifies that a run takes up the loop in this state.
    fn taken_up(&self, _standing: &Standing) {}

    /// Notifies that a round failed with an error.
    fn failed(&self, _why: &str) {}

    /// Returns the digests of the documents that `Site::export` would write.
    fn papers(&self, standing: &Standing, ending: Option<&Ending>) -> Left;

    /// Writes the plan's keys and the documents of the loop. `ending` is `None` while the loop
    /// runs.
    fn export(&self, standing: &Standing, ending: Option<&Ending>) -> Result<(), Breakdown>;
}

/// The result of a fixer.
#[derive(Debug, Clone, PartialEq)]
pub struct FixMade {
    /// The changes of the fixer.
    pub patch: Patch,
    /// The fixer's own summary.
    pub said: String,
}

/// The result of applying a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// The patch was applied.
    Done,
    /// Another process changed the tree meanwhile, so the patch was not applied.
    TreeMoved,
}

/// The error of a step.
#[derive(Debug, thiserror::Error)]
pub enum Breakdown {
    /// A transient error, which counts as an error of the round.
    #[error("{0}")]
    Round(String),
    /// The checks write files into the tree that git does not ignore. Another round would fail in
    /// the same way.
    #[error("{0}")]
    Output(String),
    /// The checks only wrote files that every build generates, so the round begins again with them.
    #[error("{0}")]
    Generated(String),
    /// The budget is used up.
    #[error("{0}")]
    Budget(String),
    /// The loop cannot continue.
    #[error("{0}")]
    Fatal(String),
    /// The event cannot be recorded.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The event is impossible in this state.
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// The start of a new epoch.
#[derive(Debug, Clone, PartialEq)]
pub struct Begin {
    /// The reason for the new epoch.
    pub why: Begun,
    /// The feedback of a person; `None` if there is none.
    pub taken: Option<Taken>,
}

/// The feedback of a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// The items of the feedback.
    pub items: Vec<TakenItem>,
    /// The digest of the feedback file.
    pub digest: String,
    /// The file name that the feedback is archived under.
    pub archived: String,
}

impl From<Begun> for Begin {
    fn from(why: Begun) -> Begin {
        Begin { why, taken: None }
    }
}

/// A running loop.
struct Loop<'a, S> {
    site: &'a S,
    journal: &'a mut Journal,
    standing: Standing,
    limits: &'a Limits,
}

/// Runs a loop until there is an ending. `begin` starts a new epoch first.
pub fn run<S: Site>(
    site: &S,
    journal: &mut Journal,
    limits: &Limits,
    begin: Option<Begin>,
) -> Result<(Ending, Standing), Breakdown> {
    let standing = Standing::of(journal.entries())?;
    let mut work = Loop { site, journal, standing, limits };
    let begin = match &work.standing.state {
        State::Approved(tree) if begin.is_none() && site.tree()? != *tree => {
            Some(Begin::from(Begun::Changed))
        }
        _ => begin.or_else(|| (!work.standing.has_begun).then(|| Begun::First.into())),
    };
    if let Some(Begin { why, taken }) = begin {
        work.note(Event::EpochBegun { why, base: site.base() })?;
        if let Some(Taken { items, digest, archived }) = taken {
            work.note(Event::FeedbackTaken { items, digest, archived })?;
        }
    }
    site.taken_up(&work.standing);
    let ending = work.rounds()?;
    Ok((ending, work.standing))
}

impl<S: Site> Loop<'_, S> {
    /// Applies an event to the state and records it in the journal.
    fn note(&mut self, event: Event) -> Result<(), Breakdown> {
        let at = self.site.now();
        self.standing.take(&at, &event)?;
        self.journal.add(&at, event)?;
        Ok(())
    }

    fn rounds(&mut self) -> Result<Ending, Breakdown> {
        loop {
            let done = match self.standing.next(self.limits) {
                Step::End(ending) => return self.end(ending),
                Step::Review => self.review(),
                Step::Fix(issues) => self.fix(&issues),
                Step::PutIn { patch, tree } => self.put_in(&patch, &tree),
            };
            match done {
                Ok(None) => {}
                Ok(Some(ending)) => return self.end(ending),
                Err(Breakdown::Budget(what)) => return self.end(Ending::Budget { what }),
                Err(Breakdown::Round(why) | Breakdown::Generated(why)) => {
                    self.site.failed(&why);
                    self.note(Event::Failed { why })?;
                }
                Err(Breakdown::Output(why)) => {
                    self.site.failed(&why);
                    self.note(Event::Failed { why: why.clone() })?;
                    let errors = self.standing.errors;
                    return self.end(Ending::Errors { errors, last: why });
                }
                Err(
                    error @ (Breakdown::Fatal(_) | Breakdown::Journal(_) | Breakdown::Refused(_)),
                ) => return Err(error),
            }
            self.site.export(&self.standing, None)?;
        }
    }

    /// Reviews the tree, or continues the review of a run that was interrupted.
    fn review(&mut self) -> Result<Option<Ending>, Breakdown> {
        let tree = self.site.tree()?;
        let is_open = self.standing.open.as_ref().is_some_and(|open| open.tree == tree);
        let bar = self.site.bar();
        let mut raised = self.standing.bar.clone();
        raised.raise(&bar);
        if raised != self.standing.bar {
            self.note(Event::BarRaised { bar })?;
        }
        if !is_open {
            self.note(Event::ReviewBegun { round: self.standing.round + 1, tree: tree.clone() })?;
        }
        let site = self.site;
        if self.standing.kept_tests.is_none()
            && let Some(tree) = site.keep_tests()?
        {
            self.note(Event::TestsKept { tree })?;
        }
        let surroundings = site.surroundings()?;
        if surroundings != self.standing.surroundings {
            self.note(Event::SurroundingsRecorded { surroundings: Box::new(surroundings) })?;
        }
        let tree = match self.check() {
            Err(Breakdown::Generated(_)) => {
                // The same round continues with the tree that the build produced.
                let tree = self.site.tree()?;
                let round = self.standing.round;
                self.note(Event::ReviewBegun { round, tree: tree.clone() })?;
                self.check()?;
                tree
            }
            done => done.map(|()| tree)?,
        };
        if self.standing.open.as_ref().is_some_and(|open| open.kept.is_empty()) {
            let runs = site.check_kept(&self.standing)?;
            if !runs.is_empty() {
                self.note(Event::KeptChecked { runs })?;
            }
        }
        let seen = site.review(&self.standing)?;
        // The result applies to that tree alone.
        if site.tree()? != tree {
            return Err(Breakdown::Round("the tree changed while it was reviewed".to_owned()));
        }
        self.note(Event::Reviewed { seen })?;
        Ok(None)
    }

    /// Runs the checks of the open round.
    fn check(&mut self) -> Result<(), Breakdown> {
        let site = self.site;
        let Some(round) = self.standing.open.clone() else { return Ok(()) };
        site.check(&round, &mut |outcome| self.note(Event::Checked { outcome: Box::new(outcome) }))
    }

    /// Sends issues to the fixer.
    fn fix(&mut self, issues: &[Issue]) -> Result<Option<Ending>, Breakdown> {
        let tree = self.site.tree()?;
        let is_reviewed = self.standing.history.last().is_some_and(|round| round.tree == tree);
        if !is_reviewed && self.standing.wanted().is_none() {
            // The tree changed since the review, so its issues are unknown.
            return self.review();
        }
        // The journal has the digest of the request first, so that no run takes the request for a
        // person's feedback.
        let request = self.site.papers(&self.standing, None).request.unwrap_or_default();
        self.note(Event::FixBegun { tree, request })?;
        self.site.export(&self.standing, None)?;
        let FixMade { patch, said } = self.site.fix(issues, &self.standing)?;
        self.note(Event::FixMade { patch, said })?;
        Ok(None)
    }

    fn put_in(&mut self, patch: &Patch, from: &TreeHash) -> Result<Option<Ending>, Breakdown> {
        match self.site.put_in(patch, from)? {
            Put::TreeMoved => Ok(Some(Ending::TreeMoved)),
            Put::Done => {
                let tree = self.site.tree()?;
                let is_unchanged = tree == *from;
                self.note(Event::Fixed { tree })?;
                Ok(self.without_fixer().filter(|_| is_unchanged))
            }
        }
    }

    /// Returns the ending of a loop without a fixer after a fix changed nothing: another round
    /// would have the same result. Returns `None` if there is a fixer, if the tree was not reviewed
    /// in this epoch, or if a person has to decide.
    fn without_fixer(&self) -> Option<Ending> {
        let is_reviewed = self.standing.epoch().last().is_some_and(|round| round.seen().is_some());
        let why = self.site.missing_fixer()?;
        (is_reviewed && !self.standing.awaits_decision()).then_some(Ending::NoFixer { why })
    }

    /// Records the ending, and then writes the documents. Does nothing if the loop has ended
    /// already.
    fn end(&mut self, ending: Ending) -> Result<Ending, Breakdown> {
        if self.standing.has_ended {
            return Ok(ending);
        }
        let papers = self.site.papers(&self.standing, Some(&ending));
        let tree = Some(self.site.tree()?);
        self.note(Event::EndBegun { ending: ending.clone(), papers, tree })?;
        self.site.export(&self.standing, Some(&ending))?;
        self.note(Event::Ended)?;
        Ok(ending)
    }
}
