//! The loop itself: [`run`] takes step after step until there is an ending.
//!
//! Each step is written down before the next is decided, and what is decided follows from what is
//! written down alone. So there is no other way to go on after a crash than the one that every run
//! takes.
//!
//! A fix is made on a copy of the tree and applied to the tree at once, all or nothing, before it
//! is checked: checks run in the work tree, where dependencies are installed.

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

/// The access of a loop to a tree: looking at it and changing it.
///
/// Nothing here decides: it says what was seen. What whoever fixes says about its own work is kept
/// and counts for nothing.
pub trait Site {
    /// Returns the time, in UTC.
    fn now(&self) -> String;

    /// Returns the commit on top of which the implementation was made, where there is one.
    fn base(&self) -> Option<String>;

    /// Returns what the tree is held against, by spec and plan.
    fn bar(&self) -> Bar {
        Bar::default()
    }

    /// Takes the digest of the tree as it is.
    fn tree(&self) -> Result<TreeHash, Breakdown>;

    /// Runs the checks that are required, but for those that were run in this round already, and
    /// tells what came of each as soon as it is known.
    fn check(
        &self,
        round: &OpenRound,
        tell: &mut dyn FnMut(CheckOutcome) -> Result<(), Breakdown>,
    ) -> Result<(), Breakdown>;

    /// Keeps the tests of the tree as it is, and returns the tree of them.
    fn keep_tests(&self) -> Result<Option<String>, Breakdown> {
        Ok(None)
    }

    /// Returns what lies around the tree and decides about it without being part of it.
    fn surroundings(&self) -> Result<Surroundings, Breakdown> {
        Ok(Surroundings::default())
    }

    /// Runs the checks once more with each version of the tests that the work under test did not write,
    /// where that work touched tests; given what the checks said of the tree itself.
    fn check_kept(&self, _standing: &Standing) -> Result<Vec<KeptRun>, Breakdown> {
        Ok(Vec::new())
    }

    /// Looks at everything else, given what the checks said and what was there in earlier rounds.
    fn review(&self, standing: &Standing) -> Result<Seen, Breakdown>;

    /// Returns why there is no fixer beyond safe fixes; `None` where there is one.
    fn missing_fixer(&self) -> Option<MissingFixer> {
        None
    }

    /// Has issues fixed in a copy of the tree.
    fn fix(&self, issues: &[Issue], standing: &Standing) -> Result<FixMade, Breakdown>;

    /// Puts what was done into the tree, if that is still the one that it was started from.
    fn put_in(&self, patch: &Patch, tree: &TreeHash) -> Result<Put, Breakdown>;

    /// Hears that a loop is taken up, where it stands.
    fn taken_up(&self, _standing: &Standing) {}

    /// Hears why a round broke down.
    fn failed(&self, _why: &str) {}

    /// Returns the digests of the papers as they are to be written.
    fn papers(&self, standing: &Standing, ending: Option<&Ending>) -> Left;

    /// Tells everybody else where the loop stands; how it ended, once it did.
    fn export(&self, standing: &Standing, ending: Option<&Ending>) -> Result<(), Breakdown>;
}

/// The work of a fixer.
#[derive(Debug, Clone, PartialEq)]
pub struct FixMade {
    /// The difference that the work makes.
    pub patch: Patch,
    /// The words of the fixer about the work.
    pub said: String,
}

/// The result of putting a fix in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// The fix is in.
    Done,
    /// Another process changed the tree meanwhile, so the fix is not in.
    TreeMoved,
}

/// The reason why a step did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum Breakdown {
    /// The step may go better another time, and counts as an error of the round.
    #[error("{0}")]
    Round(String),
    /// The checks write files into the tree that git does not ignore. Another round would end alike.
    #[error("{0}")]
    Output(String),
    /// The checks only wrote files that every build generates, so the round begins again with them.
    #[error("{0}")]
    Generated(String),
    /// As much was spent as may be.
    #[error("{0}")]
    Budget(String),
    /// The loop cannot go on at all.
    #[error("{0}")]
    Fatal(String),
    /// The event cannot be written down.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The event is impossible in this state.
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// How a new epoch begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Begin {
    /// The reason.
    pub why: Begun,
    /// The feedback of a person; `None` where there is none.
    pub taken: Option<Taken>,
}

/// The feedback of a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// The items of the feedback.
    pub items: Vec<TakenItem>,
    /// The digest of the file.
    pub digest: String,
    /// Where it is kept from now on.
    pub archived: String,
}

impl From<Begun> for Begin {
    fn from(why: Begun) -> Begin {
        Begin { why, taken: None }
    }
}

/// A loop at work.
struct Loop<'a, S> {
    site: &'a S,
    journal: &'a mut Journal,
    standing: Standing,
    limits: &'a Limits,
}

/// Goes on with a loop until there is an ending.
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
    /// Writes down what happened, and takes it in.
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

    /// Looks at the tree, from the beginning or from where the last run was cut off.
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
                // The same round goes on, with the tree that a build leaves behind.
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
        // The result is of that tree alone.
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

    /// Has what is wrong fixed.
    fn fix(&mut self, issues: &[Issue]) -> Result<Option<Ending>, Breakdown> {
        let tree = self.site.tree()?;
        let is_reviewed = self.standing.history.last().is_some_and(|round| round.tree == tree);
        if !is_reviewed && self.standing.wanted().is_none() {
            // Somebody worked on it since, so nobody knows what is wrong with it.
            return self.review();
        }
        // The journal comes before the request, so that no run takes the request for a person's.
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

    /// Returns the ending of a loop without a fixer after nothing could be done: another round would
    /// see the same. `None` where there is a fixer, or the tree was not reviewed in this epoch, or a
    /// person has to decide.
    fn without_fixer(&self) -> Option<Ending> {
        let is_reviewed = self.standing.epoch().last().is_some_and(|round| round.seen().is_some());
        let why = self.site.missing_fixer()?;
        (is_reviewed && !self.standing.awaits_decision()).then_some(Ending::NoFixer { why })
    }

    /// Writes down how it ended, and then the papers: once, however often it is asked.
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
