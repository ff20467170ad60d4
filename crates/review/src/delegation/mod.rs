//! A review that somebody else thinks through: [`Delegated`].
//!
//! An agent that has a model of its own gets what assay would have asked a provider ([`Brief`]),
//! hands in what its model answers, and assay decides. An open review is a recording in the making:
//! the change as it was, what rules and analysers said of it, and a place for the answers that are
//! still to come. Reading it is replaying it, so the same answers give the same result as through a
//! provider, and a server that is started anew goes on where the last one was. [`close`] ends a
//! review, and [`mend`] tells from the tree what became of its findings.

mod brief;
pub mod close;
mod folder;
pub mod mend;
mod seats;

use std::io;
use std::path::PathBuf;

use assay_change::state::{State, StateError};
use assay_change::{Change, Scope, Selection};
use assay_models::{Description, ModelId, Nonce, Reply, Usage};
use serde::Serialize;

pub use self::brief::Brief;
pub use self::folder::ReviewId;
use self::folder::{About, Folder, Local, Stage};
use self::seats::Seats;
pub use self::seats::{By, Reader};
use crate::persona::reading::{OpenQuestion, PartState, Reading};
use crate::persona::{Persona, PersonaError, PersonaReviewer};
use crate::recording::{RecordedModels, RecordedTerms, Recording};
use crate::reviewer::{Answer, Reviewer};
use crate::run::{AtATime, Order, Watch, run};
use crate::runs::{self, RunError};

/// The most bytes of files that a change may have to be handed out.
const LARGEST_CHANGE: usize = 8 << 20;

/// The most bytes of one report.
pub const LARGEST_REPORT: usize = 512 << 10;

/// The most bytes of a part: an agent takes less from a tool at a time than a model takes at all.
pub const LARGEST_PART: u64 = 32_000;

/// The most tokens that whoever thinks is assumed to take and to give.
const CONTEXT_TOKENS: u64 = 200_000;
const OUTPUT_TOKENS: u32 = 32_000;

/// The most characters of an agent's name that are kept.
const LONGEST_NAME: usize = 40;

/// Why a delegated review cannot go on as asked.
#[derive(Debug, thiserror::Error)]
pub enum DelegationError {
    /// A file or a run cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The review has no authority, or cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// A persona's file cannot be used.
    #[error(transparent)]
    Persona(#[from] PersonaError),
    /// A file cannot be read or written.
    #[error("could not use `{path}`")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The change does not fit.
    #[error(
        "the change has {bytes} bytes of files, and at most {LARGEST_CHANGE} can be handed out; \
         limit it to some paths"
    )]
    TooLarge {
        /// How many there are.
        bytes: usize,
    },
    /// There is no such review.
    #[error("there is no open review `{id}`; `start_review` begins one")]
    Unknown {
        /// What was asked for.
        id: String,
    },
    /// The review is over.
    #[error("the review `{id}` is finished, as run `{run}`; `start_review` begins a new one")]
    Finished {
        /// The review.
        id: String,
        /// The run that it is kept as.
        run: String,
    },
    /// The review is not over.
    #[error("the review `{id}` is not finished; `finish_review` ends it")]
    NotFinished {
        /// The review.
        id: String,
    },
    /// Nobody of this name reads the change.
    #[error("nobody called `{name}` is to report now; waited for: {waiting}")]
    UnknownReviewer {
        /// The name.
        name: String,
        /// Who is waited for.
        waiting: String,
    },
    /// No such part was given out.
    #[error("`{persona}` was given {parts}, and no part {part}")]
    UnknownPart {
        /// Who reports.
        persona: String,
        /// The part.
        part: usize,
        /// The parts that there are, in words.
        parts: String,
    },
    /// It has been reported.
    #[error("`{persona}` has reported on part {part} already; the first report counts")]
    Repeated {
        /// Who reports.
        persona: String,
        /// The part.
        part: usize,
    },
    /// A report is longer than any is.
    #[error("the report has {bytes} bytes, and at most {LARGEST_REPORT} are taken")]
    LongReport {
        /// How many it has.
        bytes: usize,
    },
    /// There is no such finding.
    #[error("the review has no finding `{id}`; it has: {known}")]
    UnknownFinding {
        /// What was asked for.
        id: String,
        /// Those that there are.
        known: String,
    },
    /// What was reviewed is not what lies in the work tree.
    #[error(
        "the review read {title}, which is not what the work tree holds, so nothing can be told \
         from there; check it out and start a new review"
    )]
    NotHere {
        /// The change.
        title: String,
    },
}

/// What a delegated review begins with.
pub struct Start<'a> {
    /// The state of the repository.
    pub state: &'a State,
    /// Its id.
    pub id: ReviewId,
    /// Who asks for it.
    pub host: &'a str,
    /// The change.
    pub change: &'a Change,
    /// Which change was meant.
    pub scope: &'a Scope,
    /// What belongs to it.
    pub selection: &'a Selection,
    /// Whether the work tree holds what is reviewed, so that fixes can be told from there.
    pub in_work_tree: bool,
    /// Those who need no model.
    pub reviewers: Vec<Box<dyn Reviewer>>,
    /// How many of them read at a time.
    pub at_a_time: usize,
    /// The personas, and how they are asked.
    pub models: RecordedModels,
    /// What decides besides the reviewers.
    pub terms: RecordedTerms,
}

/// A review that waits for somebody else's answers.
pub struct Delegated {
    folder: Folder,
    about: About,
    change: Change,
    models: RecordedModels,
    terms: RecordedTerms,
    seats: Seats,
}

/// What became of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// Who reported.
    pub persona: String,
    /// On which part.
    pub part: usize,
    /// What came of it.
    #[serde(flatten)]
    pub became: Became,
    /// How many findings were read from it.
    pub findings: usize,
    /// What in it could not be read, and why.
    pub not_read: Vec<String>,
}

/// What came of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Became {
    /// It counts.
    Taken,
    /// It could not be used, and may be handed in once more.
    HandInAgain {
        /// What was wrong.
        why: String,
    },
    /// It counts for nothing, and there is no other try.
    Refused {
        /// Why.
        why: String,
    },
}

/// Describes whoever thinks, by its name: it costs nothing here, and errs like its kin.
pub fn host_description(name: &str) -> Description {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = name.chars().filter(is_plain).take(LONGEST_NAME).collect();
    Description {
        context_tokens: CONTEXT_TOKENS,
        max_output_tokens: OUTPUT_TOKENS,
        price: None,
        ..Description::of(ModelId::new("host", name))
    }
}

/// Begins a review: whoever needs no model reads the change now, and the rest is handed out.
pub fn start(start: Start<'_>) -> Result<Delegated, DelegationError> {
    let root = start.state.root();
    let folder = Folder::new(start.state, &start.id)?;
    let nonce = Nonce::draw();
    let nonce = nonce.map_err(|source| DelegationError::File { path: root.to_owned(), source })?;
    let at_a_time = AtATime { local: start.at_a_time, models: 1, order: Order::AllAtOnce };
    let review = run(start.change, &start.reviewers, at_a_time, &Unwatched);
    let others = start.models.desk_with(folder.path(), nonce.clone()).others(start.change);
    let about = About {
        host: host_description(start.host).id.model().to_owned(),
        title: start.change.title.clone(),
        scope: start.scope.clone(),
        selection: start.selection.clone(),
        change: runs::change_hash(start.change),
        base: start.change.base_revision().map(str::to_owned).filter(|_| start.in_work_tree),
        local: start.reviewers.iter().map(|by| Local::of(&**by, start.change)).collect(),
        nonce,
        stage: Stage::Reading,
    };
    let models = Some(start.models);
    let recording = Recording::new(start.change, &others, start.terms, models, &review);
    if recording.bytes() > LARGEST_CHANGE {
        return Err(DelegationError::TooLarge { bytes: recording.bytes() });
    }
    folder.create(&about, &recording)?;
    open(start.state, &start.id)
}

/// Opens a review that was begun, in this process or in another.
pub fn open(state: &State, id: &ReviewId) -> Result<Delegated, DelegationError> {
    let folder = Folder::new(state, id)?;
    let _held = folder.hold()?;
    let about = folder.about()?;
    is_open(&about, id)?;
    let recording = Recording::read(folder.path())?;
    let Some(models) = recording.models.clone() else {
        return Err(DelegationError::Unknown { id: id.to_string() });
    };
    let terms = recording.terms.clone();
    let (change, local) = recording.open(state.root().to_owned());
    let seats = Seats::new(&models, local, &change, &folder, &about)?;
    Ok(Delegated { seats, folder, about, change, models, terms })
}

/// Refuses a review that is over.
fn is_open(about: &About, id: &ReviewId) -> Result<(), DelegationError> {
    match &about.stage {
        Stage::Done { run } => {
            Err(DelegationError::Finished { id: id.to_string(), run: run.clone() })
        }
        Stage::Reading | Stage::SecondLooks => Ok(()),
    }
}

impl Delegated {
    /// Gives what a review is called by.
    pub fn id(&self) -> &ReviewId {
        &self.folder.id
    }

    /// Gives the change as it was when the review began.
    pub fn change(&self) -> &Change {
        &self.change
    }

    /// Gives which change was meant, and what belongs to it.
    pub fn scope(&self) -> (&Scope, &Selection) {
        (&self.about.scope, &self.about.selection)
    }

    /// Gives whom the personas ask, and how.
    pub fn models(&self) -> &RecordedModels {
        &self.models
    }

    /// Gives who reads the change, and who does not, and why.
    pub fn readers(&self) -> Vec<Reader> {
        let local = self.about.local.iter().map(|local| local.reader.clone());
        let asked = self.seats.everybody.iter().map(|by| Reader::of(&**by, &self.change));
        local.chain(asked.filter(|reader| reader.by == By::You)).collect()
    }

    /// Gives all that is to be answered now: by the personas, or in second looks at what they found.
    pub fn briefs(&self) -> Vec<Brief> {
        match self.about.stage {
            Stage::Reading => {
                self.seats.personas.iter().flat_map(|by| self.briefs_of(by)).collect()
            }
            Stage::SecondLooks => self.second_briefs(),
            Stage::Done { .. } => Vec::new(),
        }
    }

    fn briefs_of(&self, by: &PersonaReviewer) -> Vec<Brief> {
        let reading = by.reading(&self.change, &|_| {});
        reading.open_questions().iter().map(|open| self.brief(by.name(), open)).collect()
    }

    fn brief(&self, persona: &str, question: &OpenQuestion) -> Brief {
        Brief::new(persona, question, self.seats.desk.nonce())
    }

    /// Gives what one persona, or whoever looks at findings again, is to answer on a part.
    pub fn brief_for(&self, persona: &str, part: usize) -> Result<Brief, DelegationError> {
        match self.about.stage {
            Stage::Reading => {
                let reading = self.persona(persona)?.reading(&self.change, &|_| {});
                Ok(self.brief(persona, open_question(&reading, persona, part)?))
            }
            Stage::SecondLooks | Stage::Done { .. } => {
                Ok(self.brief(persona, &self.open_look(persona, part)?.1))
            }
        }
    }

    fn persona(&self, name: &str) -> Result<&PersonaReviewer, DelegationError> {
        let by = self.seats.personas.iter().find(|by| by.name() == name);
        by.ok_or_else(|| self.nobody(name))
    }

    /// Takes in one persona's report on a part of the change. What it says of itself counts for
    /// nothing; it is read like any answer of a model.
    pub fn report(
        &mut self,
        persona: &str,
        part: usize,
        text: &str,
    ) -> Result<Taken, DelegationError> {
        if text.len() > LARGEST_REPORT {
            return Err(DelegationError::LongReport { bytes: text.len() });
        }
        let _held = self.folder.hold_to_change()?;
        // Another server may have gone on meanwhile.
        self.about = self.folder.about()?;
        match &self.about.stage {
            Stage::Reading => self.report_on_part(persona, part, text),
            Stage::SecondLooks => self.report_second_look(persona, part, text),
            Stage::Done { run } => {
                Err(DelegationError::Finished { id: self.id().to_string(), run: run.clone() })
            }
        }
    }

    fn report_on_part(
        &self,
        persona: &str,
        part: usize,
        text: &str,
    ) -> Result<Taken, DelegationError> {
        let by = self.persona(persona)?;
        let before = by.reading(&self.change, &|_| {});
        let question = open_question(&before, persona, part)?;
        self.hand_in(&by.persona, question, text)?;
        let after = by.reading(&self.change, &|_| {});
        let became = match after.state_of(part) {
            Some(PartState::AskedAgain(why)) => Became::HandInAgain { why },
            Some(PartState::Failed(why)) => Became::Refused { why },
            Some(PartState::Read | PartState::Asked) | None => Became::Taken,
        };
        let (before, after) = (before.report(), after.report());
        let rejected = after.rejected.iter().skip(before.rejected.len());
        Ok(Taken {
            persona: persona.to_owned(),
            part,
            became,
            findings: after.votes.len() - before.votes.len().min(after.votes.len()),
            not_read: rejected.map(|rejected| rejected.reason.clone()).collect(),
        })
    }

    fn hand_in(
        &self,
        persona: &Persona,
        question: &OpenQuestion,
        text: &str,
    ) -> Result<(), DelegationError> {
        let reply = Reply::new(text, Usage::default());
        let kept = self.seats.desk.hand_in(persona, &question.prompt, Ok(&reply));
        kept.map_err(|source| self.folder.fail(source))
    }

    /// Says that nobody of a name is waited for.
    fn nobody(&self, name: &str) -> DelegationError {
        let mut waiting: Vec<String> = self.briefs().into_iter().map(|b| b.persona).collect();
        waiting.dedup();
        let waiting = if waiting.is_empty() { "nobody".to_owned() } else { waiting.join(", ") };
        DelegationError::UnknownReviewer { name: name.to_owned(), waiting }
    }
}

/// Gives what is asked about a part, if it is.
fn open_question<'r>(
    reading: &'r Reading<'_>,
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
        0 => "nothing to read".to_owned(),
        1 => "part 1".to_owned(),
        parts => format!("parts 1 to {parts}"),
    };
    DelegationError::UnknownPart { persona: persona.to_owned(), part, parts }
}

/// Nobody looks on.
struct Unwatched;

impl Watch for Unwatched {
    fn started(&self, _reviewers: &[&str]) {}

    fn heard(&self, _reviewer: &str, _chars: usize) {}

    fn answered(&self, _answer: &Answer) {}
}
