//! The outputs of review tools: [`parse_output`] recognises the format and returns the comments.
//!
//! A text in none of the known JSON formats is parsed as a reviewer's text, as `assay findings
//! parse` does.

mod claude;
mod codex;
mod github;
mod rdjson;
mod sarif;
mod text;

use serde_json::Value;

use crate::comment::{Comment, deduplicate, normalize_path};
use crate::score::CaseResult;

/// An error for an output that contains no review.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The output is empty.
    #[error(
        "the output is empty; a review without findings has to say so, for example by an empty list"
    )]
    Empty,
    /// The output has a known format and is invalid.
    #[error("the output looks like {form}, and cannot be read: {reason}")]
    Broken {
        /// The name of the format.
        form: &'static str,
        /// The reason of the failure.
        reason: String,
    },
    /// The output has no known format.
    #[error("the output holds no findings in a form that is known: {0}")]
    Unknown(String),
}

/// Parses the output of a review tool on one case.
///
/// The known formats are: the JSON of `assay review` and of this crate, SARIF, rdjson and rdjsonl,
/// comments of a pull request as GitHub's API returns them, the review JSON of codex, the result of
/// claude with any of these as its answer, and any text that `assay findings parse` understands,
/// such as the answer of a model.
pub fn parse_output(text: &str) -> Result<CaseResult, FormatError> {
    let value = serde_json::from_str::<Value>(text).ok();
    let mut result = match value.as_ref().and_then(claude::session_result) {
        Some(session) => claude::parse(session)?,
        None => parse_review(text)?,
    };
    for comment in &mut result.comments {
        comment.path = comment.path.as_deref().map(normalize_path);
    }
    result.comments = deduplicate(&result.comments);
    Ok(result)
}

/// Parses a review that is not wrapped in the result of a session.
fn parse_review(text: &str) -> Result<CaseResult, FormatError> {
    if text.trim().is_empty() {
        return Err(FormatError::Empty);
    }
    let known = match serde_json::from_str::<Value>(text) {
        Ok(value) => parse_json(&value)?,
        Err(_) => rdjson::parse_lines(text)?,
    };
    known.map_or_else(|| text::parse(text), Ok)
}

fn parse_json(value: &Value) -> Result<Option<CaseResult>, FormatError> {
    let has = |key: &str| value.get(key).is_some_and(Value::is_array);
    if has("runs") {
        return sarif::parse(value).map(Some);
    }
    if has("diagnostics") {
        return rdjson::parse(value).map(Some);
    }
    if has("comments") {
        return typed::<CaseResult>("a list of comments", value).map(Some);
    }
    if has("held_back") && has("findings") {
        return text::parse_synthesis(value).map(Some);
    }
    if codex::is_review(value) {
        return codex::parse(value).map(Some);
    }
    if github::is_comments(value) {
        return github::parse(value).map(Some);
    }
    Ok(None)
}

fn typed<T: serde::de::DeserializeOwned>(
    form: &'static str,
    value: &Value,
) -> Result<T, FormatError> {
    T::deserialize(value).map_err(|error| FormatError::Broken { form, reason: error.to_string() })
}

/// Returns a result that is blocked if any of its comments blocks.
fn blocked_by_comments(comments: Vec<Comment>) -> CaseResult {
    CaseResult {
        blocks: comments.iter().any(|comment| comment.blocks),
        comments,
        ..CaseResult::default()
    }
}

/// Returns an ordered range of lines. Returns `None` without a first line, or if the first line is
/// zero.
fn range(start: Option<u32>, end: Option<u32>) -> Option<(u32, u32)> {
    let start = start.filter(|line| *line > 0)?;
    Some((start, end.unwrap_or(start).max(start)))
}
