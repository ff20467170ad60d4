//! Bandit's JSON: findings, and files that it could not parse.

use assay_findings::vote::LineRange;
use serde::Deserialize;
use serde_json::Value;

use super::FormatError;
use super::document::{document, entries};
use crate::command::draft::Draft;
use crate::command::report_builder::ReportBuilder;
use crate::command::severity;

#[derive(Deserialize)]
struct Hit {
    filename: String,
    issue_text: String,
    issue_severity: String,
    issue_confidence: Option<String>,
    issue_cwe: Option<Cwe>,
    line_number: u32,
    #[serde(default)]
    line_range: Vec<u32>,
    more_info: Option<String>,
    test_id: String,
    test_name: Option<String>,
}

#[derive(Deserialize)]
struct Cwe {
    id: Option<u32>,
}

#[derive(Deserialize)]
struct Failure {
    filename: String,
    reason: String,
}

pub(super) fn read(text: &str, builder: &mut ReportBuilder<'_>) -> Result<(), FormatError> {
    let fits = |value: &Value| value.get("results").is_some_and(Value::is_array);
    let document = document(text, fits, builder)?;
    for hit in entries(&document, "results") {
        builder.entry(hit, take);
    }
    for failure in entries(&document, "errors") {
        builder.entry(failure, |builder, failure: Failure| {
            builder.not_covered(Some(&failure.filename), &failure.reason);
            Ok(())
        });
    }
    Ok(())
}

fn take(builder: &mut ReportBuilder<'_>, hit: Hit) -> Result<(), String> {
    let file = builder.checkout.path(&hit.filename)?;
    let mut draft = Draft::new(hit.issue_text, severity::grade(&hit.issue_severity), "security");
    draft.tool = Some("bandit".to_owned());
    draft.code = Some(hit.test_id);
    draft.file = Some(file);
    // From the named line to the end of its statement.
    let end = hit.line_range.iter().copied().max().unwrap_or(hit.line_number);
    draft.lines = LineRange::range(hit.line_number, end.max(hit.line_number));
    draft.confidence = hit.issue_confidence.as_deref().and_then(severity::confidence);
    let cwe = hit.issue_cwe.and_then(|cwe| cwe.id).map(|id| format!("CWE-{id}"));
    draft.help.extend(hit.test_name.map(|name| format!("Rule: {name}")));
    draft.help.extend(cwe);
    draft.help.extend(hit.more_info);
    builder.take(draft);
    Ok(())
}
