//! The comments of a pull request, as GitHub's API returns them.

use serde::Deserialize;
use serde_json::Value;

use super::{FormatError, range, typed};
use crate::comment::Comment;
use crate::score::CaseResult;

#[derive(Deserialize)]
struct ReviewComment {
    body: String,
    path: Option<String>,
    line: Option<u32>,
    start_line: Option<u32>,
    original_line: Option<u32>,
    original_start_line: Option<u32>,
    in_reply_to_id: Option<u64>,
}

/// Returns true if a value is a list whose entries have a body and no severity.
pub(super) fn is_comments(value: &Value) -> bool {
    let is_comment = |entry: &Value| {
        entry.get("body").is_some_and(Value::is_string) && entry.get("severity").is_none()
    };
    value.as_array().is_some_and(|entries| !entries.is_empty() && entries.iter().all(is_comment))
}

/// Parses review comments and comments on the conversation. Replies are not counted as comments of
/// a reviewer.
pub(super) fn parse(value: &Value) -> Result<CaseResult, FormatError> {
    let entries: Vec<ReviewComment> = typed("comments of GitHub", value)?;
    let first = entries.into_iter().filter(|entry| entry.in_reply_to_id.is_none());
    let comments = first.map(|entry| {
        // The lines of an outdated comment are those of the commit on which it was made.
        let end = entry.line.or(entry.original_line);
        let start = entry.start_line.or(entry.original_start_line).or(end);
        Comment {
            text: entry.body,
            path: entry.path,
            lines: range(start, end),
            ..Comment::default()
        }
    });
    Ok(CaseResult { comments: comments.collect(), ..CaseResult::default() })
}
