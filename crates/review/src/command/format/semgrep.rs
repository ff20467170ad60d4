//! Semgrep's JSON: findings, and errors.

use assay_findings::vote::LineRange;
use serde::Deserialize;
use serde_json::Value;

use super::FormatError;
use super::document::{document, entries};
use crate::command::draft::{Draft, Fix, one_line};
use crate::command::edit::{ColumnUnit, Edit, Point};
use crate::command::report_builder::ReportBuilder;
use crate::command::severity;

#[derive(Deserialize)]
struct Match {
    check_id: String,
    path: String,
    start: Position,
    end: Position,
    extra: Extra,
}

/// A location; the column counts bytes.
#[derive(Deserialize, Clone, Copy)]
struct Position {
    line: u32,
    col: u32,
}

#[derive(Deserialize)]
struct Extra {
    message: String,
    severity: String,
    #[serde(default)]
    metadata: Value,
    fix: Option<String>,
    #[serde(default)]
    is_ignored: bool,
}

/// An error. The name of its message depends on the version of Semgrep.
#[derive(Deserialize)]
struct Failure {
    level: Option<String>,
    /// The kind as a word, or as a list of a word and locations.
    #[serde(default, rename = "type")]
    kind: Value,
    path: Option<String>,
    message: Option<String>,
    long_msg: Option<String>,
    short_msg: Option<String>,
}

pub(super) fn read(text: &str, builder: &mut ReportBuilder<'_>) -> Result<(), FormatError> {
    let fits = |value: &Value| value.get("results").is_some_and(Value::is_array);
    let document = document(text, fits, builder)?;
    for found in entries(&document, "results") {
        builder.entry(found, take);
    }
    let mut failed = None;
    for failure in entries(&document, "errors") {
        builder.entry(failure, |builder, failure: Failure| {
            failed = failed.take().or(take_failure(builder, failure));
            Ok(())
        });
    }
    let skipped = document.get("paths").map(|paths| entries(paths, "skipped"));
    for skipped in skipped.unwrap_or_default() {
        let text = |key: &str| skipped.get(key).and_then(Value::as_str);
        builder.not_covered(text("path"), text("reason").unwrap_or("skipped"));
    }
    failed.map_or(Ok(()), |why| Err(FormatError::Failed(why)))
}

/// Adds an error about a file to the sheet. Returns the message of an error about the whole run.
fn take_failure(builder: &mut ReportBuilder<'_>, failure: Failure) -> Option<String> {
    let message = failure.message.or(failure.long_msg).or(failure.short_msg);
    let message = message.unwrap_or_else(|| "semgrep gave no error message".to_owned());
    match failure.path {
        Some(path) if failure.kind[0] == "PartialParsing" => {
            builder.partly_covered(Some(&path), &message);
        }
        Some(path) => builder.not_covered(Some(&path), &message),
        None if failure.level.as_deref() == Some("error") => return Some(message),
        None => builder.note(one_line(&message, 300)),
    }
    None
}

fn take(builder: &mut ReportBuilder<'_>, found: Match) -> Result<(), String> {
    if found.extra.is_ignored {
        builder.note(format!("`{}` is suppressed by a comment in the code", found.check_id));
        return Ok(());
    }
    let file = builder.checkout.path(&found.path)?;
    let metadata = found.extra.metadata;
    let text = |key: &str| metadata.get(key).and_then(Value::as_str);
    let grade = severity::grade(&found.extra.severity);
    let mut draft = Draft::new(found.extra.message, grade, &category(text("category")));
    draft.tool = Some("semgrep".to_owned());
    draft.code = Some(found.check_id);
    draft.file = Some(file);
    draft.lines = lines(found.start, found.end);
    draft.confidence = text("confidence").and_then(severity::confidence);
    draft.help =
        ["cwe", "owasp", "references"].into_iter().flat_map(|key| words(&metadata, key)).collect();
    draft.fix = found.extra.fix.map(|text| fix(found.start, found.end, text));
    builder.take(draft);
    Ok(())
}

fn category(stated: Option<&str>) -> String {
    match stated {
        Some("best-practice") => "best_practices".to_owned(),
        Some(stated) if !stated.trim().is_empty() => stated.trim().to_lowercase(),
        _ => "correctness".to_owned(),
    }
}

/// Returns the texts at a key of the metadata, which may be one text or a list.
fn words(metadata: &Value, key: &str) -> Vec<String> {
    match metadata.get(key) {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(list)) => {
            list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

fn lines(start: Position, end: Position) -> Option<LineRange> {
    let last = if end.col <= 1 && end.line > start.line { end.line - 1 } else { end.line };
    LineRange::range(start.line, last.max(start.line))
}

fn fix(start: Position, end: Position, text: String) -> Fix {
    let point = |at: Position| Point::At { line: at.line, column: at.col, unit: ColumnUnit::Byte };
    Fix {
        words: Some(format!("Write `{text}` instead.")).filter(|_| !text.contains(['`', '\n'])),
        edits: vec![Edit { start: point(start), end: point(end), text }],
        trusted: true,
    }
}
