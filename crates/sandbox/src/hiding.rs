//! Computes the paths that stay readable when others are hidden: [`readable`].
//!
//! Landlock takes a list of allowed paths and none of forbidden paths. So the path from the root to
//! each hidden file is walked, and every sibling on the way is allowed, as it exists at that
//! moment. The folders on the way are not allowed: a rule for a folder covers everything below it.
//! A rule applies to a file or folder by each of its names, so no rule is made for another name of
//! a hidden file or of a folder on the way to one.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// The maximum number of allowed paths. So many take a fraction of a second.
const MOST: usize = 50_000;

/// The identity of a file or folder, whatever its name: device and inode.
type Id = (u64, u64);

/// The requested access for a path and everything below it, unless a path below has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Hidden,
    Readable,
}

/// A node of the path trie: a path with a requested access, or an ancestor of one.
#[derive(Debug, Default)]
struct Place {
    asked: Option<Asked>,
    /// True if this path, or a path below it, is hidden.
    hides: bool,
    below: BTreeMap<OsString, Place>,
}

/// The trie of all paths with a requested access.
#[derive(Debug, Default)]
struct Ways {
    root: Place,
    /// The ids of hidden paths and of their ancestors, so that no other name opens them.
    hiding: HashSet<Id>,
}

/// Returns the paths to allow, each with everything below it, so that all but the hidden paths can
/// be read. Returns `None` if no hidden path exists. If one path lies in another, the inner one
/// decides: a path that is hidden inside of a readable one is hidden, and a path that is kept
/// readable inside of a hidden one is readable.
pub(crate) fn readable(hidden: &[PathBuf], kept: &[PathBuf]) -> io::Result<Option<Vec<PathBuf>>> {
    let mut ways = Ways::default();
    // A path that this process cannot reach, the command cannot reach either: both run as the same
    // user.
    hidden.iter().filter_map(|path| path.canonicalize().ok()).for_each(|path| ways.hide(&path));
    if !ways.root.hides {
        return Ok(None);
    }
    kept.iter().filter_map(|path| path.canonicalize().ok()).for_each(|path| ways.keep(&path));
    ways.walk(MOST).map(Some)
}

impl Ways {
    fn hide(&mut self, path: &Path) {
        let (mut place, mut at) = (&mut self.root, PathBuf::from("/"));
        for name in names(path).map(Some).chain([None]) {
            if !std::mem::replace(&mut place.hides, true) {
                self.hiding.extend(fs::metadata(&at).map(|found| id(&found)).ok());
            }
            let Some(name) = name else { break };
            at.push(name);
            place = place.below(name);
        }
        place.asked = Some(Asked::Hidden);
    }

    fn keep(&mut self, path: &Path) {
        let place = names(path).fold(&mut self.root, Place::below);
        place.asked = place.asked.or(Some(Asked::Readable));
    }

    /// Returns the readable paths. Fails if there are more than `most`.
    fn walk(&self, most: usize) -> io::Result<Vec<PathBuf>> {
        let mut open = Vec::new();
        let mut left = vec![(PathBuf::from("/"), &self.root, Asked::Readable)];
        while let Some((path, place, around)) = left.pop() {
            let asked = place.asked.unwrap_or(around);
            if asked == Asked::Readable && !place.hides {
                open.push(path);
                continue;
            }
            if asked == Asked::Readable {
                open.extend(self.beside(&path, place).take(most + 1));
            }
            if open.len() > most {
                let why =
                    format!("there is too much beside what is hidden in `{}`", path.display());
                return Err(io::Error::other(why));
            }
            let below = place.below.iter();
            left.extend(below.map(|(name, place)| (path.join(name), place, asked)));
        }
        Ok(open)
    }

    /// Returns the entries of a folder that are not nodes of the trie. A folder that cannot be
    /// listed has none.
    fn beside<'a>(
        &'a self,
        folder: &Path,
        place: &'a Place,
    ) -> impl Iterator<Item = PathBuf> + use<'a> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let others = entries.filter(|entry| !place.below.contains_key(&entry.file_name()));
        others.filter_map(|entry| {
            let found = entry.metadata().ok()?;
            // A symbolic link is read at its target.
            let opens = !found.is_symlink() && !self.hiding.contains(&id(&found));
            opens.then(|| entry.path())
        })
    }
}

impl Place {
    fn below<'a>(&'a mut self, name: &OsStr) -> &'a mut Place {
        self.below.entry(name.to_owned()).or_default()
    }
}

fn names(path: &Path) -> impl Iterator<Item = &OsStr> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            None
        }
    })
}

fn id(found: &Metadata) -> Id {
    (found.dev(), found.ino())
}

#[cfg(test)]
mod tests;
