//! Findings as tools return them: [`FindingSummary`], and as a single line.

use assay_base::text::truncate;
use assay_findings::finding::{Consequence, Finding};
use assay_findings::grade::Scheme;
use assay_rules::{find_injection_in_name, redact_text, without_injections};
use schemars::JsonSchema;
use serde::Serialize;

/// The replacement of a file name that gives orders to a reviewer.
const WITHHELD_NAME: &str = "[name withheld: it addresses a reviewer]";

/// The maximum number of quotes of a finding.
const MAX_QUOTES: usize = 3;

/// The maximum number of characters of one text of a finding.
const MAX_TEXT: usize = 1_200;

/// The maximum number of characters of a text in a line.
const MAX_LINE: usize = 240;

/// A finding.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FindingSummary {
    /// The id of the finding in this review.
    finding: String,
    /// The severity, `P0` to `P3`.
    severity: String,
    /// The defect in a few words.
    title: String,
    /// The file and line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    place: Option<String>,
    /// The consequence of the defect: what breaks.
    why: String,
    /// The code that shows the defect.
    evidence: Vec<String>,
    /// The number of further quotes.
    #[serde(skip_serializing_if = "is_zero")]
    more_evidence: usize,
    /// The change that fixes the defect.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    suggested_fix: Option<String>,
    /// The reviewers that reported the finding.
    reviewers: Vec<String>,
    /// The confidence, from 0 to 100.
    confidence: u8,
    /// The answer of the second look.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    second_look: Option<String>,
    /// True if a person has to check the finding.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    to_be_checked: bool,
}

pub(super) fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl From<&Finding> for FindingSummary {
    fn from(finding: &Finding) -> FindingSummary {
        let (evidence, more_evidence) = split_list(&finding.evidence, MAX_QUOTES);
        FindingSummary {
            finding: finding.id.clone(),
            severity: severity(finding),
            title: truncate(&finding.title, MAX_LINE),
            place: finding.place(),
            why: truncate(&finding.description, MAX_TEXT),
            evidence: evidence.map(|text| truncate(text, MAX_TEXT)).collect(),
            more_evidence,
            suggested_fix: finding.suggested_fix.as_deref().map(|fix| truncate(fix, MAX_TEXT)),
            reviewers: finding.reviewers.clone(),
            confidence: finding.confidence.percent(),
            second_look: second_look(finding),
            to_be_checked: finding.is_to_be_checked(),
        }
    }
}

/// Returns the severity on the scale of the briefs.
pub(super) fn severity(finding: &Finding) -> String {
    finding.grade.word_in_scheme(Scheme::P).to_owned()
}

/// Formats the answer of the second look at a finding as a line.
fn second_look(finding: &Finding) -> Option<String> {
    let look = finding.validation.as_ref()?;
    let consequence = look.consequence.map(Consequence::as_str);
    let consequence = consequence.map(|word| format!(", {word}")).unwrap_or_default();
    Some(format!("{}{consequence}: {}", look.state.as_str(), truncate(&look.why, MAX_LINE)))
}

/// Formats a finding as a line.
pub(super) fn format_line(finding: &Finding) -> String {
    let place = finding.place().map(|place| format!(" at {place}")).unwrap_or_default();
    let look = second_look(finding).map(|look| format!(" ({look})")).unwrap_or_default();
    let (id, title) = (&finding.id, truncate(&finding.title, MAX_LINE));
    format!("{id}: {} {title}{place}{look}", severity(finding))
}

/// Returns the first `most` entries of a list, and the number of the others.
pub(super) fn split_list<T>(list: &[T], most: usize) -> (impl Iterator<Item = &T>, usize) {
    (list.iter().take(most), list.len().saturating_sub(most))
}

/// Removes credentials, and lines and names that give orders to a reviewer, from a text: text of
/// the change may be in any field, and no marks delimit it there.
pub(super) fn remove_orders(text: &str) -> String {
    let redacted = redact_text(text);
    let lines = without_injections(&redacted);
    let is_end = |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | ',');
    let words = lines.split_inclusive(is_end).map(|word| {
        let name = word.trim_end_matches(is_end);
        match find_injection_in_name(name) {
            Some(_) => word.replacen(name, WITHHELD_NAME, 1),
            None => word.to_owned(),
        }
    });
    words.collect()
}
