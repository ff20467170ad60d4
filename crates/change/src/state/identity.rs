//! The identity of the repository at a path: [`repository_id`].
//!
//! State outside of a work tree is stored by the path of the work tree. Another repository may be
//! at that path later, so each repository gets a random id, in the folder of git. The id survives
//! `git gc`, is shared by all work trees of a repository and is not copied by a clone. If the id is
//! lost, a repository is recognised by a commit that it had when the id was created.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::git::Git;

/// The file in the folder of git that holds the id.
const ID_FILE: &str = "assay-repository";

/// The folder of the state home that records a commit of each repository from the time it got its
/// id.
const KNOWN_REPOSITORIES: &str = "repositories";

/// The number of characters of an id.
const ID_LENGTH: usize = 16;

/// Returns the id of the repository around a work tree; creates a missing id. Returns `None` if
/// there is no repository, or if its folder cannot be written. `key` is a hash of the path.
pub(super) fn repository_id(root: &Path, home: &Path, key: &str) -> Option<String> {
    let folder = common_folder(root)?;
    if let Some(id) = read_id(&folder) {
        return Some(id);
    }
    let id = known_id(root, home, key);
    write_id(&folder, id.as_deref()).ok()?;
    let id = read_id(&folder)?;
    // Without the record, the repository is not recognised once its id is lost.
    let _ = record(root, home, &format!("{key}-{id}"));
    Some(id)
}

/// Returns the folder of git that all work trees of the repository share.
fn common_folder(root: &Path) -> Option<PathBuf> {
    let link = root.join(".git");
    let about = fs::symlink_metadata(&link).ok()?;
    if about.is_dir() {
        return Some(link);
    }
    let text = fs::read_to_string(&link).ok()?;
    let folder = root.join(text.trim_end().strip_prefix("gitdir: ")?);
    match fs::read_to_string(folder.join("commondir")) {
        Ok(common) => Some(folder.join(common.trim_end())),
        Err(_) => Some(folder),
    }
}

fn read_id(folder: &Path) -> Option<String> {
    let path = folder.join(ID_FILE);
    let is_file = fs::symlink_metadata(&path).is_ok_and(|about| about.is_file());
    let id = is_file.then(|| fs::read_to_string(&path).ok()).flatten()?;
    let id = id.trim_end();
    let is_plain = id.len() == ID_LENGTH && id.chars().all(|c| c.is_ascii_alphanumeric());
    is_plain.then(|| id.to_owned())
}

/// Writes the known id, or else a random one. An id that another process wrote meanwhile stays.
fn write_id(folder: &Path, known: Option<&str>) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix("").rand_bytes(ID_LENGTH).tempfile_in(folder)?;
    let random = file.path().file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let id = known.unwrap_or(random).to_owned();
    writeln!(file, "{id}")?;
    let path = folder.join(ID_FILE);
    if read_id(folder).is_none() {
        // The content of the file is not an id.
        let _ = fs::remove_file(&path);
    }
    match file.persist_noclobber(&path) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Returns the former id of a repository at this path, if the repository has the recorded commit.
fn known_id(root: &Path, home: &Path, key: &str) -> Option<String> {
    let git = Git::find_without_filters(root).ok()?;
    let entries = fs::read_dir(home.join(KNOWN_REPOSITORIES)).ok()?;
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names.iter().find_map(|name| {
        let id = name.strip_prefix(key)?.strip_prefix('-')?;
        let commit = fs::read_to_string(home.join(KNOWN_REPOSITORIES).join(name)).ok()?;
        let is_here = git.resolve_if_known(commit.trim_end()).ok()?.is_some();
        is_here.then(|| id.to_owned())
    })
}

fn record(root: &Path, home: &Path, name: &str) -> io::Result<()> {
    let head =
        Git::find_without_filters(root).ok().and_then(|git| git.resolve_if_known("HEAD").ok()?);
    let Some(head) = head else { return Ok(()) };
    super::make_private(&home.join(KNOWN_REPOSITORIES))?;
    fs::write(home.join(KNOWN_REPOSITORIES).join(name), format!("{head}\n"))
}
