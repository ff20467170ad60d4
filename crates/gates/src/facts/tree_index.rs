//! An index of the files and folders of a tree, for many lookups by name: [`TreeIndex`].

use std::collections::HashMap;

use assay_findings::grounding::{Tree, TreeError};
use assay_findings::path::RepoPath;

/// The files of a tree, by their names, and its folders.
#[derive(Debug)]
pub(crate) struct TreeIndex {
    pub(crate) paths: Vec<RepoPath>,
    by_name: HashMap<String, Vec<usize>>,
    /// The folders, each with the index of the first file in it.
    folders: HashMap<String, usize>,
    /// The error of listing the files; `None` if there was none.
    pub(crate) error: Option<TreeError>,
}

impl TreeIndex {
    /// Indexes a tree.
    pub(crate) fn of(tree: &dyn Tree) -> TreeIndex {
        match tree.paths() {
            Ok(paths) => TreeIndex::new(paths),
            Err(error) => TreeIndex { error: Some(error), ..TreeIndex::new(Vec::new()) },
        }
    }

    /// Indexes a list of files.
    pub(crate) fn new(paths: Vec<RepoPath>) -> TreeIndex {
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        let mut folders = HashMap::new();
        for (at, path) in paths.iter().enumerate() {
            let name = path.as_str().rsplit('/').next().unwrap_or_default();
            by_name.entry(name.to_owned()).or_default().push(at);
            let mut folder = path.as_str();
            while let Some((outer, _)) = folder.rsplit_once('/') {
                if folders.contains_key(outer) {
                    break;
                }
                folders.insert(outer.to_owned(), at);
                folder = outer;
            }
        }
        TreeIndex { paths, by_name, folders, error: None }
    }

    /// Returns the first file in a folder; `None` if there is no such folder.
    pub(crate) fn first_in(&self, folder: &str) -> Option<&RepoPath> {
        self.folders.get(folder.trim_end_matches('/')).map(|at| &self.paths[*at])
    }

    /// Returns the files whose path is `path` or ends with it.
    pub(crate) fn ending(&self, path: &str) -> Vec<&RepoPath> {
        let name = path.rsplit('/').next().unwrap_or_default();
        let places = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let ends = |found: &&RepoPath| {
            let rest = found.as_str().strip_suffix(path);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        places.iter().map(|at| &self.paths[*at]).filter(ends).collect()
    }
}
