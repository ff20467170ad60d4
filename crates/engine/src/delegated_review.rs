//! Delegated reviews for the MCP server `review`: `RepositoryReviews` opens changes as
//! `assay review` does, and stores runs. Briefs, findings and verdicts are left to
//! `assay_review::delegation`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use assay_change::state::State;
use assay_change::{Change, GitError, Scope, Selection};
use assay_findings::finding::Finding;
use assay_findings::identity::Dismissal;
use assay_findings::synthesis::Synthesis;
use assay_review::delegation::close::{CloseResult, CurrentEvidence, DecidedReview, TreeState};
use assay_review::delegation::fix_verification::{self, FinishedReview, FixVerdict, NextFix};
use assay_review::delegation::transcript::ReviewTranscript;
use assay_review::delegation::{
    self, Brief, BriefReader, DelegatedReview, DelegationError, MAX_PART_BYTES, ReviewId,
    StartOptions, host_description,
};
use assay_review::persona::Personas;
use assay_review::recording::{Grouping, RecordedModels, RecordedPolicy};
use assay_review::{Review, Reviewer, RuleReviewer};
use assay_review::{ledger, runs};
use assay_store::task::Moment;

use crate::config::Settings;
use crate::dates::{time_id, today};
use crate::environment::Environment;
use crate::memory::{self, RecallResult};
use crate::models::{check_distinct_names, prior_findings, resolve_personas};
use crate::review_session::apply_renames;

/// The delegated reviews of a repository, as the MCP server calls them.
pub trait DelegatedReviews: Send + Sync {
    /// Starts a review.
    fn start(&self, what: StartRequest) -> anyhow::Result<StartedReview>;

    /// Opens a review that is started and not finished.
    fn open(&self, review: &str) -> anyhow::Result<DelegatedReview>;

    /// Finishes a review and stores it as a run of the same id. Returns the stored outcome if the
    /// review is finished already.
    fn finish(&self, review: &str) -> anyhow::Result<FinishResult>;

    /// Returns the findings of a finished review that are still open, and the next one to fix.
    fn next_fix(&self, review: &str, skip: &BTreeSet<String>) -> anyhow::Result<FixProgress>;

    /// Returns the state of a finding of a finished review, and the findings that are new since the
    /// review.
    fn verify_fix(&self, review: &str, finding: &str)
    -> anyhow::Result<(FixVerdict, Vec<Finding>)>;
}

/// The input of [`DelegatedReviews::start`].
#[derive(Debug, Clone)]
pub struct StartRequest {
    /// The scope of the change.
    pub scope: Scope,
    /// The files of the scope that belong to the change.
    pub selection: Selection,
    /// The purpose of the change; `None` if the agent states none.
    pub purpose: Option<String>,
    /// The personas that read the change in addition to those that it triggers.
    pub personas: Vec<String>,
    /// True if each persona reads the change on its own.
    pub each_persona: bool,
    /// The readers of the change: the agent itself or its sub-agents.
    pub read_by: BriefReader,
    /// The name of the agent's model; empty if the agent does not state it.
    pub model: String,
}

/// A review that was started.
pub struct StartedReview {
    /// The review.
    pub review: DelegatedReview,
    /// Notes for the user on the versions of settings that are used.
    pub notes: Vec<String>,
}

/// The result of `DelegatedReviews::finish`.
#[derive(Debug)]
pub enum FinishResult {
    /// The agent has to take a second look at findings first.
    SecondLooks {
        /// The briefs of the second looks.
        briefs: Vec<Brief>,
        /// The readers of the briefs: the agent itself or its sub-agents.
        read_by: BriefReader,
    },
    /// The review is decided.
    Done(Box<ReviewConclusion>),
}

/// A review that is decided.
#[derive(Debug)]
pub struct ReviewConclusion {
    /// The title of the change.
    pub title: String,
    /// The paths that the review was limited to; empty if there was no limit.
    pub limited_to: Vec<String>,
    /// The synthesis of the review.
    pub synthesis: Synthesis,
    /// The state of the work tree compared with the reviewed one; `None` if it was not compared
    /// just now.
    pub tree: Option<TreeState>,
    /// Notes on the review.
    pub notes: Vec<String>,
}

/// The progress of fixing the findings of a review.
#[derive(Debug)]
pub struct FixProgress {
    /// The worst finding that is still there; `None` if none is.
    pub next: Option<Finding>,
    /// The findings that are still there, the worst one included.
    pub still_there: Vec<Finding>,
    /// The findings that are gone.
    pub fixed: Vec<Finding>,
    /// The findings that only a new review can judge.
    pub not_verified: Vec<Finding>,
}

/// The reviews of one repository.
pub struct RepositoryReviews {
    environment: Environment,
    root: PathBuf,
}

/// A change with the settings that apply to it.
struct OpenChange {
    change: Change,
    settings: Settings,
}

impl RepositoryReviews {
    /// Creates the reviews of the repository at a root.
    pub fn new(environment: &Environment, root: PathBuf) -> RepositoryReviews {
        RepositoryReviews { environment: environment.clone(), root }
    }

    fn state(&self) -> State {
        self.environment.state_of(&self.root)
    }

    fn open_change(&self, scope: &Scope, selection: &Selection) -> anyhow::Result<OpenChange> {
        let mut change = assay_change::open(&self.root, scope, selection)?;
        let settings = Settings::of(&self.environment, &change)?;
        change.exclude(&settings.exclusions);
        Ok(OpenChange { change, settings })
    }

    fn start(&self, what: &StartRequest) -> anyhow::Result<StartedReview> {
        let OpenChange { mut change, settings } = self.open_change(&what.scope, &what.selection)?;
        if let Some(purpose) = &what.purpose {
            change.state_purpose(purpose);
        }
        let personas = Personas::with_repository_personas(settings.personas.clone())?;
        check_distinct_names(&personas, &settings.commands)?;
        let source = settings.qa.memory()?;
        let date = today(self.environment.clock()).map(String::from).unwrap_or_default();
        let state = self.environment.state_of(&change.root);
        let RecallResult { memory, warning: forgotten } =
            memory::recall(&source, &state, &change, &date);
        let (prior, unknown) = prior_findings(&state, &change);
        let models = RecordedModels {
            // The agent whose work is reviewed must not choose its reviewers.
            named: Vec::new(),
            added: resolve_personas(&what.personas, &personas)?,
            personas: settings.personas.clone(),
            grouping: match what.each_persona {
                true => Grouping::EachPersona,
                false => settings.grouping,
            },
            tiers: [(); 3].map(|()| host_description(&what.model)),
            thinking: 0,
            prior,
            memory,
            second_looks: settings.second_looks,
            largest_part: Some(MAX_PART_BYTES),
            // The agent has its own tools for lookups.
            lookups: None,
        };
        let from_ledger = ledger::dismissals(&state);
        let notes = settings.notes.iter().cloned().chain(ledger_warning(&from_ledger));
        let notes = notes.chain(forgotten).chain(unknown).collect();
        let terms = recorded_terms(&settings, &from_ledger, &change)?;
        let review = delegation::start(StartOptions {
            state: &state,
            id: time_id(self.environment.clock().now()).parse()?,
            host: &what.model,
            change: &change,
            scope: &what.scope,
            selection: &what.selection,
            in_work_tree: self.is_in_work_tree(&change, &what.selection),
            read_by: what.read_by,
            at_a_time: settings.at_a_time,
            reviewers: local_reviewers(settings),
            models,
            terms,
        })?;
        Ok(StartedReview { review, notes })
    }

    /// Returns true if the work tree holds the files after a change.
    fn is_in_work_tree(&self, change: &Change, selection: &Selection) -> bool {
        let Some(base) = change.base_revision() else { return false };
        let here = self.open_change(&Scope::Against(base.to_owned()), selection);
        here.is_ok_and(|here| runs::change_hash(&here.change) == runs::change_hash(change))
    }

    /// Finishes a review. `seen` is called with the review and the agent's answers if this call
    /// decides the review.
    pub(crate) fn finish_with(
        &self,
        id: &ReviewId,
        seen: &mut dyn FnMut(&Review, ReviewTranscript),
    ) -> anyhow::Result<FinishResult> {
        match self.close(id, seen) {
            // The review was finished before, or by another process meanwhile.
            Err(error) if is_already_finished(&error) => {
                Ok(FinishResult::Done(Box::new(self.read_conclusion(id)?)))
            }
            closed => closed,
        }
    }

    fn close(
        &self,
        id: &ReviewId,
        seen: &mut dyn FnMut(&Review, ReviewTranscript),
    ) -> anyhow::Result<FinishResult> {
        let review = delegation::open(&self.state(), id)?;
        let (scope, selection) = review.scope();
        let mut now = match self.open_change(scope, selection) {
            Err(error) if is_missing(&error) => None,
            opened => Some(opened?),
        };
        // The reports answer briefs that hold the stated purpose.
        if let Some((now, purpose)) = now.as_mut().zip(review.change().stated_purpose()) {
            now.change.state_purpose(purpose);
        }
        let (change, settings) = now.map(|now| (now.change, now.settings)).unzip();
        let from_ledger = ledger::dismissals(&self.state());
        let now = change.as_ref().zip(settings);
        let now =
            now.map(|(change, settings)| current_evidence(&review, change, settings, &from_ledger));
        let now = now.transpose()?;
        let read_by = review.read_by();
        match review.close(now)? {
            CloseResult::SecondLooks(briefs) => Ok(FinishResult::SecondLooks { briefs, read_by }),
            CloseResult::Done(closed) => {
                let tree = Some(closed.tree);
                let warning =
                    store_review(&self.environment, &closed, change.as_ref(), &from_ledger)?;
                seen(&closed.review, closed.transcript());
                closed.record_run(&id.to_string())?;
                let notes = warning.into_iter().collect();
                Ok(FinishResult::Done(Box::new(ReviewConclusion {
                    tree,
                    notes,
                    ..self.read_conclusion(id)?
                })))
            }
        }
    }

    /// Returns the stored outcome of a review, which is redacted.
    fn read_conclusion(&self, id: &ReviewId) -> anyhow::Result<ReviewConclusion> {
        let finished = fix_verification::open_finished(&self.state(), id)?;
        Ok(ReviewConclusion {
            title: finished.title().to_owned(),
            limited_to: finished.limited_to().to_vec(),
            synthesis: finished.synthesis().clone(),
            tree: None,
            notes: Vec::new(),
        })
    }

    /// Opens the change from the base of a review to the current work tree.
    fn open_since(&self, finished: &FinishedReview) -> anyhow::Result<OpenChange> {
        let (scope, selection) = finished.scope()?;
        self.open_change(&scope, &selection)
    }

    fn fix_progress(&self, id: &ReviewId, skip: &BTreeSet<String>) -> anyhow::Result<FixProgress> {
        let finished = fix_verification::open_finished(&self.state(), id)?;
        let OpenChange { change, settings } = self.open_since(&finished)?;
        let at_a_time = settings.at_a_time;
        let since = finished.check_fixes(&change, local_reviewers(settings), at_a_time);
        let owned = |findings: Vec<&Finding>| findings.into_iter().cloned().collect();
        let NextFix { next, still_there, fixed, not_verified } = since.next_fix(skip);
        Ok(FixProgress {
            next: next.cloned(),
            still_there: owned(still_there),
            fixed: owned(fixed),
            not_verified: owned(not_verified),
        })
    }

    fn verify(&self, id: &ReviewId, finding: &str) -> anyhow::Result<(FixVerdict, Vec<Finding>)> {
        let finished = fix_verification::open_finished(&self.state(), id)?;
        let OpenChange { change, settings } = self.open_since(&finished)?;
        let at_a_time = settings.at_a_time;
        let since = finished.check_fixes(&change, local_reviewers(settings), at_a_time);
        let new = since.new_findings().into_iter().cloned().collect();
        Ok((since.verify(finding)?, new))
    }
}

/// The dismissals of the ledger, or the error that makes the ledger unusable.
type LedgerDismissals = Result<Vec<Dismissal>, ledger::LedgerUseError>;

/// Returns the note that the ledger is unusable; `None` if it is usable.
fn ledger_warning(from_ledger: &LedgerDismissals) -> Option<String> {
    // A dismissal that cannot be read does not dismiss.
    let error = from_ledger.as_ref().err()?;
    Some(format!("cannot read the ledger, so its dismissals are ignored: {error}"))
}

/// Returns the settings that decide on a review today, apart from the reviewers.
fn recorded_terms(
    settings: &Settings,
    from_ledger: &LedgerDismissals,
    change: &Change,
) -> anyhow::Result<RecordedPolicy> {
    let dismissed = from_ledger.iter().flatten().cloned();
    let dismissals = settings.baseline.dismissals().into_iter().chain(dismissed).collect();
    Ok(RecordedPolicy {
        fail_on: settings.fail_on.clone(),
        require: settings.require,
        without_content: settings.without_content,
        shown: settings.shown,
        templates: settings.templates.own().cloned().collect(),
        dismissals: apply_renames(dismissals, change)?,
        today: today(settings.models.environment().clock()),
    })
}

/// Returns the current evidence that a review is decided on.
fn current_evidence<'a>(
    review: &DelegatedReview,
    change: &'a Change,
    settings: Settings,
    from_ledger: &LedgerDismissals,
) -> anyhow::Result<CurrentEvidence<'a>> {
    Ok(CurrentEvidence {
        change,
        terms: recorded_terms(&settings, from_ledger, change)?,
        models: RecordedModels {
            personas: settings.personas.clone(),
            named: Vec::new(),
            second_looks: settings.second_looks,
            ..review.models().clone()
        },
        at_a_time: settings.at_a_time,
        reviewers: local_reviewers(settings),
    })
}

/// Stores a review as a run of the same id, and in the ledger. Returns a note if the ledger is
/// unusable.
fn store_review(
    environment: &Environment,
    closed: &DecidedReview,
    now: Option<&Change>,
    from_ledger: &LedgerDismissals,
) -> anyhow::Result<Option<String>> {
    let id = closed.id().to_string();
    let record = closed.record(now, env!("CARGO_PKG_VERSION"));
    let state = environment.state_of(&record.change.root);
    // A process that was killed after it stored the run left the run of this review.
    let is_kept = runs::find(&state, Some(&id)).is_ok_and(|run| closed.is_stored_in(&run));
    if !is_kept {
        record.save(&state, &id)?;
    }
    let Ok(dismissals) = from_ledger else { return Ok(ledger_warning(from_ledger)) };
    let dismissals = &apply_renames(dismissals.clone(), record.change)?;
    let kept = ledger::StoredReview {
        state: &state,
        run: &id,
        at: Moment::now(environment.clock()),
        change: record.change,
        review: &closed.review,
        synthesis: &closed.synthesis,
        dismissals,
    };
    let error = kept.record().err().map(anyhow::Error::from);
    Ok(error.map(|error| format!("cannot record the review in the ledger: {error:#}")))
}

/// Returns true if an error means that a review is finished already.
fn is_already_finished(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(DelegationError::Finished { .. }))
}

/// Returns true if a change cannot be opened because its commits or paths no longer exist. Any
/// other error may be transient, and must not finish a review.
fn is_missing(error: &anyhow::Error) -> bool {
    let unknown = error.downcast_ref::<GitError>();
    matches!(unknown, Some(GitError::UnknownRevision { .. } | GitError::UnknownPath { .. }))
}

/// Returns the reviewers that need no model.
fn local_reviewers(settings: Settings) -> Vec<Box<dyn Reviewer>> {
    let mut reviewers: Vec<Box<dyn Reviewer>> = vec![Box::new(RuleReviewer(settings.rules))];
    let commands = settings.commands.into_iter();
    reviewers.extend(commands.map(|command| Box::new(command) as Box<dyn Reviewer>));
    reviewers
}

impl DelegatedReviews for RepositoryReviews {
    fn start(&self, what: StartRequest) -> anyhow::Result<StartedReview> {
        self.start(&what)
    }

    fn open(&self, review: &str) -> anyhow::Result<DelegatedReview> {
        Ok(delegation::open(&self.state(), &review.parse()?)?)
    }

    fn finish(&self, review: &str) -> anyhow::Result<FinishResult> {
        self.finish_with(&review.parse()?, &mut |_, _| {})
    }

    fn next_fix(&self, review: &str, skip: &BTreeSet<String>) -> anyhow::Result<FixProgress> {
        self.fix_progress(&review.parse()?, skip)
    }

    fn verify_fix(
        &self,
        review: &str,
        finding: &str,
    ) -> anyhow::Result<(FixVerdict, Vec<Finding>)> {
        self.verify(&review.parse()?, finding)
    }
}
