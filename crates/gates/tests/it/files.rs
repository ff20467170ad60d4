//! A tree in memory.

use std::collections::BTreeMap;

use assay_findings::grounding::{Symbol, Tree, TreeError};
use assay_findings::path::RepoPath;

/// The texts of files, by path.
#[derive(Debug, Default)]
pub(crate) struct Files(BTreeMap<RepoPath, String>);

impl Files {
    /// Creates a tree from paths with blanks between them. The files are empty; `a.md#b` is a page
    /// with a heading.
    pub(crate) fn named(paths: &str) -> Files {
        let file = |named: &str| match named.split_once('#') {
            Some((path, heading)) => (at(path), format!("# {heading}\n")),
            None => (at(named), String::new()),
        };
        Files(paths.split_whitespace().map(file).collect())
    }

    /// Creates a tree from paths and texts.
    pub(crate) fn new(files: &[(&str, &str)]) -> Files {
        let files = files.iter().map(|(path, text)| (at(path), (*text).to_owned()));
        Files(files.collect())
    }
}

/// Returns a path.
pub(crate) fn at(path: &str) -> RepoPath {
    RepoPath::exact(path).unwrap()
}

impl Tree for Files {
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
