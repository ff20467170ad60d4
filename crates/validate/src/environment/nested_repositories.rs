//! Finds repositories within a work tree: git does not see their files, and checks read them.

use std::fs;
use std::path::Path;

use assay_change::StoredFiles;
use assay_checks::output_folders::is_output_folder;

use super::LocalEnvironment;
use super::surroundings::broken;
use crate::issue::Issue;
use crate::run::StepError;
use crate::surroundings::for_person;

/// Maximum number of folders that are searched.
const MAX_FOLDERS: usize = 20_000;

/// The name of a sample file, which represents all files of a folder for the ignore rules.
const WITHIN: &str = "file";

impl LocalEnvironment<'_> {
    /// Returns an issue for each repository within the tree that is no submodule of the base, and
    /// that the ignore rules of the base do not hide.
    pub(super) fn nested_repositories(
        &self,
        stored: &StoredFiles,
        base: Option<&str>,
    ) -> Result<Vec<Issue>, StepError> {
        let mut nested = repositories_below(&self.root);
        if let Some(base) = base.filter(|_| !nested.is_empty()) {
            let known = stored.files_of_revision(base).map_err(broken)?.submodules;
            nested.retain(|path| !known.contains_key(path));
            let within: Vec<String> =
                nested.iter().map(|path| format!("{path}/{WITHIN}")).collect();
            let shown = stored.newly_ignored_files(base, &within).map_err(broken)?;
            nested.retain(|path| shown.contains(&format!("{path}/{WITHIN}")));
        }
        let issue = |path: String| {
            let why = format!(
                "`{path}` is a nested git repository: no commit of this branch contains its \
                 files, and checks read them; delete its `.git`, or delete the folder"
            );
            let title = format!("Nested git repository: {path}");
            for_person(title, format!("nested:{path}"), why)
        };
        Ok(nested.into_iter().map(issue).collect())
    }
}

/// Returns the sorted paths, from the root, of folders that are repositories of their own. Folders
/// of installed packages and build output are not entered.
fn repositories_below(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![String::new()];
    let mut seen = 0;
    while let Some(folder) = waiting.pop() {
        seen += 1;
        if seen > MAX_FOLDERS {
            break;
        }
        for entry in fs::read_dir(root.join(&folder)).into_iter().flatten().flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
            if !is_folder || name == ".git" || is_output_folder(&name) {
                continue;
            }
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            match fs::symlink_metadata(root.join(&path).join(".git")).is_ok() {
                true => found.push(path),
                false => waiting.push(path),
            }
        }
    }
    found.sort();
    found
}
