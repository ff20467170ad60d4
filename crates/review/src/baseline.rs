//! What somebody accepted: the file `.assay/baseline.json`.
//!
//! An entry is told by the finding's fingerprint and file, so it follows the code through line
//! shifts, and through renames by the change under review, and ends when the code itself is edited.

use std::io;
use std::path::{Path, PathBuf};

use assay_change::state::{State, write_whole};
use assay_findings::finding::Finding;
use assay_findings::identity::Dismissal;
use assay_rules::redact;
use serde::{Deserialize, Serialize};

/// Where it lies in a repository.
pub const PATH: &str = ".assay/baseline.json";

/// The version of the file's form.
const VERSION: u32 = 1;

/// Why a baseline could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The file cannot be opened or written.
    #[error("could not use `{path}`")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not what it should be.
    #[error("`{PATH}` is no baseline: {message}; mend it, or delete it to start anew")]
    Form {
        /// What is wrong.
        message: String,
    },
}

/// The findings that were accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    version: u32,
    /// The entries, in the order in which they were accepted.
    pub accepted: Vec<Accepted>,
}

/// One accepted finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// What decides: which code, who, why, until when.
    #[serde(flatten)]
    pub dismissal: Dismissal,
    /// The rule that found it, for whoever reads the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What it was called, likewise.
    pub title: String,
}

impl Default for Baseline {
    fn default() -> Baseline {
        Baseline { version: VERSION, accepted: Vec::new() }
    }
}

impl Baseline {
    /// Reads a baseline; an empty text accepts nothing.
    pub fn read(text: &str) -> Result<Baseline, BaselineError> {
        if text.trim().is_empty() {
            return Ok(Baseline::default());
        }
        let form = |message: String| BaselineError::Form { message };
        let baseline: Baseline =
            serde_json::from_str(text).map_err(|error| form(error.to_string()))?;
        if baseline.version != VERSION {
            return Err(form(format!("its version is {}, and not {VERSION}", baseline.version)));
        }
        Ok(baseline)
    }

    /// Gives what decides of each entry.
    pub fn dismissals(&self) -> Vec<Dismissal> {
        self.accepted.iter().map(|accepted| accepted.dismissal.clone()).collect()
    }

    /// Accepts findings; those that were accepted before stay as they were. Gives how many are new.
    pub fn accept<'f>(
        &mut self,
        findings: impl IntoIterator<Item = &'f Finding>,
        by: &str,
        reason: &str,
    ) -> usize {
        let before = self.accepted.len();
        for finding in findings {
            let is_known = |known: &Accepted| {
                known.dismissal.fingerprint == finding.fingerprint
                    && known.dismissal.file == finding.file
            };
            if self.accepted.iter().any(is_known) {
                continue;
            }
            self.accepted.push(Accepted {
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

    /// Writes it, whole or not at all.
    pub fn save(&self, root: &Path) -> Result<(), BaselineError> {
        let path = root.join(PATH);
        let text = assay_findings::write::pretty(self);
        let write = || {
            State::new(root, None).make().map_err(io::Error::other)?;
            write_whole(&path, text.as_bytes())
        };
        write().map_err(|source| BaselineError::File { path: path.clone(), source })
    }
}
