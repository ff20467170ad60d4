//! ESLint's JSON: a list of files with their messages.

use assay_findings::path::RepoPath;
use assay_findings::vote::LineRange;
use serde::Deserialize;
use serde_json::Value;

use super::FormatError;
use super::document::document;
use crate::command::draft::{Draft, Fix};
use crate::command::edit::{Edit, Point};
use crate::command::report_builder::ReportBuilder;
use crate::command::severity;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LintedFile {
    file_path: String,
    messages: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LintMessage {
    rule_id: Option<String>,
    severity: u8,
    #[serde(default)]
    fatal: bool,
    message: String,
    line: Option<u32>,
    end_line: Option<u32>,
    end_column: Option<u32>,
    fix: Option<LintFix>,
    #[serde(default)]
    suggestions: Option<Vec<Suggestion>>,
}

#[derive(Deserialize)]
struct LintFix {
    /// Start and end, in UTF-16 units from the start of the file without its byte order mark.
    range: (i64, i64),
    text: String,
}

#[derive(Deserialize)]
struct Suggestion {
    desc: String,
}

pub(super) fn read(text: &str, builder: &mut ReportBuilder<'_>) -> Result<(), FormatError> {
    let files = document(text, is_list_of_files, builder)?;
    for file in files.as_array().into_iter().flatten() {
        builder.entry(file, take_file);
    }
    Ok(())
}

fn is_list_of_files(value: &Value) -> bool {
    value.as_array().is_some_and(|list| {
        list.is_empty() || list.iter().any(|file| file.get("filePath").is_some())
    })
}

fn take_file(builder: &mut ReportBuilder<'_>, linted: LintedFile) -> Result<(), String> {
    let file = builder.checkout.path(&linted.file_path);
    for message in &linted.messages {
        builder.entry(message, |builder, message: LintMessage| {
            take(builder, file.clone()?, &linted.file_path, message)
        });
    }
    Ok(())
}

fn take(
    builder: &mut ReportBuilder<'_>,
    file: RepoPath,
    path: &str,
    message: LintMessage,
) -> Result<(), String> {
    let is_left_out = message.rule_id.is_none() && message.message.starts_with("File ignored");
    if is_left_out {
        // The configuration excludes the file, which is not a failure.
        builder.partly_covered(Some(path), &message.message);
        return Ok(());
    }
    if message.fatal {
        builder.not_covered(Some(path), &message.message);
    }
    let word = match message.severity {
        2 => "error",
        1 => "warning",
        other => return Err(format!("severity {other} is neither 1 nor 2")),
    };
    let text = builder.text(&file);
    let mark = usize::from(text.is_some_and(|text| text.has_mark()));
    let category = category(message.rule_id.as_deref(), word);
    let mut draft = Draft::new(message.message, severity::grade(word), category);
    draft.tool = Some("eslint".to_owned());
    draft.code = message.rule_id;
    draft.file = Some(file);
    draft.lines = message.line.and_then(|line| {
        let end = match (message.end_line, message.end_column) {
            (Some(end), Some(1)) if end > line => end - 1,
            (end, _) => end.unwrap_or(line),
        };
        LineRange::range(line, end.max(line))
    });
    draft.fix = fix(message.fix, message.suggestions.unwrap_or_default(), mark);
    builder.take(draft);
    Ok(())
}

fn category(rule: Option<&str>, word: &str) -> &'static str {
    match rule {
        Some(rule) if rule.starts_with("security/") || rule.starts_with("no-unsanitized/") => {
            "security"
        }
        Some(rule) if rule.starts_with("@stylistic/") => "style",
        _ if word == "error" => "correctness",
        _ => "style",
    }
}

/// Returns the fix. ESLint would apply a `fix` by itself; a suggestion is only used as words.
fn fix(fix: Option<LintFix>, suggestions: Vec<Suggestion>, mark: usize) -> Option<Fix> {
    let words: Vec<String> = suggestions.into_iter().map(|suggestion| suggestion.desc).collect();
    let words = (!words.is_empty()).then(|| words.join(" Or: "));
    let Some(fix) = fix else {
        return words.map(|words| Fix { words: Some(words), edits: Vec::new(), trusted: false });
    };
    let point = |at: i64| usize::try_from(at).ok().map(|at| Point::Utf16(at + mark));
    let edit = point(fix.range.0).zip(point(fix.range.1)).map(|(start, end)| Edit {
        start,
        end,
        text: fix.text,
    });
    Some(Fix { words, edits: edit.into_iter().collect(), trusted: true })
}
