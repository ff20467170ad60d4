//! An open review on disk: the folder `.assay/delegated/<id>/`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use assay_change::state::{State, StateKind, UnitLock, write_atomically};
use assay_change::{Change, Scope, Selection};
use assay_findings::write::pretty;
use assay_models::Nonce;
use assay_sandbox::ScratchFolder;
use serde::{Deserialize, Serialize};

use super::DelegationError;
use super::error::truncate_foreign;
use super::reviewer_info::ReviewerInfo;
use crate::recording::Recording;
use crate::reviewer::Reviewer;
use crate::runs;

/// The kind of state of delegated reviews.
const STATE_KIND: &str = "delegated";

/// The file with the facts of a review.
const META_FILE: &str = "about.json";

/// The number of reviews that are stored, open or not; the oldest are removed first.
const MAX_REVIEWS: usize = 20;

/// The prefix of the name of a folder that is not a complete review yet.
const DRAFT_PREFIX: &str = ".draft-";

/// The id of a delegated review and of the run that it is stored as: the time at which the review
/// began, `20261231-235959-042`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewId(String);

impl FromStr for ReviewId {
    type Err = DelegationError;

    fn from_str(text: &str) -> Result<ReviewId, DelegationError> {
        let shape = "dddddddd-dddddd-ddd";
        let fits = |(c, wanted): (char, char)| match wanted {
            'd' => c.is_ascii_digit(),
            other => c == other,
        };
        match text.len() == shape.len() && text.chars().zip(shape.chars()).all(fits) {
            true => Ok(ReviewId(text.to_owned())),
            false => Err(DelegationError::Unknown { id: truncate_foreign(text) }),
        }
    }
}

impl fmt::Display for ReviewId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The reader of the briefs of a review.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BriefReader {
    /// The agent that asked for the review reads all briefs, so that it needs the change once.
    #[default]
    Myself,
    /// Sub-agents read one brief each, and have read nothing else.
    SubAgents,
}

/// The facts of an open review that are not in its recording.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ReviewMeta {
    /// The name of the agent's model.
    pub(super) host: String,
    /// The title of the change.
    #[serde(default)]
    pub(super) title: String,
    pub(super) scope: Scope,
    pub(super) selection: Selection,
    /// The hash of the change when the review began.
    pub(super) change: String,
    /// The commit that the change is compared with; `None` if the work tree does not contain the
    /// reviewed change.
    pub(super) base: Option<String>,
    /// The reviewers that need no model.
    pub(super) local: Vec<LocalReviewer>,
    /// The values of the marks in the briefs.
    pub(super) nonce: Nonce,
    #[serde(default)]
    pub(super) read_by: BriefReader,
    pub(super) stage: ReviewStage,
}

/// A reviewer that needs no model, and has answered already.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LocalReviewer {
    pub(super) reader: ReviewerInfo,
    /// The inputs that determine the reviewer's answers, such as a version, by name.
    #[serde(rename = "made_of")]
    pub(super) provenance: BTreeMap<String, String>,
}

impl LocalReviewer {
    pub(super) fn of(by: &dyn Reviewer, change: &Change) -> LocalReviewer {
        LocalReviewer { reader: ReviewerInfo::of(by, change), provenance: by.provenance() }
    }
}

/// The stage of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReviewStage {
    /// The personas report.
    Reading,
    /// The findings get second looks, and personas report no more.
    SecondLooks,
    /// The review is finished.
    Done {
        /// The run that the review is stored as: its own id, except for reviews of older versions.
        run: String,
    },
}

/// The folder of one review.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) id: ReviewId,
    kind: StateKind,
    path: PathBuf,
}

impl Folder {
    /// Returns the folder of a review. Fails if another program than assay wrote delegated reviews.
    pub(super) fn new(state: &State, id: &ReviewId) -> Result<Folder, DelegationError> {
        let kind = state.open(STATE_KIND)?;
        let path = kind.path().join(&id.0);
        Ok(Folder { id: id.clone(), kind, path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn fail(&self, source: io::Error) -> DelegationError {
        DelegationError::File { path: self.path.clone(), source }
    }

    /// Creates the folder atomically.
    pub(super) fn create(
        &self,
        meta: &ReviewMeta,
        recording: &Recording,
    ) -> Result<(), DelegationError> {
        let fail = |source| self.fail(source);
        self.kind.create()?;
        let parent = self.kind.path();
        let draft = ScratchFolder::new_in(DRAFT_PREFIX, parent).map_err(fail)?;
        recording.save(draft.path()).map_err(fail)?;
        write_atomically(&draft.path().join(META_FILE), pretty(meta).as_bytes()).map_err(fail)?;
        self.kind.seal_draft(&self.id.0, draft.path())?;
        fs::rename(draft.path(), &self.path).map_err(fail)?;
        // The folder has its final name now, so the draft must not be removed.
        let _ = draft.keep();
        runs::keep_newest(parent, &self.path, MAX_REVIEWS);
        Ok(())
    }

    /// Reads the facts of the review.
    pub(super) fn read_meta(&self) -> Result<ReviewMeta, DelegationError> {
        let path = self.path.join(META_FILE);
        if !path.is_file() {
            return Err(DelegationError::Unknown { id: self.id.to_string() });
        }
        Ok(runs::read_json(&path)?)
    }

    pub(super) fn write_meta(&self, meta: &ReviewMeta) -> Result<(), DelegationError> {
        let written = write_atomically(&self.path.join(META_FILE), pretty(meta).as_bytes());
        written.map_err(|source| self.fail(source))
    }

    /// Locks the review against other processes until the value is dropped. Fails if the review has
    /// no authority.
    pub(super) fn lock(&self) -> Result<UnitLock, DelegationError> {
        Ok(self.kind.lock_unit(&self.id.0)?)
    }

    /// Locks the review to change it. The review is sealed when the value is dropped.
    pub(super) fn lock_for_change(&self) -> Result<UnitLock, DelegationError> {
        let mut held = self.lock()?;
        if held.has_existed() {
            held.mark_changing()?;
        }
        Ok(held)
    }
}
