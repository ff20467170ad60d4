//! The persona report, in its two tiers.

use assay_base::text::first_chars;
use serde::Serialize;

use super::{FindingsDocument, native_elsewhere};
use crate::finding::Finding;
use crate::grade::{NativeSeverity, Scheme};

/// The reviewer name of a report that is merged from others.
const MERGED_REVIEWER: &str = "assay";

/// The maximum length of a title, in characters.
const MAX_TITLE_CHARS: usize = 100;

/// The tier of a report.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputTier {
    /// All fields, for the file.
    Detail,
    /// The fields that merging needs.
    Merge,
}

#[derive(Serialize)]
pub(super) struct PersonaReport<'a> {
    reviewer: &'a str,
    findings: Vec<PersonaFinding<'a>>,
    residual_risks: &'a [String],
    testing_gaps: &'a [String],
    /// The reason why the report does not have all of the reviewer's findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    unusable: Option<&'a str>,
}

#[derive(Serialize)]
struct PersonaFinding<'a> {
    title: String,
    severity: &'a str,
    file: &'a str,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_it_matters: Option<&'a str>,
    autofix_class: &'static str,
    owner: &'static str,
    requires_verification: bool,
    suggested_fix: Option<&'a str>,
    confidence: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<Vec<String>>,
    pre_existing: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    native_severity: Option<&'a NativeSeverity>,
}

pub(super) fn write<'a>(document: &FindingsDocument<'a>, tier: OutputTier) -> PersonaReport<'a> {
    let (synthesis, report) = (document.synthesis, document.report);
    let risks = report.map(|report| &report.remarks.residual_risks);
    let gaps = report.map(|report| &report.remarks.testing_gaps);
    let all_risks = || synthesis.map(|synthesis| &synthesis.residual_risks);
    let all_gaps = || synthesis.map(|synthesis| &synthesis.testing_gaps);
    PersonaReport {
        reviewer: report.map_or(MERGED_REVIEWER, |report| &report.reviewer.name),
        findings: document.worst_first().into_iter().map(|f| finding(f, tier)).collect(),
        residual_risks: risks.or_else(all_risks).map_or(&[], Vec::as_slice),
        testing_gaps: gaps.or_else(all_gaps).map_or(&[], Vec::as_slice),
        unusable: report.and_then(|report| report.unusable.as_deref()),
    }
}

fn finding(finding: &Finding, tier: OutputTier) -> PersonaFinding<'_> {
    let detail = tier == OutputTier::Detail;
    PersonaFinding {
        title: first_chars(&finding.title, MAX_TITLE_CHARS).to_owned(),
        severity: finding.grade.word_in_scheme(Scheme::P),
        file: finding.file.as_ref().map_or("", |file| file.as_str()),
        // The format has no value for a whole file, so its first line is used.
        line: finding.line.unwrap_or(1),
        why_it_matters: detail.then_some(finding.description.as_str()),
        autofix_class: finding.autofix_class.as_str(),
        owner: finding.owner.as_str(),
        requires_verification: finding.requires_verification,
        suggested_fix: finding.suggested_fix.as_deref(),
        confidence: finding.confidence.percent(),
        evidence: detail.then(|| evidence(finding)),
        pre_existing: finding.pre_existing,
        native_severity: native_elsewhere(&finding.grade, Scheme::P),
    }
}

/// Returns the evidence of a finding. The format requires at least one piece: without a quote, the
/// place.
fn evidence(finding: &Finding) -> Vec<String> {
    if finding.evidence.is_empty() {
        return vec![finding.place().unwrap_or_else(|| finding.title.clone())];
    }
    finding.evidence.clone()
}
