//! The folder that an analyser ran in: [`Checkout`], and the meaning of the analyser's paths.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use assay_base::percent;
use assay_findings::grounding::Tree;
use assay_findings::path::RepoPath;

/// The folder that an analyser ran in, and the tree that it contains.
pub struct Checkout<'a> {
    /// The absolute paths of the folder: as given, and with links resolved.
    roots: Vec<String>,
    tree: &'a dyn Tree,
    /// A cache of existing and missing files, since a tree may have to start a program for each.
    known: RefCell<HashMap<RepoPath, bool>>,
}

impl<'a> Checkout<'a> {
    /// Creates a checkout from a folder and its tree.
    pub fn new(root: &Path, tree: &'a dyn Tree) -> Checkout<'a> {
        let given = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        let real = given.canonicalize().ok().filter(|real| *real != given);
        let mut roots: Vec<String> = std::iter::once(given)
            .chain(real)
            .filter_map(|root| root.to_str().map(|root| root.trim_end_matches('/').to_owned()))
            .filter(|root| !root.is_empty())
            .collect();
        // The longest first, so that of two nested paths the inner one is stripped.
        roots.sort_by_key(|root| std::cmp::Reverse(root.len()));
        Checkout { roots, tree, known: RefCell::default() }
    }

    /// Returns the text of a file; `None` if the tree lacks the file or cannot read it.
    pub(crate) fn read(&self, path: &RepoPath) -> Option<String> {
        self.tree.read(path).ok().flatten()
    }

    /// Returns true unless the tree is known to lack the file.
    pub(crate) fn has(&self, path: &RepoPath) -> bool {
        if let Some(known) = self.known.borrow().get(path) {
            return *known;
        }
        let has = self.tree.exists(path).unwrap_or(true);
        self.known.borrow_mut().insert(path.clone(), has);
        has
    }

    /// Parses a path as an analyser prints it: relative, absolute, or a `file:` URI.
    pub(crate) fn path(&self, text: &str) -> Result<RepoPath, String> {
        match text.get(..5) {
            Some(scheme) if scheme.eq_ignore_ascii_case("file:") => {
                self.plain_path(&from_file_uri(&text[5..]))
            }
            _ => self.plain_path(text),
        }
    }

    /// Parses a relative reference or a URI of SARIF, below its base if it names one.
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
        // Some tools write paths literally, with blanks and percent signs.
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
        // A name that exists in the tree is used as it is, whatever its characters.
        if let Ok(exact) = RepoPath::exact(relative)
            && self.has(&exact)
        {
            return Ok(exact);
        }
        let root = self.roots.first().map(String::as_str);
        RepoPath::parse(relative, root).map_err(|error| format!("{error}: `{text}`"))
    }
}

/// Returns the path in a `file:` URI, given the part after the scheme, with or without a host.
fn from_file_uri(rest: &str) -> String {
    let path = match rest.strip_prefix("//") {
        Some(with_host) => with_host.find('/').map_or("", |at| &with_host[at..]),
        None => rest,
    };
    percent::decode(path)
}

fn has_scheme(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| {
        // A single letter is the drive of a Windows path.
        scheme.len() > 1
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}
