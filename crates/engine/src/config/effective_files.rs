//! The files of a repository that decide on the review of a change, in the version that applies:
//! [`read_effective`], [`read_effective_files`].
//!
//! A change does not configure its own review: if the change touches a file or may contain it, the
//! version before the change is used.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::Path;

use anyhow::bail;
use assay_change::Change;
use assay_change::diff::{FileDiff, Mode};
use assay_change::state::is_at_or_below;
use assay_change::tree::DirTree;
use assay_findings::grounding::{Tree, TreeError};
use assay_findings::path::RepoPath;

use super::{PERSONAS_FOLDER, RULES_FOLDER, TEMPLATES_FOLDER};

/// Returns true if a change touches a path, a file below it, or a parent of it, which may have
/// become a symbolic link. A review of all files touches only links, whose targets are not compared,
/// and files that differ from the last commit.
pub(super) fn touches(change: &Change, place: &str) -> bool {
    let is_near = |file: &&FileDiff| {
        let paths = [file.old_path.as_deref(), file.new_path.as_deref()];
        let mut paths = paths.into_iter().flatten();
        paths.any(|path| is_at_or_below(path, place) || is_at_or_below(place, path))
    };
    let mut touched = change.files.iter().filter(is_near).peekable();
    match change.is_whole_tree && touched.peek().is_some() {
        true => touched.any(|file| is_link(change, file)) || !is_same_text(change, place),
        false => touched.peek().is_some(),
    }
}

/// Returns true if a changed file is a symbolic link, in the change or in the work tree.
fn is_link(change: &Change, file: &FileDiff) -> bool {
    let found = change.root.join(file.path()).symlink_metadata();
    file.new_mode == Some(Mode::Link) || found.is_ok_and(|found| found.is_symlink())
}

/// Returns true if the files at a path and below it have the same text before and after a change.
fn is_same_text(change: &Change, place: &str) -> bool {
    let texts = |tree: &dyn Tree| -> Result<BTreeMap<RepoPath, Option<String>>, TreeError> {
        let paths = tree.paths()?.into_iter();
        let paths = paths.filter(|path| is_at_or_below(path.as_str(), place));
        paths.map(|path| Ok((path.clone(), tree.read(&path)?))).collect()
    };
    let (before, after) = (texts(change.base()), texts(change.tree()));
    before.is_ok_and(|before| after.is_ok_and(|after| before == after))
}

/// Returns true if a tracked path may belong to a change of which only some paths were requested.
pub(super) fn may_belong(change: &Change, path: &str) -> bool {
    change.is_limited && assay_change::is_tracked(&change.root, path)
}

/// Reads a file that decides on the review of a change. The version before the change is used if
/// the change touches the file or may contain it, otherwise the one in the work tree. Adds a note
/// if the change touches the file, or if the work tree differs from the version before.
pub(super) fn read_effective(
    change: &Change,
    path: &str,
    what: &str,
    notes: &mut Vec<String>,
) -> anyhow::Result<Option<String>> {
    let before = read_before(change, path)?;
    if touches(change, path) {
        notes.push(format!("the change modifies {what}; using the version before the change"));
        return Ok(before);
    }
    let now = read_optional(&change.root, path)?;
    if now != before && may_belong(change, path) {
        notes.push(format!("{what} may belong to the change; using the version before the change"));
        return Ok(before);
    }
    if now != before && now.is_some() {
        notes.push(format!("using an uncommitted version of {what}"));
    }
    Ok(now)
}

/// Reads the version of a file before a change; `None` if the file did not exist. A file that git
/// cannot return, or that is not text, is an error: its content is unknown, so no default may
/// replace it.
pub(super) fn read_before(change: &Change, path: &str) -> anyhow::Result<Option<String>> {
    let before = RepoPath::exact(path)?;
    match change.base().read(&before)? {
        None if change.base().exists(&before)? => {
            bail!("cannot read `{path}` before the change: it is not text, or too large")
        }
        text => Ok(text),
    }
}

/// Reads a file of a work tree; `None` if there is none. Fails for a symbolic link out of the work
/// tree, a device, and a file that is too large.
pub(crate) fn read_optional(root: &Path, path: &str) -> anyhow::Result<Option<String>> {
    match fs::symlink_metadata(root.join(path)) {
        Ok(_) => {}
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(None),
        Err(error) => {
            return Err(TreeError::read(&RepoPath::exact(path)?, error).into());
        }
    }
    match DirTree::new(root.to_owned()).read(&RepoPath::exact(path)?)? {
        Some(text) => Ok(Some(text)),
        None => {
            bail!("cannot read `{path}`: it is not a text file of this repository, or too large")
        }
    }
}

/// Returns true if a file is a rule file by its name, and no file of examples.
pub(crate) fn is_rule_file(name: &str) -> bool {
    let is_yaml = name.ends_with(".yml") || name.ends_with(".yaml");
    is_yaml && !name.ends_with(".test.yml") && !name.ends_with(".test.yaml")
}

/// A kind of files of a repository that decide on reviews.
pub(super) struct SettingsFiles {
    folder: &'static str,
    /// The plural noun for the files, for messages.
    what: &'static str,
    is_match: fn(&str) -> bool,
}

pub(super) const RULE_FILES: SettingsFiles =
    SettingsFiles { folder: RULES_FOLDER, what: "rules", is_match: is_rule_file };

pub(super) const PERSONA_FILES: SettingsFiles = SettingsFiles {
    folder: PERSONAS_FOLDER,
    what: "personas",
    is_match: |name| name.ends_with(".md"),
};

/// Returns true if a file is a template of findings by its name.
fn is_template_file(name: &str) -> bool {
    name.ends_with(".yml") || name.ends_with(".yaml")
}

pub(super) const TEMPLATE_FILES: SettingsFiles =
    SettingsFiles { folder: TEMPLATES_FOLDER, what: "templates", is_match: is_template_file };

/// Returns the files of a repository that apply to a change, by the same rule as its configuration.
pub(super) fn read_effective_files(
    change: &Change,
    files: &SettingsFiles,
    notes: &mut Vec<String>,
) -> anyhow::Result<Vec<(String, String)>> {
    let what = files.what;
    if touches(change, files.folder) {
        notes.push(format!(
            "the change modifies the repository's {what}; using those before the change"
        ));
        return files.before(change);
    }
    let (now, before) = (files.on_disk(&change.root)?, files.before(change)?);
    if now != before && may_belong(change, files.folder) {
        notes.push(format!(
            "the repository's {what} may belong to the change; using those before the change"
        ));
        return Ok(before);
    }
    if !now.is_empty() && now != before {
        notes.push(format!("using uncommitted versions of the repository's {what}"));
    }
    Ok(now)
}

impl SettingsFiles {
    fn before(&self, change: &Change) -> anyhow::Result<Vec<(String, String)>> {
        let paths = change.base().paths()?;
        let files = paths.iter().filter(|path| is_at_or_below(path.as_str(), self.folder));
        let files = files.filter(|path| (self.is_match)(path.as_str()));
        files
            .map(|path| {
                let text = read_before(change, path.as_str())?;
                Ok((path.to_string(), text.unwrap_or_default()))
            })
            .collect()
    }

    /// Reads the files from a work tree: path and content of each.
    fn on_disk(&self, root: &Path) -> anyhow::Result<Vec<(String, String)>> {
        let parent = root.join(self.folder);
        match fs::symlink_metadata(&parent) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Ok(Vec::new()),
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(TreeError::list(error).into()),
        }
        let paths = DirTree::new(parent).paths()?;
        let files = paths.into_iter().filter(|path| (self.is_match)(path.as_str()));
        let files = files.map(|path| {
            let path = format!("{}/{path}", self.folder);
            let text = read_optional(root, &path)?.unwrap_or_default();
            Ok((path, text))
        });
        files.collect()
    }
}

/// Reads the rules of a work tree: path and content of each file.
pub(crate) fn rules_on_disk(root: &Path) -> anyhow::Result<Vec<(String, String)>> {
    RULE_FILES.on_disk(root)
}

/// Reads the templates of a work tree: path and content of each file.
pub(crate) fn templates_on_disk(root: &Path) -> anyhow::Result<Vec<(String, String)>> {
    TEMPLATE_FILES.on_disk(root)
}

/// Reads the personas of a work tree: path and content of each file.
pub(crate) fn personas_on_disk(root: &Path) -> anyhow::Result<Vec<(String, String)>> {
    PERSONA_FILES.on_disk(root)
}
