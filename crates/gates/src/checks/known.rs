//! Which files there are, or will be once a plan is carried out: [`Known`].

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use assay_findings::ground::Tree;
use assay_findings::path::RepoPath;

use crate::plan::Plan;

/// The files of a tree, and those that a plan makes.
pub(super) struct Known<'a> {
    tree: &'a dyn Tree,
    new: HashSet<String>,
    /// Made when a file is not found by its name alone.
    index: OnceCell<Index>,
}

#[derive(Default)]
struct Index {
    folders: HashSet<String>,
    by_name: HashMap<String, Vec<String>>,
}

impl<'a> Known<'a> {
    /// Takes a tree and what a plan adds to it.
    pub(super) fn new(tree: &'a dyn Tree, plan: &Plan) -> Known<'a> {
        let mut new = plan.new_files();
        let folders: Vec<String> = new.iter().flat_map(|path| folders(path)).collect();
        new.extend(folders);
        Known { tree, new, index: OnceCell::new() }
    }

    /// Says whether there is such a file or folder. A path that leads out of the tree counts as
    /// there, since nobody can look.
    pub(super) fn has(&self, path: &str) -> bool {
        let Ok(path) = RepoPath::parse(path, None) else { return true };
        self.tree.exists(&path)
            || self.new.contains(path.as_str())
            || self.index().folders.contains(path.as_str())
    }

    /// Says whether there is a file whose path ends so, as plans leave the first folders out.
    pub(super) fn has_one_that_ends_in(&self, path: &str) -> bool {
        let Ok(path) = RepoPath::parse(path, None) else { return true };
        let path = path.as_str();
        let name = path.rsplit('/').next().unwrap_or(path);
        let candidates = self.index().by_name.get(name);
        let ends = |known: &String| {
            known
                .strip_suffix(path)
                .is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
        };
        candidates.is_some_and(|candidates| candidates.iter().any(ends))
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut index = Index::default();
            let there = self.tree.paths();
            let there = there.iter().map(RepoPath::as_str);
            for path in there.chain(self.new.iter().map(String::as_str)) {
                index.folders.extend(folders(path));
                let name = path.rsplit('/').next().unwrap_or(path);
                index.by_name.entry(name.to_owned()).or_default().push(path.to_owned());
            }
            index
        })
    }

    /// Says whether a link from a document leads nowhere. Only links to files can.
    pub(super) fn is_dead(&self, target: &str, document: &str) -> bool {
        let path = target.split(['#', '?']).next().unwrap_or("");
        if path.is_empty() || has_scheme(path) || path.starts_with("//") {
            return false;
        }
        let path = decoded(path);
        let from_root = match path.strip_prefix('/') {
            Some(path) => path.to_owned(),
            None => match document.rsplit_once('/') {
                Some((folder, _)) => format!("{folder}/{path}"),
                None => path,
            },
        };
        !self.has(&from_root)
    }
}

/// Gives the folders that a file lies in.
fn folders(path: &str) -> Vec<String> {
    path.match_indices('/').map(|(at, _)| path[..at].to_owned()).collect()
}

/// Says whether a target is an address: `https:`, `mailto:`.
fn has_scheme(target: &str) -> bool {
    target.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
    })
}

/// Puts the characters back that are written as `%20`.
fn decoded(path: &str) -> String {
    let bytes = path.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let digits = path.get(at + 1..at + 3).filter(|_| *byte == b'%');
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) => {
                plain.push(decoded);
                at += 3;
            }
            None => {
                plain.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(plain).unwrap_or_else(|_| path.to_owned())
}
