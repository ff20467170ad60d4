//! Files that nobody looks at, each by a rule with a name.

use assay_findings::path::RepoPath;
use globset::{Glob, GlobMatcher};
use serde::{Deserialize, Serialize};

use crate::Change;

/// The names of lock files: what is in them was decided elsewhere.
const LOCK_FILES: [&str; 17] = [
    "Cargo.lock", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml",
    "bun.lock", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "Gemfile.lock",
    "composer.lock", "go.sum", "flake.lock", "mix.lock", "pubspec.lock", "Podfile.lock",
];

/// Lines of a minified file are longer than this on average.
const MINIFIED_LINE: usize = 200;

/// Why nobody looks at a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The rule, such as `lock file`.
    pub rule: String,
    /// Whether somebody could read it all the same.
    pub readable: bool,
}

/// A glob that is none.
#[derive(Debug, thiserror::Error)]
#[error("`{glob}` is no glob: {message}")]
pub struct GlobError {
    glob: String,
    message: String,
}

/// What is left out of a review besides what always is.
#[derive(Debug, Clone)]
pub struct LeaveOut {
    globs: Vec<GlobMatcher>,
    max_bytes: u64,
}

impl LeaveOut {
    /// Leaves out what matches a glob, and what is larger than so many bytes.
    pub fn new(globs: &[String], max_bytes: u64) -> Result<LeaveOut, GlobError> {
        let globs = globs.iter().map(|glob| {
            let fail = |error: globset::Error| GlobError {
                glob: glob.clone(),
                message: error.kind().to_string(),
            };
            Ok(Glob::new(glob).map_err(fail)?.compile_matcher())
        });
        Ok(LeaveOut { globs: globs.collect::<Result<_, GlobError>>()?, max_bytes })
    }

    /// Returns the rule by which a file is left out, if there is one.
    fn rule(&self, file: &Traits<'_>) -> Option<LeftOut> {
        let settled = |rule: String| Some(LeftOut { rule, readable: false });
        let readable = |rule: String| Some(LeftOut { rule, readable: true });
        let Traits { path, bytes, is_generated, is_minified } = *file;
        let name = path.rsplit('/').next().unwrap_or(path);
        let glob = self.globs.iter().find(|glob| glob.is_match(path));
        if let Some(glob) = glob {
            return settled(format!("ignored by `{}`", glob.glob().glob()));
        }
        if LOCK_FILES.contains(&name) {
            return settled("lock file".to_owned());
        }
        if is_generated {
            return settled("generated".to_owned());
        }
        if is_minified {
            return readable("minified".to_owned());
        }
        let too_large = bytes.is_some_and(|bytes| bytes > self.max_bytes);
        match too_large {
            true => readable(format!("larger than {} KiB", self.max_bytes >> 10)),
            false => None,
        }
    }
}

/// The traits of a file by which it may be left out.
struct Traits<'a> {
    path: &'a str,
    bytes: Option<u64>,
    is_generated: bool,
    is_minified: bool,
}

impl Change {
    /// Returns true if reviewers do not look at a file, whether or not the change touches it.
    pub fn leaves_out(&self, path: &RepoPath) -> bool {
        let touched = self.files.iter().find(|file| file.path() == path.as_str());
        match (touched, &self.leave_out) {
            (Some(file), _) => file.left_out.is_some(),
            (None, None) => false,
            (None, Some(rules)) => {
                let bytes = self.tree.size(path).ok().flatten();
                let (path, is_minified) = (path.as_str(), self.is_minified(path));
                rules.rule(&Traits { path, bytes, is_generated: false, is_minified }).is_some()
            }
        }
    }

    /// Returns true if a file is a link of the work tree, or lies behind one.
    pub fn is_behind_link(&self, path: &RepoPath) -> bool {
        let mut place = self.root.clone();
        self.is_in_work_tree()
            && path.as_str().split('/').any(|part| {
                place.push(part);
                place.is_symlink()
            })
    }

    /// Marks the files that nobody looks at.
    pub fn leave_out(&mut self, rules: &LeaveOut) {
        for at in 0..self.files.len() {
            let path = self.files[at].new_path.as_deref();
            let path = path.and_then(|path| RepoPath::exact(path).ok());
            // A file that cannot be read is not left out, and the change notes the error.
            let bytes = path.as_ref().and_then(|path| self.tree.size(path).ok().flatten());
            let is_minified = path.is_some_and(|path| self.is_minified(&path));
            let (path, is_generated) = (self.files[at].path(), self.files[at].generated);
            let traits = Traits { path, bytes, is_generated, is_minified };
            self.files[at].left_out = rules.rule(&traits);
        }
        self.leave_out = Some(rules.clone());
    }

    /// Says whether a file is minified: by its name, and by lines that nobody wrote.
    fn is_minified(&self, path: &RepoPath) -> bool {
        let named = path.as_str().ends_with(".min.js") || path.as_str().ends_with(".min.css");
        named
            && self.tree().read(path).is_ok_and(|text| {
                text.is_some_and(|text| text.len() > MINIFIED_LINE * text.lines().count().max(1))
            })
    }
}
