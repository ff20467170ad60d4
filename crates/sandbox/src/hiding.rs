//! What stays readable beside what is hidden: [`readable`].
//!
//! The kernel takes lists of what is allowed and none of what is forbidden. So the way from the root
//! to each hidden place is walked, and all that lies beside it is allowed, as it is at that moment.
//! The folders on the way are not: what may list one may list all below it. What is allowed holds
//! for a file or folder under whatever name, so none is that is hidden, or on the way, by another.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// How much may be allowed one by one. It is a fraction of a second's work.
const MOST: usize = 50_000;

/// What a file or folder is, whatever it is called: its device and its number there.
type Id = (u64, u64);

/// What is asked of a place, for all below it that nothing else is asked of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Hidden,
    Readable,
}

/// A place that something is asked of, or one on the way there.
#[derive(Debug, Default)]
struct Place {
    asked: Option<Asked>,
    /// Whether it is hidden, or something below it.
    hides: bool,
    below: BTreeMap<OsString, Place>,
}

/// The way to all places that something is asked of.
#[derive(Debug, Default)]
struct Ways {
    root: Place,
    /// What hides something, so that no other name opens it.
    hiding: HashSet<Id>,
}

/// Gives what is to be allowed, with all below it, so that all but the hidden places can be read;
/// nothing if none of them exists. Of two places of which one lies in the other, the inner one
/// decides: what is hidden is so in what is kept readable, and what is kept readable in what is hidden.
pub(crate) fn readable(hidden: &[PathBuf], kept: &[PathBuf]) -> io::Result<Option<Vec<PathBuf>>> {
    let mut ways = Ways::default();
    // What we cannot reach, the command cannot reach either: it is who we are.
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

    /// Gives what is open, if it is not too much.
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

    /// Gives what lies in a folder and is not itself on a way. A folder that we cannot list keeps all
    /// of that to itself.
    fn beside<'a>(
        &'a self,
        folder: &Path,
        place: &'a Place,
    ) -> impl Iterator<Item = PathBuf> + use<'a> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let others = entries.filter(|entry| !place.below.contains_key(&entry.file_name()));
        others.filter_map(|entry| {
            let found = entry.metadata().ok()?;
            // A link is read where it leads to.
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
