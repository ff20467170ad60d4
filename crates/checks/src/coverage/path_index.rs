//! Maps the file names in a report to paths in the repository: [`PathIndex`].
//!
//! Tools name files by the location where they found them (absolute, from a folder above or below),
//! by module (Go) or by package (JaCoCo). All paths and all their suffixes are in a table, so the
//! cost of a lookup depends only on the length of the name.

use std::collections::HashMap;

/// The maximum number of suffixes of a path: one is stored for each folder.
const MAX_SUFFIXES: usize = 64;

/// The files of a repository, indexed by the names that tools may use.
#[derive(Debug, Clone, Default)]
pub struct PathIndex {
    root: Option<String>,
    files: Vec<String>,
    /// The number of the file with a path suffix; `None` if several files have it.
    suffixes: HashMap<String, Option<usize>>,
    /// The number of the file with a full path.
    whole: HashMap<String, usize>,
}

impl PathIndex {
    /// Creates the index from the paths of the files in a repository, and its absolute path if it
    /// is on disk.
    pub fn new(root: Option<&str>, files: impl IntoIterator<Item = String>) -> PathIndex {
        let root = root.map(|root| root.trim_end_matches('/').to_owned());
        let mut paths = PathIndex { root, ..PathIndex::default() };
        for file in files {
            let number = paths.files.len();
            for ending in suffixes(&file).take(MAX_SUFFIXES) {
                let entry = paths.suffixes.entry(ending.to_owned());
                entry.and_modify(|found| *found = None).or_insert(Some(number));
            }
            paths.whole.insert(file.clone(), number);
            paths.files.push(file);
        }
        paths
    }

    /// Returns the path of the file that a tool calls `name`; the name may start from one of
    /// `sources`.
    pub fn find(&self, name: &str, sources: &[String]) -> Option<&str> {
        let name = normalize(name);
        let from_sources =
            sources.iter().take(MAX_SUFFIXES).map(|source| format!("{source}/{name}"));
        let inside = std::iter::once(name.clone())
            .chain(from_sources)
            .find_map(|name| self.find_exact(&normalize(&name)));
        inside.or_else(|| self.find_by_suffix(&name)).map(|number| self.files[number].as_str())
    }

    /// Finds a file whose full path is the name.
    fn find_exact(&self, name: &str) -> Option<usize> {
        let in_root = self.root.as_deref().and_then(|root| name.strip_prefix(root));
        let path = in_root.and_then(|path| path.strip_prefix('/')).unwrap_or(name);
        self.whole.get(path).copied()
    }

    /// Finds a file whose path is a suffix of the name, or else the only file with the name as a
    /// suffix. For an absolute name, a bare file name is not enough.
    fn find_by_suffix(&self, name: &str) -> Option<usize> {
        let is_absolute = name.starts_with('/');
        let of_name = suffixes(name).take(MAX_SUFFIXES).skip(1);
        let found = of_name.filter(|ending| !is_absolute || ending.contains('/'));
        let found = found.filter_map(|ending| self.whole.get(ending)).next();
        if is_absolute || found.is_some() {
            return found.copied();
        }
        self.suffixes.get(name).copied().flatten()
    }
}

/// Normalises a name to the form of paths in the repository.
fn normalize(name: &str) -> String {
    let name = name.replace('\\', "/");
    let name = name.strip_prefix("file://").unwrap_or(&name);
    let mut parts: Vec<&str> = Vec::new();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let slash = if name.starts_with('/') { "/" } else { "" };
    format!("{slash}{}", parts.join("/"))
}

/// Returns the suffixes of a path, the longest first, each beginning at a folder.
fn suffixes(path: &str) -> impl Iterator<Item = &str> {
    let starts = path.match_indices('/').map(|(at, _)| at + 1);
    std::iter::once(0).chain(starts).map(|at| &path[at..])
}
