//! A line for each finding, as compilers print them: `file:line:column: severity: title [rule]`.

use super::{FindingsDocument, escape, folded_mark};
use crate::coverage::ReviewCoverage;
use crate::finding::Finding;

/// The place of a finding that names no file.
const WHOLE_CHANGE: &str = "(change)";

pub(super) fn write(document: &FindingsDocument<'_>) -> String {
    let mut findings: Vec<&Finding> = document.worst_first();
    findings.sort_by_key(|finding| (finding.file.as_ref(), finding.line, finding.column));
    let mut lines: Vec<String> = findings.into_iter().map(line).collect();
    lines.extend(verdict(document));
    lines.into_iter().map(|line| line + "\n").collect()
}

fn line(finding: &Finding) -> String {
    let severity = escape::one_line(&finding.severity);
    let title = escape::one_line(&finding.title);
    let source = finding.rule.as_deref().unwrap_or(&finding.category);
    let source = escape::one_line(source);
    format!("{}: {severity}: {title} [{source}]{}", place(finding), folded_mark(finding))
}

fn place(finding: &Finding) -> String {
    let Some(file) = &finding.file else { return WHOLE_CHANGE.to_owned() };
    let mut place = escape::one_line(file.as_str());
    if let Some(line) = finding.line {
        // A column of 1 is the start of the line, for programs that expect a column.
        place.push_str(&format!(":{line}:{}", finding.column.unwrap_or(1)));
    }
    place
}

/// Returns the verdict with its limits, so that no output without findings looks like a complete
/// review.
fn verdict(document: &FindingsDocument<'_>) -> Option<String> {
    let synthesis = document.synthesis?;
    let caveat = synthesis.coverage.as_ref().and_then(ReviewCoverage::caveat);
    let caveat = caveat.map(|caveat| format!(" ({caveat})")).unwrap_or_default();
    let state = synthesis.verdict.state.in_words();
    let reasons = document.why_incomplete().map(|why| format!(": {}", escape::one_line(&why)));
    Some(format!("{state}{caveat}{}", reasons.unwrap_or_default()))
}
