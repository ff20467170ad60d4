//! The messages of cargo with diagnostics of clippy and the compiler: JSON, a value on each line.

use std::path::Path;

use assay_findings::path::RepoPath;
use assay_findings::vote::LineRange;
use serde::Deserialize;
use serde_json::Value;

use super::FormatError;
use crate::command::draft::{Draft, Fix};
use crate::command::edit::{ColumnUnit, Edit, Point};
use crate::command::report_builder::ReportBuilder;
use crate::command::severity;

/// The maximum number of macro expansions that are followed to the call.
const MAX_EXPANSIONS: usize = 32;

#[derive(Deserialize)]
struct CompilerMessage {
    message: Diagnostic,
    manifest_path: Option<String>,
}

#[derive(Deserialize)]
struct Diagnostic {
    message: String,
    level: String,
    code: Option<Code>,
    #[serde(default)]
    spans: Vec<Span>,
    #[serde(default)]
    children: Vec<Child>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Child {
    message: String,
    level: String,
    #[serde(default)]
    spans: Vec<Span>,
}

/// A location; columns count characters, and the last one is exclusive.
#[derive(Deserialize, Clone)]
struct Span {
    file_name: String,
    line_start: u32,
    line_end: u32,
    column_start: u32,
    column_end: u32,
    is_primary: bool,
    #[serde(default)]
    text: Vec<SpanLine>,
    suggested_replacement: Option<String>,
    suggestion_applicability: Option<String>,
    expansion: Option<Box<Expansion>>,
}

#[derive(Deserialize, Clone)]
struct SpanLine {
    text: String,
}

#[derive(Deserialize, Clone)]
struct Expansion {
    span: Span,
}

pub(super) fn read(text: &str, builder: &mut ReportBuilder<'_>) -> Result<(), FormatError> {
    let (mut is_cargo, mut end) = (false, None);
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let value = match serde_json::from_str::<Value>(line) {
            Ok(value) => value,
            Err(error) => {
                builder.reject(format!("the line is not JSON: {error}"), line);
                continue;
            }
        };
        let reason = value.get("reason").and_then(Value::as_str);
        is_cargo |= reason.is_some();
        match reason {
            Some("compiler-message") => builder.entry(&value, take),
            Some("build-finished") => end = value.get("success").and_then(Value::as_bool),
            _ => {}
        }
    }
    if !is_cargo {
        return Err(FormatError::NotThisForm);
    }
    match end {
        Some(true) => {}
        Some(false) => {
            builder.not_covered(None, "the build failed; code that needs the build was not checked")
        }
        None => builder.reject("cargo did not report that the build finished", ""),
    }
    Ok(())
}

fn take(builder: &mut ReportBuilder<'_>, message: CompilerMessage) -> Result<(), String> {
    let Diagnostic { message: text, level, code, spans, children } = message.message;
    if level == "failure-note" || is_summary(&text, &spans) {
        return Ok(());
    }
    let code = code.map(|code| code.code);
    let is_error = level.starts_with("error");
    let (tool, code) = match code.as_deref().and_then(|code| code.strip_prefix("clippy::")) {
        Some(lint) => ("clippy", Some(lint.to_owned())),
        None => ("rustc", code),
    };
    let category = match tool {
        _ if is_error => "correctness",
        "clippy" => "best_practices",
        _ => "correctness",
    };
    let word = if is_error { "error" } else { level.as_str() };
    let mut draft = Draft::new(text, severity::grade(word), category);
    draft.tool = Some(tool.to_owned());
    draft.code = code;
    let manifest = message.manifest_path.as_deref();
    if let Some(primary) = spans.iter().find(|span| span.is_primary).or(spans.first()) {
        let (file, lines) = place(builder, primary, manifest)?;
        draft.fix = fix(builder, &children, &file, manifest);
        (draft.file, draft.lines) = (Some(file), lines);
    }
    draft.help.extend(
        children
            .into_iter()
            .filter(|child| !is_about_levels(&child.message))
            .map(|child| format!("{}: {}", child.level, child.message)),
    );
    builder.take(draft);
    Ok(())
}

/// Returns true if a message only counts the others.
fn is_summary(text: &str, spans: &[Span]) -> bool {
    let counts = text.ends_with(" emitted") || text.starts_with("aborting due to");
    spans.is_empty() && (counts || text.starts_with("Some errors have detailed explanations"))
}

fn is_about_levels(text: &str) -> bool {
    text.starts_with("`#[") || text.starts_with("`-D ") || text.starts_with("`-W ")
}

/// Returns the location of a span: its own if the file is in the repository, else that of the call
/// of the macro that generated the code.
fn place(
    builder: &ReportBuilder<'_>,
    span: &Span,
    manifest: Option<&str>,
) -> Result<(RepoPath, Option<LineRange>), String> {
    let own = path(builder, &span.file_name, manifest);
    let mut at = span;
    for _ in 0..MAX_EXPANSIONS {
        if let Ok(file) = path(builder, &at.file_name, manifest)
            && builder.checkout.has(&file)
        {
            return Ok((file, LineRange::range(at.line_start, at.line_end)));
        }
        match &at.expansion {
            Some(expansion) => at = &expansion.span,
            None => break,
        }
    }
    Ok((own?, LineRange::range(span.line_start, span.line_end)))
}

/// Parses a path that is relative to the cargo workspace, which is a folder above the manifest.
fn path(
    builder: &ReportBuilder<'_>,
    name: &str,
    manifest: Option<&str>,
) -> Result<RepoPath, String> {
    let direct = builder.checkout.path(name);
    if Path::new(name).is_absolute() || direct.as_ref().is_ok_and(|p| builder.checkout.has(p)) {
        return direct;
    }
    let folders = manifest.map(Path::new).into_iter().flat_map(|path| path.ancestors().skip(1));
    folders
        .filter_map(|folder| builder.checkout.path(folder.join(name).to_str()?).ok())
        .find(|path| builder.checkout.has(path))
        .map_or(direct, Ok)
}

/// Returns the first fix that the compiler offers; trusted if there is no other one, and the
/// compiler would apply it by itself to lines that are still the same.
fn fix(
    builder: &mut ReportBuilder<'_>,
    children: &[Child],
    file: &RepoPath,
    manifest: Option<&str>,
) -> Option<Fix> {
    let suggests = |child: &&Child| child.spans.iter().any(|s| s.suggested_replacement.is_some());
    let mut offers = children.iter().filter(suggests);
    let (offer, other) = (offers.next()?, offers.next());
    let is_sure = offer.spans.iter().all(|span| {
        span.suggestion_applicability.as_deref() == Some("MachineApplicable")
            && span.expansion.is_none()
            && path(builder, &span.file_name, manifest).as_ref() == Ok(file)
            && is_unchanged_since_build(builder, span, file)
    });
    let edits = offer.spans.iter().filter_map(edit).collect();
    let words = match offer.spans.as_slice() {
        [span] => span.suggested_replacement.as_deref().filter(|text| !text.trim().is_empty()),
        _ => None,
    };
    let words = match words {
        Some(text) => format!("{}: {}", offer.message, text.trim()),
        None => offer.message.clone(),
    };
    Some(Fix { words: Some(words), edits, trusted: is_sure && other.is_none() })
}

/// Returns true if the tree has the same lines that were compiled.
fn is_unchanged_since_build(builder: &mut ReportBuilder<'_>, span: &Span, file: &RepoPath) -> bool {
    let Some(text) = builder.text(file) else { return false };
    !span.text.is_empty()
        && span.text.iter().zip(0..).all(|(line, number)| {
            text.line(span.line_start.saturating_add(number))
                .is_some_and(|real| real == line.text.trim_end_matches('\r'))
        })
}

fn edit(span: &Span) -> Option<Edit> {
    let at = |line, column| Point::At { line, column, unit: ColumnUnit::Char };
    Some(Edit {
        start: at(span.line_start, span.column_start),
        end: at(span.line_end, span.column_end),
        text: span.suggested_replacement.clone()?,
    })
}
