//! The diagnostics of reviewdog: one document, or one diagnostic on each line.

use serde::Deserialize;
use serde_json::Value;

use super::{FormatError, blocked_by_comments, range, typed};
use crate::comment::Comment;
use crate::score::CaseResult;

const FORMAT_NAME: &str = "rdjson";

#[derive(Deserialize)]
struct Document {
    diagnostics: Vec<Diagnostic>,
    severity: Option<Value>,
}

#[derive(Deserialize)]
struct Diagnostic {
    message: String,
    location: Option<Location>,
    severity: Option<Value>,
}

#[derive(Deserialize)]
struct Location {
    path: Option<String>,
    range: Option<Range>,
}

#[derive(Deserialize)]
struct Range {
    start: Option<Position>,
    end: Option<Position>,
}

#[derive(Deserialize)]
struct Position {
    line: Option<u32>,
}

/// Parses a document.
pub(super) fn parse(value: &Value) -> Result<CaseResult, FormatError> {
    let document: Document = typed(FORMAT_NAME, value)?;
    let default = document.severity;
    let comments = document.diagnostics.into_iter().map(|it| comment(it, default.as_ref()));
    Ok(blocked_by_comments(comments.collect()))
}

/// Parses diagnostics, one on each line. Returns `None` if the first line is not a diagnostic.
pub(super) fn parse_lines(text: &str) -> Result<Option<CaseResult>, FormatError> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let is_diagnostic = |line: &str| serde_json::from_str::<Diagnostic>(line).is_ok();
    if !lines().next().is_some_and(is_diagnostic) {
        return Ok(None);
    }
    let read = |line: &str| {
        let broken = |error: serde_json::Error| FormatError::Broken {
            form: "rdjsonl",
            reason: error.to_string(),
        };
        serde_json::from_str::<Diagnostic>(line).map(|it| comment(it, None)).map_err(broken)
    };
    let comments = lines().map(read).collect::<Result<Vec<Comment>, FormatError>>()?;
    Ok(Some(blocked_by_comments(comments)))
}

fn comment(diagnostic: Diagnostic, default: Option<&Value>) -> Comment {
    // A severity is a word, or the number of that word in the protocol.
    let severity = match diagnostic.severity.as_ref().or(default) {
        Some(Value::String(word)) => Some(word.clone()),
        Some(Value::Number(number)) if number.as_u64() == Some(1) => Some("ERROR".to_owned()),
        Some(Value::Number(number)) if number.as_u64() == Some(2) => Some("WARNING".to_owned()),
        Some(Value::Number(number)) if number.as_u64() == Some(3) => Some("INFO".to_owned()),
        Some(_) | None => None,
    };
    let (path, lines) = match diagnostic.location {
        Some(location) => (location.path, location.range),
        None => (None, None),
    };
    let line = |position: Option<Position>| position.and_then(|position| position.line);
    Comment {
        text: diagnostic.message,
        path,
        lines: lines.and_then(|lines| range(line(lines.start), line(lines.end))),
        blocks: severity.as_deref() == Some("ERROR"),
        severity,
        confidence: None,
    }
}
