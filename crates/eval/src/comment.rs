//! A reviewer's comment on a change, independent of the tool that made it: [`Comment`].

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// A claim of a reviewer, with the facts that scoring needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Comment {
    /// The claim in words: title, description, and the fix if there is one.
    pub text: String,
    /// The file, relative to the repository; `None` if the comment names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The first and last line; `None` if the comment names no line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    /// The severity in the tool's own word; `None` if the tool states none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// The probability that the claim is right, from 0 to 1; `None` if the tool states none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// True if the comment alone prevents a merge of the change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocks: bool,
}

/// Returns the comments without repetitions. Of comments with the same location and the same words,
/// the first is retained.
pub fn deduplicate(comments: &[Comment]) -> Vec<Comment> {
    let mut known: HashMap<_, Vec<&Comment>> = HashMap::new();
    let mut first = Vec::new();
    for comment in comments {
        let words: Vec<String> = comment.text.split_whitespace().map(str::to_lowercase).collect();
        let alike = known.entry((comment.lines, words.join(" "))).or_default();
        let is_in_one_file = |other: &&Comment| match (&other.path, &comment.path) {
            (Some(a), Some(b)) => is_same_file(a, b),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if !alike.iter().any(is_in_one_file) {
            alike.push(comment);
            first.push(comment.clone());
        }
    }
    first
}

/// Returns a path without `file://` and without a leading `./`, and with slashes as separators.
pub fn normalize_path(path: &str) -> String {
    let path = path.trim().replace('\\', "/");
    let mut rest = path.strip_prefix("file://").unwrap_or(&path);
    while let Some(short) = rest.strip_prefix("./") {
        rest = short;
    }
    rest.to_owned()
}

/// Returns true if two paths name the same file: they are equal, or equal after the prefix `a/` or
/// `b/` of a diff, or one is absolute and ends with the other.
pub fn is_same_file(a: &str, b: &str) -> bool {
    let (a, b) = (normalize_path(a), normalize_path(b));
    let stands_for = |long: &str, short: &str| {
        let behind_prefix = long.strip_prefix("a/").or_else(|| long.strip_prefix("b/"));
        let is_below = || long.strip_suffix(short).is_some_and(|folder| folder.ends_with('/'));
        behind_prefix == Some(short) || (is_absolute(long) && !short.is_empty() && is_below())
    };
    a == b || stands_for(&a, &b) || stands_for(&b, &a)
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.get(1..3) == Some(":/")
}
