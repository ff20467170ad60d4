//! Protects git's own folder from checks and fixers: [`GitGuard`].
//!
//! The kernel cannot forbid writes to a folder inside of a writable one. So the guard compares the
//! files that decide which programs git runs and which files git ignores, and the refs that decide
//! about the base, before and after a run, and restores them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use assay_change::{BaseRefs, StoredFiles};
use assay_checks::check::{CheckOutcome, CheckState};
use assay_findings::write::escape::chain;

use crate::run::StepError;

/// Files and folders of git's own folder that decide which programs git runs and which files git
/// sees.
const GUARDED: [&str; 9] = [
    "config", "config.worktree", "hooks", "info", "HEAD", "commondir", "shallow", "objects/info",
    "assay-repository",
];

/// Maximum size, in bytes, of a file that is read for restoring.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The content and the mode of a file in git's own folder.
type GitFile = (Vec<u8>, u32);

/// A snapshot of git's own folder, and of the refs that decide about the base, from before code of
/// the tree ran.
#[derive(Debug)]
pub(super) struct GitGuard {
    folders: Vec<PathBuf>,
    refs: BaseRefs,
    before: BTreeMap<PathBuf, GitFile>,
}

impl GitGuard {
    /// Takes a snapshot of git's own folder.
    pub(super) fn of(root: &Path, stored: &StoredFiles) -> Result<GitGuard, StepError> {
        let broken = |error| StepError::Round(chain(&error));
        let mut folders =
            vec![stored.git_folder().map_err(broken)?, stored.common_folder().map_err(broken)?];
        folders.dedup();
        let before = guarded(&folders);
        let refs = BaseRefs::read(root).map_err(broken)?;
        Ok(GitGuard { folders, refs, before })
    }

    /// Restores the files that a check changed in git's own folder. A check that changed any has
    /// failed.
    pub(super) fn hold(&self, mut outcome: CheckOutcome) -> Result<CheckOutcome, StepError> {
        let changed = self.put_back()?;
        if !changed.is_empty() {
            let why = format!(
                "the check changed {}, which assay restored: a check must not write to the `.git` \
                 folder",
                changed.join(", ")
            );
            outcome.notes.push(why.clone());
            outcome.state = CheckState::Failed { why };
            // Tests that passed with a changed git folder prove nothing.
            outcome.tests = None;
        }
        Ok(outcome)
    }

    /// Restores the changed files and refs, and returns their names.
    pub(super) fn put_back(&self) -> Result<Vec<String>, StepError> {
        let after = guarded(&self.folders);
        let mut changed = Vec::new();
        let paths = self.before.keys().chain(after.keys());
        let paths: std::collections::BTreeSet<&PathBuf> = paths.collect();
        for path in paths {
            let (old, new) = (self.before.get(path), after.get(path));
            if old == new {
                continue;
            }
            let put = match old {
                Some((bytes, mode)) => put(path, bytes, *mode),
                None => fs::remove_file(path),
            };
            put.map_err(|error| {
                let path = path.display();
                StepError::Fatal(format!(
                    "cannot restore `{path}` after a check changed it: {error}"
                ))
            })?;
            changed.push(format!("`{}`", self.shown(path)));
        }
        let moved = self.refs.restore();
        changed.extend(moved.map_err(|error| StepError::Fatal(chain(&error)))?);
        Ok(changed)
    }

    fn shown(&self, path: &Path) -> String {
        let below = self.folders.iter().find_map(|folder| path.strip_prefix(folder).ok());
        below.map_or(path.display().to_string(), |below| format!(".git/{}", below.display()))
    }
}

fn put(path: &Path, bytes: &[u8], mode: u32) -> std::io::Result<()> {
    if fs::symlink_metadata(path).is_ok_and(|about| !about.is_file()) {
        // A link or a folder has replaced the file.
        fs::remove_file(path).or_else(|_| fs::remove_dir_all(path))?;
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, bytes)?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Reads all guarded files. The content of a link is its target.
fn guarded(folders: &[PathBuf]) -> BTreeMap<PathBuf, GitFile> {
    let mut found = BTreeMap::new();
    let mut waiting: Vec<PathBuf> =
        folders.iter().flat_map(|folder| GUARDED.map(|name| folder.join(name))).collect();
    while let Some(path) = waiting.pop() {
        let Ok(about) = fs::symlink_metadata(&path) else { continue };
        let mode = about.permissions().mode();
        if about.is_dir() {
            waiting.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|it| it.path()));
        } else if about.is_symlink() {
            let to = fs::read_link(&path).unwrap_or_default();
            found.insert(path, (to.into_os_string().into_encoded_bytes(), mode));
        } else if about.len() <= MAX_FILE_BYTES {
            found.insert(path.clone(), (fs::read(&path).unwrap_or_default(), mode));
        }
    }
    found
}
