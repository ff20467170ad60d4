//! The files after a change: [`DirTree`] on disk, [`GitTree`] in a commit or the index.

use std::fs;
use std::path::{Path, PathBuf};

use assay_findings::ground::{Symbol, Tree};
use assay_findings::path::RepoPath;

use crate::git::{Git, text};

/// Larger files are not read.
const MAX_FILE: u64 = 16 << 20;

#[derive(Debug)]
pub(crate) enum TreeKind {
    Dir(DirTree),
    Git(GitTree),
}

/// A folder. Links are followed only to what lies inside it.
#[derive(Debug, Clone)]
pub struct DirTree {
    root: PathBuf,
    /// The root without links, to hold other paths against.
    real_root: PathBuf,
}

impl DirTree {
    /// Opens a folder as a tree.
    pub fn new(root: PathBuf) -> DirTree {
        let real_root = root.canonicalize().unwrap_or_else(|_| root.clone());
        DirTree { root, real_root }
    }

    /// Gives the file's real path, if it is a file inside the tree.
    fn inside(&self, path: &RepoPath) -> Option<PathBuf> {
        let real = self.root.join(path.as_str()).canonicalize().ok()?;
        (real.starts_with(&self.real_root) && real.is_file()).then_some(real)
    }
}

impl Tree for DirTree {
    fn read(&self, path: &RepoPath) -> Option<String> {
        let real = self.inside(path)?;
        if fs::metadata(&real).ok()?.len() > MAX_FILE {
            return None;
        }
        as_text(fs::read(real).ok()?)
    }

    fn exists(&self, path: &RepoPath) -> bool {
        self.inside(path).is_some()
    }

    fn symbol_at(&self, _path: &RepoPath, _line: u32) -> Option<Symbol> {
        None
    }

    fn paths(&self) -> Vec<RepoPath> {
        let mut found = Vec::new();
        let mut waiting = vec![self.root.clone()];
        while let Some(folder) = waiting.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() && entry.file_name() != ".git" {
                    waiting.push(entry.path());
                } else if kind.is_file() {
                    found.extend(relative(&self.root, &entry.path()));
                }
            }
        }
        found.sort();
        found
    }
}

fn relative(root: &Path, path: &Path) -> Option<RepoPath> {
    let path = path.strip_prefix(root).ok()?;
    RepoPath::exact(path.to_str()?).ok()
}

fn as_text(bytes: Vec<u8>) -> Option<String> {
    let is_binary = bytes[..bytes.len().min(8_000)].contains(&0);
    (!is_binary).then(|| text(&bytes))
}

/// The files of a commit, or of the index.
#[derive(Debug)]
pub struct GitTree {
    git: Git,
    /// What stands before the path: a commit, or nothing for the index.
    revision: String,
}

impl GitTree {
    pub(crate) fn revision(git: Git, revision: String) -> GitTree {
        GitTree { git, revision }
    }

    pub(crate) fn index(git: Git) -> GitTree {
        GitTree { git, revision: String::new() }
    }

    fn object(&self, path: &RepoPath) -> String {
        format!("{}:{path}", self.revision)
    }
}

impl Tree for GitTree {
    fn read(&self, path: &RepoPath) -> Option<String> {
        as_text(self.git.run(&["cat-file", "blob", &self.object(path)]).ok()?)
    }

    fn exists(&self, path: &RepoPath) -> bool {
        self.git.run(&["cat-file", "-e", &self.object(path)]).is_ok()
    }

    fn symbol_at(&self, _path: &RepoPath, _line: u32) -> Option<Symbol> {
        None
    }

    fn paths(&self) -> Vec<RepoPath> {
        let listed = match self.revision.as_str() {
            "" => self.git.run(&["ls-files", "-z"]),
            revision => self.git.run(&["ls-tree", "-r", "-z", "--name-only", revision]),
        };
        let listed = listed.unwrap_or_default();
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        names.filter_map(|name| RepoPath::exact(&text(name)).ok()).collect()
    }
}
