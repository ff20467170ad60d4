//! The JSON of golangci-lint: issues of many linters.

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
#[serde(rename_all = "PascalCase")]
struct Issue {
    from_linter: String,
    text: String,
    #[serde(default)]
    severity: String,
    pos: Pos,
    line_range: Option<IssueLineRange>,
    replacement: Option<OldFix>,
    suggested_fixes: Option<Vec<SuggestedFix>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Pos {
    filename: String,
    #[serde(default)]
    line: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct IssueLineRange {
    from: u32,
    to: u32,
}

/// The fix of version 1.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[derive(Default)]
struct OldFix {
    need_only_delete: bool,
    new_lines: Option<Vec<String>>,
    inline: Option<InlineFix>,
}

/// A fix inside of one line; the column counts bytes from 0.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct InlineFix {
    start_col: u32,
    length: u32,
    new_string: String,
}

/// The fix of version 2. Its edits count from the start of all files together, so they cannot be
/// located; its message can be used.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SuggestedFix {
    #[serde(default)]
    message: String,
}

/// Linters for security problems.
const SECURITY: [&str; 2] = ["gosec", "bidichk"];

/// Linters whose findings are defects.
const CORRECTNESS: [&str; 14] = [
    "bodyclose", "contextcheck", "copyloopvar", "durationcheck", "errcheck", "errorlint", "govet",
    "ineffassign", "makezero", "nilerr", "rowserrcheck", "sqlclosecheck", "staticcheck",
    "typecheck",
];

pub(super) fn read(text: &str, builder: &mut ReportBuilder<'_>) -> Result<(), FormatError> {
    let fits = |value: &Value| {
        value.get("Issues").is_some_and(|issues| issues.is_array() || issues.is_null())
    };
    let document = document(text, fits, builder)?;
    for issue in entries(&document, "Issues") {
        builder.entry(issue, take);
    }
    let report = document.get("Report").unwrap_or(&Value::Null);
    for warning in entries(report, "Warnings") {
        if let Some(text) = warning.get("Text").and_then(Value::as_str) {
            builder.note(crate::command::draft::one_line(text, 300));
        }
    }
    match report.get("Error").and_then(Value::as_str).filter(|error| !error.is_empty()) {
        Some(error) => Err(FormatError::Failed(error.to_owned())),
        None => Ok(()),
    }
}

fn take(builder: &mut ReportBuilder<'_>, issue: Issue) -> Result<(), String> {
    let file = builder.checkout.path(&issue.pos.filename)?;
    let linter = issue.from_linter.as_str();
    let does_not_compile = linter == "typecheck";
    if does_not_compile {
        builder.not_covered(Some(&issue.pos.filename), "golangci-lint cannot compile it");
    }
    let word = if does_not_compile { "error" } else { &issue.severity };
    let category = match linter {
        _ if SECURITY.contains(&linter) => "security",
        _ if CORRECTNESS.contains(&linter) => "correctness",
        _ => "style",
    };
    let (code, message) = split_code(&issue.text);
    let mut draft = Draft::new(message, severity::grade(word), category);
    draft.tool = Some("golangci-lint".to_owned());
    draft.code = Some(match code {
        Some(code) => format!("{linter}/{code}"),
        None => linter.to_owned(),
    });
    draft.file = Some(file);
    draft.lines = match &issue.line_range {
        Some(range) => LineRange::range(range.from, range.to),
        None => LineRange::at(issue.pos.line),
    };
    draft.fix = draft.lines.and_then(|lines| fix(&issue, lines));
    builder.take(draft);
    Ok(())
}

/// Splits the linter's own code off a text, as in `SA4006: this value …`.
fn split_code(text: &str) -> (Option<&str>, &str) {
    match text.split_once(": ") {
        Some((code, rest)) if is_code(code) && !rest.trim().is_empty() => (Some(code), rest),
        _ => (None, text),
    }
}

fn is_code(word: &str) -> bool {
    let letters = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let has_digits = !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_digit());
    letters.len() < word.len() && has_digits
}

fn fix(issue: &Issue, lines: LineRange) -> Option<Fix> {
    let suggested = issue.suggested_fixes.as_deref().unwrap_or_default().first();
    let words = suggested.map(|fix| fix.message.clone());
    let edit = issue.replacement.as_ref().and_then(|old| old_edit(old, lines));
    if words.is_none() && edit.is_none() {
        return None;
    }
    Some(Fix { words, edits: edit.into_iter().collect(), trusted: true })
}

fn old_edit(fix: &OldFix, lines: LineRange) -> Option<Edit> {
    let at = |line, column| Point::At { line, column, unit: ColumnUnit::Byte };
    if let Some(inline) = &fix.inline {
        let start = inline.start_col.checked_add(1)?;
        return Some(Edit {
            start: at(lines.start(), start),
            end: at(lines.start(), start.checked_add(inline.length)?),
            text: inline.new_string.clone(),
        });
    }
    let text = match (&fix.new_lines, fix.need_only_delete) {
        (_, true) => String::new(),
        (Some(new), false) => new.iter().map(|line| format!("{line}\n")).collect(),
        (None, false) => return None,
    };
    Some(Edit { start: at(lines.start(), 1), end: at(lines.end().checked_add(1)?, 1), text })
}
