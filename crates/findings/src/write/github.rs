//! Annotations for a GitHub workflow: a command on each line of its log.

use super::{FindingsDocument, escape, folded_mark, seven_level, verification_mark};
use crate::finding::Finding;
use crate::grade::SarifLevel;
use crate::verdict::VerdictState;

pub(super) fn write(document: &FindingsDocument<'_>) -> String {
    let findings = document.worst_first().into_iter().map(annotation);
    incomplete(document).into_iter().chain(nothing_to_review(document)).chain(findings).collect()
}

/// Returns a notice that there was nothing to review, so that a passing job is not mistaken for an
/// approval.
fn nothing_to_review(document: &FindingsDocument<'_>) -> Option<String> {
    let verdict = &document.synthesis?.verdict;
    let reasons: Vec<&str> = verdict.because.iter().map(|reason| reason.text.as_str()).collect();
    (verdict.state == VerdictState::NothingToReview)
        .then(|| format!("::notice title=Nothing to review::{}\n", data(&reasons.join("; "))))
}

/// Returns an error that the review is incomplete, which no finding reports.
fn incomplete(document: &FindingsDocument<'_>) -> Option<String> {
    let reasons = document.why_incomplete()?;
    Some(format!("::error title=The review is incomplete::{}\n", data(&reasons)))
}

fn annotation(finding: &Finding) -> String {
    let level = match finding.grade.sarif_level() {
        _ if !finding.shown => "notice",
        SarifLevel::Error => "error",
        SarifLevel::Warning => "warning",
        SarifLevel::Note => "notice",
    };
    let mut properties = Vec::new();
    if let Some(file) = &finding.file {
        properties.push(format!("file={}", property(file.as_str())));
    }
    if let Some(line) = finding.line {
        properties.push(format!("line={line}"));
        properties.push(format!("endLine={}", finding.end_line.unwrap_or(line)));
    }
    let title = format!("{}: {}", seven_level(&finding.grade), finding.title);
    properties.push(format!("title={}", property(&title)));
    let mut message = finding.description.clone();
    if let Some(doubt) = finding.doubt() {
        message.push_str(&format!("\n{doubt}"));
    }
    if let Some(fix) = &finding.suggested_fix {
        message.push_str(&format!("\nFix: {fix}"));
    }
    message.push_str(verification_mark(finding));
    message.push_str(&folded_mark(finding));
    format!("::{level} {}::{}\n", properties.join(","), data(&message))
}

fn data(text: &str) -> String {
    let text = text.replace('\r', "\n");
    escape::escape_hidden(&text).replace('%', "%25").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(&escape::one_line(text)).replace(':', "%3A").replace(',', "%2C")
}
