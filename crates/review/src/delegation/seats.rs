//! Those who take part in a delegated review, and who does their reading.

use std::sync::Arc;

use assay_change::Change;
use assay_findings::report::ReviewerKind;
use serde::{Deserialize, Serialize};

use super::DelegationError;
use super::folder::{About, Folder};
use crate::persona::{Desk, Persona, PersonaReviewer, Personas, VALIDATOR};
use crate::recording::RecordedModels;
use crate::reviewer::{Answer, Interest, Reviewer, Tell};

/// Those who take part in a review.
pub(super) struct Seats {
    /// Those who are asked, as far as the change concerns them.
    pub(super) personas: Vec<PersonaReviewer>,
    /// All personas, and those who have answered.
    pub(super) everybody: Vec<Box<dyn Reviewer>>,
    /// Who looks at findings again, where that is wanted.
    pub(super) validator: Option<Persona>,
    pub(super) desk: Arc<Desk>,
}

impl Seats {
    /// Seats the personas beside those who answered, for a change.
    pub(super) fn new(
        models: &RecordedModels,
        local: Vec<Box<dyn Reviewer>>,
        change: &Change,
        folder: &Folder,
        about: &About,
    ) -> Result<Seats, DelegationError> {
        let personas = Personas::with_repository_personas(models.personas.clone())?;
        let desk = Arc::new(models.desk_with(folder.path(), about.nonce.clone()));
        let asked = || models.reviewers(&personas, &desk).into_iter();
        let mut everybody = local;
        everybody.extend(asked().map(|by| Box::new(by) as Box<dyn Reviewer>));
        let reads = |by: &PersonaReviewer| matches!(by.interest(change), Interest::Reads(_));
        Ok(Seats {
            validator: personas.named(VALIDATOR).filter(|_| models.second_looks).cloned(),
            personas: asked().filter(reads).collect(),
            everybody,
            desk,
        })
    }
}

/// Who reads a change or not, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reader {
    /// Its name.
    pub name: String,
    /// Who does the reading.
    pub by: By,
    /// Whether it reads this change.
    pub reads: bool,
    /// Why, or why not.
    pub why: String,
    /// Whether the change cannot be ready without its answer.
    pub required: bool,
}

/// Who does a reviewer's reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// It was done when the review began.
    Assay,
    /// Whoever the review is delegated to.
    You,
}

impl Reader {
    pub(super) fn of(by: &dyn Reviewer, change: &Change) -> Reader {
        let (reads, why) = match by.interest(change) {
            Interest::Reads(why) => (true, why),
            Interest::Rests(why) => (false, why),
        };
        let by_whom = match by.kind() {
            ReviewerKind::Persona => By::You,
            ReviewerKind::Rules | ReviewerKind::Command => By::Assay,
        };
        Reader { name: by.name().to_owned(), by: by_whom, reads, why, required: by.is_required() }
    }
}

/// Says that the work tree is no longer the one that was read: as a reviewer that has to answer and
/// cannot.
pub(super) struct TreeMoved;

impl Reviewer for TreeMoved {
    fn name(&self) -> &str {
        "delegation"
    }

    fn kind(&self) -> ReviewerKind {
        ReviewerKind::Command
    }

    fn is_required(&self) -> bool {
        true
    }

    fn interest(&self, _change: &Change) -> Interest {
        Interest::Reads("the tree changed".to_owned())
    }

    fn review(&self, change: &Change, _tell: Tell<'_>) -> Answer {
        let why = "the files changed while the review was open, so it says nothing of them; start \
                   a new review";
        Answer::failed(self, change, why)
    }
}
