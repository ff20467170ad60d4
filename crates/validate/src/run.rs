//! The loop itself: [`run`] executes steps until there is an ending.
//!
//! Each step is recorded in the journal before the next is decided, and each decision follows from
//! the journal alone. So a run continues after a crash in the same way as in any other case.
//!
//! A fix is made on a copy of the tree. It is applied to the tree as a whole or not at all, before
//! it is checked: checks run in the work tree, where dependencies are installed.

use assay_change::Patch;
use assay_checks::check::CheckOutcome;

use crate::ending::{Ending, Limits, MissingFixer};
use crate::event::{ArtifactDigests, EpochReason, Event, FeedbackItem, ReviewResult};
use crate::issue::Issue;
use crate::journal::{Journal, JournalError};
use crate::kept_tests::KeptTestRun;
use crate::loop_state::{LoopState, OpenRound};
use crate::loop_status::{InvalidTransition, LoopStatus};
use crate::requirements::Requirements;
use crate::step::Step;
use crate::surroundings::Surroundings;
use crate::tree_hash::TreeHash;

/// The access of a loop to a tree: reviewing and changing it.
///
/// An implementation makes no decisions: it reports results. The fixer's own summary is stored and
/// has no influence.
pub trait LoopEnvironment {
    /// Returns the current time, in UTC.
    fn now(&self) -> String;

    /// Returns the commit that the implementation is based on; `None` if there is none.
    fn base(&self) -> Option<String>;

    /// Returns the requirements of spec and plan on the tree.
    fn requirements(&self) -> Requirements {
        Requirements::default()
    }

    /// Returns the digest of the current tree.
    fn tree(&self) -> Result<TreeHash, StepError>;

    /// Runs the required checks that this round has not run yet, and passes each outcome to
    /// `record` as soon as it is known.
    fn check(
        &self,
        round: &OpenRound,
        record: &mut dyn FnMut(CheckOutcome) -> Result<(), StepError>,
    ) -> Result<(), StepError>;

    /// Stores the tests of the current tree, and returns the id of the stored git tree. Returns
    /// `None` if tests are not stored.
    fn store_tests(&self) -> Result<Option<String>, StepError> {
        Ok(None)
    }

    /// Returns the surroundings of the tree, which influence results without being part of it.
    fn surroundings(&self) -> Result<Surroundings, StepError> {
        Ok(Surroundings::default())
    }

    /// Runs the checks once more with each version of the tests that the work under test did not
    /// write, provided that the work touched tests. `_loop_state` has the outcomes of the checks on
    /// the tree itself.
    fn run_kept_tests(&self, _loop_state: &LoopState) -> Result<Vec<KeptTestRun>, StepError> {
        Ok(Vec::new())
    }

    /// Reviews the tree, given the outcomes of the checks and the results of earlier rounds.
    fn review(&self, loop_state: &LoopState) -> Result<ReviewResult, StepError>;

    /// Returns the reason why only safe fixes are available; `None` if there is a fixer.
    fn missing_fixer(&self) -> Option<MissingFixer> {
        None
    }

    /// Runs the fixer on a copy of the tree.
    fn fix(&self, issues: &[Issue], loop_state: &LoopState) -> Result<FixMade, StepError>;

    /// Applies a patch, provided that the tree is still the one that the fixer started from.
    fn apply_patch(&self, patch: &Patch, tree: &TreeHash) -> Result<ApplyResult, StepError>;

    /// Notifies that a run takes up the loop in this state.
    fn on_resume(&self, _loop_state: &LoopState) {}

    /// Notifies that a round failed with an error.
    fn on_error(&self, _why: &str) {}

    /// Returns the digests of the documents that `LoopEnvironment::export` would write.
    fn artifact_digests(&self, loop_state: &LoopState, ending: Option<&Ending>) -> ArtifactDigests;

    /// Writes the plan's keys and the documents of the loop. `ending` is `None` while the loop
    /// runs.
    fn export(&self, loop_state: &LoopState, ending: Option<&Ending>) -> Result<(), StepError>;
}

/// The result of a fixer.
#[derive(Debug, Clone, PartialEq)]
pub struct FixMade {
    /// The changes of the fixer.
    pub patch: Patch,
    /// The fixer's own summary.
    pub summary: String,
}

/// The result of applying a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyResult {
    /// The patch was applied.
    Done,
    /// Another process changed the tree meanwhile, so the patch was not applied.
    TreeMoved,
}

/// The error of a step.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
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
    Refused(#[from] InvalidTransition),
}

/// The start of a new epoch.
#[derive(Debug, Clone, PartialEq)]
pub struct EpochStart {
    /// The reason for the new epoch.
    pub why: EpochReason,
    /// The feedback of a person; `None` if there is none.
    pub feedback: Option<NewFeedback>,
}

/// The feedback of a person.
#[derive(Debug, Clone, PartialEq)]
pub struct NewFeedback {
    /// The items of the feedback.
    pub items: Vec<FeedbackItem>,
    /// The digest of the feedback file.
    pub digest: String,
    /// The file name that the feedback is archived under.
    pub archived: String,
}

impl From<EpochReason> for EpochStart {
    fn from(why: EpochReason) -> EpochStart {
        EpochStart { why, feedback: None }
    }
}

/// A running loop.
struct Loop<'a, S> {
    environment: &'a S,
    journal: &'a mut Journal,
    loop_state: LoopState,
    limits: &'a Limits,
}

/// The span of the current round: a review, and the fix that follows.
#[derive(Default)]
struct RoundSpan(Option<(u32, tracing::Span)>);

impl RoundSpan {
    /// Returns the span of the round of a step, and ends that of an earlier round.
    fn of_step(&mut self, loop_state: &LoopState, step: &Step) -> tracing::Span {
        let begins = matches!(step, Step::Review) && loop_state.open.is_none();
        let round = loop_state.round + u32::from(begins);
        if self.0.as_ref().is_none_or(|(current, _)| *current != round) {
            let name = format!("round {round}");
            let span = tracing::info_span!("round", otel.name = name, assay.loop.round = round);
            self.0 = Some((round, span));
        }
        self.0.as_ref().map_or_else(tracing::Span::none, |(_, span)| span.clone())
    }
}

/// Runs a loop until there is an ending. `begin` starts a new epoch first.
pub fn run<S: LoopEnvironment>(
    environment: &S,
    journal: &mut Journal,
    limits: &Limits,
    begin: Option<EpochStart>,
) -> Result<(Ending, LoopState), StepError> {
    let loop_state = LoopState::of(journal.entries())?;
    let mut running = Loop { environment, journal, loop_state, limits };
    let begin = match &running.loop_state.state {
        LoopStatus::Approved(tree) if begin.is_none() && environment.tree()? != *tree => {
            Some(EpochStart::from(EpochReason::Changed))
        }
        _ => begin.or_else(|| (!running.loop_state.has_begun).then(|| EpochReason::First.into())),
    };
    if let Some(EpochStart { why, feedback }) = begin {
        running.record(Event::EpochBegun { why, base: environment.base() })?;
        if let Some(NewFeedback { items, digest, archived }) = feedback {
            running.record(Event::FeedbackTaken { items, digest, archived })?;
        }
    }
    environment.on_resume(&running.loop_state);
    let span = tracing::info_span!(
        "loop",
        assay.loop.ending = tracing::field::Empty,
        otel.error = tracing::field::Empty,
    );
    let ending = span.in_scope(|| running.rounds());
    match &ending {
        Ok(ending) => span.record("assay.loop.ending", ending.as_str()),
        Err(error) => span.record("otel.error", tracing::field::display(error)),
    };
    Ok((ending?, running.loop_state))
}

impl<S: LoopEnvironment> Loop<'_, S> {
    /// Applies an event to the state and records it in the journal.
    fn record(&mut self, event: Event) -> Result<(), StepError> {
        let at = self.environment.now();
        self.loop_state.apply(&at, &event)?;
        self.journal.add(&at, event)?;
        Ok(())
    }

    fn rounds(&mut self) -> Result<Ending, StepError> {
        let mut round_span = RoundSpan::default();
        loop {
            let step = self.loop_state.next_step(self.limits);
            let _entered = round_span.of_step(&self.loop_state, &step).entered();
            let done = match step {
                Step::End(ending) => return self.end(ending),
                Step::Review => self.review(),
                Step::Fix(issues) => tracing::info_span!("fix", assay.issues = issues.len())
                    .in_scope(|| self.fix(&issues)),
                Step::ApplyPatch { patch, tree } => self.apply_patch(&patch, &tree),
            };
            match done {
                Ok(None) => {}
                Ok(Some(ending)) => return self.end(ending),
                Err(StepError::Budget(what)) => return self.end(Ending::Budget { what }),
                Err(StepError::Round(why) | StepError::Generated(why)) => {
                    self.environment.on_error(&why);
                    self.record(Event::Failed { why })?;
                }
                Err(StepError::Output(why)) => {
                    self.environment.on_error(&why);
                    self.record(Event::Failed { why: why.clone() })?;
                    let errors = self.loop_state.errors;
                    return self.end(Ending::Errors { errors, last: why });
                }
                Err(
                    error @ (StepError::Fatal(_) | StepError::Journal(_) | StepError::Refused(_)),
                ) => return Err(error),
            }
            self.environment.export(&self.loop_state, None)?;
        }
    }

    /// Reviews the tree, or continues the review of a run that was interrupted.
    fn review(&mut self) -> Result<Option<Ending>, StepError> {
        let tree = self.environment.tree()?;
        let is_open = self.loop_state.open.as_ref().is_some_and(|open| open.tree == tree);
        let requirements = self.environment.requirements();
        let mut raised = self.loop_state.requirements.clone();
        raised.raise(&requirements);
        if raised != self.loop_state.requirements {
            self.record(Event::RequirementsRaised { requirements })?;
        }
        if !is_open {
            self.record(Event::ReviewBegun {
                round: self.loop_state.round + 1,
                tree: tree.clone(),
            })?;
        }
        let environment = self.environment;
        if self.loop_state.kept_tests.is_none()
            && let Some(tree) = environment.store_tests()?
        {
            self.record(Event::TestsKept { tree })?;
        }
        let surroundings = environment.surroundings()?;
        if surroundings != self.loop_state.surroundings {
            self.record(Event::SurroundingsRecorded { surroundings: Box::new(surroundings) })?;
        }
        let tree = match self.check() {
            Err(StepError::Generated(_)) => {
                // The same round continues with the tree that the build produced.
                let tree = self.environment.tree()?;
                let round = self.loop_state.round;
                self.record(Event::ReviewBegun { round, tree: tree.clone() })?;
                self.check()?;
                tree
            }
            done => done.map(|()| tree)?,
        };
        if self.loop_state.open.as_ref().is_some_and(|open| open.kept.is_empty()) {
            let runs = environment.run_kept_tests(&self.loop_state)?;
            if !runs.is_empty() {
                self.record(Event::KeptChecked { runs })?;
            }
        }
        let review = environment.review(&self.loop_state)?;
        // The result applies to that tree alone.
        if environment.tree()? != tree {
            return Err(StepError::Round("the tree changed during the review".to_owned()));
        }
        self.record(Event::Reviewed { review })?;
        Ok(None)
    }

    /// Runs the checks of the open round.
    fn check(&mut self) -> Result<(), StepError> {
        let environment = self.environment;
        let Some(round) = self.loop_state.open.clone() else { return Ok(()) };
        environment.check(&round, &mut |outcome| {
            self.record(Event::Checked { outcome: Box::new(outcome) })
        })
    }

    /// Sends issues to the fixer.
    fn fix(&mut self, issues: &[Issue]) -> Result<Option<Ending>, StepError> {
        let tree = self.environment.tree()?;
        let is_reviewed = self.loop_state.history.last().is_some_and(|round| round.tree == tree);
        if !is_reviewed && self.loop_state.open_feedback().is_none() {
            // The tree changed since the review, so its issues are unknown.
            return self.review();
        }
        // The journal has the digest of the request first, so that no run takes the request for a
        // person's feedback.
        let request =
            self.environment.artifact_digests(&self.loop_state, None).request.unwrap_or_default();
        self.record(Event::FixBegun { tree, request })?;
        self.environment.export(&self.loop_state, None)?;
        let FixMade { patch, summary } = self.environment.fix(issues, &self.loop_state)?;
        self.record(Event::FixMade { patch, summary })?;
        Ok(None)
    }

    fn apply_patch(&mut self, patch: &Patch, from: &TreeHash) -> Result<Option<Ending>, StepError> {
        match self.environment.apply_patch(patch, from)? {
            ApplyResult::TreeMoved => Ok(Some(Ending::TreeMoved)),
            ApplyResult::Done => {
                let tree = self.environment.tree()?;
                let is_unchanged = tree == *from;
                self.record(Event::Fixed { tree })?;
                Ok(self.without_fixer().filter(|_| is_unchanged))
            }
        }
    }

    /// Returns the ending of a loop without a fixer after a fix changed nothing: another round
    /// would have the same result. Returns `None` if there is a fixer, if the tree was not reviewed
    /// in this epoch, or if a person has to decide.
    fn without_fixer(&self) -> Option<Ending> {
        let is_reviewed =
            self.loop_state.epoch().last().is_some_and(|round| round.review().is_some());
        let why = self.environment.missing_fixer()?;
        (is_reviewed && !self.loop_state.awaits_decision()).then_some(Ending::NoFixer { why })
    }

    /// Records the ending, and then writes the documents. Does nothing if the loop has ended
    /// already.
    fn end(&mut self, ending: Ending) -> Result<Ending, StepError> {
        if self.loop_state.has_ended {
            return Ok(ending);
        }
        let artifacts = self.environment.artifact_digests(&self.loop_state, Some(&ending));
        let tree = Some(self.environment.tree()?);
        self.record(Event::EndBegun { ending: ending.clone(), artifacts, tree })?;
        self.environment.export(&self.loop_state, Some(&ending))?;
        self.record(Event::Ended)?;
        Ok(ending)
    }
}
