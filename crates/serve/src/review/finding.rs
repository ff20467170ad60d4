//! Findings as tools show them: [`FindingSummary`], and in a line.

use assay_base::text::truncate;
use assay_findings::finding::{Consequence, Finding};
use assay_findings::grade::Scheme;
use assay_rules::{injection_in_name, redacted_text, without_injections};
use schemars::JsonSchema;
use serde::Serialize;

/// The text in place of a file's name that gives a reviewer orders.
const WITHHELD_NAME: &str = "[name withheld: it addresses a reviewer]";

/// The most quotes of a finding.
const MAX_QUOTES: usize = 3;

/// The most characters of one text of a finding.
const MAX_TEXT: usize = 1_200;

/// The most characters of a text in a line.
const MAX_LINE: usize = 240;

/// A finding.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FindingSummary {
    /// The id of the finding in this review.
    finding: String,
    /// `P0` to `P3`.
    severity: String,
    /// The defect in a few words.
    title: String,
    /// The file and line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    place: Option<String>,
    /// What breaks.
    why: String,
    /// The code that shows it.
    evidence: Vec<String>,
    /// The number of further quotes.
    #[serde(skip_serializing_if = "is_zero")]
    more_evidence: usize,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    suggested_fix: Option<String>,
    /// The reviewers that found it.
    reviewers: Vec<String>,
    /// The confidence, of 100.
    confidence: u8,
    /// The answer of the second look.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    second_look: Option<String>,
    /// True if a person has to check it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    to_be_checked: bool,
}

pub(super) fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl From<&Finding> for FindingSummary {
    fn from(finding: &Finding) -> FindingSummary {
        let (evidence, more_evidence) = cut(&finding.evidence, MAX_QUOTES);
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
    finding.grade.in_words_of(Scheme::P).to_owned()
}

/// Returns the answer of the second look at a finding in a line.
fn second_look(finding: &Finding) -> Option<String> {
    let look = finding.validation.as_ref()?;
    let consequence = look.consequence.map(Consequence::as_str);
    let consequence = consequence.map(|word| format!(", {word}")).unwrap_or_default();
    Some(format!("{}{consequence}: {}", look.state.as_str(), truncate(&look.why, MAX_LINE)))
}

/// Returns a finding in a line.
pub(super) fn in_a_line(finding: &Finding) -> String {
    let place = finding.place().map(|place| format!(" at {place}")).unwrap_or_default();
    let look = second_look(finding).map(|look| format!(" ({look})")).unwrap_or_default();
    let (id, title) = (&finding.id, truncate(&finding.title, MAX_LINE));
    format!("{id}: {} {title}{place}{look}", severity(finding))
}

/// Returns the beginning of a list, and the number of the other entries.
pub(super) fn cut<T>(list: &[T], most: usize) -> (impl Iterator<Item = &T>, usize) {
    (list.iter().take(most), list.len().saturating_sub(most))
}

/// Returns a text without credentials, and without lines and names that give a reviewer orders: text
/// of the change may stand in any field, and no marks stand around it there.
pub(super) fn without_orders(text: &str) -> String {
    let redacted = redacted_text(text);
    let lines = without_injections(&redacted);
    let is_end = |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | ',');
    let words = lines.split_inclusive(is_end).map(|word| {
        let name = word.trim_end_matches(is_end);
        match injection_in_name(name) {
            Some(_) => word.replacen(name, WITHHELD_NAME, 1),
            None => word.to_owned(),
        }
    });
    words.collect()
}
