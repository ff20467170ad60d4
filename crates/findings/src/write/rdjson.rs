//! Reviewdog's diagnostics, as one document or with a line each.

use serde::Serialize;

use super::{FindingsDocument, compact, escape, folded_mark, verification_mark};
use crate::finding::Finding;
use crate::grade::SarifLevel;

#[derive(Serialize)]
pub(super) struct DiagnosticResult<'a> {
    source: Source,
    diagnostics: Vec<Diagnostic<'a>>,
}

#[derive(Serialize)]
struct Source {
    name: &'static str,
}

const SOURCE: Source = Source { name: "assay" };

#[derive(Serialize)]
struct Diagnostic<'a> {
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<Location<'a>>,
    severity: &'static str,
    source: Source,
    code: Code<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggestion<'a>>,
}

#[derive(Serialize)]
struct Location<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<Range>,
}

/// A range of a file. Without a column, a line is meant as a whole, the last one included.
#[derive(Serialize)]
struct Range {
    start: Position,
    end: Position,
}

#[derive(Serialize)]
struct Position {
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
}

#[derive(Serialize)]
struct Code<'a> {
    value: &'a str,
}

#[derive(Serialize)]
struct Suggestion<'a> {
    range: Range,
    text: &'a str,
}

pub(super) fn write<'a>(document: &FindingsDocument<'a>) -> DiagnosticResult<'a> {
    let diagnostics = document.worst_first().into_iter().map(diagnostic).collect();
    DiagnosticResult { source: SOURCE, diagnostics }
}

pub(super) fn write_lines(document: &FindingsDocument<'_>) -> String {
    document.worst_first().into_iter().map(|finding| compact(&diagnostic(finding))).collect()
}

fn diagnostic(finding: &Finding) -> Diagnostic<'_> {
    let mut message = escape::escape_hidden(&finding.title).into_owned();
    if finding.description != finding.title {
        message.push_str(&format!("\n{}", escape::escape_hidden(&finding.description)));
    }
    if let Some(doubt) = finding.doubt() {
        message.push_str(&format!("\n{}", escape::escape_hidden(&doubt)));
    }
    if let Some(fix) = &finding.suggested_fix {
        message.push_str(&format!("\nFix: {}", escape::escape_hidden(fix)));
    }
    message.push_str(verification_mark(finding));
    message.push_str(&folded_mark(finding));
    Diagnostic {
        message,
        location: finding.file.as_ref().map(|file| Location {
            path: file.as_str(),
            range: finding.line.map(|line| Range {
                // Columns of this format are counted in bytes, as those of findings.
                start: Position { line, column: finding.column },
                end: Position { line: finding.end_line.unwrap_or(line), column: None },
            }),
        }),
        severity: match finding.grade.sarif_level() {
            SarifLevel::Error => "ERROR",
            SarifLevel::Warning => "WARNING",
            SarifLevel::Note => "INFO",
        },
        source: SOURCE,
        code: Code { value: finding.rule.as_deref().unwrap_or(&finding.category) },
        suggestions: finding
            .replacement
            .iter()
            .map(|replacement| Suggestion {
                // The range extends from the start of the first line to the start of the line after
                // the last: the lines with their ends.
                range: Range {
                    start: Position { line: replacement.start_line(), column: Some(1) },
                    end: Position {
                        line: replacement.end_line().saturating_add(1),
                        column: Some(1),
                    },
                },
                text: replacement.text(),
            })
            .collect(),
    }
}
