//! The errors of a delegated review: [`DelegationError`].

use std::io;
use std::path::PathBuf;

use assay_change::state::StateError;

use super::{MAX_CHANGE_BYTES, MAX_REPORT_BYTES};
use crate::persona::PersonaError;
use crate::recording::RecordingError;
use crate::runs::RunError;

/// The maximum number of characters of a foreign text that an error repeats.
const MAX_REPEATED: usize = 60;

/// The reason why a delegated review cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum DelegationError {
    /// A file or a run cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The recording of the review cannot be used.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The review has no authority, or cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The file of a persona cannot be used.
    #[error(transparent)]
    Persona(#[from] PersonaError),
    /// A file cannot be read or written.
    #[error("cannot access `{path}`")]
    File {
        /// The path of the file or folder.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// The files of the change have too many bytes.
    #[error(
        "the files of the change have {bytes} bytes, the limit is {MAX_CHANGE_BYTES}; limit the \
         review to some paths"
    )]
    TooLarge {
        /// The number of bytes of the files.
        bytes: usize,
    },
    /// There is no open review with that id.
    #[error("unknown open review `{id}`; start one with `start_review`")]
    Unknown {
        /// The given id.
        id: String,
    },
    /// The review is finished.
    #[error(
        "the review `{id}` is finished and accepts no more reports; `finish_review` repeats its \
         outcome, and `start_review` begins a new review"
    )]
    Finished {
        /// The id of the review.
        id: String,
    },
    /// The review is not finished.
    #[error("the review `{id}` is not finished; finish it with `finish_review`")]
    NotFinished {
        /// The id of the review.
        id: String,
    },
    /// No task of that persona is open.
    #[error("`{name}` has no open task; open tasks: {open}")]
    UnknownPersona {
        /// The given name.
        name: String,
        /// The personas with open tasks.
        open: String,
    },
    /// The persona has no task for that part of the change.
    #[error("`{persona}` reads {parts} of the change, and there is no part {part}")]
    UnknownPart {
        /// The persona.
        persona: String,
        /// The given part.
        part: usize,
        /// The parts that the persona reads, in words.
        parts: String,
    },
    /// A report on the part was accepted before.
    #[error(
        "`{persona}` already reported on part {part}; the first report counts, and this report was \
         ignored"
    )]
    Repeated {
        /// The persona.
        persona: String,
        /// The part.
        part: usize,
    },
    /// The report has too many bytes.
    #[error(
        "the report has {bytes} bytes, the limit is {MAX_REPORT_BYTES}; the report was ignored, \
         submit a shorter one"
    )]
    LongReport {
        /// The number of bytes of the report.
        bytes: usize,
    },
    /// The review has no finding with that id.
    #[error("the review has no finding `{id}`; its findings: {known}")]
    UnknownFinding {
        /// The given id.
        id: String,
        /// The ids of the findings of the review.
        known: String,
    },
    /// The work tree does not contain the reviewed change.
    #[error(
        "the review is of {title}, but the work tree has other content; check out the reviewed \
         change, fix it there and start a new review"
    )]
    NotHere {
        /// The title of the change.
        title: String,
    },
}

/// Returns a foreign text, truncated and without control characters, for an error.
pub(super) fn truncate_foreign(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_REPEATED).collect()
}
