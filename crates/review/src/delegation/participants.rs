//! The reviewers of a delegated review.

use std::sync::Arc;

use assay_change::Change;
use assay_findings::report::ReviewerKind;

use super::DelegationError;
use super::folder::{Folder, ReviewMeta};
use crate::persona::{Persona, PersonaContext, PersonaReviewer, Personas, VALIDATOR};
use crate::prompt_preview::leads_from_rules;
use crate::recording::RecordedModels;
use crate::reviewer::{OnProgress, ReadDecision, Reviewer, ReviewerAnswer};

/// The reviewers of a delegated review.
pub(super) struct Participants {
    /// The personas that read the change.
    pub(super) personas: Vec<PersonaReviewer>,
    /// All personas, and the reviewers that have answered already.
    pub(super) reviewers: Vec<Box<dyn Reviewer>>,
    /// The persona that takes second looks; `None` if second looks are off.
    pub(super) validator: Option<Persona>,
    pub(super) context: Arc<PersonaContext>,
}

impl Participants {
    /// Creates the personas for a change, in addition to the reviewers that have answered already.
    pub(super) fn new(
        models: &RecordedModels,
        local: Vec<Box<dyn Reviewer>>,
        change: &Change,
        folder: &Folder,
        meta: &ReviewMeta,
    ) -> Result<Participants, DelegationError> {
        let personas = Personas::with_repository_personas(models.personas.clone())?;
        let context = Arc::new(models.persona_context_with(folder.path(), meta.nonce.clone()));
        let asked = || models.reviewers(&personas, &context).into_iter();
        context.set_leads(&leads_from_rules(&local, change));
        let mut reviewers = local;
        reviewers.extend(asked().map(|by| Box::new(by) as Box<dyn Reviewer>));
        let reads = |by: &PersonaReviewer| matches!(by.interest(change), ReadDecision::Reads(_));
        Ok(Participants {
            validator: personas.get(VALIDATOR).filter(|_| models.second_looks).cloned(),
            personas: asked().filter(reads).collect(),
            reviewers,
            context,
        })
    }
}

/// A required reviewer without an answer: it makes a review incomplete if the work tree is no
/// longer the one that was read.
pub(super) struct StaleTreeReviewer;

impl Reviewer for StaleTreeReviewer {
    fn name(&self) -> &str {
        "delegation"
    }

    fn kind(&self) -> ReviewerKind {
        ReviewerKind::Command
    }

    fn is_required(&self) -> bool {
        true
    }

    fn interest(&self, _change: &Change) -> ReadDecision {
        ReadDecision::Reads("the tree changed".to_owned())
    }

    fn review(&self, change: &Change, _on_progress: OnProgress<'_>) -> ReviewerAnswer {
        let why = "the files changed while the review was open, so the review does not apply to \
                   them; start a new review";
        ReviewerAnswer::failed(self, change, why)
    }
}
