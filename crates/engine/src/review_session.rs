//! A review from end to end: [`ReviewSession`] has the inputs, [`CompletedReview`] the result.
//! Showing and publishing are left to the caller.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assay_base::shutdown::Shutdown;
use assay_change::diff::FileDiff;
use assay_change::state::State;
use assay_change::{Change, GitError, Scope, Selection};
use assay_findings::coverage::CoverageRequirement;
use assay_findings::finding::Finding;
use assay_findings::gate::ReviewMode;
use assay_findings::grade::Grade;
use assay_findings::identity::{Day, Dismissal, ResolvedFinding};
use assay_findings::path::RepoPath;
use assay_findings::post::TrackedFinding;
use assay_findings::report::Report;
use assay_findings::shown_limit::ShownLimit;
use assay_findings::synthesis::Synthesis;
use assay_findings::template::TemplateSet;
use assay_findings::usage::ReviewUsage;
use assay_findings::verdict::NoContentPolicy;
use assay_models::FailureClass;
use assay_review::baseline::Baseline;
use assay_review::ledger;
use assay_review::recording::{RecordedPolicy, Recording};
use assay_review::resume::INTERRUPTED_LOG_LINE;
use assay_review::runs::RunContent;
use assay_review::templates;
use assay_review::{
    Concurrency, ReadDecision, Review, ReviewPolicy, Reviewer, RuleReviewer, StartOrder,
    interrupted_report,
};
use assay_store::task::Moment;

use crate::config::{Services, Settings};
use crate::dates::{time_id, today};
use crate::environment::Environment;
use crate::imports::read_imports;
use crate::left_out::left_out_note;
use crate::models::{CachePolicy, ModelOptions, Panel, ReviewOptions};
use crate::purpose;
use crate::reporter::Reporter;
use crate::review_command_options::ReviewCommandOptions;
use crate::review_progress::{NoProgress, Recorder, ReviewProgress};
use crate::rule_options::not_applied_note;

/// The maximum size of the changed files that are stored with a run for a replay, in bytes.
const MAX_RECORDING_BYTES: usize = 8 << 20;

/// A change with all inputs of its review.
pub struct ReviewSession {
    environment: Environment,
    /// The change to review.
    pub change: Arc<Change>,
    /// All reviewers, including those that do not read this change.
    pub reviewers: Arc<[Box<dyn Reviewer>]>,
    /// The findings that are accepted.
    pub baseline: Baseline,
    /// Notes for the user on the versions of settings that are used.
    pub notes: Vec<String>,
    /// The personas; `None` if no model is asked.
    pub panel: Option<Panel>,
    /// The services, as configured before the change.
    pub services: Services,
    at_a_time: usize,
    fail_on: Option<Grade>,
    require: CoverageRequirement,
    without_content: NoContentPolicy,
    shown: ShownLimit,
    templates: TemplateSet,
    dismissals: Vec<Dismissal>,
    /// The dismissals of the ledger, or the reason why the ledger is unusable.
    from_ledger: anyhow::Result<Vec<Dismissal>>,
    today: Option<Day>,
    /// Facts about the settings for the log of the run.
    log: Vec<String>,
    /// Reports from sources other than the reviewers.
    external_reports: Vec<Report>,
}

/// The use of the configured analysers in a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Analysers {
    Run,
    Skip,
}

/// The reviewers of a review besides personas.
#[derive(Debug, Clone, Copy)]
struct LocalReviewers<'a> {
    analysers: Analysers,
    options: &'a ReviewCommandOptions,
}

/// Moves dismissals along with the files that a change renames. If git fails for a file, the file
/// is not known to be gone, so its dismissals stay.
pub(crate) fn apply_renames(
    dismissals: Vec<Dismissal>,
    change: &Change,
) -> Result<Vec<Dismissal>, GitError> {
    if dismissals.is_empty() {
        return Ok(dismissals);
    }
    let renames = change.renames()?;
    let exists = |file: &RepoPath| change.tree().exists(file).unwrap_or(true);
    Ok(dismissals.into_iter().map(|dismissal| dismissal.following(&renames, exists)).collect())
}

/// Opens the staged changes, in the index that git names to a hook if there is one.
pub(crate) fn open_staged_change(
    environment: &Environment,
    folder: &Path,
    selection: &Selection,
) -> Result<Change, GitError> {
    match environment.variable("GIT_INDEX_FILE") {
        Some(index) => assay_change::open_staged(folder, Path::new(&index), selection),
        None => assay_change::open(folder, &Scope::Staged, selection),
    }
}

impl ReviewSession {
    /// Opens a change and reads the settings that apply to it.
    pub fn open(
        environment: &Environment,
        folder: &Path,
        scope: &Scope,
        selection: &Selection,
        options: ReviewOptions<'_>,
    ) -> anyhow::Result<ReviewSession> {
        let command = ReviewCommandOptions::default();
        ReviewSession::open_with(environment, folder, scope, selection, options, &command)
    }

    /// Opens a change for a review with the options of a command.
    pub fn open_with(
        environment: &Environment,
        folder: &Path,
        scope: &Scope,
        selection: &Selection,
        options: ReviewOptions<'_>,
        command: &ReviewCommandOptions,
    ) -> anyhow::Result<ReviewSession> {
        let change = match *scope == Scope::Staged {
            true => open_staged_change(environment, folder, selection)?,
            false => assay_change::open(folder, scope, selection)?,
        };
        let reviewers = LocalReviewers { analysers: Analysers::Run, options: command };
        ReviewSession::of_change(environment, change, scope, options, reviewers)
    }

    /// Opens the review of a change by the rules alone. All other inputs, such as the configuration
    /// and the dismissals, are those of a full review.
    pub(crate) fn of_rules(
        environment: &Environment,
        change: Change,
    ) -> anyhow::Result<ReviewSession> {
        let models = ModelOptions::without_models();
        let options = ReviewOptions {
            models: &models,
            cache_policy: CachePolicy::Off,
            model_session: None,
            also: None,
        };
        let scope = Scope::Automatic;
        let command = &ReviewCommandOptions::default();
        let reviewers = LocalReviewers { analysers: Analysers::Skip, options: command };
        ReviewSession::of_change(environment, change, &scope, options, reviewers)
    }

    fn of_change(
        environment: &Environment,
        mut change: Change,
        scope: &Scope,
        options: ReviewOptions<'_>,
        local: LocalReviewers<'_>,
    ) -> anyhow::Result<ReviewSession> {
        let given = local.options.config.as_deref();
        let mut settings = Settings::with_given(environment, &change, given)?;
        change.exclude(&settings.exclusions);
        settings.rules = local.options.rules.limit(settings.rules)?;
        let not_applied = settings.rules.not_applied(change.files.iter().map(FileDiff::path));
        settings.notes.extend(not_applied_note(&not_applied));
        if change.is_whole_tree {
            settings.notes.extend(left_out_note(&change));
        }
        let config_note = local.options.config_note();
        settings.notes.extend(config_note.clone());
        if let Some(purpose) = &options.models.purpose {
            change.state_purpose(purpose);
        }
        let today = today(environment.clock());
        let date = today.clone().map(String::from).unwrap_or_default();
        let is_asked = options.cache_policy != CachePolicy::NoModels;
        let panel = Panel::new(options, &settings, &change, &date)?;
        let mut refused: Vec<String> =
            panel.iter().flat_map(|panel| panel.refused.clone()).collect();
        if panel.is_some() && is_asked {
            match purpose::of_pull(&settings.services, scope) {
                Ok(text) => change.state_purpose(&text.unwrap_or_default()),
                Err(error) => refused
                    .push(format!("reviewers do not get the text of the pull request: {error:#}")),
            }
        }
        let state = environment.state_of(&change.root);
        let from_ledger = ledger::dismissals(&state).map_err(anyhow::Error::from);
        let from_ledger = match from_ledger {
            Ok(dismissed) => Ok(apply_renames(dismissed, &change)?),
            Err(error) => Err(error),
        };
        let mut dismissals = apply_renames(settings.baseline.dismissals(), &change)?;
        dismissals.extend(from_ledger.iter().flatten().cloned());
        let mut reviewers: Vec<Box<dyn Reviewer>> = vec![Box::new(RuleReviewer(settings.rules))];
        let commands = settings.commands.into_iter().filter(|_| local.analysers == Analysers::Run);
        reviewers.extend(commands.map(|command| Box::new(command) as Box<dyn Reviewer>));
        reviewers.extend(panel.iter().flat_map(Panel::reviewers));
        let names: Vec<&str> = reviewers.iter().map(|reviewer| reviewer.name()).collect();
        let external_reports = read_imports(&local.options.imports, &change, &names)?;
        Ok(ReviewSession {
            environment: environment.clone(),
            change: Arc::new(change),
            reviewers: reviewers.into(),
            notes: settings.notes.into_iter().chain(refused).collect(),
            panel,
            services: settings.services,
            at_a_time: settings.at_a_time,
            fail_on: settings.fail_on,
            require: settings.require,
            without_content: settings.without_content,
            shown: settings.shown,
            templates: settings.templates,
            dismissals,
            from_ledger,
            baseline: settings.baseline,
            today,
            log: config_note.into_iter().collect(),
            external_reports,
        })
    }

    /// Opens a recorded review; models answer from the recording. Paths are shown relative to
    /// `folder`.
    pub fn recorded(
        environment: &Environment,
        folder: &Path,
        root: PathBuf,
    ) -> anyhow::Result<ReviewSession> {
        let recording = Recording::read(folder)?;
        let terms = recording.terms.clone();
        let external_reports = recording.external_reports.clone();
        let panel = recording.models.clone().map(|models| Panel::recorded(models, folder));
        let panel = panel.transpose()?;
        let (change, mut reviewers) = recording.open(root);
        reviewers.extend(panel.iter().flat_map(Panel::reviewers));
        Ok(ReviewSession {
            environment: environment.clone(),
            change: Arc::new(change),
            reviewers: reviewers.into(),
            notes: vec![
                "this is a recorded review: no model was called, and nothing is \
                         stored"
                    .into(),
            ],
            panel,
            services: Services::default(),
            at_a_time: 1,
            fail_on: terms.fail_on,
            require: terms.require,
            without_content: terms.without_content,
            shown: terms.shown,
            templates: templates::with_own(terms.templates),
            dismissals: terms.dismissals,
            from_ledger: Ok(Vec::new()),
            baseline: Baseline::default(),
            today: terms.today,
            log: Vec::new(),
            external_reports,
        })
    }

    /// Returns the reason why the ledger is unusable; `None` if it is usable.
    pub fn ledger_warning(&self) -> Option<String> {
        let error = self.from_ledger.as_ref().err()?;
        Some(format!("cannot read the ledger, so its dismissals are ignored: {error:#}"))
    }

    /// Returns the failure that made the memories of earlier runs incomplete; `None` if they are
    /// complete.
    pub fn memory_warning(&self) -> Option<&str> {
        self.panel.as_ref().and_then(Panel::memory_warning)
    }

    /// Returns the state of the work tree.
    fn state(&self) -> State {
        self.environment.state_of(&self.change.root)
    }

    /// Runs all reviewers that the change concerns, and decides. If the review is interrupted, it
    /// is decided on the answers so far.
    pub fn review(
        &self,
        mode: ReviewMode,
        fail_on: Option<&Grade>,
        progress: &dyn ReviewProgress,
        shutdown: &Shutdown,
    ) -> CompletedReview {
        self.review_recording(mode, fail_on, &Recorder::new(progress), shutdown)
    }

    /// Reviews without showing progress.
    pub fn review_without_progress(&self, mode: ReviewMode) -> CompletedReview {
        self.review(mode, None, &NoProgress, &Shutdown::default())
    }

    /// Adds a text to the purpose of the change before it is read.
    pub(crate) fn state_purpose(&mut self, text: &str) {
        let change = Arc::get_mut(&mut self.change);
        change.expect("a change is shared only while it is read").state_purpose(text);
    }

    /// Replaces the change by one that touches the same files, with the same base. All other inputs
    /// stay.
    pub(crate) fn replace_change(&mut self, mut change: Change) {
        change.exclude_as(&self.change);
        self.change = Arc::new(change);
    }

    /// Dismisses the findings that were accepted since the session was opened.
    pub(crate) fn apply_baseline(&mut self) {
        self.dismissals.extend(self.baseline.dismissals());
    }

    /// Takes over the accepted findings of another session of the same repository.
    pub fn share_baseline(&mut self, other: &ReviewSession) {
        self.baseline = other.baseline.clone();
        self.apply_baseline();
    }

    /// Decides again on the answers of a review, with the dismissals of now.
    pub fn decide_again(&self, reviewed: &CompletedReview) -> Synthesis {
        self.synthesis(&reviewed.review, reviewed.mode, reviewed.fail_on.clone())
    }

    /// Returns true if the baseline or the ledger dismisses a finding today.
    pub(crate) fn is_dismissed(&self, finding: &Finding) -> bool {
        let is_in_force = |dismissal: &Dismissal| match &self.today {
            Some(today) => dismissal.is_in_force_on(today),
            None => dismissal.until.is_none(),
        };
        let mut covering = self.dismissals.iter().filter(|dismissal| dismissal.covers(finding));
        covering.any(is_in_force)
    }

    /// Removes files from the change before it is read.
    pub(crate) fn exclude_files(&mut self, is_excluded: impl Fn(&FileDiff) -> bool) {
        let change = Arc::get_mut(&mut self.change);
        let change = change.expect("a change is shared only while it is read");
        change.files.retain(|file| !is_excluded(file));
    }

    /// Adds reports from other sources, which can add findings but cover nothing.
    pub(crate) fn with_external_reports(mut self, external_reports: Vec<Report>) -> ReviewSession {
        self.external_reports = external_reports;
        self
    }

    fn review_recording(
        &self,
        mode: ReviewMode,
        fail_on: Option<&Grade>,
        progress: &Recorder<'_>,
        shutdown: &Shutdown,
    ) -> CompletedReview {
        let span = review_span(&self.change, mode);
        let _entered = span.enter();
        let models = self.panel.as_ref().map_or(1, |panel| panel.at_a_time);
        let order = self.panel.as_ref().map(|panel| panel.order(&self.change, &self.reviewers));
        let order = order.unwrap_or(StartOrder::AllAtOnce);
        let at_a_time = Concurrency { local: self.at_a_time, models, order };
        let (change, reviewers) = (&self.change, &self.reviewers);
        let mut review = assay_review::run_until(shutdown, change, reviewers, at_a_time, progress);
        if let Some(panel) = self.panel.as_ref().filter(|_| !review.interrupted.is_empty()) {
            panel.abandon();
        }
        review.reports.extend(self.external_reports.iter().cloned());
        let fail_on = fail_on.or(self.fail_on.as_ref()).cloned();
        let mut synthesis = self.synthesis(&review, mode, fail_on.clone());
        if let Some(panel) = self.panel.as_ref().filter(|_| review.interrupted.is_empty()) {
            progress.looking_again();
            panel.take_second_looks(&self.change, &synthesis, &mut review, shutdown);
            if !review.interrupted.is_empty() {
                panel.abandon();
            }
            synthesis = self.synthesis(&review, mode, fail_on.clone());
        }
        let mut log = self.log.clone();
        log.extend(progress.finish());
        if !review.interrupted.is_empty() {
            log.push(format!("{INTERRUPTED_LOG_LINE}{}", review.interrupted.join(", ")));
        }
        record_outcome(&span, &synthesis);
        CompletedReview { review, synthesis, log, fail_on, mode }
    }

    /// Marks a review whose next step was interrupted: without that step it stays incomplete.
    pub fn mark_interrupted(&self, reviewed: &mut CompletedReview, step: &str) {
        reviewed.review.reports.push(interrupted_report(step));
        reviewed.review.interrupted.push(step.to_owned());
        reviewed.log.push(format!("{INTERRUPTED_LOG_LINE}{step}"));
        let CompletedReview { review, fail_on, mode, .. } = &*reviewed;
        reviewed.synthesis = self.synthesis(review, *mode, fail_on.clone());
    }

    fn synthesis(&self, review: &Review, mode: ReviewMode, fail_on: Option<Grade>) -> Synthesis {
        let terms = ReviewPolicy {
            mode,
            fail_on,
            require: self.require,
            without_content: self.without_content,
            shown: self.shown,
            templates: Some(&self.templates),
            dismissals: &self.dismissals,
            spent: self
                .panel
                .as_ref()
                .map(|panel| ReviewUsage { bytes: review.bytes(), ..panel.spent() }),
            today: self.today.clone(),
        };
        review.synthesis(&self.change, &terms)
    }

    /// Returns the provenance of each reviewer that reads the change: hashes of its files, by name.
    fn provenance(&self) -> BTreeMap<String, BTreeMap<String, String>> {
        let reads =
            |by: &&dyn Reviewer| matches!(by.interest(&self.change), ReadDecision::Reads(_));
        let readers = self.reviewers.iter().map(|by| &**by).filter(reads);
        readers.map(|by| (by.name().to_owned(), by.provenance())).collect()
    }
}

/// Returns the span of a review. It names no file and no branch.
fn review_span(change: &Change, mode: ReviewMode) -> tracing::Span {
    let mode = match mode {
        ReviewMode::Interactive => "interactive",
        ReviewMode::ReportOnly => "report_only",
        ReviewMode::Autofix => "autofix",
        ReviewMode::Headless => "headless",
    };
    tracing::info_span!(
        "review",
        assay.review.mode = mode,
        assay.change.files = change.files.len(),
        assay.review.verdict = tracing::field::Empty,
        assay.review.findings = tracing::field::Empty,
        assay.review.cost_usd = tracing::field::Empty,
    )
}

fn record_outcome(span: &tracing::Span, synthesis: &Synthesis) {
    span.record("assay.review.verdict", synthesis.verdict.state.in_words());
    span.record("assay.review.findings", synthesis.findings.len());
    if let Some(usd) = synthesis.spent.as_ref().and_then(|spent| spent.usd) {
        span.record("assay.review.cost_usd", usd);
    }
}

/// The result of a review.
pub struct CompletedReview {
    review: Review,
    /// The synthesis of the review.
    pub synthesis: Synthesis,
    log: Vec<String>,
    fail_on: Option<Grade>,
    mode: ReviewMode,
}

/// A stored review.
pub struct SavedRun {
    /// The id of the run.
    pub id: String,
    /// True if the run can be replayed.
    pub is_recorded: bool,
    /// Findings of earlier reviews that this review looked for and did not find.
    pub gone: Vec<ResolvedFinding>,
    /// The findings of all reviews of the branch or pull request, with their outcomes.
    pub tracked: Vec<TrackedFinding>,
    /// The reason why the review is not in the ledger, or the part of the ledger that is unusable;
    /// `None` if there is none.
    pub warning: Option<String>,
}

impl CompletedReview {
    /// Returns true if a reviewer that failed may succeed at a retry.
    pub(crate) fn may_succeed_later(&self) -> bool {
        self.review.exchanges.iter().filter_map(|it| it.class).any(FailureClass::is_transient)
    }

    /// Returns true if the review was interrupted before all reviewers had answered.
    pub fn is_interrupted(&self) -> bool {
        !self.review.interrupted.is_empty()
    }

    /// Stores the review as a run, and in the ledger. An unusable ledger does not fail the call.
    pub fn save(&self, prepared: &ReviewSession) -> anyhow::Result<SavedRun> {
        let now = prepared.environment.clock().now();
        let id = time_id(now);
        // Answers of models cost money, so they are stored for a replay.
        let recording = prepared.panel.as_ref().map(|_| self.recording(prepared));
        let recording = recording.filter(|recording| recording.bytes() <= MAX_RECORDING_BYTES);
        let replies = prepared.panel.as_ref().and_then(Panel::replies);
        let record = RunContent {
            change: &prepared.change,
            reports: &self.review.reports,
            synthesis: &self.synthesis,
            log: &self.log,
            version: env!("CARGO_PKG_VERSION"),
            provenance: prepared.provenance(),
            exchanges: &self.review.exchanges,
            recording: recording.as_ref(),
            replies: replies.as_deref(),
        };
        let state = prepared.state();
        record.save(&state, &id)?;
        let (gone, warning) = match self.add_to_ledger(prepared, &id, Moment(now)) {
            Ok(gone) => (gone, None),
            Err(warning) => (Vec::new(), Some(warning)),
        };
        let tracked = self.tracked(prepared).unwrap_or_default();
        Ok(SavedRun { id, is_recorded: recording.is_some(), gone, tracked, warning })
    }

    /// Returns the findings of all reviews of the branch or pull request; `None` if the ledger is
    /// unusable, of which `add_to_ledger` warns, or if the branch is not known.
    fn tracked(&self, prepared: &ReviewSession) -> Option<Vec<TrackedFinding>> {
        let branch = prepared.change.lineage().ok()?.branch?;
        let today = prepared.today.clone().map(String::from)?;
        ledger::tracked_findings(&prepared.state(), &branch, &today).ok()
    }

    /// Adds the review to the ledger, and returns the findings that are gone. Fails with the reason
    /// if the ledger is unusable.
    fn add_to_ledger(
        &self,
        prepared: &ReviewSession,
        run: &str,
        at: Moment,
    ) -> Result<Vec<ResolvedFinding>, String> {
        let Ok(dismissals) = &prepared.from_ledger else {
            return Err(prepared.ledger_warning().unwrap_or_default());
        };
        let kept = ledger::StoredReview {
            state: &prepared.state(),
            run,
            at,
            change: &prepared.change,
            review: &self.review,
            synthesis: &self.synthesis,
            dismissals,
        };
        kept.record().map_err(|error| {
            format!("cannot record the review in the ledger: {:#}", anyhow::Error::from(error))
        })
    }

    /// Records the review into a folder, from which it can be replayed anywhere.
    pub fn record(&self, prepared: &ReviewSession, folder: &Path) -> anyhow::Result<()> {
        let replies = prepared.panel.as_ref().and_then(Panel::replies);
        self.recording(prepared).save_with(replies.as_deref(), folder)?;
        Ok(())
    }

    fn recording(&self, prepared: &ReviewSession) -> Recording {
        let terms = RecordedPolicy {
            fail_on: self.fail_on.clone(),
            require: prepared.require,
            without_content: prepared.without_content,
            shown: prepared.shown,
            templates: prepared.templates.own().cloned().collect(),
            dismissals: prepared.dismissals.clone(),
            today: prepared.today.clone(),
        };
        let panel = prepared.panel.as_ref();
        let mut others = panel.map(|panel| panel.other_files(&prepared.change)).unwrap_or_default();
        others.extend(self.review.named_files());
        let models = panel.map(Panel::record);
        Recording::new(&prepared.change, &others, terms, models, &self.review)
    }
}

/// The delays before retries for the ref of a pull request, which GitHub creates shortly after the
/// pull request is opened.
const PULL_RETRY_DELAYS: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];

/// Opens a change, and retries a few times if the ref of its pull request is missing.
pub fn retry_missing_pull<T>(
    reporter: &Arc<dyn Reporter>,
    open: impl Fn() -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let is_missing_pull = |error: &anyhow::Error| {
        matches!(
            error.downcast_ref(),
            Some(GitError::UnknownPull { .. } | GitError::UnknownMergeRequest { .. })
        )
    };
    for wait in PULL_RETRY_DELAYS {
        match open() {
            Err(error) if is_missing_pull(&error) => {
                let why = format!("{error:#}; retrying in {} s", wait.as_secs());
                reporter.note(&why);
                Shutdown::default().wait(wait);
            }
            opened => return opened,
        }
    }
    open()
}
