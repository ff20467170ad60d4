//! The files of a recorded change: [`RecordedTree`].

use std::collections::BTreeMap;

use assay_findings::grounding::{Symbol, Tree, TreeError};
use assay_findings::path::RepoPath;
use serde::{Deserialize, Serialize};

/// A tree of recorded files. Files that were not recorded do not exist in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct RecordedTree(BTreeMap<RepoPath, String>);

impl RecordedTree {
    /// Reads files of a tree. Their texts pass `clean`, which removes what must not be stored.
    pub(crate) fn read_from(
        tree: &dyn Tree,
        paths: impl Iterator<Item = RepoPath>,
        clean: &dyn Fn(&str) -> String,
    ) -> RecordedTree {
        // A file that cannot be read is in the change's own list of errors, which is recorded too.
        let text = |path: &RepoPath| tree.read(path).ok().flatten();
        let read = |path: RepoPath| text(&path).map(|text| (path, clean(&text)));
        RecordedTree(paths.filter_map(read).collect())
    }

    /// Returns the size of all files in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.0.values().map(String::len).sum()
    }

    pub(super) fn size(&self, path: &RepoPath) -> Option<u64> {
        self.0.get(path).map(|text| text.len() as u64)
    }
}

impl From<BTreeMap<RepoPath, String>> for RecordedTree {
    fn from(files: BTreeMap<RepoPath, String>) -> RecordedTree {
        RecordedTree(files)
    }
}

impl Tree for RecordedTree {
    fn read(&self, path: &RepoPath) -> Result<Option<String>, TreeError> {
        Ok(self.0.get(path).cloned())
    }

    fn exists(&self, path: &RepoPath) -> Result<bool, TreeError> {
        Ok(self.0.contains_key(path))
    }

    fn symbol_at(&self, _path: &RepoPath, _line: u32) -> Result<Option<Symbol>, TreeError> {
        Ok(None)
    }

    fn paths(&self) -> Result<Vec<RepoPath>, TreeError> {
        Ok(self.0.keys().cloned().collect())
    }
}
