//! Delegated reviews for the MCP server `review`: opens changes as `assay review` does, and keeps
//! runs. What is asked and decided is `assay_review::delegation`'s business.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::PathBuf;

use assay_change::{Change, GitError, Scope, Selection};
use assay_findings::finding::Finding;
use assay_findings::identity::Dismissal;
use assay_review::delegation::close::{Closed, Closing, Present};
use assay_review::delegation::mend::{self, Finished, NextFix, Verified};
use assay_review::delegation::{
    self, Delegated, DelegationError, LARGEST_PART, ReviewId, Start, host_description,
};
use assay_review::persona::Personas;
use assay_review::recording::{RecordedModels, RecordedTerms};
use assay_review::{Reviewer, Rules};
use assay_review::{ledger, runs};
use assay_serve::mcp::Refusal;
use assay_serve::review::{Begin, Begun, Ended, Finish, Fixing, Reviews};
use assay_store::task::Moment;

use crate::commands::today;
use crate::environment::state_of;
use crate::memory::{self, Recalled};
use crate::models::{check_apart, named, prior_findings};
use crate::reviewing::{followed, time_id};
use crate::settings::Settings;

/// The reviews of one repository.
pub(crate) struct Repository {
    root: PathBuf,
}

/// A change with what is configured for it.
struct Opened {
    change: Change,
    settings: Settings,
}

impl Repository {
    /// Serves the repository at a root.
    pub(crate) fn new(root: PathBuf) -> Repository {
        Repository { root }
    }

    fn opened(&self, scope: &Scope, selection: &Selection) -> anyhow::Result<Opened> {
        let mut change = assay_change::open(&self.root, scope, selection)?;
        let settings = Settings::of(&change)?;
        change.leave_out(&settings.leave_out);
        Ok(Opened { change, settings })
    }

    fn start(&self, what: &Begin) -> anyhow::Result<Begun> {
        let Opened { change, settings } = self.opened(&what.scope, &what.selection)?;
        let personas = Personas::with_repository_personas(settings.personas.clone())?;
        check_apart(&personas, &settings.commands)?;
        let source = settings.qa.memory()?;
        let date = today().map(String::from).unwrap_or_default();
        let Recalled { memory, trouble: forgotten } = memory::recalled(&source, &change, &date);
        let state = state_of(&change.root);
        let (prior, unknown) = prior_findings(&state, &change);
        let models = RecordedModels {
            // Whoever is reviewed does not choose who reads it.
            named: Vec::new(),
            added: named(&what.personas, &personas)?,
            personas: settings.personas.clone(),
            grouping: settings.grouping,
            tiers: [(); 3].map(|()| host_description(&what.model)),
            thinking: 0,
            prior,
            memory,
            second_looks: settings.second_looks,
            largest_part: Some(LARGEST_PART),
        };
        let from_ledger = ledger::dismissals(&state);
        let notes = settings.notes.iter().cloned().chain(trouble(&from_ledger));
        let notes = notes.chain(forgotten).chain(unknown).collect();
        let terms = terms(&settings, &from_ledger, &change)?;
        let review = delegation::start(Start {
            state: &state,
            id: time_id(jiff::Timestamp::now()).parse()?,
            host: &what.model,
            change: &change,
            scope: &what.scope,
            selection: &what.selection,
            in_work_tree: self.holds(&change, &what.selection),
            at_a_time: settings.at_a_time,
            reviewers: local(settings),
            models,
            terms,
        })?;
        Ok(Begun { review, notes })
    }

    /// Says whether the work tree holds what a change leads to.
    fn holds(&self, change: &Change, selection: &Selection) -> bool {
        let Some(base) = change.base_revision() else { return false };
        let here = self.opened(&Scope::Against(base.to_owned()), selection);
        here.is_ok_and(|here| runs::change_hash(&here.change) == runs::change_hash(change))
    }

    fn finish(&self, id: &ReviewId) -> anyhow::Result<Finish> {
        match self.close(id) {
            // It was over, or somebody else was faster.
            Err(error) if is_finished(&error) => Ok(Finish::Done(Box::new(self.ended(id)?))),
            closed => closed,
        }
    }

    fn close(&self, id: &ReviewId) -> anyhow::Result<Finish> {
        let review = delegation::open(&state_of(&self.root), id)?;
        let (scope, selection) = review.scope();
        let now = match self.opened(scope, selection) {
            Err(error) if is_gone(&error) => None,
            opened => Some(opened?),
        };
        let (change, settings) = now.map(|now| (now.change, now.settings)).unzip();
        let from_ledger = ledger::dismissals(&state_of(&self.root));
        let now = change.as_ref().zip(settings);
        let now = now.map(|(change, settings)| present(&review, change, settings, &from_ledger));
        let now = now.transpose()?;
        match review.close(now)? {
            Closing::SecondLooks(briefs) => Ok(Finish::SecondLooks(briefs)),
            Closing::Done(closed) => {
                let tree = Some(closed.tree);
                let (run, trouble) = keep(&closed, change.as_ref(), &from_ledger)?;
                closed.kept_as(&run)?;
                let notes = trouble.into_iter().collect();
                Ok(Finish::Done(Box::new(Ended { tree, notes, ..self.ended(id)? })))
            }
        }
    }

    /// Tells what a review came to, as it is kept: without anything that must not leave the machine.
    fn ended(&self, id: &ReviewId) -> anyhow::Result<Ended> {
        let finished = mend::finished(&state_of(&self.root), id)?;
        Ok(Ended {
            run: finished.run().to_owned(),
            title: finished.title().to_owned(),
            limited_to: finished.limited_to().to_vec(),
            synthesis: finished.synthesis().clone(),
            tree: None,
            notes: Vec::new(),
        })
    }

    /// Looks at what lies in the work tree since a review.
    fn since(&self, finished: &Finished) -> anyhow::Result<Opened> {
        let (scope, selection) = finished.scope()?;
        self.opened(&scope, &selection)
    }

    fn fixing(&self, id: &ReviewId, skip: &BTreeSet<String>) -> anyhow::Result<Fixing> {
        let finished = mend::finished(&state_of(&self.root), id)?;
        let Opened { change, settings } = self.since(&finished)?;
        let at_a_time = settings.at_a_time;
        let since = finished.since(&change, local(settings), at_a_time);
        let owned = |findings: Vec<&Finding>| findings.into_iter().cloned().collect();
        let NextFix { next, still_there, fixed, not_verified } = since.next_fix(skip);
        Ok(Fixing {
            next: next.cloned(),
            still_there: owned(still_there),
            fixed: owned(fixed),
            not_verified: owned(not_verified),
        })
    }

    fn verified(&self, id: &ReviewId, finding: &str) -> anyhow::Result<(Verified, Vec<Finding>)> {
        let finished = mend::finished(&state_of(&self.root), id)?;
        let Opened { change, settings } = self.since(&finished)?;
        let at_a_time = settings.at_a_time;
        let since = finished.since(&change, local(settings), at_a_time);
        let new = since.new_findings().into_iter().cloned().collect();
        Ok((since.verify(finding)?, new))
    }
}

/// What somebody decided, as far as the ledger can be used.
type FromLedger = Result<Vec<Dismissal>, ledger::UseError>;

/// Says why nothing in the ledger counts, where that is so.
fn trouble(from_ledger: &FromLedger) -> Option<String> {
    // Nothing is left alone for a reason that nobody can read.
    let error = from_ledger.as_ref().err()?;
    Some(format!("the ledger is not used, so nothing in it counts as dismissed: {error}"))
}

/// Gives what decides today besides those who read a change.
fn terms(
    settings: &Settings,
    from_ledger: &FromLedger,
    change: &Change,
) -> anyhow::Result<RecordedTerms> {
    let dismissed = from_ledger.iter().flatten().cloned();
    let dismissals = settings.baseline.dismissals().into_iter().chain(dismissed).collect();
    Ok(RecordedTerms {
        fail_on: settings.fail_on.clone(),
        require: settings.require,
        without_content: settings.without_content,
        shown: settings.shown,
        dismissals: followed(dismissals, change)?,
        today: today(),
    })
}

/// Gives what decides on the change of a review as it is now.
fn present<'a>(
    review: &Delegated,
    change: &'a Change,
    settings: Settings,
    from_ledger: &FromLedger,
) -> anyhow::Result<Present<'a>> {
    Ok(Present {
        change,
        terms: terms(&settings, from_ledger, change)?,
        models: RecordedModels {
            personas: settings.personas.clone(),
            named: Vec::new(),
            second_looks: settings.second_looks,
            ..review.models().clone()
        },
        at_a_time: settings.at_a_time,
        reviewers: local(settings),
    })
}

/// Keeps a review as a run, and in the ledger; says why not there, where it cannot be.
fn keep(
    closed: &Closed,
    now: Option<&Change>,
    from_ledger: &FromLedger,
) -> anyhow::Result<(String, Option<String>)> {
    let at = jiff::Timestamp::now();
    let id = time_id(at);
    let record = closed.record(now, env!("CARGO_PKG_VERSION"));
    let state = state_of(&record.change.root);
    record.save(&state, &id)?;
    let Ok(dismissals) = from_ledger else { return Ok((id, trouble(from_ledger))) };
    let dismissals = &followed(dismissals.clone(), record.change)?;
    let kept = ledger::Kept {
        state: &state,
        run: &id,
        at: Moment(at),
        change: record.change,
        review: &closed.review,
        synthesis: &closed.synthesis,
        dismissals,
    };
    let error = kept.record().err().map(anyhow::Error::from);
    Ok((id, error.map(|error| format!("the review is not in the ledger: {error:#}"))))
}

/// Says whether a review is over.
fn is_finished(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(DelegationError::Finished { .. }))
}

/// Says whether a change cannot be opened because it is not there any more. Whatever else keeps it
/// from being opened may pass, and ends no review.
fn is_gone(error: &anyhow::Error) -> bool {
    let unknown = error.downcast_ref::<GitError>();
    matches!(unknown, Some(GitError::UnknownRevision { .. } | GitError::UnknownPath { .. }))
}

/// Gives those who need no model.
fn local(settings: Settings) -> Vec<Box<dyn Reviewer>> {
    let mut reviewers: Vec<Box<dyn Reviewer>> = vec![Box::new(Rules(settings.rules))];
    let commands = settings.commands.into_iter();
    reviewers.extend(commands.map(|command| Box::new(command) as Box<dyn Reviewer>));
    reviewers
}

impl Reviews for Repository {
    fn start(&self, what: Begin) -> Result<Begun, Refusal> {
        self.start(&what).map_err(refused)
    }

    fn open(&self, review: &str) -> Result<Delegated, Refusal> {
        let opened = id(review)?;
        delegation::open(&state_of(&self.root), &opened).map_err(|error| refused(error.into()))
    }

    fn finish(&self, review: &str) -> Result<Finish, Refusal> {
        self.finish(&id(review)?).map_err(refused)
    }

    fn next_fix(&self, review: &str, skip: &BTreeSet<String>) -> Result<Fixing, Refusal> {
        self.fixing(&id(review)?, skip).map_err(refused)
    }

    fn verify_fix(&self, review: &str, finding: &str) -> Result<(Verified, Vec<Finding>), Refusal> {
        self.verified(&id(review)?, finding).map_err(refused)
    }
}

fn id(review: &str) -> Result<ReviewId, Refusal> {
    review.parse().map_err(|error: DelegationError| Refusal::of(&error))
}

/// Says why not, with all causes and no secret in it.
fn refused(error: anyhow::Error) -> Refusal {
    let error: &(dyn Error + 'static) = error.as_ref();
    Refusal::new(assay_rules::redact(&Refusal::of(error).to_string()))
}
