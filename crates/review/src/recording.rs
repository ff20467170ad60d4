//! Recorded reviews: [`Recording`] has all inputs that are needed to replay a review offline.
//!
//! It has the change, the decisions and limits that count in addition to the reviewers, the answers
//! of the reviewers that asked no model, the reports from other sources, and, in a folder next to it,
//! the replies of the models. It contains no secrets.
//!
//! A recording has the inputs of the decisions and no decision: rules and analysers repeat their
//! answers, the replies of models are found by their prompts, and everything else is computed
//! again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assay_change::state::write_atomically;
use assay_change::{Change, RecordedChange};
use assay_findings::coverage::CoverageRequirement;
use assay_findings::grade::Grade;
use assay_findings::identity::{Day, Dismissal};
use assay_findings::path::RepoPath;
use assay_findings::report::{Report, ReviewerKind};
use assay_findings::shown_limit::ShownLimit;
use assay_findings::template::FindingTemplate;
use assay_findings::verdict::NoContentPolicy;
use assay_findings::write::pretty;
use assay_models::{
    Budget, ModelClient, ModelDescription, Nonce, OfflineModel, ReplyStore, ReplyStores,
    RetryPolicy,
};
use assay_rules::redact_text;
use serde::{Deserialize, Serialize};

use crate::memory::Memory;
use crate::persona::{Models, PersonaContext, PersonaReviewer, Personas};
use crate::reviewer::{OnProgress, ReadDecision, Reviewer, ReviewerAnswer};
use crate::run::Review;

/// The file with the recording.
pub(crate) const RECORDING_FILE: &str = "recording.json";

/// The folder with the replies of models.
pub const REPLIES_DIR: &str = "replies";

/// The version of the file format.
const VERSION: u32 = 1;

/// The reason why a recording could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// A file cannot be read or written.
    #[error("cannot access `{path}`")]
    File {
        /// The path of the file or folder.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// The folder contains other files.
    #[error("`{path}` is neither empty nor a recording; use an empty folder")]
    InUse {
        /// The path of the folder.
        path: PathBuf,
    },
    /// The folder contains no recording.
    #[error("`{path}` contains no recording; create one with `assay review --record DIR`")]
    NotRecorded {
        /// The path of the folder.
        path: PathBuf,
    },
    /// A file of the recording is invalid.
    #[error("`{path}` is damaged: {message}; review again")]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The problem.
        message: String,
    },
}

/// A recorded review.
#[derive(Debug, Serialize, Deserialize)]
pub struct Recording {
    version: u32,
    change: RecordedChange,
    /// The decisions and limits that count in addition to the reviewers.
    pub terms: RecordedPolicy,
    /// The models and settings of the personas; `None` if there were no personas.
    pub models: Option<RecordedModels>,
    /// The answers of the other reviewers.
    answers: Vec<ReviewerAnswer>,
    /// The reports from sources other than the reviewers, such as imported findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub external_reports: Vec<Report>,
}

/// The decisions and limits that count in addition to the reviewers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RecordedPolicy {
    /// The grade from which findings block; `None` for the default.
    pub fail_on: Option<Grade>,
    /// The required extent of the coverage.
    pub require: CoverageRequirement,
    /// The verdict on a change without reviewable content.
    #[serde(default)]
    pub without_content: NoContentPolicy,
    /// The number of findings that are shown.
    #[serde(default)]
    pub shown: ShownLimit,
    /// The templates of the repository.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub templates: Vec<FindingTemplate>,
    /// The findings that were accepted before.
    pub dismissals: Vec<Dismissal>,
    /// The date of the review, for dismissals that end; `None` if it is unknown.
    pub today: Option<Day>,
}

/// The models and settings of the personas of a review.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RecordedModels {
    /// The repository's own personas, by their files.
    pub personas: Vec<(String, String)>,
    /// The personas that a user named; empty for all whose triggers match.
    pub named: Vec<String>,
    /// The personas that read in addition to all whose triggers match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// The grouping of the personas into readings.
    #[serde(default)]
    pub grouping: Grouping,
    /// The models of the tiers: cheap, default, premium.
    pub tiers: [ModelDescription; 3],
    /// The maximum number of tokens for thinking.
    pub thinking: u32,
    /// The findings of an earlier review; `None` if there was none.
    pub prior: Option<String>,
    /// The knowledge of earlier runs; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// True if findings got second looks.
    pub second_looks: bool,
    /// The maximum number of bytes of a part of the change, for readers that take less than models;
    /// `None` for the default.
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
    /// Records a review. `others` are the files outside of the change that were read for it.
    pub fn new(
        change: &Change,
        others: &BTreeSet<RepoPath>,
        terms: RecordedPolicy,
        models: Option<RecordedModels>,
        review: &Review,
    ) -> Recording {
        Recording {
            version: VERSION,
            change: RecordedChange::record(change, &tracked_files(change, others), &redact_text),
            terms,
            models,
            answers: review.local_answers(),
            external_reports: review.external_reports().to_vec(),
        }
    }

    /// Returns the number of bytes of the files in the recording.
    pub fn bytes(&self) -> usize {
        self.change.bytes()
    }

    /// Writes the recording into a folder, with the replies of models from another one.
    pub fn save_with(&self, replies: Option<&Path>, folder: &Path) -> Result<(), RecordingError> {
        let kept = replies.map_or(Ok(()), |replies| copy_replies(replies, folder));
        let saved = kept.and_then(|()| self.save(folder));
        saved.map_err(|source| RecordingError::File { path: folder.to_owned(), source })
    }

    /// Writes the recording into a folder that may have the replies of models already.
    pub(crate) fn save(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        write_atomically(&folder.join(RECORDING_FILE), pretty(self).as_bytes())
    }

    /// Reads a recording from a folder.
    pub fn read(folder: &Path) -> Result<Recording, RecordingError> {
        let path = folder.join(RECORDING_FILE);
        let text = fs::read_to_string(&path)
            .map_err(|_| RecordingError::NotRecorded { path: folder.to_owned() })?;
        let damaged = |message: String| RecordingError::Damaged { path: path.clone(), message };
        let recording: Recording =
            serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        match recording.version {
            VERSION => Ok(recording),
            other => Err(damaged(format!("unsupported version {other}"))),
        }
    }

    /// Returns the change, and reviewers that repeat their recorded answers.
    pub fn open(self, root: PathBuf) -> (Change, Vec<Box<dyn Reviewer>>) {
        (self.change.open(root), replay_answers(self.answers))
    }
}

/// Returns reviewers that repeat their answers.
pub(crate) fn replay_answers(answers: Vec<ReviewerAnswer>) -> Vec<Box<dyn Reviewer>> {
    answers
        .into_iter()
        .map(|answer| Box::new(RecordedReviewer(answer)) as Box<dyn Reviewer>)
        .collect()
}

impl RecordedModels {
    /// Returns the personas of the review.
    pub fn reviewers(
        &self,
        personas: &Personas,
        context: &Arc<PersonaContext>,
    ) -> Vec<PersonaReviewer> {
        match self.named.is_empty() {
            true => match self.grouping {
                Grouping::EachPersona => personas.separate_reviewers(&self.added, context),
                Grouping::Readings => personas.grouped_reviewers(&self.added, context),
            },
            false => personas.reviewers(&self.named, context),
        }
    }

    /// Creates a context for personas whose questions are answered from the recording in a folder
    /// only.
    pub fn persona_context(&self, folder: &Path) -> io::Result<PersonaContext> {
        Ok(self.persona_context_with(folder, Nonce::draw()?))
    }

    /// Creates the context with the marks of a run that is not finished.
    pub(crate) fn persona_context_with(&self, folder: &Path, nonce: Nonce) -> PersonaContext {
        let replay = Some(ReplyStore::new(&folder.join(REPLIES_DIR), redact_text));
        let stores = ReplyStores { replay, ..ReplyStores::default() };
        let client = ModelClient::new(stores, Budget::unlimited(), RetryPolicy::default());
        let [cheap, default, premium] = self
            .tiers
            .clone()
            .map(|about| Arc::new(OfflineModel(about)) as Arc<dyn assay_models::Model>);
        let models = Models { cheap, default, premium };
        let context = PersonaContext::new(Arc::new(client), models, nonce, Duration::ZERO);
        let context = context.thinking(self.thinking).prior(self.prior.clone());
        let context = context.memory(self.memory.clone()).max_part_bytes(self.largest_part);
        context.replay_lookups(self.lookups.clone())
    }
}

/// Removes the files that git does not track: no matter which reviewer named them, they must not be
/// stored.
fn tracked_files(change: &Change, others: &BTreeSet<RepoPath>) -> BTreeSet<RepoPath> {
    let is_known = |path: &&RepoPath| change.base().exists(path).unwrap_or(false);
    others.iter().filter(is_known).cloned().collect()
}

/// Fails if a review cannot be recorded into a folder, which must be new, empty, or a recording
/// that is replaced.
pub fn check_folder(folder: &Path) -> Result<(), RecordingError> {
    let is_empty = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    match is_empty || folder.join(RECORDING_FILE).is_file() {
        true => Ok(()),
        false => Err(RecordingError::InUse { path: folder.to_owned() }),
    }
}

/// Copies the replies of models to the folder of a recording. Does nothing if no model was called.
pub(crate) fn copy_replies(replies: &Path, folder: &Path) -> io::Result<()> {
    if !replies.is_dir() {
        return Ok(());
    }
    let kept = folder.join(REPLIES_DIR);
    // Replies of an earlier recording would look like those of this one.
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

/// A reviewer that repeats its recorded answer.
struct RecordedReviewer(ReviewerAnswer);

impl Reviewer for RecordedReviewer {
    fn name(&self) -> &str {
        &self.0.report.reviewer.name
    }

    fn kind(&self) -> ReviewerKind {
        self.0.looks.kind
    }

    fn is_required(&self) -> bool {
        self.0.looks.required
    }

    fn interest(&self, _change: &Change) -> ReadDecision {
        ReadDecision::Reads("the answer is recorded".to_owned())
    }

    fn review(&self, _change: &Change, _on_progress: OnProgress<'_>) -> ReviewerAnswer {
        self.0.clone()
    }
}
