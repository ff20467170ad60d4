//! `report_findings`: the findings of an agent's review, parsed and checked against the code.

use std::sync::Arc;

use assay_findings::finding::Finding;
use assay_findings::verdict::VerdictState;
use assay_findings::write::{self, FindingsDocument, OutputFormat};
use assay_review::external_reports;
use assay_store::task::{AgentId, Moment, TaskId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::name_schema::NameSchema;
use super::{DEFAULT_LIMIT, TaskTools};
use crate::mcp::{Effect, Refusal, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the task that the review was done for.
    #[schemars(with = "NameSchema")]
    task_id: TaskId,
    /// The review: JSON with `findings`, a list of findings, or a text that contains either. Each
    /// finding has file, line_number, severity, category, description, suggested_fix, and in
    /// `evidence` the lines of code that it is about. An empty list means that nothing was found.
    #[schemars(length(min = 1, max = 1_000_000))]
    report: String,
    /// The name of the reviewer; by default the agent of the task.
    #[serde(default)]
    #[schemars(with = "NameSchema")]
    reviewer: Option<AgentId>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The id of the task.
    task_id: String,
    /// The number of this report, counted per task.
    report: u32,
    /// The verdict on the findings: ready, ready_with_fixes, not_ready, nothing_to_review or
    /// incomplete.
    verdict: VerdictState,
    /// The reasons of the verdict.
    because: Vec<String>,
    /// The findings that hold, worst first.
    findings: Vec<Map<String, Value>>,
    /// The number of findings that hold and are not listed.
    left_out: usize,
    /// The number of findings that are held back, because their code was not found.
    held_back: usize,
    /// The reasons that parts of the report were rejected.
    rejected: Vec<String>,
}

pub(super) fn tool(tools: &Arc<TaskTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "report_findings",
        "Reports the findings of a review for a task. They are checked against the code and stored \
         with the task; the answer lists the accepted and the rejected ones.",
        Effect::Adds,
        move |input| report(&tools, &input),
    )
}

fn report(tools: &TaskTools, input: &Input) -> Result<Output, Refusal> {
    let task = tools.task(&input.task_id)?.task;
    let own_name = || task.started_by.clone().unwrap_or_else(|| task.assigned_to.clone());
    let reviewer = input.reviewer.as_ref().map_or_else(own_name, ToString::to_string);
    let report = external_reports::read(&input.report, &reviewer, &tools.root);
    if let Some(why) = &report.unusable {
        return Err(Refusal::new(format!(
            "invalid report: {why}. Send JSON such as {{\"findings\": [{{\"file\": …, \
             \"line_number\": …, \"severity\": …, \"description\": …}}]}}; nothing was stored."
        )));
    }
    let synthesis = external_reports::check_reports(std::slice::from_ref(&report), &tools.root);
    let findings = listed(&synthesis.findings);
    let kept = json!({
        "version": 1,
        "task_id": task.id,
        "reviewer": report.reviewer.name,
        "handed_in_at": Moment::now(&tools.clock),
        (external_reports::REPORT): report,
        "synthesis": synthesis,
        "findings": findings,
    });
    let number = tools.reports.keep(&task.id, &kept).map_err(|error| Refusal::of(&error))?;
    let rejected = report.rejected.iter().take(DEFAULT_LIMIT);
    Ok(Output {
        task_id: task.id.to_string(),
        report: number,
        verdict: synthesis.verdict.state,
        because: synthesis.verdict.because.iter().map(|reason| reason.text.clone()).collect(),
        left_out: findings.len().saturating_sub(DEFAULT_LIMIT),
        findings: findings.into_iter().take(DEFAULT_LIMIT).collect(),
        held_back: synthesis.held_back.len(),
        rejected: rejected.map(|rejected| rejected.reason.clone()).collect(),
    })
}

/// Converts findings into the form in which tasks store them.
fn listed(findings: &[Finding]) -> Vec<Map<String, Value>> {
    let document = FindingsDocument { findings: Some(findings), ..FindingsDocument::default() };
    let written = write::write(OutputFormat::Qa, &document);
    let mut written: Value = serde_json::from_str(&written).expect("it was just written");
    serde_json::from_value(written["findings"].take()).expect("findings are a list of objects")
}
