//! Pyright's JSON: diagnostics with places that start at 0.

use assay_findings::vote::LineRange;
use serde::Deserialize;
use serde_json::Value;

use super::FormatError;
use super::document::{document, entries};
use crate::command::draft::Draft;
use crate::command::report_builder::ReportBuilder;
use crate::command::severity;

#[derive(Deserialize)]
struct Diagnostic {
    file: String,
    severity: String,
    message: String,
    rule: Option<String>,
    range: Option<Range>,
}

#[derive(Deserialize)]
struct Range {
    start: Position,
    end: Position,
}

#[derive(Deserialize)]
struct Position {
    line: u32,
}

pub(super) fn read(text: &str, builder: &mut ReportBuilder<'_>) -> Result<(), FormatError> {
    let fits = |value: &Value| value.get("generalDiagnostics").is_some_and(Value::is_array);
    let document = document(text, fits, builder)?;
    for diagnostic in entries(&document, "generalDiagnostics") {
        builder.entry(diagnostic, take);
    }
    Ok(())
}

fn take(builder: &mut ReportBuilder<'_>, found: Diagnostic) -> Result<(), String> {
    let file = builder.checkout.path(&found.file)?;
    let mut draft = Draft::new(found.message, severity::grade(&found.severity), "correctness");
    draft.tool = Some("pyright".to_owned());
    draft.code = found.rule;
    draft.file = Some(file);
    draft.lines = found.range.and_then(|range| {
        LineRange::range(range.start.line + 1, range.end.line.max(range.start.line) + 1)
    });
    builder.take(draft);
    Ok(())
}
