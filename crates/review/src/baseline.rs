//! Accepted findings: the file `.assay/baseline.json`.
//!
//! An entry is identified by the fingerprint and the file of its finding. So it follows the code
//! through line shifts, and through renames by the change under review, and ends when the code
//! itself is edited.

use std::io;
use std::path::{Path, PathBuf};

use assay_change::state::{State, write_atomically};
use assay_findings::finding::Finding;
use assay_findings::identity::Dismissal;
use assay_rules::redact;
use serde::{Deserialize, Serialize};

/// The path of the baseline in a repository.
pub const PATH: &str = ".assay/baseline.json";

/// The version of the file format.
const VERSION: u32 = 1;

/// The reason why a baseline could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The file cannot be opened or written.
    #[error("cannot access `{path}`")]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// The content of the file is invalid.
    #[error(
        "`{PATH}` is not a valid baseline: {message}; repair the file, or delete it to start again"
    )]
    Format {
        /// The problem.
        message: String,
    },
}

/// The findings that were accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    version: u32,
    /// The entries, in the order in which they were accepted.
    pub accepted: Vec<AcceptedFinding>,
}

/// An accepted finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedFinding {
    /// The dismissal: the code, the person, the reason and the end.
    #[serde(flatten)]
    pub dismissal: Dismissal,
    /// The rule that reported the finding, for readers of the file; `None` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The title of the finding, for readers of the file.
    pub title: String,
}

impl Default for Baseline {
    fn default() -> Baseline {
        Baseline { version: VERSION, accepted: Vec::new() }
    }
}

impl Baseline {
    /// Parses a baseline; an empty text accepts nothing.
    pub fn read(text: &str) -> Result<Baseline, BaselineError> {
        if text.trim().is_empty() {
            return Ok(Baseline::default());
        }
        let form = |message: String| BaselineError::Format { message };
        let baseline: Baseline =
            serde_json::from_str(text).map_err(|error| form(error.to_string()))?;
        if baseline.version != VERSION {
            return Err(form(format!(
                "unsupported version {}, expected {VERSION}",
                baseline.version
            )));
        }
        Ok(baseline)
    }

    /// Returns the dismissal of each entry.
    pub fn dismissals(&self) -> Vec<Dismissal> {
        self.accepted.iter().map(|accepted| accepted.dismissal.clone()).collect()
    }

    /// Accepts findings; those that were accepted before stay as they are. Returns the number of
    /// new entries.
    pub fn accept<'f>(
        &mut self,
        findings: impl IntoIterator<Item = &'f Finding>,
        by: &str,
        reason: &str,
    ) -> usize {
        let before = self.accepted.len();
        for finding in findings {
            let is_known = |known: &AcceptedFinding| {
                known.dismissal.fingerprint == finding.fingerprint
                    && known.dismissal.file == finding.file
            };
            if self.accepted.iter().any(is_known) {
                continue;
            }
            self.accepted.push(AcceptedFinding {
                dismissal: Dismissal {
                    fingerprint: finding.fingerprint.clone(),
                    file: finding.file.clone(),
                    by: by.to_owned(),
                    reason: redact(reason).into_owned(),
                    until: None,
                },
                rule: finding.rule.clone(),
                title: redact(&finding.title).into_owned(),
            });
        }
        self.accepted.len() - before
    }

    /// Writes the baseline atomically.
    pub fn save(&self, root: &Path) -> Result<(), BaselineError> {
        let path = root.join(PATH);
        let text = assay_findings::write::pretty(self);
        let write = || {
            State::new(root, None).create().map_err(io::Error::other)?;
            write_atomically(&path, text.as_bytes())
        };
        write().map_err(|source| BaselineError::File { path: path.clone(), source })
    }
}
