//! A tree of files that are only named.

use std::collections::BTreeSet;

use assay_findings::ground::{Symbol, Tree};
use assay_findings::path::RepoPath;

/// Files without content.
pub(crate) struct MemoryTree(BTreeSet<RepoPath>);

impl MemoryTree {
    /// Makes a tree of the paths in a text, with blanks between them.
    pub(crate) fn of(paths: &str) -> MemoryTree {
        MemoryTree(paths.split_whitespace().map(|path| RepoPath::exact(path).unwrap()).collect())
    }
}

impl Tree for MemoryTree {
    fn read(&self, path: &RepoPath) -> Option<String> {
        self.exists(path).then(String::new)
    }

    fn exists(&self, path: &RepoPath) -> bool {
        self.0.contains(path)
    }

    fn symbol_at(&self, _: &RepoPath, _: u32) -> Option<Symbol> {
        None
    }

    fn paths(&self) -> Vec<RepoPath> {
        self.0.iter().cloned().collect()
    }
}
