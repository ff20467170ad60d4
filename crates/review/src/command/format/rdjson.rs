//! Reviewdog's diagnostics, as one document or one on each line.

use assay_findings::vote::LineRange;
use serde::Deserialize;
use serde_json::Value;

use super::FormatError;
use super::document::{document, entries};
use crate::command::draft::{Draft, Fix};
use crate::command::edit::{ColumnUnit, Edit, Point};
use crate::command::report_builder::ReportBuilder;
use crate::command::severity;

#[derive(Deserialize)]
struct Diagnostic {
    message: String,
    location: Option<Location>,
    severity: Option<SeverityWord>,
    source: Option<Source>,
    code: Option<Code>,
    #[serde(default)]
    suggestions: Option<Vec<Suggestion>>,
}

#[derive(Deserialize)]
struct Location {
    path: Option<String>,
    range: Option<Range>,
}

#[derive(Deserialize, Clone, Copy)]
struct Range {
    start: Position,
    end: Option<Position>,
}

/// A location. By the specification, the column counts bytes of UTF-8; Ruff's counts characters.
#[derive(Deserialize, Clone, Copy)]
struct Position {
    line: u32,
    column: Option<u32>,
}

/// A severity by name or by number.
#[derive(Deserialize, Clone)]
#[serde(untagged)]
enum SeverityWord {
    Name(String),
    Number(u8),
}

#[derive(Deserialize, Clone)]
struct Source {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct Code {
    #[serde(default)]
    value: String,
    #[serde(default)]
    url: String,
}

#[derive(Deserialize)]
struct Suggestion {
    range: Range,
    #[serde(default)]
    text: String,
}

/// Values of a document that apply to all of its diagnostics.
#[derive(Default)]
struct Defaults {
    source: Option<Source>,
    severity: Option<SeverityWord>,
}

pub(super) fn read(text: &str, builder: &mut ReportBuilder<'_>) -> Result<(), FormatError> {
    let document = document(text, is_result, builder)?;
    let defaults = Defaults {
        source: document.get("source").and_then(|source| Source::deserialize(source).ok()),
        severity: document.get("severity").and_then(|word| SeverityWord::deserialize(word).ok()),
    };
    for diagnostic in entries(&document, "diagnostics") {
        builder.entry(diagnostic, |builder, diagnostic| take(builder, diagnostic, &defaults));
    }
    Ok(())
}

/// Returns true if a value is a document of diagnostics. Some tools leave out an empty list.
fn is_result(value: &Value) -> bool {
    match value.get("diagnostics") {
        Some(diagnostics) => diagnostics.is_array(),
        None => value.get("source").is_some_and(Value::is_object) && value.get("message").is_none(),
    }
}

/// Parses a diagnostic from each line. The exit status of the analyser decides whether an empty
/// output means that there are no findings.
pub(super) fn read_lines(text: &str, builder: &mut ReportBuilder<'_>) -> Result<(), FormatError> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    let first_is_json = lines.peek().is_none_or(|line| line.trim_start().starts_with('{'));
    if !first_is_json {
        return Err(FormatError::NotThisForm);
    }
    for line in lines {
        match serde_json::from_str::<Value>(line) {
            Ok(value) => builder.entry(&value, |builder, diagnostic| {
                take(builder, diagnostic, &Defaults::default())
            }),
            Err(error) => builder.reject(format!("the line is not JSON: {error}"), line),
        }
    }
    Ok(())
}

fn take(
    builder: &mut ReportBuilder<'_>,
    diagnostic: Diagnostic,
    defaults: &Defaults,
) -> Result<(), String> {
    if diagnostic.message.trim().is_empty() {
        return Err("the message is empty".to_owned());
    }
    let severity = diagnostic.severity.or_else(|| defaults.severity.clone());
    let word = match &severity {
        Some(SeverityWord::Name(name)) => name.as_str(),
        Some(SeverityWord::Number(1)) => "ERROR",
        Some(SeverityWord::Number(2)) => "WARNING",
        Some(SeverityWord::Number(3)) => "INFO",
        Some(SeverityWord::Number(_)) | None => "",
    };
    let mut draft = Draft::new(diagnostic.message, severity::grade(word), "correctness");
    let source = diagnostic.source.or_else(|| defaults.source.clone());
    draft.tool = source.map(|source| source.name).filter(|name| !name.trim().is_empty());
    if let Some(code) = diagnostic.code {
        draft.help.push(code.url);
        draft.code = Some(code.value).filter(|value| !value.trim().is_empty());
    }
    if let Some(location) = diagnostic.location {
        let path = location.path.filter(|path| !path.is_empty());
        draft.file = path.map(|path| builder.checkout.path(&path)).transpose()?;
        draft.lines = location.range.and_then(lines);
    }
    draft.fix = fix(diagnostic.suggestions.unwrap_or_default());
    builder.take(draft);
    Ok(())
}

/// Returns the lines of a range. The end is exclusive if it has a column, and inclusive if it has
/// none; without an end, the range is its start.
fn lines(range: Range) -> Option<LineRange> {
    let start = range.start.line;
    let end = match range.end {
        Some(end) if column(end) == Some(1) && end.line > start => end.line - 1,
        Some(end) => end.line,
        None => start,
    };
    LineRange::range(start, end.max(start))
}

/// Returns the column; 0 means that there is none.
fn column(at: Position) -> Option<u32> {
    at.column.filter(|column| *column > 0)
}

/// Returns the fix, trusted if there is exactly one suggestion. Several suggestions may be
/// alternatives or belong together.
fn fix(suggestions: Vec<Suggestion>) -> Option<Fix> {
    let trusted = suggestions.len() == 1;
    let suggestion = suggestions.into_iter().next()?;
    let words = if trusted { None } else { Some(suggestion.text.clone()) };
    Some(Fix { words, edits: edit(suggestion).into_iter().collect(), trusted })
}

fn edit(suggestion: Suggestion) -> Option<Edit> {
    let Range { start, end } = suggestion.range;
    let end = end.unwrap_or(start);
    let at = |line, column| Point::At { line, column, unit: ColumnUnit::Any };
    let mut text = suggestion.text;
    if column(start).is_none() && column(end).is_none() {
        // Whole lines; tools do not agree on whether their text ends with a line break.
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        return Some(Edit { start: at(start.line, 1), end: at(end.line.checked_add(1)?, 1), text });
    }
    let start = at(start.line, column(start).unwrap_or(1));
    Some(Edit { start, end: at(end.line, column(end)?), text })
}
