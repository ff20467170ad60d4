//! Computes the paths that stay readable when others are hidden: [`readable_paths`].
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
const MAX_PATHS: usize = 50_000;

/// The identity of a file or folder, whatever its name: device and inode.
type FileId = (u64, u64);

/// The requested access for a path and everything below it, unless a path below has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Hidden,
    Readable,
}

/// A node of the path trie: a path with a requested access, or an ancestor of one.
#[derive(Debug, Default)]
struct Node {
    access: Option<Access>,
    /// True if this path, or a path below it, is hidden.
    hides: bool,
    children: BTreeMap<OsString, Node>,
}

/// The trie of all paths with a requested access.
#[derive(Debug, Default)]
struct PathTrie {
    root: Node,
    /// The ids of hidden paths and of their ancestors, so that no other name opens them.
    hiding: HashSet<FileId>,
}

/// Returns the paths to allow, each with everything below it, so that all but the hidden paths can
/// be read. Returns `None` if no hidden path exists. If one path lies in another, the inner one
/// decides: a path that is hidden inside of a readable one is hidden, and a path that is kept
/// readable inside of a hidden one is readable.
pub(crate) fn readable_paths(
    hidden: &[PathBuf],
    kept: &[PathBuf],
) -> io::Result<Option<Vec<PathBuf>>> {
    let mut trie = PathTrie::default();
    // A path that this process cannot reach, the command cannot reach either: both run as the same
    // user.
    hidden.iter().filter_map(|path| path.canonicalize().ok()).for_each(|path| trie.hide(&path));
    if !trie.root.hides {
        return Ok(None);
    }
    kept.iter().filter_map(|path| path.canonicalize().ok()).for_each(|path| trie.keep(&path));
    trie.walk(MAX_PATHS).map(Some)
}

impl PathTrie {
    fn hide(&mut self, path: &Path) {
        let (mut node, mut at) = (&mut self.root, PathBuf::from("/"));
        for name in names(path).map(Some).chain([None]) {
            if !std::mem::replace(&mut node.hides, true) {
                self.hiding.extend(fs::metadata(&at).map(|found| id(&found)).ok());
            }
            let Some(name) = name else { break };
            at.push(name);
            node = node.child(name);
        }
        node.access = Some(Access::Hidden);
    }

    fn keep(&mut self, path: &Path) {
        let node = names(path).fold(&mut self.root, Node::child);
        node.access = node.access.or(Some(Access::Readable));
    }

    /// Returns the readable paths. Fails if there are more than `most`.
    fn walk(&self, most: usize) -> io::Result<Vec<PathBuf>> {
        let mut open = Vec::new();
        let mut left = vec![(PathBuf::from("/"), &self.root, Access::Readable)];
        while let Some((path, node, around)) = left.pop() {
            let access = node.access.unwrap_or(around);
            if access == Access::Readable && !node.hides {
                open.push(path);
                continue;
            }
            if access == Access::Readable {
                open.extend(self.other_entries(&path, node).take(most + 1));
            }
            if open.len() > most {
                let why =
                    format!("too many entries beside the hidden paths in `{}`", path.display());
                return Err(io::Error::other(why));
            }
            let children = node.children.iter();
            left.extend(children.map(|(name, node)| (path.join(name), node, access)));
        }
        Ok(open)
    }

    /// Returns the entries of a folder that are not nodes of the trie. A folder that cannot be
    /// listed has none.
    fn other_entries<'a>(
        &'a self,
        folder: &Path,
        node: &'a Node,
    ) -> impl Iterator<Item = PathBuf> + use<'a> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let others = entries.filter(|entry| !node.children.contains_key(&entry.file_name()));
        others.filter_map(|entry| {
            let found = entry.metadata().ok()?;
            // A symbolic link is read at its target.
            let opens = !found.is_symlink() && !self.hiding.contains(&id(&found));
            opens.then(|| entry.path())
        })
    }
}

impl Node {
    fn child<'a>(&'a mut self, name: &OsStr) -> &'a mut Node {
        self.children.entry(name.to_owned()).or_default()
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

fn id(found: &Metadata) -> FileId {
    (found.dev(), found.ino())
}

#[cfg(test)]
mod tests;
