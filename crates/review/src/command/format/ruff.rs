//! Ruff's JSON: a list of violations.

use assay_findings::grade::Grade;
use assay_findings::vote::LineRange;
use serde::Deserialize;
use serde_json::Value;

use super::FormatError;
use super::document::document;
use crate::command::draft::{Draft, Fix};
use crate::command::edit::{ColumnUnit, Edit, Point};
use crate::command::report_builder::ReportBuilder;
use crate::command::severity;

#[derive(Deserialize)]
struct Violation {
    /// The cell of a notebook, in which rows count from the start of the cell; `None` for other
    /// files.
    cell: Option<u32>,
    /// The rule; `None` for a file that is not Python, in older versions.
    code: Option<String>,
    name: Option<String>,
    message: String,
    filename: String,
    location: Location,
    end_location: Option<Location>,
    fix: Option<RuffFix>,
    severity: Option<String>,
    url: Option<String>,
}

#[derive(Deserialize, Clone, Copy)]
struct Location {
    row: u32,
    column: u32,
}

#[derive(Deserialize)]
struct RuffFix {
    applicability: Option<String>,
    message: Option<String>,
    #[serde(default)]
    edits: Vec<RuffEdit>,
}

#[derive(Deserialize)]
struct RuffEdit {
    content: Option<String>,
    location: Location,
    end_location: Location,
}

/// The prefixes of codes, of which the longest match counts, with the severity word to grade by,
/// and the category. Ruff itself calls every finding an error, even one about style.
const FAMILIES: &[(&str, &str, &str)] = &[
    ("", "info", "style"),
    ("invalid-syntax", "error", "correctness"),
    ("E9", "error", "correctness"),
    ("F", "warning", "correctness"),
    ("F401", "info", "style"),
    ("F7", "error", "correctness"),
    ("F82", "error", "correctness"),
    ("FA", "info", "style"),
    ("FBT", "info", "style"),
    ("FIX", "info", "style"),
    ("FLY", "info", "style"),
    ("FURB", "info", "style"),
    ("PLE", "error", "correctness"),
    ("PLW", "warning", "correctness"),
    ("S", "warning", "security"),
    ("SIM", "info", "style"),
    ("SLF", "info", "style"),
    ("SLOT", "info", "performance"),
    ("ASYNC", "warning", "correctness"),
    ("B", "warning", "correctness"),
    ("BLE", "warning", "correctness"),
    ("DTZ", "warning", "correctness"),
    ("PERF", "info", "performance"),
    ("T10", "warning", "correctness"),
    ("TRY", "info", "style"),
    ("W6", "warning", "correctness"),
];

pub(super) fn read(text: &str, builder: &mut ReportBuilder<'_>) -> Result<(), FormatError> {
    let violations = document(text, is_list, builder)?;
    for violation in violations.as_array().into_iter().flatten() {
        builder.entry(violation, take);
    }
    Ok(())
}

fn is_list(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|list| list.is_empty() || list.iter().any(|one| one.get("filename").is_some()))
}

fn take(builder: &mut ReportBuilder<'_>, violation: Violation) -> Result<(), String> {
    let file = builder.checkout.path(&violation.filename)?;
    let code = violation.code.as_deref().unwrap_or("invalid-syntax").to_owned();
    let (grade, category) = judge(&code, violation.severity.as_deref());
    if code == "invalid-syntax" {
        builder.not_covered(Some(&violation.filename), "ruff cannot parse it");
    }
    let mut draft = Draft::new(violation.message, grade, category);
    draft.tool = Some("ruff".to_owned());
    draft.code = Some(code);
    draft.file = Some(file);
    draft.help.extend(violation.name.map(|name| format!("Rule: {name}")));
    draft.help.extend(violation.url);
    match violation.cell {
        // A row of a cell is not a line of the file.
        Some(cell) => draft.faults.push(format!("the line is relative to cell {cell}")),
        None => {
            draft.lines = lines(violation.location, violation.end_location);
            draft.fix = violation.fix.map(fix);
        }
    }
    builder.take(draft);
    Ok(())
}

fn judge(code: &str, severity: Option<&str>) -> (Grade, &'static str) {
    let fits = |family: &&(&str, &str, &str)| code.starts_with(family.0);
    let family = FAMILIES.iter().filter(fits).max_by_key(|(letters, ..)| letters.len());
    let (_, word, category) = *family.expect("the empty family fits every code");
    let grade = severity::grade(word);
    let stated = severity.map(severity::grade);
    match stated {
        // A severity below `error` was configured by a user.
        Some(stated) if grade.worst_first(&stated).is_lt() => (stated, category),
        _ => (grade, category),
    }
}

/// Returns the lines up to an exclusive end.
fn lines(start: Location, end: Option<Location>) -> Option<LineRange> {
    let end = match end {
        Some(end) if end.column <= 1 && end.row > start.row => end.row - 1,
        Some(end) => end.row,
        None => start.row,
    };
    LineRange::range(start.row, end.max(start.row))
}

fn fix(fix: RuffFix) -> Fix {
    let point =
        |at: Location| Point::At { line: at.row, column: at.column, unit: ColumnUnit::Char };
    let edit = |edit: RuffEdit| Edit {
        start: point(edit.location),
        end: point(edit.end_location),
        text: edit.content.unwrap_or_default(),
    };
    Fix {
        words: fix.message,
        trusted: fix.applicability.as_deref() == Some("safe"),
        edits: fix.edits.into_iter().map(edit).collect(),
    }
}
