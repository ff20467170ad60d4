//! Patterns of paths, by which analysers and personas name files: [`Globs`].

use assay_findings::path::RepoPath;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Patterns of paths. One without a `/` is held against the file's name, in any folder.
#[derive(Debug, Clone)]
pub struct Globs {
    /// `None` takes everything.
    set: Option<GlobSet>,
}

/// A text that is no pattern.
#[derive(Debug, thiserror::Error)]
#[error("`{glob}` is no pattern of paths")]
pub struct GlobsError {
    /// The text.
    glob: String,
    source: globset::Error,
}

impl Globs {
    /// Takes every file.
    pub fn all() -> Globs {
        Globs { set: None }
    }

    /// Reads patterns; none at all take no file.
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

    /// Says whether a file is one of them.
    pub fn matches(&self, path: &RepoPath) -> bool {
        self.set.as_ref().is_none_or(|set| set.is_match(path.as_str()))
    }
}
