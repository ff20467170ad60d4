//! The validation loop of a front end: [`validate`] starts or resumes the loop of a spec, with its
//! reviewers and fixers.

mod deadline;
mod jira_ticket;
mod loop_fixer;
mod loop_reviewer;
mod null_observer;
mod recorded_state;
mod requirements;
mod sign_off;
mod spec_location;
#[cfg(test)]
pub(crate) mod tests;
mod ticket_tracker;

use std::path::Path;

use anyhow::{Context, bail};
use assay_base::clock::Clock;
use assay_change::Change;
use assay_checks::run::{CheckLimits, Runner};
use assay_sandbox::secrets_by_variables;
use assay_store::task::Moment;
use assay_validate::ending::Ending;
use assay_validate::environment::{LocalEnvironment, LoopObserver};
use assay_validate::event::{EpochReason, Event};
use assay_validate::export::Exporter;
use assay_validate::journal::{Journal, JournalError};
use assay_validate::loop_state::LoopState;
use assay_validate::loop_status::LoopStatus;
use assay_validate::loop_summary::LoopSummary;
use assay_validate::requirements::{COVERAGE_KEY, RISK_KEY};
use assay_validate::resume::{ResumeAction, ResumeInput, decide_resume};
use assay_validate::run::{EpochStart, StepError, run};
use assay_validate::spec::Spec;

use self::deadline::LoopDeadline;
use self::loop_fixer::LoopFixer;
use self::loop_reviewer::LoopReviewer;
pub use self::null_observer::NullObserver;
use self::sign_off::SignOffRecorder;
pub use self::sign_off::{SignOffRefusal, record_sign_off};
pub use self::spec_location::SpecLocation;
use self::ticket_tracker::TicketTracker;
use crate::config::fixer::ChosenFixer;
use crate::config::models::Phase;
use crate::config::qa::LoopFixerChoice;
use crate::config::{Configuration, Prompts, Settings};
use crate::environment::{Environment, dotenv};
use crate::memory;
use crate::models::{ModelOptions, ModelSession};
use crate::unknown_outcome::UnknownOutcome;

/// The options of a run.
#[derive(Debug, Clone, Copy)]
pub struct LoopOptions<'a> {
    /// The base commit of the implementation; `None` to find it.
    pub base: Option<&'a str>,
    /// True if a loop that waits for a person is resumed.
    pub resumes: bool,
    /// The decision of a person; `None` if there is none.
    pub sign_off: Option<SignOff<'a>>,
    /// The models that are asked.
    pub models: &'a ModelOptions,
    /// The caller with a temporary work tree; `None` if a user runs the loop at a terminal.
    pub host: Option<Host<'a>>,
}

impl<'a> LoopOptions<'a> {
    /// Returns the root of the repository that stores answers, expenses and messages of the loop.
    fn home(&self, place: &'a SpecLocation) -> &'a Path {
        self.host.map_or(place.root.as_path(), |host| host.root)
    }
}

/// The decision of a person: on the whole tree, or on single issues.
#[derive(Debug, Clone, Copy)]
pub struct SignOff<'a> {
    /// The person's name.
    pub by: &'a str,
    /// The names of the decided issues; empty if the person approves the whole tree.
    pub about: &'a [String],
    /// The reason for the decision.
    pub because: &'a str,
    /// The digest of the tree that the person saw; `None` to decide on the current tree.
    pub seen_tree: Option<&'a str>,
}

/// A caller that runs a loop in a temporary work tree.
#[derive(Debug, Clone, Copy)]
pub struct Host<'a> {
    /// The repository of the caller, which stores answers and the expenses of the day.
    pub root: &'a Path,
    /// The time limit of the caller, in seconds.
    pub seconds: u64,
}

/// The result of a run.
pub enum LoopOutcome {
    /// The tree is approved already, so the loop did not run.
    AlreadyApproved,
    /// The loop waits for a person, so it did not run.
    Waits(Ending),
    /// The loop ran to an ending.
    Ended(Ending),
}

/// The error if the state of a loop cannot be read, which is never an approval.
pub const UNKNOWN_STATE: UnknownOutcome = UnknownOutcome("the state of the loop is unknown");

/// The error if a loop cannot continue.
const CANNOT_CONTINUE: UnknownOutcome =
    UnknownOutcome("the loop cannot continue, and nothing is approved");

/// Runs the loop of a spec until it ends, or returns at once if there is nothing to do.
pub fn validate(
    place: &SpecLocation,
    options: LoopOptions<'_>,
    listener: &dyn LoopObserver,
    warn: &dyn Fn(&str),
) -> anyhow::Result<(LoopOutcome, LoopState)> {
    place.check_complete()?;
    place.recover(warn)?;
    let state = place.state()?;
    let mut journal = Journal::open(&place.folder(), &place.seal()?).context(UNKNOWN_STATE)?;
    // An earlier holder of the journal may have changed the spec meanwhile.
    let place = &place.reopen()?;
    place.check_complete()?;
    let mut loop_state = LoopState::of(journal.entries()).context(UNKNOWN_STATE)?;
    let tree = place.tree()?;
    if let Some(word) = options.sign_off {
        SignOffRecorder { place, base: options.base, tree: &tree }
            .record(word, &mut journal, &mut loop_state)?;
    }
    let found = ResumeInput {
        root: &place.root,
        spec: &place.spec,
        loop_state: &loop_state,
        tree: &tree,
        is_own: journal.is_own(),
        resumes: options.resumes,
    };
    let plan = plan_resume(place, found, options.base, warn)?;
    if let (ResumePlan::Continue { begin: Some(begin), .. }, LoopStatus::HandedOver(ending)) =
        (&plan, &loop_state.state)
        && begin.why == EpochReason::TreeChanged
    {
        listener.on_tree_changed(ending);
    }
    let (begin, base) = match plan {
        ResumePlan::Done(loop_outcome) => {
            if options.sign_off.is_some() {
                // The artifacts of the round show the decisions with their authors.
                let told = Exporter { spec: &place.spec, loop_state: &loop_state };
                told.write(&place.root, None).map_err(loop_error)?;
            }
            ticket_tracker::send_stored_updates(
                place,
                options.home(place),
                loop_state.base.as_deref(),
                warn,
            );
            return Ok((loop_outcome, loop_state));
        }
        ResumePlan::Continue { begin, base } => (begin, base),
    };
    let loop_run = LoopRun { place, options, state: &state, listener, warn };
    let (ending, loop_state) = loop_run.run_to_end(&mut journal, begin, base)?;
    Ok((LoopOutcome::Ended(ending), loop_state))
}

/// The way in which a run resumes a loop.
enum ResumePlan {
    /// The run has nothing to do.
    Done(LoopOutcome),
    /// The loop continues, or begins anew, on top of a base commit.
    Continue { begin: Option<EpochStart>, base: Option<String> },
}

fn plan_resume(
    place: &SpecLocation,
    found: ResumeInput<'_>,
    asked_base: Option<&str>,
    warn: &dyn Fn(&str),
) -> anyhow::Result<ResumePlan> {
    let loop_state = found.loop_state;
    // An approval on top of one commit says nothing about earlier commits.
    let wanted = place.base_after(loop_state, asked_base)?;
    let begin = match decide_resume(found)? {
        ResumeAction::Approved if wanted == loop_state.base => {
            return Ok(ResumePlan::Done(LoopOutcome::AlreadyApproved));
        }
        ResumeAction::Approved => Some(EpochReason::Changed.into()),
        ResumeAction::Wait(ending) => return Ok(ResumePlan::Done(LoopOutcome::Waits(ending))),
        ResumeAction::BeginEpoch(begin) => Some(begin),
        ResumeAction::Continue => None,
    };
    // The base of an epoch stays the same. Otherwise uncommitted fixes could become the whole
    // change.
    let goes_on = begin.is_none() && loop_state.has_begun;
    if goes_on && asked_base.is_some() {
        warn("the loop continues with its original base; `--base` applies only to a new loop");
    }
    let base = if goes_on { loop_state.base.clone() } else { wanted };
    Ok(ResumePlan::Continue { begin, base })
}

/// A running loop with its inputs.
struct LoopRun<'a> {
    place: &'a SpecLocation,
    options: LoopOptions<'a>,
    /// The folder of the loop's private files.
    state: &'a Path,
    listener: &'a dyn LoopObserver,
    warn: &'a dyn Fn(&str),
}

impl LoopRun<'_> {
    /// Runs the loop until it ends.
    fn run_to_end(
        &self,
        journal: &mut Journal,
        begin: Option<EpochStart>,
        base: Option<String>,
    ) -> anyhow::Result<(Ending, LoopState)> {
        let LoopRun { place, options, warn, .. } = *self;
        let change = place.change(base.as_deref())?;
        check_implemented(&change, base.as_deref())?;
        let loop_state = LoopState::of(journal.entries()).context(UNKNOWN_STATE)?;
        let (highest, current) =
            (place.highest_requirements(&change, &loop_state)?, place.requirements());
        let lowered = highest.lowered_by(&current);
        lowered.iter().for_each(|it| warn(&format!("{}; a person must decide", it.title)));
        let mut raised = highest.clone();
        raised.raise(&current);
        place.store_requirements(&raised, &change, false)?;
        // A lowered requirement counts if a person decided on it for this very tree.
        let tree = place.tree()?;
        let is_decided = |id: &str| {
            lowered.iter().any(|it| it.id() == id && loop_state.decision(it, &tree).is_some())
        };
        let risk = if is_decided(RISK_KEY) { current.risk } else { raised.risk };
        let minimum = match is_decided(COVERAGE_KEY) {
            true => current.minimum_coverage,
            false => raised.minimum_coverage,
        };
        let mut settings = Settings::of(&place.environment, &change)?;
        let prompts = Prompts::of(&change, &mut settings.notes)?;
        settings.notes.iter().for_each(|note| warn(note));
        let limits = settings.qa.limits()?;
        let source = settings.qa.memory()?;
        let request =
            options.models.clone().or_if_configured().with_default_caps(settings.qa.budget);
        let request = request
            .or_model(settings.models.model_of(Phase::Qa))
            .with_thinking(settings.models.thinking_of(Phase::Qa));
        if options.models.requested_model().is_some() {
            // If a model that the user named is unusable, the command fails, not the round.
            settings.models.for_review(request.requested_model())?;
        }
        let request = request.with_max_seconds(options.host.map(|host| host.seconds));
        let home = options.home(place);
        let model_session = match request.is_enabled(&settings) {
            true => Some(ModelSession::open(&request, &settings.models, home)?),
            false => None,
        };
        let deadline = LoopDeadline::after(request.max_seconds());
        let reviewer = LoopReviewer {
            place,
            request: &request,
            model_session: model_session.clone(),
            models: &settings.models,
            prompt: prompts.reviewer.as_deref(),
            own_kinds: &settings.qa.issue_types,
            deadline,
            warn,
        };
        let fixer = LoopFixer {
            environment: &place.environment,
            spec: &place.spec,
            chosen: settings.qa.fixer()?,
            models: &settings.models,
            model_session,
            prompt: prompts.fixer.as_deref(),
            deadline,
            is_only_on_branch: settings.qa.fixer()? == LoopFixerChoice::Default
                && fixer_on_disk(&place.environment, &place.root).is_some(),
        };
        if fixer.is_only_on_branch {
            warn(
                "`qa.fixer` is not used: only the branch under review configures a fixer, and the \
                 configuration before the change applies; commit `qa.fixer` to the main branch and \
                 rebase this branch onto it",
            );
        }
        let tracking = TicketTracker::of(place, home, &settings, self.listener, warn);
        let ground = LocalEnvironment {
            root: place.root.clone(),
            spec: place.spec.clone(),
            risk,
            said_risk: place.risk,
            minimum,
            lowered,
            base,
            frameworks: settings.qa.frameworks()?,
            app: settings.qa.app(&|name| {
                place.environment.variable(name).or_else(|| dotenv(&place.root, name))
            })?,
            outputs: place.environment.outputs_below(&place.root),
            runner: runner(place, self.state, deadline.limits(settings.qa.check_timeout())),
            state: self.state.to_owned(),
            clock: &|| now(place.environment.clock()),
            reviewer: &reviewer,
            fixer: &fixer,
            observer: &tracking,
        };
        let (ending, loop_state) = run(&ground, journal, &limits, begin).map_err(loop_error)?;
        if ending == Ending::Approved {
            place.store_requirements(&raised, &change, true)?;
        }
        let learned = LoopSummary::of(&place.spec.name, &loop_state, &ending);
        memory::store_memories(&source, &place.root, &learned)
            .iter()
            .for_each(|warning| warn(warning));
        Ok((ending, loop_state))
    }
}

/// Returns the fixer that the configuration in the work tree names; `None` if it names none, or
/// cannot be read. The result only explains why no fixer is used.
fn fixer_on_disk(environment: &Environment, root: &Path) -> Option<ChosenFixer> {
    let configuration = Configuration::on_disk(environment, root).ok().flatten()?;
    match configuration.qa.fixer().ok()? {
        LoopFixerChoice::Chosen(chosen) => Some(chosen),
        LoopFixerChoice::Default | LoopFixerChoice::SafeOnly => None,
    }
}

/// Fails if nothing was implemented on top of the base commit.
fn check_implemented(change: &Change, base: Option<&str>) -> anyhow::Result<()> {
    if change.files.iter().any(|file| !Spec::is_loop_document(file.path())) {
        return Ok(());
    }
    bail!(
        "only the spec was changed on top of {}; name the commit below the implementation with \
         `--base`",
        base.map_or("nothing".to_owned(), |base| format!("`{base}`"))
    )
}

fn record_event(
    clock: &Clock,
    journal: &mut Journal,
    loop_state: &mut LoopState,
    event: Event,
) -> anyhow::Result<()> {
    let at = now(clock);
    loop_state.apply(&at, &event).context(UNKNOWN_STATE)?;
    journal.add(&at, event).context(UNKNOWN_STATE)?;
    Ok(())
}

/// Converts an error into a failure of the round.
fn round_error(error: anyhow::Error) -> StepError {
    StepError::Round(format!("{error:#}"))
}

/// Returns the current time in the format of the journal.
fn now(clock: &Clock) -> String {
    Moment::now(clock).to_string()
}

fn runner(place: &SpecLocation, state: &Path, limits: CheckLimits) -> Runner {
    let runner = Runner::new(&place.root).limits(limits).caches(&state.join("caches"));
    let variable = |name: &str| place.environment.variable(name);
    let runner = runner.hidden(secrets_by_variables(|name| variable(name).map(Into::into)));
    let runner = match variable("HOME").filter(|home| !home.is_empty()) {
        Some(home) => runner.home(Path::new(&home)),
        None => runner,
    };
    match variable("PATH") {
        Some(path) => runner.search_path(path),
        None => runner,
    }
}

fn loop_error(error: StepError) -> anyhow::Error {
    match error {
        StepError::Journal(JournalError::Disk(error)) => {
            anyhow::Error::from(error).context(CANNOT_CONTINUE)
        }
        error => anyhow::Error::from(error).context(CANNOT_CONTINUE),
    }
}
