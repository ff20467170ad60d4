//! A review on record: [`Recording`] is all that is needed to have it again, offline.
//!
//! It holds the change, what decided besides the reviewers, the answers of those who asked no
//! model, and beside it, in a folder, what the models answered. What it holds is free of secrets.
//!
//! A recording holds the inputs of the decisions and no decision: rules and analysers answer as
//! they did, models answer by their prompts, and everything that follows is computed again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assay_change::state::write_whole;
use assay_change::{Change, RecordedChange};
use assay_findings::coverage::Requirement;
use assay_findings::grade::Grade;
use assay_findings::identity::{Day, Dismissal};
use assay_findings::path::RepoPath;
use assay_findings::report::ReviewerKind;
use assay_findings::shown::ShownLimit;
use assay_findings::verdict::WithoutContent;
use assay_findings::write::pretty;
use assay_models::{Absent, Budget, Caller, Description, Nonce, Patience, Store, Stores};
use assay_rules::redacted_text;
use serde::{Deserialize, Serialize};

use crate::memory::Memory;
use crate::persona::{Desk, Models, PersonaReviewer, Personas};
use crate::reviewer::{Answer, Interest, Reviewer, Tell};
use crate::run::Review;

/// The file that holds it.
pub(crate) const FILE: &str = "recording.json";

/// The folder with what models answered.
pub const REPLIES: &str = "replies";

/// The form of the file.
const VERSION: u32 = 1;

/// The reason why a recording could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// A file cannot be read or written.
    #[error("could not use `{path}`")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// A folder holds something else.
    #[error("`{path}` is neither empty nor a recording; name a folder of its own")]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// There is no recording in a folder.
    #[error("`{path}` holds no recording; `assay review --record DIR` makes one")]
    NotRecorded {
        /// The folder.
        path: PathBuf,
    },
    /// A file of the recording has another form than recordings have.
    #[error("`{path}` is damaged: {message}; review again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The fault.
        message: String,
    },
}

/// A review on record.
#[derive(Debug, Serialize, Deserialize)]
pub struct Recording {
    version: u32,
    change: RecordedChange,
    /// What decided besides the reviewers.
    pub terms: RecordedTerms,
    /// Whom the personas asked, where there were any.
    pub models: Option<RecordedModels>,
    /// What the other reviewers answered.
    answers: Vec<Answer>,
}

/// What decided besides the reviewers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RecordedTerms {
    /// The line from which findings block.
    pub fail_on: Option<Grade>,
    /// How much had to be read.
    pub require: Requirement,
    /// What a change without reviewable content comes to.
    #[serde(default)]
    pub without_content: WithoutContent,
    /// How many findings are shown.
    #[serde(default)]
    pub shown: ShownLimit,
    /// What was accepted before.
    pub dismissals: Vec<Dismissal>,
    /// The day.
    pub today: Option<Day>,
}

/// Whom the personas of a review asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RecordedModels {
    /// The repository's own personas, by their files.
    pub personas: Vec<(String, String)>,
    /// The personas that were asked for by name; all that are woken where there are none.
    pub named: Vec<String>,
    /// The personas that were asked for beside all that are woken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// The grouping of the personas into readings.
    #[serde(default)]
    pub grouping: Grouping,
    /// The models of the tiers: cheap, default, premium.
    pub tiers: [Description; 3],
    /// The tokens that could be spent on thinking.
    pub thinking: u32,
    /// What an earlier review found.
    pub prior: Option<String>,
    /// What earlier runs learned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Whether findings were looked at again.
    pub second_looks: bool,
    /// The most bytes of a part of the change, where whoever read it takes less than models do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_part: Option<u64>,
    /// The results of look-ups by their calls; `None` if models were offered none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookups: Option<BTreeMap<String, String>>,
}

/// The grouping of personas into readings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// Each persona reads the change on its own.
    #[default]
    EachPersona,
    /// A few readings carry the concerns of all personas.
    Readings,
}

impl Recording {
    /// Records a review. `others` are the files outside the change that were read for it.
    pub fn new(
        change: &Change,
        others: &BTreeSet<RepoPath>,
        terms: RecordedTerms,
        models: Option<RecordedModels>,
        review: &Review,
    ) -> Recording {
        Recording {
            version: VERSION,
            change: RecordedChange::of(change, &known(change, others), &redacted_text),
            terms,
            models,
            answers: review.local_answers(),
        }
    }

    /// Gives how many bytes of files it holds.
    pub fn bytes(&self) -> usize {
        self.change.bytes()
    }

    /// Writes it into a folder, with the answers of models from another one.
    pub fn save_with(&self, replies: Option<&Path>, folder: &Path) -> Result<(), RecordingError> {
        let kept = replies.map_or(Ok(()), |replies| keep_replies(replies, folder));
        let saved = kept.and_then(|()| self.save(folder));
        saved.map_err(|source| RecordingError::File { path: folder.to_owned(), source })
    }

    /// Writes it into a folder that may have the answers of models already.
    pub(crate) fn save(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        write_whole(&folder.join(FILE), pretty(self).as_bytes())
    }

    /// Reads it from a folder.
    pub fn read(folder: &Path) -> Result<Recording, RecordingError> {
        let path = folder.join(FILE);
        let text = fs::read_to_string(&path)
            .map_err(|_| RecordingError::NotRecorded { path: folder.to_owned() })?;
        let damaged = |message: String| RecordingError::Damaged { path: path.clone(), message };
        let recording: Recording =
            serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        match recording.version {
            VERSION => Ok(recording),
            other => Err(damaged(format!("it is of version {other}"))),
        }
    }

    /// Gives the change, and those who answer again as they did.
    pub fn open(self, root: PathBuf) -> (Change, Vec<Box<dyn Reviewer>>) {
        (self.change.open(root), recalled(self.answers))
    }
}

/// Has reviewers answer again as they did.
pub(crate) fn recalled(answers: Vec<Answer>) -> Vec<Box<dyn Reviewer>> {
    answers.into_iter().map(|answer| Box::new(Recalled(answer)) as Box<dyn Reviewer>).collect()
}

impl RecordedModels {
    /// Gives the personas that were asked.
    pub fn reviewers(&self, personas: &Personas, desk: &Arc<Desk>) -> Vec<PersonaReviewer> {
        match self.named.is_empty() {
            true => match self.grouping {
                Grouping::EachPersona => personas.each_alone(&self.added, desk),
                Grouping::Readings => personas.woken_and(&self.added, desk),
            },
            false => personas.reviewers(&self.named, desk),
        }
    }

    /// Sets up personas that are answered from the recording in a folder, and by nobody else.
    pub fn desk(&self, folder: &Path) -> io::Result<Desk> {
        Ok(self.desk_with(folder, Nonce::draw()?))
    }

    /// Sets them up with the marks of a run that is not over.
    pub(crate) fn desk_with(&self, folder: &Path, nonce: Nonce) -> Desk {
        let replay = Some(Store::new(&folder.join(REPLIES), redacted_text));
        let stores = Stores { replay, ..Stores::default() };
        let caller = Caller::new(stores, Budget::unlimited(), Patience::default());
        let [cheap, default, premium] =
            self.tiers.clone().map(|about| Arc::new(Absent(about)) as Arc<dyn assay_models::Model>);
        let models = Models { cheap, default, premium };
        let desk = Desk::new(Arc::new(caller), models, nonce, Duration::ZERO);
        let desk = desk.thinking(self.thinking).prior(self.prior.clone());
        let desk = desk.memory(self.memory.clone()).largest_part(self.largest_part);
        desk.replaying_lookups(self.lookups.clone())
    }
}

/// Leaves out the files that git does not know, whoever named them: they are nobody else's business.
fn known(change: &Change, others: &BTreeSet<RepoPath>) -> BTreeSet<RepoPath> {
    let is_known = |path: &&RepoPath| change.base().exists(path).unwrap_or(false);
    others.iter().filter(is_known).cloned().collect()
}

/// Checks that a review can be recorded into a folder: it is new, empty, or a recording, which is
/// replaced.
pub fn check_folder(folder: &Path) -> Result<(), RecordingError> {
    let is_empty = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    match is_empty || folder.join(FILE).is_file() {
        true => Ok(()),
        false => Err(RecordingError::InUse { path: folder.to_owned() }),
    }
}

/// Keeps what models answered in the folder of a recording. Where nobody was asked there is nothing.
pub(crate) fn keep_replies(replies: &Path, folder: &Path) -> io::Result<()> {
    if !replies.is_dir() {
        return Ok(());
    }
    let kept = folder.join(REPLIES);
    // Answers of an earlier recording would pass for those of this one.
    if kept.is_dir() {
        fs::remove_dir_all(&kept)?;
    }
    fs::create_dir_all(&kept)?;
    for entry in fs::read_dir(replies)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), kept.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// A reviewer that answers as it did when it was recorded.
struct Recalled(Answer);

impl Reviewer for Recalled {
    fn name(&self) -> &str {
        &self.0.report.reviewer.name
    }

    fn kind(&self) -> ReviewerKind {
        self.0.looks.kind
    }

    fn is_required(&self) -> bool {
        self.0.looks.required
    }

    fn interest(&self, _change: &Change) -> Interest {
        Interest::Reads("it is on record".to_owned())
    }

    fn review(&self, _change: &Change, _tell: Tell<'_>) -> Answer {
        self.0.clone()
    }
}
