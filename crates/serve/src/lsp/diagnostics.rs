//! Findings as diagnostics: [`ShownFinding`].

use assay_engine::editor_session::{EditorFinding, FindingSource, ReviewedFile};
use assay_findings::finding::Finding;
use assay_findings::grade::SarifLevel;
use assay_findings::write::escape::one_line;
use serde_json::{Value, json};

use super::client::safe;
use super::position::{FindingPlace, LineIndex, Position, PositionEncoding, Range, finding_bytes};

/// A finding at a place in the editor.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ShownFinding {
    pub(super) found: EditorFinding,
    pub(super) range: Range,
}

impl ShownFinding {
    /// Returns true if the lines of the finding touch a range.
    pub(super) fn touches(&self, range: Range) -> bool {
        self.range.start.line <= range.end.line && range.start.line <= self.range.end.line
    }

    pub(super) fn is_at(&self, position: Position) -> bool {
        self.touches(Range { start: position, end: position })
    }

    pub(super) fn finding(&self) -> &Finding {
        &self.found.finding
    }

    /// Returns the diagnostic.
    pub(super) fn diagnostic(&self) -> Value {
        let finding = self.finding();
        let code = finding.rule.as_deref().unwrap_or(&finding.category);
        json!({
            "range": self.range,
            "severity": severity(finding),
            "code": one_line(code),
            "source": "assay",
            "message": message(&self.found),
            "data": { "id": finding.id },
        })
    }
}

/// Returns the findings of a file at their places.
pub(super) fn show(file: &ReviewedFile, encoding: PositionEncoding) -> Vec<ShownFinding> {
    let text = file.text.strip_prefix('\u{feff}').unwrap_or(&file.text);
    let index = LineIndex::new(text, encoding);
    let shown = file.findings.iter().map(|found| {
        let line = found.finding.line.unwrap_or(1);
        let end_line = found.finding.end_line.unwrap_or(line);
        let place = FindingPlace { line, end_line, column: found.finding.column };
        ShownFinding { found: found.clone(), range: index.range(finding_bytes(text, place)) }
    });
    shown.collect()
}

/// Returns the severity of a diagnostic: 1 for an error, 4 for a hint.
fn severity(finding: &Finding) -> u8 {
    match finding.grade.sarif_level() {
        _ if !finding.shown => 4,
        SarifLevel::Error => 1,
        SarifLevel::Warning => 2,
        SarifLevel::Note => 3,
    }
}

fn message(found: &EditorFinding) -> String {
    let finding = &found.finding;
    let origin = match found.source {
        FindingSource::CurrentText => String::new(),
        FindingSource::StoredReview => format!(", {}", finding.reviewers.join(", ")),
    };
    safe(&one_line(&format!("{} ({}{origin})", finding.title, finding.severity)))
}
