//! The path of a project on GitLab: [`ProjectPath`].

use std::fmt;
use std::str::FromStr;

use assay_base::text::first_chars;
use serde::{Deserialize, Serialize};

/// The maximum length of a path, in bytes.
const MAX_BYTES: usize = 1_000;

/// The error for a text that is no path of a project.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid project {0:?}: expected `group/name`, with any number of subgroups between")]
pub struct ProjectPathError(String);

/// The path of a project: its groups and its name, such as `group/subgroup/name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProjectPath(Box<str>);

impl ProjectPath {
    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns true if a text is the name of a group or a project.
fn is_segment(text: &str) -> bool {
    let is_start = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    text.as_bytes().first().is_some_and(is_start) && text.bytes().all(is_inside)
}

impl FromStr for ProjectPath {
    type Err = ProjectPathError;

    fn from_str(text: &str) -> Result<ProjectPath, ProjectPathError> {
        let is_path = text.contains('/') && text.split('/').all(is_segment);
        match is_path && text.len() <= MAX_BYTES {
            true => Ok(ProjectPath(text.into())),
            false => Err(ProjectPathError(first_chars(text, 80).to_owned())),
        }
    }
}

impl TryFrom<String> for ProjectPath {
    type Error = ProjectPathError;

    fn try_from(text: String) -> Result<ProjectPath, ProjectPathError> {
        text.parse()
    }
}

impl From<ProjectPath> for String {
    fn from(path: ProjectPath) -> String {
        path.0.into()
    }
}

impl fmt::Display for ProjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_has_one_or_more_groups() {
        for path in ["a/b", "group/sub-group/deep.er/name_1", "_a/b"] {
            assert_eq!(path.parse::<ProjectPath>().unwrap().to_string(), path);
        }
        for odd in ["", "a", "a/", "/a", "a//b", "a/../b", "a/b c", "a/-b", "a/b?x", "ä/b"] {
            assert!(odd.parse::<ProjectPath>().is_err(), "{odd}");
        }
    }
}
