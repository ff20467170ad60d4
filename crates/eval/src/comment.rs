//! A reviewer's comment on a change, whichever tool made the comment: [`Comment`].

use serde::{Deserialize, Serialize};

/// A claim of a reviewer, as far as scoring needs to know.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Comment {
    /// The claim in words: title and description.
    pub text: String,
    /// The file, relative to the repository; `None` if the comment names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The first and last line; `None` if the comment names no line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    /// The severity in the tool's own word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// The probability that the claim is right, from 0 to 1, where the tool states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// True if the comment alone keeps the change from being merged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocks: bool,
}

/// Returns the comments without repetitions: of comments with the same place and the same words, the
/// first stays.
pub fn without_repetitions(comments: &[Comment]) -> Vec<Comment> {
    let mut seen = std::collections::HashSet::new();
    let key = |comment: &Comment| {
        let words: Vec<String> = comment.text.split_whitespace().map(str::to_lowercase).collect();
        (comment.path.as_deref().map(normal_path), comment.lines, words.join(" "))
    };
    comments.iter().filter(|comment| seen.insert(key(comment))).cloned().collect()
}

/// Returns a path without the prefixes that diffs and tools add: `a/`, `b/`, `./`, a leading slash.
/// Separators of Windows become slashes.
pub fn normal_path(path: &str) -> String {
    let path = path.trim().replace('\\', "/");
    let mut rest = path.as_str();
    while let Some(short) = rest.strip_prefix("./").or_else(|| rest.strip_prefix('/')) {
        rest = short;
    }
    rest.to_owned()
}

/// Returns true if two paths name one file: equal, or equal behind the prefix `a/` or `b/` of a diff.
pub fn is_same_file(a: &str, b: &str) -> bool {
    let (a, b) = (normal_path(a), normal_path(b));
    let behind_prefix =
        |path: &str| path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).map(str::to_owned);
    a == b || behind_prefix(&a).as_deref() == Some(&b) || behind_prefix(&b).as_deref() == Some(&a)
}
