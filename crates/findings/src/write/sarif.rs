//! SARIF 2.1.0, as GitHub's code scanning and other tools read it.

use std::collections::BTreeMap;

use assay_base::percent::encode_path;
use assay_base::text::first_chars;
use serde::Serialize;

use super::{FindingsDocument, escape, verification_mark};
use crate::finding::{Finding, GroundingMark};
use crate::grade::{Impact, SarifLevel};
use crate::template::TemplateText;
use crate::trace::TraceStep;
use crate::vote::Confidence;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The maximum length of a rule's description, in characters.
const MAX_DESCRIPTION_CHARS: usize = 1_000;

#[derive(Serialize)]
pub(super) struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: Vec<Run>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    automation_details: AutomationDetails,
    invocations: Vec<Invocation>,
    column_kind: &'static str,
    results: Vec<SarifResult>,
}

/// The run of the review; successful unless the review is incomplete.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
struct Notification {
    level: SarifLevel,
    message: Message,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
struct AutomationDetails {
    id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: String,
    rules: Vec<ReportingRule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReportingRule {
    id: String,
    name: String,
    short_description: Message,
    full_description: Message,
    help: HelpMessage,
    #[serde(skip_serializing_if = "Option::is_none")]
    help_uri: Option<String>,
    default_configuration: Configuration,
    properties: RuleProperties,
}

#[derive(Serialize)]
struct Configuration {
    level: SarifLevel,
}

#[derive(Serialize)]
struct RuleProperties {
    tags: Vec<String>,
    precision: &'static str,
    #[serde(rename = "security-severity", skip_serializing_if = "Option::is_none")]
    security_severity: Option<&'static str>,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

/// A message as plain text and as Markdown.
#[derive(Serialize)]
struct HelpMessage {
    text: String,
    markdown: String,
}

/// A result in SARIF.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: String,
    rule_index: usize,
    level: SarifLevel,
    message: Message,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    code_flows: Vec<CodeFlow>,
    partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<Fix>,
    properties: ResultProperties,
}

#[derive(Serialize)]
struct ResultProperties {
    severity: String,
    confidence: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    worth: Option<f64>,
    shown: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    marks: Vec<GroundingMark>,
    reviewers: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggested_fix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    template: Option<TemplateText>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

/// The way of a value through the code.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CodeFlow {
    thread_flows: Vec<ThreadFlow>,
}

#[derive(Serialize)]
struct ThreadFlow {
    locations: Vec<ThreadFlowLocation>,
}

#[derive(Serialize)]
struct ThreadFlowLocation {
    location: Location,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize, Clone)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: String,
    uri_base_id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u32>,
    end_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_column: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fix {
    description: Message,
    artifact_changes: Vec<ArtifactChange>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange {
    artifact_location: ArtifactLocation,
    replacements: Vec<SarifReplacement>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifReplacement {
    deleted_region: Region,
    inserted_content: Message,
}

pub(super) fn write(document: &FindingsDocument<'_>) -> Log {
    let findings = document.worst_first();
    let mut by_rule: BTreeMap<String, Vec<&Finding>> = BTreeMap::new();
    for finding in &findings {
        by_rule.entry(rule_id(finding)).or_default().push(finding);
    }
    let index: BTreeMap<&str, usize> =
        by_rule.keys().enumerate().map(|(at, id)| (id.as_str(), at)).collect();
    let results = findings.iter().map(|finding| {
        let id = rule_id(finding);
        let at = index[id.as_str()];
        sarif_result(document, finding, id, at)
    });
    Log {
        schema: SCHEMA,
        version: "2.1.0",
        runs: vec![Run {
            automation_details: AutomationDetails { id: "assay/" },
            invocations: vec![invocation(document)],
            column_kind: "utf16CodeUnits",
            results: results.collect(),
            tool: Tool {
                driver: Driver {
                    name: "assay",
                    semantic_version: document.version.to_owned(),
                    rules: by_rule.iter().map(|(id, hits)| rule(id, hits)).collect(),
                },
            },
        }],
    }
}

fn invocation(document: &FindingsDocument<'_>) -> Invocation {
    let notification = |level, text: String| Notification { level, message: Message { text } };
    let incomplete = document.why_incomplete();
    let execution_successful = incomplete.is_none();
    let incomplete = incomplete.map(|why| {
        let why = escape::one_line(&why);
        notification(SarifLevel::Error, format!("The review is incomplete: {why}"))
    });
    let coverage = document.synthesis.and_then(|synthesis| synthesis.coverage.as_ref());
    let left_out = coverage.filter(|coverage| coverage.rules_not_applied > 0).map(|coverage| {
        notification(SarifLevel::Note, format!("Rules not applied: {}", coverage.rules_not_applied))
    });
    Invocation {
        execution_successful,
        tool_execution_notifications: incomplete.into_iter().chain(left_out).collect(),
    }
}

/// Returns the rule of a finding. A finding of a model has no rule, so its category is used.
fn rule_id(finding: &Finding) -> String {
    match &finding.rule {
        Some(rule) => rule.clone(),
        None => format!("review/{}", encode_path(finding.category.to_lowercase())),
    }
}

/// Describes a rule by the worst of its findings, which come first.
fn rule(id: &str, hits: &[&Finding]) -> ReportingRule {
    let worst = hits[0];
    let category = escape::one_line(&worst.category);
    let (short, full) = match worst.rule {
        Some(_) => (non_empty(&worst.title, id), non_empty(&worst.description, id)),
        None => {
            let text = format!("Review findings of category {category}");
            (text.clone(), text)
        }
    };
    let shared = shared_template(hits);
    let is_security = worst.category.eq_ignore_ascii_case("security");
    ReportingRule {
        id: id.to_owned(),
        name: pascal_case(id),
        short_description: Message { text: truncate_description(&short) },
        help: help(id, worst, shared, &full),
        help_uri: shared.and_then(|template| template.link.clone()),
        full_description: Message { text: truncate_description(&full) },
        default_configuration: Configuration { level: worst.grade.sarif_level() },
        properties: RuleProperties {
            tags: vec![category],
            precision: precision(worst.confidence),
            security_severity: is_security.then(|| security_severity(worst.grade.impact())),
        },
    }
}

/// Returns the template that all findings of a rule have in common; `None` if they differ.
fn shared_template<'f>(hits: &[&'f Finding]) -> Option<&'f TemplateText> {
    let first = hits[0].template.as_ref()?;
    hits.iter().all(|hit| hit.template.as_ref() == Some(first)).then_some(first)
}

/// Returns the help for a rule: its description, the explanation of its kind, and the advice for a
/// fix. The advice of a model belongs to one finding, and is left out.
fn help(
    id: &str,
    worst: &Finding,
    shared: Option<&TemplateText>,
    description: &str,
) -> HelpMessage {
    let mut description = truncate_description(description);
    if let Some(template) = shared {
        let explanation = template.explanation.trim();
        description.push_str(&format!("\n{}: {explanation}", template.title));
    }
    let advice = worst.suggested_fix.as_deref().filter(|_| worst.rule.is_some());
    let advice = advice.or(shared.map(|template| template.fix.as_str()));
    let Some(advice) = advice.map(truncate_description) else {
        let markdown = escape::escape_comment(&description);
        return HelpMessage { text: description, markdown };
    };
    let advice = escape::escape_hidden(&advice);
    HelpMessage {
        text: format!("{description}\nFix: {advice}"),
        markdown: format!(
            "{}\n\n**Fix**: {}\n\nRule {}",
            escape::escape_comment(&description),
            escape::escape_comment(&advice),
            escape::to_code_span(id),
        ),
    }
}

fn sarif_result(
    document: &FindingsDocument<'_>,
    finding: &Finding,
    rule_id: String,
    rule_index: usize,
) -> SarifResult {
    let mut fingerprints = BTreeMap::from([("assayFingerprint/v1", finding.fingerprint.clone())]);
    if let Some(hash) = &finding.line_hash {
        fingerprints.insert("primaryLocationLineHash", hash.clone());
    }
    SarifResult {
        rule_id,
        rule_index,
        level: finding.grade.sarif_level(),
        message: Message { text: message(finding) },
        locations: location(document, finding).into_iter().collect(),
        code_flows: code_flow(&finding.trace).into_iter().collect(),
        partial_fingerprints: fingerprints,
        fixes: fix(finding).into_iter().collect(),
        properties: ResultProperties {
            severity: finding.severity.clone(),
            confidence: finding.confidence.percent(),
            worth: finding.worth,
            shown: finding.shown,
            marks: finding.marks.clone(),
            reviewers: finding.reviewers.clone(),
            suggested_fix: finding.suggested_fix.clone(),
            template: finding.template.clone(),
        },
    }
}

fn message(finding: &Finding) -> String {
    let title = escape::one_line(&finding.title);
    let mut text = non_empty(&title, "finding").trim_end_matches('.').to_owned() + ".";
    if finding.description != finding.title {
        text.push_str(&format!(" {}", escape::escape_hidden(&finding.description)));
    }
    if let Some(doubt) = finding.doubt() {
        text.push_str(&format!(" {}", escape::escape_hidden(&doubt)));
    }
    text + verification_mark(finding)
}

fn artifact(finding: &Finding) -> Option<ArtifactLocation> {
    let uri = encode_path(finding.file.as_ref()?.as_str());
    Some(ArtifactLocation { uri, uri_base_id: "%SRCROOT%" })
}

fn location(document: &FindingsDocument<'_>, finding: &Finding) -> Option<Location> {
    let columns = document.utf16_columns;
    let start_column = columns.and_then(|columns| columns.get(&finding.id)).copied();
    Some(Location {
        physical_location: PhysicalLocation {
            artifact_location: artifact(finding)?,
            region: finding.line.map(|start_line| Region {
                start_line,
                start_column,
                end_line: finding.end_line.unwrap_or(start_line),
                end_column: None,
            }),
        },
        message: None,
    })
}

/// Returns the way of a value as a code flow; `None` without a trace.
fn code_flow(trace: &[TraceStep]) -> Option<CodeFlow> {
    let locations: Vec<ThreadFlowLocation> = trace.iter().map(flow_location).collect();
    let has_steps = !locations.is_empty();
    has_steps.then(|| CodeFlow { thread_flows: vec![ThreadFlow { locations }] })
}

fn flow_location(step: &TraceStep) -> ThreadFlowLocation {
    let uri = encode_path(step.file.as_str());
    let text = format!("{}: {}", step.role.as_str(), escape::one_line(&step.code));
    let region =
        Region { start_line: step.line, start_column: None, end_line: step.line, end_column: None };
    ThreadFlowLocation {
        location: Location {
            physical_location: PhysicalLocation {
                artifact_location: ArtifactLocation { uri, uri_base_id: "%SRCROOT%" },
                region: Some(region),
            },
            message: Some(Message { text }),
        },
    }
}

fn fix(finding: &Finding) -> Option<Fix> {
    let replacement = finding.replacement.as_ref()?;
    Some(Fix {
        description: Message {
            text: non_empty(finding.suggested_fix.as_deref().unwrap_or(""), "Apply the fix"),
        },
        artifact_changes: vec![ArtifactChange {
            artifact_location: artifact(finding)?,
            replacements: vec![SarifReplacement {
                deleted_region: Region {
                    start_line: replacement.start_line(),
                    start_column: Some(1),
                    end_line: replacement.end_line().saturating_add(1),
                    end_column: Some(1),
                },
                inserted_content: Message { text: replacement.text().to_owned() },
            }],
        }],
    })
}

fn non_empty(text: &str, else_use: &str) -> String {
    let text = escape::escape_hidden(text.trim());
    if text.is_empty() { else_use.to_owned() } else { text.into_owned() }
}

fn truncate_description(text: &str) -> String {
    first_chars(text, MAX_DESCRIPTION_CHARS).to_owned()
}

fn pascal_case(id: &str) -> String {
    id.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| word[..1].to_ascii_uppercase() + &word[1..])
        .collect()
}

fn precision(confidence: Confidence) -> &'static str {
    match confidence.percent() {
        100 => "very-high",
        75 => "high",
        50 => "medium",
        _ => "low",
    }
}

fn security_severity(impact: Impact) -> &'static str {
    match impact.level() {
        0 => "9.5",
        1 => "8.0",
        2 => "7.0",
        3 => "5.0",
        4 => "3.0",
        5 => "2.0",
        _ => "1.0",
    }
}
