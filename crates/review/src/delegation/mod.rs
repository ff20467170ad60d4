//! Reviews by the model of an agent: [`DelegatedReview`].
//!
//! An agent with a model of its own gets the questions that assay would have sent to a provider
//! ([`Brief`]) and submits the answers of its model, and assay decides. An open review is an
//! incomplete recording: the change as it was, the answers of rules and analysers, and the answers
//! of personas as far as they were submitted. The review is read by replaying it, so the same
//! answers give the same result as through a provider, and a restarted server continues where the
//! last one stopped. [`receipt`] describes how a report was read, [`close`] ends a review, and
//! [`fix_verification`] checks its findings against the tree.

mod brief;
pub mod close;
mod error;
pub mod fix_verification;
mod folder;
mod participants;
pub mod receipt;
mod reviewer_info;
mod second_looks;
pub mod transcript;

use assay_change::state::State;
use assay_change::{Change, Scope, Selection};
use assay_models::{ModelDescription, ModelId, Nonce, Reply, Usage};

pub use self::brief::Brief;
pub use self::error::DelegationError;
use self::error::truncate_foreign;
pub use self::folder::{BriefReader, ReviewId};
use self::folder::{Folder, LocalReviewer, ReviewMeta, ReviewStage};
use self::participants::Participants;
use self::receipt::{FindingReceipt, Receipt, ReportState};
pub use self::reviewer_info::{ReadingParty, ReviewerInfo};
use crate::persona::reading::{OpenQuestion, PartState, PersonaReading, read_report};
use crate::persona::{Persona, PersonaReviewer};
use crate::recording::{RecordedModels, RecordedPolicy, Recording};
use crate::reviewer::{Reviewer, ReviewerAnswer};
use crate::run::{Concurrency, ReviewObserver, StartOrder, run};
use crate::runs;

/// The maximum number of bytes of the files of a delegated change.
const MAX_CHANGE_BYTES: usize = 8 << 20;

/// The maximum number of bytes of a report.
pub const MAX_REPORT_BYTES: usize = 512 << 10;

/// The maximum number of bytes of a part: an agent takes less from one tool call than its model
/// could.
pub const MAX_PART_BYTES: u64 = 32_000;

/// The assumed context of an agent's model, in tokens.
const CONTEXT_TOKENS: u64 = 200_000;

/// The assumed longest answer of an agent's model, in tokens.
const OUTPUT_TOKENS: u32 = 32_000;

/// The maximum number of characters of an agent's name.
const MAX_NAME_CHARS: usize = 40;

/// The input of [`start`].
pub struct StartOptions<'a> {
    /// The state of the repository.
    pub state: &'a State,
    /// The id of the review, under which it is stored as a run in the end.
    pub id: ReviewId,
    /// The name of the agent's model.
    pub host: &'a str,
    /// The change, with its purpose.
    pub change: &'a Change,
    /// The scope by which the change is opened again.
    pub scope: &'a Scope,
    /// The selection of files that belong to the change.
    pub selection: &'a Selection,
    /// True if the work tree contains the reviewed change, so that fixes can be checked there.
    pub in_work_tree: bool,
    /// The reader of the briefs: the agent or its sub-agents.
    pub read_by: BriefReader,
    /// The reviewers that need no model.
    pub reviewers: Vec<Box<dyn Reviewer>>,
    /// The number of reviewers without a model that read at a time.
    pub at_a_time: usize,
    /// The personas, and the settings of their models.
    pub models: RecordedModels,
    /// The decisions and limits that count in addition to the reviewers.
    pub terms: RecordedPolicy,
}

/// A review that waits for the answers of an agent.
pub struct DelegatedReview {
    folder: Folder,
    meta: ReviewMeta,
    change: Change,
    models: RecordedModels,
    terms: RecordedPolicy,
    participants: Participants,
}

/// Returns the description of an agent's model by its name. The model costs nothing here, and is in
/// the family of its name.
pub fn host_description(name: &str) -> ModelDescription {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = name.chars().filter(is_plain).take(MAX_NAME_CHARS).collect();
    ModelDescription {
        context_tokens: CONTEXT_TOKENS,
        max_output_tokens: OUTPUT_TOKENS,
        price: None,
        ..ModelDescription::of(ModelId::new("host", name))
    }
}

/// Starts a review: the reviewers that need no model read the change now, and the personas get
/// briefs.
pub fn start(start: StartOptions<'_>) -> Result<DelegatedReview, DelegationError> {
    let root = start.state.root();
    let folder = Folder::new(start.state, &start.id)?;
    let nonce = Nonce::draw();
    let nonce = nonce.map_err(|source| DelegationError::File { path: root.to_owned(), source })?;
    let at_a_time = Concurrency { local: start.at_a_time, models: 1, order: StartOrder::AllAtOnce };
    let review = run(start.change, &start.reviewers, at_a_time, &NullReviewObserver);
    let others =
        start.models.persona_context_with(folder.path(), nonce.clone()).other_files(start.change);
    let meta = ReviewMeta {
        host: host_description(start.host).id.model().to_owned(),
        title: start.change.title.clone(),
        scope: start.scope.clone(),
        selection: start.selection.clone(),
        change: runs::change_hash(start.change),
        base: start.change.base_revision().map(str::to_owned).filter(|_| start.in_work_tree),
        local: start.reviewers.iter().map(|by| LocalReviewer::of(&**by, start.change)).collect(),
        nonce,
        read_by: start.read_by,
        stage: ReviewStage::Reading,
    };
    let models = Some(start.models);
    let recording = Recording::new(start.change, &others, start.terms, models, &review);
    if recording.bytes() > MAX_CHANGE_BYTES {
        return Err(DelegationError::TooLarge { bytes: recording.bytes() });
    }
    folder.create(&meta, &recording)?;
    open(start.state, &start.id)
}

/// Opens a review that was started in this process or in another.
pub fn open(state: &State, id: &ReviewId) -> Result<DelegatedReview, DelegationError> {
    let folder = Folder::new(state, id)?;
    let _held = folder.lock()?;
    let meta = folder.read_meta()?;
    require_open(&meta, id)?;
    let recording = Recording::read(folder.path())?;
    let Some(models) = recording.models.clone() else {
        return Err(DelegationError::Unknown { id: id.to_string() });
    };
    let terms = recording.terms.clone();
    let (change, local) = recording.open(state.root().to_owned());
    let participants = Participants::new(&models, local, &change, &folder, &meta)?;
    Ok(DelegatedReview { participants, folder, meta, change, models, terms })
}

/// Fails if a review is finished.
fn require_open(meta: &ReviewMeta, id: &ReviewId) -> Result<(), DelegationError> {
    match &meta.stage {
        ReviewStage::Done { .. } => Err(DelegationError::Finished { id: id.to_string() }),
        ReviewStage::Reading | ReviewStage::SecondLooks => Ok(()),
    }
}

impl DelegatedReview {
    /// Returns the id of the review.
    pub fn id(&self) -> &ReviewId {
        &self.folder.id
    }

    /// Returns the change as it was when the review began.
    pub fn change(&self) -> &Change {
        &self.change
    }

    /// Returns the scope and the selection by which the change is opened again.
    pub fn scope(&self) -> (&Scope, &Selection) {
        (&self.meta.scope, &self.meta.selection)
    }

    /// Returns the personas of the review, and the settings of their models.
    pub fn models(&self) -> &RecordedModels {
        &self.models
    }

    /// Returns the reader of the briefs.
    pub fn read_by(&self) -> BriefReader {
        self.meta.read_by
    }

    /// Returns the text of a stored answer, with the marks of this review.
    pub fn restore_marks(&self, kept: &str) -> String {
        self.participants.context.nonce().restore_marks(kept)
    }

    /// Returns the marks in the briefs of this review.
    pub fn marks(&self) -> &Nonce {
        self.participants.context.nonce()
    }

    /// Returns all reviewers, also those that do not read the change.
    pub fn readers(&self) -> Vec<ReviewerInfo> {
        let local = self.meta.local.iter().map(|local| local.reader.clone());
        let asked =
            self.participants.reviewers.iter().map(|by| ReviewerInfo::of(&**by, &self.change));
        local.chain(asked.filter(|reader| reader.by == ReadingParty::You)).collect()
    }

    /// Returns the briefs that have no report yet: of the personas, or of the second looks.
    pub fn briefs(&self) -> Vec<Brief> {
        match self.meta.stage {
            ReviewStage::Reading => {
                self.participants.personas.iter().flat_map(|by| self.briefs_of(by)).collect()
            }
            ReviewStage::SecondLooks => self.second_briefs(),
            ReviewStage::Done { .. } => Vec::new(),
        }
    }

    fn briefs_of(&self, by: &PersonaReviewer) -> Vec<Brief> {
        let reading = by.reading(&self.change, &|_| {});
        reading.open_questions().iter().map(|open| self.brief(by.name(), open)).collect()
    }

    fn brief(&self, persona: &str, question: &OpenQuestion) -> Brief {
        Brief::new(persona, question, self.participants.context.nonce())
    }

    /// Returns the brief of a persona for a part of the change, or of a second look.
    pub fn brief_for(&self, persona: &str, part: usize) -> Result<Brief, DelegationError> {
        match self.meta.stage {
            ReviewStage::Reading => {
                let reading = self.persona(persona)?.reading(&self.change, &|_| {});
                Ok(self.brief(persona, open_question(&reading, persona, part)?))
            }
            ReviewStage::SecondLooks | ReviewStage::Done { .. } => {
                self.look_brief_for(persona, part)
            }
        }
    }

    fn persona(&self, name: &str) -> Result<&PersonaReviewer, DelegationError> {
        let by = self.participants.personas.iter().find(|by| by.name() == name);
        by.ok_or_else(|| self.unknown_persona(name))
    }

    /// Stores the report of a persona on a part of the change, or of a second look, and returns its
    /// receipt. The report is read like any answer of a model; its own claim of success does not
    /// count.
    pub fn report(
        &mut self,
        persona: &str,
        part: usize,
        text: &str,
    ) -> Result<Receipt, DelegationError> {
        if text.len() > MAX_REPORT_BYTES {
            return Err(DelegationError::LongReport { bytes: text.len() });
        }
        let _held = self.folder.lock_for_change()?;
        // Another server may have changed the review meanwhile.
        self.meta = self.folder.read_meta()?;
        match &self.meta.stage {
            ReviewStage::Reading => self.report_on_part(persona, part, text),
            ReviewStage::SecondLooks => self.report_second_look(persona, part, text),
            ReviewStage::Done { .. } => {
                Err(DelegationError::Finished { id: self.id().to_string() })
            }
        }
    }

    fn report_on_part(
        &self,
        persona: &str,
        part: usize,
        text: &str,
    ) -> Result<Receipt, DelegationError> {
        let by = self.persona(persona)?;
        let before = by.reading(&self.change, &|_| {});
        let question = open_question(&before, persona, part)?;
        self.hand_in(&by.persona, question, text)?;
        let after = by.reading(&self.change, &|_| {});
        let state = match after.state_of(part) {
            Some(PartState::AskedAgain(why)) => ReportState::Resubmit { why },
            Some(PartState::Failed(why)) => ReportState::Refused { why },
            Some(PartState::Read | PartState::Asked) | None => ReportState::Accepted,
        };
        let report = read_report(persona, text);
        let not_read = report.rejected.iter().map(|rejected| rejected.reason.clone());
        let not_read = not_read.chain(report.incomplete.iter().map(|why| why.text.clone()));
        Ok(Receipt {
            persona: persona.to_owned(),
            part,
            findings: match state {
                ReportState::Refused { .. } => Vec::new(),
                ReportState::Accepted | ReportState::Resubmit { .. } => {
                    FindingReceipt::of_report(&report, text, &by.report_reviewer(), &self.change)
                }
            },
            looks: Vec::new(),
            not_read: not_read.collect(),
            state,
        })
    }

    fn hand_in(
        &self,
        persona: &Persona,
        question: &OpenQuestion,
        text: &str,
    ) -> Result<(), DelegationError> {
        let reply = Reply::new(text, Usage::default());
        let kept = self.participants.context.store_outcome(persona, &question.prompt, Ok(&reply));
        kept.map_err(|source| self.folder.fail(source))
    }

    /// Returns the error for a name without an open task.
    fn unknown_persona(&self, name: &str) -> DelegationError {
        let mut open: Vec<String> = self.briefs().into_iter().map(|b| b.persona).collect();
        open.dedup();
        let open = if open.is_empty() { "none".to_owned() } else { open.join(", ") };
        DelegationError::UnknownPersona { name: truncate_foreign(name), open }
    }
}

/// Returns the open question about a part.
fn open_question<'r>(
    reading: &'r PersonaReading<'_>,
    persona: &str,
    part: usize,
) -> Result<&'r OpenQuestion, DelegationError> {
    if reading.state_of(part).is_none() {
        return Err(unknown_part(persona, part, reading.parts()));
    }
    let question = reading.open_questions().iter().find(|open| open.place.0 == part);
    question.ok_or_else(|| DelegationError::Repeated { persona: persona.to_owned(), part })
}

fn unknown_part(persona: &str, part: usize, parts: usize) -> DelegationError {
    let parts = match parts {
        0 => "no part".to_owned(),
        1 => "part 1".to_owned(),
        parts => format!("parts 1 to {parts}"),
    };
    DelegationError::UnknownPart { persona: persona.to_owned(), part, parts }
}

/// An observer that ignores all events.
struct NullReviewObserver;

impl ReviewObserver for NullReviewObserver {
    fn on_start(&self, _reviewers: &[&str]) {}

    fn on_progress(&self, _reviewer: &str, _chars: usize) {}

    fn on_answer(&self, _answer: &ReviewerAnswer) {}
}
