//! Finds files whose bytes in the work tree differ from those in a commit, although git shows no
//! change.

use assay_change::{ConvertedFile, StoredFiles};
use assay_checks::module_loading::is_source;

use super::LocalEnvironment;
use super::surroundings::broken;
use crate::issue::Issue;
use crate::loop_files;
use crate::run::StepError;
use crate::surroundings::for_person;

/// Maximum number of files that are reported, each as an issue.
const MAX_CONVERTED: usize = 20;

/// The name of a file with attributes.
const ATTRIBUTES: &str = ".gitattributes";

impl LocalEnvironment<'_> {
    /// Returns an issue for each file whose bytes in the work tree differ from git's object,
    /// although git shows no change: the checks judge other bytes than the commit contains.
    pub(super) fn converted_files(
        &self,
        stored: &StoredFiles,
        base: Option<&str>,
    ) -> Result<Vec<Issue>, StepError> {
        let mut files = stored.converted_files().map_err(broken)?;
        files.retain(|file| {
            !loop_files::is_loop_output(&file.path) && !loop_files::is_loop_document(&file.path)
        });
        if files.iter().any(|file| !is_source(&file.path)) {
            let are_known = self.attributes_are_of_the_base(stored, base)?;
            files.retain(|file| is_source(&file.path) || !is_usual(file, are_known));
        }
        Ok(files.iter().take(MAX_CONVERTED).map(issue).collect())
    }

    /// Returns true if all attributes that convert files were in the base already.
    fn attributes_are_of_the_base(
        &self,
        stored: &StoredFiles,
        base: Option<&str>,
    ) -> Result<bool, StepError> {
        let Some(base) = base else { return Ok(false) };
        let tree = stored.files_of_revision(base).map_err(broken)?;
        let converts =
            |line: &&str| line.contains("filter") || line.contains("working-tree-encoding");
        let local = stored.common_folder().map_err(broken)?.join("info/attributes");
        if std::fs::read_to_string(local).is_ok_and(|text| text.lines().any(|it| converts(&it))) {
            return Ok(false);
        }
        let is_attributes =
            |path: &&String| path.rsplit('/').next().is_some_and(|name| name == ATTRIBUTES);
        for path in stored.work_tree_files().map_err(broken)?.iter().filter(is_attributes) {
            let before = tree.files.get(path).map(|file| stored.read(file)).transpose();
            let before = before.map_err(broken)?.unwrap_or_default();
            let now = std::fs::read(self.root.join(path)).unwrap_or_default();
            let (before, now) = (String::from_utf8_lossy(&before), String::from_utf8_lossy(&now));
            if now.lines().filter(converts).any(|line| !before.lines().any(|it| it == line)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns true if the conversion of a file that is no source is usual: an attribute that the base
/// has, or a large file.
fn is_usual(file: &ConvertedFile, are_known: bool) -> bool {
    let is_large = file.is_large_file && file.attribute.as_deref() == Some("filter=lfs");
    is_large || (file.attribute.is_some() && are_known)
}

fn issue(file: &ConvertedFile) -> Issue {
    let path = &file.path;
    let cause = match &file.attribute {
        Some(attribute) => format!("git converts `{path}` (`{attribute}`)"),
        None => format!("git assumes that `{path}` is unchanged"),
    };
    let why = format!(
        "{cause}, so the content in a commit differs from the work tree, which the checks test; \
         remove the conversion, or commit the file as it is"
    );
    let title = format!("Work tree and commit have different bytes: {path}");
    for_person(title, format!("converted:{path}"), why)
}
