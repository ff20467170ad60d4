//! Errors of reading and writing the state of a gate: [`StoreError`].

use std::path::PathBuf;

use assay_change::state::StateError;
use assay_store::durable_fs::DiskError;

use crate::phase::Phase;

/// The reason why the state of a gate cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The list does not exist.
    #[error(
        "missing list for phase {phase} at `{path}`: nothing was checked; run `assay gate \
         decompose --phase {phase}` to create the list"
    )]
    Missing {
        /// The phase of the gate.
        phase: Phase,
        /// The expected path of the list.
        path: PathBuf,
    },
    /// The file was deleted while its gate was not passed.
    #[error(
        "`{path}` was deleted before its gate passed, so the failed items are unknown; restore \
         the file, or start over with `assay gate decompose --phase {phase} --again --reason TEXT`"
    )]
    Deleted {
        /// The phase of the gate.
        phase: Phase,
        /// The path of the deleted file.
        path: PathBuf,
    },
    /// The file cannot be parsed.
    #[error("cannot read `{path}`: {why}")]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The reason of the failure.
        why: String,
    },
    /// The seal of the sidecar is invalid, or the state cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// A file cannot be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
}
