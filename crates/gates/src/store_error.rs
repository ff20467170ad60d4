//! Why the state of a gate cannot be read or written: [`StoreError`].

use std::path::PathBuf;

use assay_change::state::StateError;
use assay_store::disk::DiskError;

use crate::phase::Phase;

/// The reason why the state of a gate cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is none.
    #[error(
        "there is no list for {phase} at `{path}`, so nothing was checked; \
         `assay gate decompose --phase {phase}` makes one"
    )]
    Missing {
        /// The phase.
        phase: Phase,
        /// Where it would lie.
        path: PathBuf,
    },
    /// The file was deleted while its gate was not passed.
    #[error(
        "`{path}` was deleted while its gate was not passed, so what had failed is not known; put the \
         file back, or begin anew with `assay gate decompose --phase {phase} --again --reason TEXT`"
    )]
    Deleted {
        /// The phase.
        phase: Phase,
        /// Where it lay.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("`{path}` cannot be read, so it says nothing: {why}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The fault.
        why: String,
    },
    /// The sidecar has no authority, or cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// A file cannot be used.
    #[error(transparent)]
    Disk(#[from] DiskError),
}
