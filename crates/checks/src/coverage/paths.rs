//! Names in a report as paths in the repository: [`Paths`].
//!
//! Tools name files by where they found them (absolute, from a folder above or below), by module (Go)
//! or by package (JaCoCo). The names of all files, and all their endings, are looked up in a table, so
//! a lookup costs what the name is long.

use std::collections::HashMap;

/// How deep a path may be: endings are kept for each folder of it.
const DEEPEST: usize = 64;

/// The files of a repository, to be found by what tools call them.
#[derive(Debug, Clone, Default)]
pub struct Paths {
    root: Option<String>,
    files: Vec<String>,
    /// Which file ends so; `None` if several do.
    endings: HashMap<String, Option<usize>>,
    /// Which file is called so in full.
    whole: HashMap<String, usize>,
}

impl Paths {
    /// Takes note of a repository's files, by their paths in it, and of where it lies.
    pub fn new(root: Option<&str>, files: impl IntoIterator<Item = String>) -> Paths {
        let root = root.map(|root| root.trim_end_matches('/').to_owned());
        let mut paths = Paths { root, ..Paths::default() };
        for file in files {
            let number = paths.files.len();
            for ending in endings(&file).take(DEEPEST) {
                let entry = paths.endings.entry(ending.to_owned());
                entry.and_modify(|found| *found = None).or_insert(Some(number));
            }
            paths.whole.insert(file.clone(), number);
            paths.files.push(file);
        }
        paths
    }

    /// Finds a file by what a tool calls it; names may start from one of some folders.
    pub fn find(&self, name: &str, sources: &[String]) -> Option<&str> {
        let name = tidy(name);
        let from_sources = sources.iter().take(DEEPEST).map(|source| format!("{source}/{name}"));
        let inside = std::iter::once(name.clone())
            .chain(from_sources)
            .find_map(|name| self.inside(&tidy(&name)));
        inside.or_else(|| self.outside(&name)).map(|number| self.files[number].as_str())
    }

    /// Finds a file that lies where the name says.
    fn inside(&self, name: &str) -> Option<usize> {
        let in_root = self.root.as_deref().and_then(|root| name.strip_prefix(root));
        let path = in_root.and_then(|path| path.strip_prefix('/')).unwrap_or(name);
        self.whole.get(path).copied()
    }

    /// Finds a file whose path is the end of the name, or the other way round: then there must be
    /// just one. From elsewhere on the disk, a bare file name is no proof.
    fn outside(&self, name: &str) -> Option<usize> {
        let is_absolute = name.starts_with('/');
        let of_name = endings(name).take(DEEPEST).skip(1);
        let found = of_name.filter(|ending| !is_absolute || ending.contains('/'));
        let found = found.filter_map(|ending| self.whole.get(ending)).next();
        if is_absolute || found.is_some() {
            return found.copied();
        }
        self.endings.get(name).copied().flatten()
    }
}

/// Writes a name as the repository would.
fn tidy(name: &str) -> String {
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

/// Returns the ends of a path, the longest first, each from a folder on.
fn endings(path: &str) -> impl Iterator<Item = &str> {
    let starts = path.match_indices('/').map(|(at, _)| at + 1);
    std::iter::once(0).chain(starts).map(|at| &path[at..])
}
