//! `get_findings`: the findings of reviews for a task.

use std::sync::Arc;

use assay_base::text::first_chars;
use assay_store::task::TaskId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::name_schema::NameSchema;
use super::{TaskTools, limit};
use crate::mcp::{Effect, Refusal, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the task.
    #[schemars(with = "NameSchema")]
    task_id: TaskId,
    /// The maximum number of findings, 50 by default.
    #[serde(default)]
    #[schemars(with = "u8", range(min = 1, max = 200))]
    limit: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The id of the task.
    task_id: String,
    /// The findings of the task: those that it was created with, then those that were reported for
    /// it.
    findings: Vec<SourcedFinding>,
    /// The number of findings that are not listed.
    left_out: usize,
    /// The number of reports for the task.
    reports: usize,
    /// The number of reports that cannot be read, so that their findings are missing.
    unreadable_reports: usize,
    /// The summary of the findings in the task.
    summary: String,
}

#[derive(Serialize, JsonSchema)]
struct SourcedFinding {
    /// The source: `task`, or the number of the report.
    from: String,
    /// The finding: file, line_number, severity, category, description, suggested_fix.
    finding: Map<String, Value>,
}

pub(super) fn tool(tools: &Arc<TaskTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "get_findings",
        "Returns the findings of a task: those to fix, and those reported with report_findings.",
        Effect::Reads,
        move |input| findings(&tools, &input),
    )
}

fn findings(tools: &TaskTools, input: &Input) -> Result<Output, Refusal> {
    let task = tools.task(&input.task_id)?.task;
    let reports = tools.reports.of(&task.id).map_err(|error| Refusal::of(&error))?;
    let mut found = list(task.context.get("structured_findings"), "task");
    for (number, report) in &reports {
        found.extend(list(report.as_ref().ok(), &format!("report {number}")));
    }
    let left_out = found.len().saturating_sub(limit(input.limit));
    found.truncate(limit(input.limit));
    Ok(Output {
        task_id: task.id.to_string(),
        findings: found,
        left_out,
        reports: reports.len(),
        unreadable_reports: reports.iter().filter(|(_, report)| report.is_err()).count(),
        summary: summary(&task.context),
    })
}

/// Returns the list `findings` of an object, each with its source.
fn list(holder: Option<&Value>, from: &str) -> Vec<SourcedFinding> {
    let list = holder.and_then(|holder| holder.get("findings")).and_then(Value::as_array);
    let findings = list.map(Vec::as_slice).unwrap_or_default().iter().filter_map(Value::as_object);
    findings
        .map(|finding| SourcedFinding { from: from.to_owned(), finding: finding.clone() })
        .collect()
}

fn summary(context: &Map<String, Value>) -> String {
    let structured = context.get("structured_findings").and_then(|found| found.get("summary"));
    let summary = structured.or_else(|| context.get("findings_summary"));
    first_chars(summary.and_then(Value::as_str).unwrap_or_default(), 4_000).to_owned()
}
