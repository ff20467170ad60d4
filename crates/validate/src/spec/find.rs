//! Finds the folder of a spec by the beginning of its name: [`find`].

use std::path::{Path, PathBuf};

use assay_store::durable_fs;

use super::SpecError;
use crate::file_names::SPEC_HOMES;

/// Returns the path, from the root, of the folder of a spec, found by the beginning of its name or
/// by its whole path from the root.
///
/// A prefix of several folders is an error, even if it is the whole name of one of them: a folder
/// `001` must not be mistaken for `001-login`.
pub fn find(root: &Path, prefix: &str) -> Result<PathBuf, SpecError> {
    let there = all(root)?;
    if let Some(folder) = there.iter().find(|folder| folder.to_str() == Some(prefix)) {
        return inside(root, folder.clone());
    }
    let is_name = !prefix.is_empty()
        && !prefix.contains("..")
        && !prefix.contains(|c: char| matches!(c, '/' | '\\') || c.is_control());
    if !is_name {
        return Err(SpecError::NoName { prefix: prefix.escape_debug().to_string() });
    }
    let is_meant = |folder: &&PathBuf| name(folder).starts_with(prefix);
    let mut found: Vec<PathBuf> = there.iter().filter(is_meant).cloned().collect();
    let prefix = prefix.to_owned();
    match found.len() {
        0 => Err(SpecError::None { prefix, there }),
        1 => inside(root, found.remove(0)),
        _ => Err(SpecError::Several { prefix, found }),
    }
}

/// Returns the path of a file in the folder of a spec. Fails if a link leads to another place.
pub fn file(root: &Path, folder: &Path, name: &str) -> Result<PathBuf, SpecError> {
    let path = folder.join(name);
    match root.join(&path).symlink_metadata() {
        Ok(_) => Ok(root.join(inside(root, path)?)),
        // A file that is absent is no link, but its folder may be one.
        Err(_) => Ok(root.join(inside(root, folder.to_owned())?).join(name)),
    }
}

fn name(folder: &Path) -> &str {
    folder.file_name().and_then(|name| name.to_str()).unwrap_or("")
}

/// Lists the folders of all specs, sorted within each home.
pub fn all(root: &Path) -> Result<Vec<PathBuf>, SpecError> {
    let mut folders = Vec::new();
    for home in SPEC_HOMES {
        let names = durable_fs::list_dir(&root.join(home))?.into_iter();
        let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
        names.sort();
        folders.extend(names.into_iter().map(|name| Path::new(home).join(name)));
    }
    folders.retain(|folder| root.join(folder).is_dir());
    Ok(folders)
}

/// Returns a path from the root. Fails if the path contains a link, since the loop would not
/// recognise its own files there.
fn inside(root: &Path, path: PathBuf) -> Result<PathBuf, SpecError> {
    let is_itself = match (root.canonicalize(), root.join(&path).canonicalize()) {
        (Ok(root), Ok(real)) => real == root.join(&path),
        _ => false,
    };
    if is_itself { Ok(path) } else { Err(SpecError::Outside { path }) }
}
