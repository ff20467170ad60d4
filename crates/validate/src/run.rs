//! The loop itself: [`run`] takes step after step until there is an ending.
//!
//! Each step is written down before the next is decided, and what is decided follows from what is
//! written down alone. So there is no other way to go on after a crash than the one that every run
//! takes.

use crate::ending::{Ending, Limits};
use crate::event::{Begun, Event, TreeHash};
use crate::issue::Issue;
use crate::journal::{Journal, JournalError};
use crate::plan::TestsPassed;
use crate::state::{Standing, State, Step};

/// What looks at a tree, and what changes it.
///
/// Nothing here decides: it says what was seen. What whoever fixes says about its own work is kept
/// and counts for nothing.
pub trait Site {
    /// Gives the time, in UTC.
    fn now(&self) -> String;

    /// Takes the digest of the tree as it is.
    fn tree(&self) -> Result<TreeHash, Breakdown>;

    /// Runs the checks that are required, but for those that were run on this tree already, and
    /// tells what came of each as soon as it is known.
    fn check(
        &self,
        known: &[(String, serde_json::Value, bool)],
        tell: &mut dyn FnMut(CheckSeen) -> Result<(), JournalError>,
    ) -> Result<(), Breakdown>;

    /// Looks at everything else, given what the checks said: what keeps the tree from being approved.
    fn review(&self, checks: &[(String, serde_json::Value, bool)]) -> Result<Seen, Breakdown>;

    /// Has issues fixed in a copy of the tree, and puts back what was done if the tree is still the
    /// one that was reviewed.
    fn fix(&self, issues: &[Issue], reviewed: &TreeHash) -> Result<FixSeen, Breakdown>;

    /// Tells everybody else where the loop stands; how it ended, once it did.
    fn export(&self, standing: &Standing, ended: Option<&Ending>) -> Result<Exported, Breakdown>;
}

/// What came of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckSeen {
    /// What it is called.
    pub name: String,
    /// All that is known of it.
    pub outcome: serde_json::Value,
    /// Whether it passed. What could not be run did not.
    pub passed: bool,
}

/// What was seen of a tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// What keeps it from being approved.
    pub issues: Vec<Issue>,
    /// Which groups of tests passed.
    pub tests_passed: TestsPassed,
    /// Whether a person has to vouch for it besides.
    pub needs_sign_off: bool,
}

/// What came of fixing.
#[derive(Debug, Clone, PartialEq)]
pub enum FixSeen {
    /// What was done is in the tree.
    Done {
        /// In the fixer's words.
        said: String,
    },
    /// Somebody else changed the tree meanwhile, so it was not put in.
    TreeMoved,
}

/// What was written for others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exported {
    /// The digest of the request that was left behind.
    pub request: Option<String>,
}

/// Why something did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum Breakdown {
    /// It may go better another time, and counts as an error of the round.
    #[error("{0}")]
    Round(String),
    /// As much was spent as may be.
    #[error("{0}")]
    Budget(String),
    /// It cannot go on at all.
    #[error("{0}")]
    Fatal(String),
    /// What happened cannot be written down.
    #[error(transparent)]
    Journal(#[from] JournalError),
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
    begin: Option<Begun>,
) -> Result<(Ending, Standing), Breakdown> {
    let standing = Standing::of(journal.entries());
    let mut work = Loop { site, journal, standing, limits };
    let begin = match &work.standing.state {
        State::Approved(tree) if begin.is_none() && site.tree()? != *tree => Some(Begun::Changed),
        _ => begin.or_else(|| (!work.standing.has_begun).then_some(Begun::First)),
    };
    if let Some(why) = begin {
        work.note(Event::EpochBegun { why })?;
    }
    let ending = work.rounds()?;
    Ok((ending, work.standing))
}

impl<S: Site> Loop<'_, S> {
    /// Writes down what happened, and takes it in.
    fn note(&mut self, event: Event) -> Result<(), JournalError> {
        let at = self.site.now();
        self.standing.take(&at, &event);
        self.journal.add(&at, event)?;
        Ok(())
    }

    fn rounds(&mut self) -> Result<Ending, Breakdown> {
        loop {
            let done = match self.standing.next(self.limits) {
                Step::End(ending) => return self.end(ending),
                Step::Review => self.review(),
                Step::Fix(issues) => self.fix(&issues),
            };
            match done {
                Ok(None) => {}
                Ok(Some(ending)) => return self.end(ending),
                Err(Breakdown::Budget(what)) => return self.end(Ending::Budget { what }),
                Err(Breakdown::Round(why)) => self.note(Event::Failed { why })?,
                Err(error @ (Breakdown::Fatal(_) | Breakdown::Journal(_))) => return Err(error),
            }
            self.site.export(&self.standing, None)?;
        }
    }

    /// Looks at the tree, from the beginning or from where the last run was cut off.
    fn review(&mut self) -> Result<Option<Ending>, Breakdown> {
        let tree = self.site.tree()?;
        let is_open = self.standing.open.as_ref().is_some_and(|open| open.tree == tree);
        if !is_open {
            self.note(Event::ReviewBegun { round: self.standing.round + 1, tree: tree.clone() })?;
        }
        let known = self.open_checks();
        let site = self.site;
        site.check(&known, &mut |seen| {
            let CheckSeen { name, outcome, passed } = seen;
            self.note(Event::Checked { name, outcome, passed })
        })?;
        let Seen { issues, tests_passed, needs_sign_off } = site.review(&self.open_checks())?;
        // What was seen is of that tree alone.
        if site.tree()? != tree {
            return Err(Breakdown::Round("the tree changed while it was reviewed".to_owned()));
        }
        let is_vouched = self.standing.vouched.iter().any(|(_, vouched)| *vouched == tree);
        if issues.is_empty() && needs_sign_off && !is_vouched {
            return Ok(Some(Ending::AwaitsSignOff));
        }
        self.note(Event::Reviewed { issues, tests_passed })?;
        Ok(None)
    }

    fn open_checks(&self) -> Vec<(String, serde_json::Value, bool)> {
        self.standing.open.as_ref().map(|open| open.checks.clone()).unwrap_or_default()
    }

    /// Has what is wrong fixed.
    fn fix(&mut self, issues: &[Issue]) -> Result<Option<Ending>, Breakdown> {
        let reviewed = self.standing.history.last().map(|round| round.tree.clone());
        let reviewed = match reviewed {
            Some(tree) => tree,
            // A person's feedback comes before any round.
            None => self.site.tree()?,
        };
        let exported = self.site.export(&self.standing, None)?;
        self.note(Event::FixBegun { request: exported.request.unwrap_or_default() })?;
        match self.site.fix(issues, &reviewed)? {
            FixSeen::TreeMoved => Ok(Some(Ending::TreeMoved)),
            FixSeen::Done { said } => {
                let tree = self.site.tree()?;
                self.note(Event::Fixed { tree, said })?;
                Ok(None)
            }
        }
    }

    /// Writes down how it ended, once.
    fn end(&mut self, ending: Ending) -> Result<Ending, Breakdown> {
        let is_known = match &self.standing.state {
            State::HandedOver(known) => *known == ending,
            _ => false,
        };
        if is_known {
            return Ok(ending);
        }
        let exported = self.site.export(&self.standing, Some(&ending))?;
        self.note(Event::Ended { ending: ending.clone(), request: exported.request })?;
        self.site.export(&self.standing, Some(&ending))?;
        Ok(ending)
    }
}
