//! The folder that an analyser looked at: [`Checkout`], and what its paths mean there.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use assay_base::percent;
use assay_findings::ground::Tree;
use assay_findings::path::RepoPath;

/// The folder that an analyser ran in, and the tree that it holds.
pub struct Checkout<'a> {
    /// The folder's absolute paths: as it was given, and without links.
    roots: Vec<String>,
    tree: &'a dyn Tree,
    /// What is known of files, since a tree may have to start a program to tell.
    known: RefCell<HashMap<RepoPath, bool>>,
}

impl<'a> Checkout<'a> {
    /// Takes a folder that holds a tree.
    pub fn new(root: &Path, tree: &'a dyn Tree) -> Checkout<'a> {
        let given = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        let real = given.canonicalize().ok().filter(|real| *real != given);
        let mut roots: Vec<String> = std::iter::once(given)
            .chain(real)
            .filter_map(|root| root.to_str().map(|root| root.trim_end_matches('/').to_owned()))
            .filter(|root| !root.is_empty())
            .collect();
        // The longer one first, so that of two nested ones the inner one is taken off.
        roots.sort_by_key(|root| std::cmp::Reverse(root.len()));
        Checkout { roots, tree, known: RefCell::default() }
    }

    /// Returns a file's text, where the tree has the file and can read it.
    pub(crate) fn read(&self, path: &RepoPath) -> Option<String> {
        self.tree.read(path).ok().flatten()
    }

    /// Returns true unless the tree is known to have no such file.
    pub(crate) fn has(&self, path: &RepoPath) -> bool {
        if let Some(known) = self.known.borrow().get(path) {
            return *known;
        }
        let has = self.tree.exists(path).unwrap_or(true);
        self.known.borrow_mut().insert(path.clone(), has);
        has
    }

    /// Reads a path as an analyser prints it: relative, absolute, or a `file:` URI.
    pub(crate) fn path(&self, text: &str) -> Result<RepoPath, String> {
        match text.get(..5) {
            Some(scheme) if scheme.eq_ignore_ascii_case("file:") => {
                self.plain_path(&from_file_uri(&text[5..]))
            }
            _ => self.plain_path(text),
        }
    }

    /// Reads a relative reference or URI as SARIF has it, below a base where it names one.
    pub(crate) fn uri(&self, uri: &str, base: Option<&str>) -> Result<RepoPath, String> {
        let base = base.filter(|_| !has_scheme(uri) && !uri.starts_with('/'));
        let joined = match base {
            Some(base) => format!("{}/{uri}", base.trim_end_matches('/')),
            None => uri.to_owned(),
        };
        if has_scheme(&joined) {
            let is_file = joined.get(..5).is_some_and(|s| s.eq_ignore_ascii_case("file:"));
            return match is_file {
                true => self.path(&joined),
                false => Err(format!("`{joined}` is no file")),
            };
        }
        let decoded = percent::decode(&joined);
        // Some tools write paths as they are, blanks, percent signs and all.
        let literal = self.plain_path(&joined).ok().filter(|path| self.has(path));
        match self.plain_path(&decoded) {
            Ok(path) if literal.is_none() || self.has(&path) => Ok(path),
            decoded => literal.map_or(decoded, Ok),
        }
    }

    fn plain_path(&self, text: &str) -> Result<RepoPath, String> {
        let below = self.roots.iter().find_map(|root| {
            let rest = text.strip_prefix(root.as_str())?;
            rest.strip_prefix('/')
        });
        let relative = below.unwrap_or(text);
        let relative = relative.strip_prefix("./").unwrap_or(relative);
        // A name that the tree knows is taken as it is, whatever it is made of.
        if let Ok(exact) = RepoPath::exact(relative)
            && self.has(&exact)
        {
            return Ok(exact);
        }
        let root = self.roots.first().map(String::as_str);
        RepoPath::parse(relative, root).map_err(|error| format!("{error}: `{text}`"))
    }
}

/// Takes the path out of what follows `file:`, with or without a host.
fn from_file_uri(rest: &str) -> String {
    let path = match rest.strip_prefix("//") {
        Some(with_host) => with_host.find('/').map_or("", |at| &with_host[at..]),
        None => rest,
    };
    percent::decode(path)
}

fn has_scheme(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| {
        // A single letter is the drive of another system's path.
        scheme.len() > 1
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}
