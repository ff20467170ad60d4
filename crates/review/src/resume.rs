//! Resumption of an interrupted review: [`resumable_replies`] returns the answers that were paid for.

use std::fs;
use std::path::PathBuf;

use assay_change::Change;
use assay_change::state::State;

use crate::recording::REPLIES_DIR;
use crate::runs::{self, RECORDING_DIR, RunError, change_hash};

/// The start of the line in the log of a run that was interrupted.
pub const INTERRUPTED_LOG_LINE: &str = "interrupted: ";

/// The reason why a review cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// There is no usable run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The last review was not interrupted.
    #[error(
        "cannot resume: the last review `{id}` was not interrupted; run `assay review` without \
         `--resume`"
    )]
    NotInterrupted {
        /// The id of the last run.
        id: String,
    },
    /// The change is not that of the interrupted review.
    #[error(
        "cannot resume: the interrupted review `{id}` was of another change, or the change has been \
         edited since; run `assay review` without `--resume`"
    )]
    OtherChange {
        /// The id of the interrupted run.
        id: String,
    },
}

/// Returns the folder with the answers of the last review of a work tree, which must have been
/// interrupted and must be of the same change.
pub fn resumable_replies(state: &State, change: &Change) -> Result<PathBuf, ResumeError> {
    let run = runs::find(state, None)?;
    let id = run.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let log = fs::read_to_string(run.join("log")).unwrap_or_default();
    if !log.lines().any(|line| line.starts_with(INTERRUPTED_LOG_LINE)) {
        return Err(ResumeError::NotInterrupted { id });
    }
    if runs::provenance(&run)?.change != change_hash(change) {
        return Err(ResumeError::OtherChange { id });
    }
    Ok(run.join(RECORDING_DIR).join(REPLIES_DIR))
}
