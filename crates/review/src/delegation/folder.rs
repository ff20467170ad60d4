//! An open review on disk: the folder `.assay/delegated/<id>/`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use assay_change::state::{Held, Kind, State};
use assay_change::{Change, Scope, Selection};
use assay_findings::write::pretty;
use assay_models::Nonce;
use assay_sandbox::ScratchFolder;
use serde::{Deserialize, Serialize};

use super::{DelegationError, Reader};
use crate::recording::Recording;
use crate::reviewer::Reviewer;
use crate::runs;

/// The kind of state that delegated reviews are.
const KIND: &str = "delegated";

/// The file that says what a review is about.
const ABOUT: &str = "about.json";

/// So many reviews are kept, open or not; the oldest go first.
const KEPT: usize = 20;

/// The beginning of the name of a folder that is no review yet.
const DRAFT: &str = ".draft-";

/// What a delegated review is called by: the time at which it began, `20261231-235959-042`.
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
            false => {
                let shown = text.chars().filter(|c| !c.is_control()).take(60).collect();
                Err(DelegationError::Unknown { id: shown })
            }
        }
    }
}

impl fmt::Display for ReviewId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What an open review is about, besides its recording.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct About {
    /// Who asked for it.
    pub(super) host: String,
    /// The change in words.
    #[serde(default)]
    pub(super) title: String,
    pub(super) scope: Scope,
    pub(super) selection: Selection,
    /// The hash of the change as it was.
    pub(super) change: String,
    /// The commit it is held against, where the work tree holds what was reviewed.
    pub(super) base: Option<String>,
    /// Those who need no model.
    pub(super) local: Vec<Local>,
    /// What stands in the briefs for its marks.
    pub(super) nonce: Nonce,
    pub(super) stage: Stage,
}

/// Who needs no model, and so is done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Local {
    pub(super) reader: Reader,
    /// What it is made of.
    pub(super) made_of: BTreeMap<String, String>,
}

impl Local {
    pub(super) fn of(by: &dyn Reviewer, change: &Change) -> Local {
        Local { reader: Reader::of(by, change), made_of: by.made_of() }
    }
}

/// How far a review is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    /// Personas report.
    Reading,
    /// What they found is looked at again, and nobody else reports any more.
    SecondLooks,
    /// It is over.
    Done {
        /// The run that it is kept as.
        run: String,
    },
}

/// The folder of one review.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) id: ReviewId,
    kind: Kind,
    path: PathBuf,
}

impl Folder {
    /// Names the folder of a review. Fails if delegated reviews came from elsewhere.
    pub(super) fn new(state: &State, id: &ReviewId) -> Result<Folder, DelegationError> {
        let kind = state.open(KIND)?;
        let path = kind.path().join(&id.0);
        Ok(Folder { id: id.clone(), kind, path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn fail(&self, source: io::Error) -> DelegationError {
        DelegationError::File { path: self.path.clone(), source }
    }

    /// Makes the folder, whole or not at all.
    pub(super) fn create(
        &self,
        about: &About,
        recording: &Recording,
    ) -> Result<(), DelegationError> {
        let fail = |source| self.fail(source);
        self.kind.make()?;
        let parent = self.kind.path();
        let draft = ScratchFolder::new_in(DRAFT, parent).map_err(fail)?;
        recording.save(draft.path()).map_err(fail)?;
        runs::write_whole(&draft.path().join(ABOUT), pretty(about).as_bytes()).map_err(fail)?;
        self.kind.seal_draft(&self.id.0, draft.path())?;
        fs::rename(draft.path(), &self.path).map_err(fail)?;
        // It has its name now; nothing is left to clean up.
        let _ = draft.keep();
        runs::keep_newest(parent, &self.path, KEPT);
        Ok(())
    }

    /// Reads what the review is about.
    pub(super) fn about(&self) -> Result<About, DelegationError> {
        let path = self.path.join(ABOUT);
        if !path.is_file() {
            return Err(DelegationError::Unknown { id: self.id.to_string() });
        }
        Ok(runs::read_json(&path)?)
    }

    pub(super) fn set_about(&self, about: &About) -> Result<(), DelegationError> {
        let written = runs::write_whole(&self.path.join(ABOUT), pretty(about).as_bytes());
        written.map_err(|source| self.fail(source))
    }

    /// Keeps other processes from the review until the value is dropped. Fails if the review has no
    /// authority.
    pub(super) fn hold(&self) -> Result<Held, DelegationError> {
        Ok(self.kind.hold(&self.id.0)?)
    }

    /// Holds the review to go on with it. It is sealed when the value is dropped.
    pub(super) fn hold_to_change(&self) -> Result<Held, DelegationError> {
        let mut held = self.hold()?;
        if held.is_there() {
            held.change()?;
        }
        Ok(held)
    }
}
