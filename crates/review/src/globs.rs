//! Patterns of paths, by which analysers and personas select files: [`Globs`].

use assay_findings::path::RepoPath;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Patterns of paths. A pattern without a `/` is matched with the name of a file, in any folder.
#[derive(Debug, Clone)]
pub struct Globs {
    /// The patterns; `None` matches everything.
    set: Option<GlobSet>,
}

/// The error for an invalid pattern.
#[derive(Debug, thiserror::Error)]
#[error("invalid path pattern `{glob}`")]
pub struct GlobsError {
    /// The text of the pattern.
    glob: String,
    source: globset::Error,
}

impl Globs {
    /// Creates patterns that match every file.
    pub fn all() -> Globs {
        Globs { set: None }
    }

    /// Parses patterns; an empty list matches no file.
    pub fn new<S: AsRef<str>>(globs: impl IntoIterator<Item = S>) -> Result<Globs, GlobsError> {
        let mut set = GlobSetBuilder::new();
        let failed = |glob: &str, source| GlobsError { glob: glob.to_owned(), source };
        for glob in globs {
            let glob = glob.as_ref();
            let whole = if glob.contains('/') { glob.to_owned() } else { format!("**/{glob}") };
            let built = GlobBuilder::new(whole.trim_start_matches('/'))
                .literal_separator(true)
                .build()
                .map_err(|source| failed(glob, source))?;
            set.add(built);
        }
        Ok(Globs { set: Some(set.build().map_err(|source| failed("", source))?) })
    }

    /// Returns true if a path matches any of the patterns.
    pub fn matches(&self, path: &RepoPath) -> bool {
        self.set.as_ref().is_none_or(|set| set.is_match(path.as_str()))
    }
}
