//! Which folder a prefix means: [`find`].

use std::path::{Path, PathBuf};

use assay_store::disk;

use super::SpecError;

/// Where specs lie, from the root.
pub(crate) const HOMES: [&str; 2] = ["specs", ".auto-claude/specs"];

/// Finds the folder of a spec, named from the root, by the beginning of its name.
///
/// A folder that has the whole name is meant even where others begin with it.
pub fn find(root: &Path, prefix: &str) -> Result<PathBuf, SpecError> {
    let is_name = !prefix.is_empty()
        && !prefix.contains("..")
        && !prefix.contains(|c: char| matches!(c, '/' | '\\') || c.is_control());
    if !is_name {
        return Err(SpecError::NoName { prefix: prefix.escape_debug().to_string() });
    }
    let there = all(root)?;
    let alike = |is_meant: &dyn Fn(&str) -> bool| -> Vec<PathBuf> {
        there.iter().filter(|folder| is_meant(name(folder))).cloned().collect()
    };
    let whole = alike(&|name| name == prefix);
    let mut found = if whole.is_empty() { alike(&|name| name.starts_with(prefix)) } else { whole };
    let prefix = prefix.to_owned();
    match found.len() {
        0 => Err(SpecError::None { prefix, there }),
        1 => inside(root, found.remove(0)),
        _ => Err(SpecError::Several { prefix, found }),
    }
}

/// Gives the path of a file in a spec's folder, which must not lead out of the tree.
pub fn file(root: &Path, folder: &Path, name: &str) -> Result<PathBuf, SpecError> {
    let path = folder.join(name);
    match root.join(&path).symlink_metadata() {
        Ok(_) => Ok(root.join(inside(root, path)?)),
        // What is not there leads nowhere, but its folder may.
        Err(_) => Ok(root.join(inside(root, folder.to_owned())?).join(name)),
    }
}

fn name(folder: &Path) -> &str {
    folder.file_name().and_then(|name| name.to_str()).unwrap_or("")
}

/// Lists the folders of all specs, in order.
pub fn all(root: &Path) -> Result<Vec<PathBuf>, SpecError> {
    let mut folders = Vec::new();
    for home in HOMES {
        let names = disk::names(&root.join(home))?.into_iter();
        let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
        names.sort();
        folders.extend(names.into_iter().map(|name| Path::new(home).join(name)));
    }
    folders.retain(|folder| root.join(folder).is_dir());
    Ok(folders)
}

/// Gives a path, from the root, if it is what it says: a link leads somewhere else, where the loop
/// does not know its own files.
fn inside(root: &Path, path: PathBuf) -> Result<PathBuf, SpecError> {
    let is_itself = match (root.canonicalize(), root.join(&path).canonicalize()) {
        (Ok(root), Ok(real)) => real == root.join(&path),
        _ => false,
    };
    if is_itself { Ok(path) } else { Err(SpecError::Outside { path }) }
}
