//! Paths of files in the repository under review: [`RepoPath`].

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A path relative to the root of the repository, with `/` between its parts, that does not leave
/// the repository.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct RepoPath(String);

/// The reason why a text is no path inside the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The path has no parts.
    #[error("the path is empty")]
    Empty,
    /// The path has a NUL, a line break, an escape or another control character.
    #[error("the path contains a control character")]
    ControlCharacter,
    /// The path is absolute and not below the root.
    #[error("the path is absolute and lies outside the repository")]
    Outside,
    /// The `..` of the path lead out of the root.
    #[error("the path leaves the repository")]
    Escapes,
}

impl RepoPath {
    /// Parses a path as a reviewer may write it. An absolute path is accepted if it is below
    /// `root`; `./`, `//` and back-slashes are normalised.
    pub fn parse(text: &str, root: Option<&str>) -> Result<RepoPath, PathError> {
        let text = text.trim().trim_matches('`');
        if is_plain(text) {
            return Ok(RepoPath(text.to_owned()));
        }
        if text.chars().any(char::is_control) {
            return Err(PathError::ControlCharacter);
        }
        let text = text.replace('\\', "/");
        let relative = match root.map(|root| root.trim_end_matches('/')) {
            Some(root) if !root.is_empty() && text.starts_with(root) => {
                let rest = &text[root.len()..];
                rest.strip_prefix('/').unwrap_or(&text)
            }
            _ => text.as_str(),
        };
        if relative.starts_with('/') || has_drive(relative) {
            return Err(PathError::Outside);
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in relative.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or(PathError::Escapes)?;
                }
                _ => parts.push(part),
            }
        }
        if parts.is_empty() { Err(PathError::Empty) } else { Ok(RepoPath(parts.join("/"))) }
    }

    /// Accepts a path of a tree: any name that a file can have, without normalising it.
    pub fn exact(path: &str) -> Result<RepoPath, PathError> {
        if path.is_empty() {
            return Err(PathError::Empty);
        }
        if path.starts_with('/') {
            return Err(PathError::Outside);
        }
        if path.split('/').any(|part| part == "..") {
            return Err(PathError::Escapes);
        }
        Ok(RepoPath(path.to_owned()))
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns true if a path needs no normalising: words with single slashes between them.
fn is_plain(path: &str) -> bool {
    let mut before = b'/';
    for byte in path.bytes() {
        let fine = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/');
        let parts_meet = before == b'/' && matches!(byte, b'/' | b'.');
        if !fine || parts_meet {
            return false;
        }
        before = byte;
    }
    before != b'/'
}

fn has_drive(path: &str) -> bool {
    let mut chars = path.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && chars.next() == Some('/')
}

impl TryFrom<String> for RepoPath {
    type Error = PathError;

    fn try_from(text: String) -> Result<Self, PathError> {
        RepoPath::exact(&text)
    }
}

impl From<RepoPath> for String {
    fn from(path: RepoPath) -> String {
        path.0
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let got = match RepoPath::parse(text, Some("/home/me/repo")) {
            Ok(path) => path.to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(got, expected, "{text:?}");
    }

    #[test]
    fn a_path_is_kept_relative_to_the_root() {
        check("src/a.rs", "src/a.rs");
        check("./src//a.rs", "src/a.rs");
        check("src\\win\\a.rs", "src/win/a.rs");
        check("/home/me/repo/src/a.rs", "src/a.rs");
        check("src/x/../a.rs", "src/a.rs");
        check("`src/a.rs`", "src/a.rs");
    }

    #[test]
    fn an_exact_path_is_not_normalised() {
        for name in ["a\nb.py", " a", "`tick`.py", "a\\b.py", "x//y"] {
            assert_eq!(RepoPath::exact(name).map(String::from), Ok(name.to_owned()));
        }
        assert_eq!(RepoPath::exact("../up"), Err(PathError::Escapes));
    }

    #[test]
    fn a_path_that_leaves_the_tree_is_refused() {
        check("/etc/passwd", "the path is absolute and lies outside the repository");
        check("/home/me/repository/a", "the path is absolute and lies outside the repository");
        check("C:\\windows", "the path is absolute and lies outside the repository");
        check("../secrets", "the path leaves the repository");
        check("a\0b", "the path contains a control character");
        check("a\nb", "the path contains a control character");
        check("./", "the path is empty");
    }
}
