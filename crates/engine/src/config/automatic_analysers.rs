//! The analysers that a repository uses and that are installed: [`find_usable`], and
//! [`AutomaticAnalysers`] for a review with `review.analysers: auto`.

use std::fs;
use std::path::{Path, PathBuf};

use assay_change::Change;
use assay_change::tree::DirTree;
use assay_findings::grounding::{Tree, TreeError};
use assay_findings::path::RepoPath;
use assay_review::command::CommandReviewer;
use assay_review::command::analyser_detection::configuration_of;
use assay_review::command::known_analysers::{KNOWN_ANALYSERS, KnownAnalyser};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::environment::Environment;

/// The analysers that run besides those of `review.commands`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnalyserSelection {
    /// Only those of `review.commands`.
    #[default]
    None,
    /// The well-known analysers that the repository configures and that are installed, unless they
    /// run code of the repository.
    Auto,
}

/// A well-known analyser that the repository configures and that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsableAnalyser {
    /// The analyser.
    pub known: &'static KnownAnalyser,
    /// The file of the repository that configures the analyser.
    pub configured_by: String,
}

impl UsableAnalyser {
    /// Returns the setting that makes the analyser run.
    pub fn how_to_run(&self) -> String {
        match self.known.runs_code {
            None => "`review.analysers: auto` runs it".to_owned(),
            Some(how) => format!(
                "it runs code of the repository ({how}), so add `{}` to `review.commands` to run it",
                self.known.name
            ),
        }
    }
}

/// Returns the analysers that files configure and that are installed on this machine.
pub fn find_usable(
    environment: &Environment,
    root: &Path,
    tree: &dyn Tree,
    paths: &[RepoPath],
) -> Result<Vec<UsableAnalyser>, TreeError> {
    let mut usable = Vec::new();
    for known in KNOWN_ANALYSERS {
        let Some(configured_by) = configuration_of(known, tree, paths)? else { continue };
        if is_installed(environment, root, known) {
            usable.push(UsableAnalyser { known, configured_by });
        }
    }
    Ok(usable)
}

/// The folders with the files by which a repository configures analysers.
const CONFIGURATION_FOLDERS: [&str; 3] = ["", ".github", ".semgrep"];

/// Returns the analysers that the files of a work tree configure and that are installed.
pub fn find_usable_on_disk(
    environment: &Environment,
    root: &Path,
) -> Result<Vec<UsableAnalyser>, TreeError> {
    let files = CONFIGURATION_FOLDERS.iter().flat_map(|folder| {
        let entries = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
        let files = entries.filter(|entry| entry.path().is_file());
        files.map(move |file| Path::new(folder).join(file.file_name()))
    });
    let mut paths: Vec<RepoPath> =
        files.filter_map(|file| RepoPath::exact(file.to_str()?).ok()).collect();
    paths.sort();
    find_usable(environment, root, &DirTree::new(root.to_owned()), &paths)
}

/// Returns true if the program of an analyser is on `PATH`, or in its folder of the repository.
fn is_installed(environment: &Environment, root: &Path, known: &KnownAnalyser) -> bool {
    let in_repository = known.own_folder.map(|folder| root.join(folder).join(known.program));
    in_repository.is_some_and(|file| file.is_file())
        || program_on_path(environment, known.program).is_some()
}

/// Returns the file of a program on `PATH`. Relative folders are left out: the repository could
/// have a program there.
fn program_on_path(environment: &Environment, program: &str) -> Option<PathBuf> {
    let path = environment.variable("PATH")?;
    let folders = path.split(':').map(Path::new).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// The analysers of a review with `review.analysers: auto`.
#[derive(Debug, Default)]
pub(crate) struct AutomaticAnalysers {
    /// The analysers that run.
    pub(crate) reviewers: Vec<CommandReviewer>,
    /// A note on each analyser that the repository configures and that does not run.
    pub(crate) notes: Vec<String>,
}

impl AutomaticAnalysers {
    /// Finds the analysers for a change: those that the repository configured before the change,
    /// without those of `configured`. A program of the repository does not run.
    pub(crate) fn of(
        environment: &Environment,
        change: &Change,
        configured: &[CommandReviewer],
    ) -> Result<AutomaticAnalysers, TreeError> {
        let base = change.base();
        let paths = base.paths()?;
        let mut found = AutomaticAnalysers::default();
        for usable in find_usable(environment, &change.root, base, &paths)? {
            let UsableAnalyser { known, configured_by } = &usable;
            if configured.iter().any(|command| command.name == known.name) {
                continue;
            }
            if known.runs_code.is_some() {
                let how = usable.how_to_run();
                found.notes.push(format!(
                    "{} did not run, although `{configured_by}` configures it: {how}",
                    known.name
                ));
                continue;
            }
            if let Some(program) = program_on_path(environment, known.program) {
                let mut reviewer = known.reviewer();
                reviewer.program = program.display().to_string();
                found.reviewers.push(reviewer);
            }
        }
        Ok(found)
    }
}
