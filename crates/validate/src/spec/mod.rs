//! The requirements of a spec: [`Spec`], parsed from the spec's folder.
//!
//! The criteria and the verification are in `spec.md` and in the plan; an entry that is in both
//! counts once. [`find()`] returns the folder that a prefix identifies.

pub(crate) mod claim;
pub(crate) mod criteria;
pub(crate) mod evidence;
mod fenced;
mod find;
mod form;
mod headings;
mod id;
mod item;
mod outline;
pub(crate) mod page_claim;
mod section;
pub(crate) mod sentences;
mod strategy;
mod table;
mod verification;

use std::path::{Path, PathBuf};

use assay_checks::verification::Verification;
use assay_store::durable_fs::{self, DiskError};

pub use self::find::{all, file, find};
use crate::file_names;
use crate::loop_files;
use crate::markdown;
use crate::plan::ImplementationPlan;

/// The reason why a spec cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// The given text is no prefix of a folder's name.
    #[error(
        "invalid spec `{prefix}`: expected the beginning of the name of a spec folder, such as \
         `001`"
    )]
    NoName {
        /// The text that the user gave.
        prefix: String,
    },
    /// No folder begins with the prefix.
    #[error("unknown spec `{prefix}`; {}", those(there))]
    None {
        /// The text that the user gave.
        prefix: String,
        /// The folders of all specs.
        there: Vec<PathBuf>,
    },
    /// Several folders begin with the prefix.
    #[error(
        "ambiguous spec `{prefix}`: it matches {}; write more of the name, or the whole path",
        listed(found)
    )]
    Several {
        /// The text that the user gave.
        prefix: String,
        /// The folders that begin with the prefix.
        found: Vec<PathBuf>,
    },
    /// The path is a link, or leads through one.
    #[error(
        "cannot use `{path}`: it is a symbolic link, or is reached through one; a spec must be a \
         folder of the repository"
    )]
    Outside {
        /// The path of the folder or file, from the root.
        path: PathBuf,
    },
    /// The file does not exist in the folder.
    #[error("missing file `{path}`")]
    Missing {
        /// The path of the file, from the root.
        path: PathBuf,
    },
    /// The file is not valid UTF-8.
    #[error("`{path}` is not valid UTF-8 at byte {at}")]
    NotText {
        /// The path of the file, from the root.
        path: PathBuf,
        /// The number of valid bytes before the first invalid one.
        at: usize,
    },
    /// The required coverage is no percentage.
    #[error("invalid coverage `{found}` in `{path}`: expected a percentage such as `80`")]
    Coverage {
        /// The path of the file, from the root.
        path: PathBuf,
        /// The text in place of a percentage.
        found: String,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

fn those(there: &[PathBuf]) -> String {
    match there {
        [] => "there are no specs in `specs` or `.auto-claude/specs`".to_owned(),
        there => format!("the specs are: {}", listed(there)),
    }
}

/// Maximum number of folders that an error lists.
const MAX_LISTED: usize = 20;

fn listed(folders: &[PathBuf]) -> String {
    let shown = folders.iter().take(MAX_LISTED).map(|folder| format!("`{}`", folder.display()));
    let mut shown: Vec<String> = shown.collect();
    if folders.len() > MAX_LISTED {
        shown.push(format!("and {} more", folders.len() - MAX_LISTED));
    }
    shown.join(", ")
}

/// The requirements on an implementation: acceptance criteria and verification.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The name of the spec's folder, such as `001-login`.
    pub name: String,
    /// The path of the folder, from the root.
    pub folder: PathBuf,
    /// The criteria, each once.
    pub criteria: Vec<Criterion>,
    /// Text among the criteria or the verification that was not understood. A tree is not approved
    /// as long as there is any.
    pub not_understood: Vec<Criterion>,
    /// The required commands, coverage and manual steps.
    pub verification: Verification,
}

/// An acceptance criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// The text of the criterion.
    pub text: String,
    /// The line in `spec.md`, from 1; `None` if the criterion is from the plan.
    pub line: Option<u32>,
}

impl Spec {
    /// Reads and parses the spec in a folder, whose path is from the root.
    pub fn read(root: &Path, folder: &Path, plan: &ImplementationPlan) -> Result<Spec, SpecError> {
        let path = folder.join(file_names::SPEC);
        let missing = || SpecError::Missing { path: path.clone() };
        let bytes =
            durable_fs::read(&file(root, folder, file_names::SPEC)?)?.ok_or_else(missing)?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|error| SpecError::NotText { path: path.clone(), at: error.valid_up_to() })?;
        Spec::parse(folder, text, plan)
    }

    /// Returns true if the file at a path from the root belongs to a spec or a loop: a fixer must
    /// not touch it, and it is no evidence.
    pub fn owns(&self, path: &str) -> bool {
        loop_files::is_loop_output(path)
            || Path::new(path).starts_with(&self.folder)
            || file_names::SPEC_HOMES.iter().any(|home| Path::new(path).starts_with(home))
    }

    /// Returns true if the file at a path from the root is a document of a loop, a spec or a plan:
    /// it states requirements on an implementation and is no part of it.
    pub fn is_loop_document(path: &str) -> bool {
        loop_files::is_loop_document(path)
    }

    /// Parses a spec from the text of `spec.md` and the plan.
    pub fn parse(folder: &Path, text: &str, plan: &ImplementationPlan) -> Result<Spec, SpecError> {
        let outline = outline::read(&markdown::blocks(text));
        let mut criteria = outline.criteria.criteria;
        let mut not_understood = outline.criteria.unread;
        not_understood.extend(outline.unread);
        let planned = strategy::criteria(plan);
        criteria.extend(planned.criteria);
        not_understood.extend(planned.not_understood);
        let coverage = |file: &str| {
            let path = folder.join(file);
            move |found: String| SpecError::Coverage { path, found }
        };
        let mut verification =
            verification::read(&outline.verification).map_err(coverage(file_names::SPEC))?;
        strategy::add(plan, &mut verification).map_err(coverage(crate::plan::NAME))?;
        let criteria = criteria::each_once(criteria);
        verification::ask_for_commands(planned.commands, &mut verification);
        for criterion in &criteria {
            verification::ask_for_claim(&criterion.text, &mut verification);
        }
        verification::each_once(&mut verification);
        Ok(Spec {
            name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            folder: folder.to_owned(),
            criteria,
            not_understood: criteria::each_once(not_understood),
            verification,
        })
    }
}
