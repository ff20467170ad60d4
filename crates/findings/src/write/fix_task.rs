//! The fix task that a review creates for a fixer: `FixTask`.

use assay_base::hash::short_hash;
use assay_base::percent::encode_path;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{FindingsDocument, checklist, escape, qa, tasklist};
use crate::finding::Finding;
use crate::grade::{SEVEN_LEVELS, Scheme};

const INSTRUCTIONS: &str = "## Instructions
1. Review each finding above
2. Fix the issues in the specified files/lines
3. Run tests to verify fixes
4. Commit and push your changes
5. The review will be automatically re-queued
";

/// The last instruction of a fix task for an agent, after whose work the review is queued again.
const REQUEUED: &str = "5. The review will be automatically re-queued";

/// The last instruction of a fix task for a person.
const NOT_REQUEUED: &str =
    "5. Queue the review again (`assay queue push --type review`): nothing does that by itself";

/// Returns the description of a fix task for a person, whose work does not queue a new review.
pub fn describe_for_person(description: &str) -> String {
    description.replace(REQUEUED, NOT_REQUEUED)
}

/// The form of the list of findings in a fix task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListStyle {
    /// A heading for each finding.
    Headings,
    /// A check box for each finding.
    Boxes,
}

/// A fix task, in the form of the queue.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FixTask {
    /// The id of the task, the same for the same review, so that it is queued only once.
    pub id: String,
    /// The kind of work, always `fix`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The state of the task, always `pending`.
    pub status: &'static str,
    /// The title of the task.
    pub title: String,
    /// The work to do: the findings, and instructions.
    pub description: String,
    /// The ids of the tasks that must be completed before; always empty.
    pub depends_on: Vec<String>,
    /// The context of the work, from the review's context.
    pub context: Map<String, Value>,
}

pub(super) fn write(document: &FindingsDocument<'_>, list: ListStyle) -> FixTask {
    FixTask {
        id: id(document),
        kind: "fix",
        status: "pending",
        title: title(&document.context),
        description: description(document, list),
        depends_on: Vec::new(),
        context: context(document),
    }
}

fn cycle(document: &FindingsDocument<'_>) -> u32 {
    document.cycle.unwrap_or(1)
}

/// Derives the id from the whole id of the review and its cycle, so that the same review queues one
/// task only and no two reviews queue the same.
fn id(document: &FindingsDocument<'_>) -> String {
    let root = document.context.get("_root_task_id").and_then(Value::as_str);
    let review = root.or(document.review_id).map(str::to_owned).unwrap_or_else(|| {
        // A review without an id is identified by its findings.
        let found: String = document.findings().iter().map(|f| f.id.as_str()).collect();
        let about = ["github_repo", "pr_number", "jira_key"].map(|key| document.context.get(key));
        let seed = format!("{found}{}{about:?}", document.summary.unwrap_or(""));
        short_hash(seed, 16)
    });
    let safe = encode_path(&review).replace('/', "%2F");
    format!("review-fix-{safe}-c{}", cycle(document))
}

fn title(context: &Map<String, Value>) -> String {
    let jira = context.get("jira_key").and_then(Value::as_str);
    let about = jira.map(escape::one_line).or_else(|| match context.get("pr_number") {
        Some(Value::Number(number)) => Some(format!("PR #{number}")),
        Some(Value::String(number)) => Some(format!("PR #{}", escape::one_line(number))),
        _ => None,
    });
    match about {
        Some(about) => format!("Address code review feedback for {about}"),
        None => "Address code review feedback".to_owned(),
    }
}

fn description(document: &FindingsDocument<'_>, list: ListStyle) -> String {
    let listed = match list {
        ListStyle::Headings => format!("## Issues to Address\n\n{}", checklist::write(document)),
        ListStyle::Boxes => format!("## Review Findings\n\n{}", tasklist::write(document)),
    };
    let summary = escape::indent(&escape::disable_links(document.summary.unwrap_or("")), "    ");
    match structured_findings(document) {
        None => format!(
            "QA review found issues that need fixing.\n\n## Findings\n{summary}\n\n{INSTRUCTIONS}"
        ),
        Some(findings) => format!(
            "QA review found {} issue(s) that need fixing.\n\n## Summary\n{}\n\n{listed}\n{INSTRUCTIONS}",
            findings.len(),
            if summary.is_empty() { format_counts(document) } else { summary },
        ),
    }
}

/// Returns the findings of a review that has any: a task without findings contains the review's
/// text.
fn structured_findings<'d>(document: &FindingsDocument<'d>) -> Option<&'d [Finding]> {
    document.findings.filter(|findings| !findings.is_empty())
}

fn format_counts(document: &FindingsDocument<'_>) -> String {
    let parts: Vec<String> = SEVEN_LEVELS
        .iter()
        .map(|level| (count(document, level), level))
        .filter(|(count, _)| *count > 0)
        .map(|(count, level)| format!("{count} {level}"))
        .collect();
    format!("Found {}", if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") })
}

fn count(document: &FindingsDocument<'_>, level: &str) -> usize {
    document.findings().iter().filter(|f| f.grade.word_in_scheme(Scheme::Qa7) == level).count()
}

/// Returns the context of the task: the review's context without `review_*` fields, with the branch
/// and the findings.
fn context(document: &FindingsDocument<'_>) -> Map<String, Value> {
    let mut context: Map<String, Value> = document
        .context
        .iter()
        .filter(|(key, _)| !key.starts_with("review_"))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if let Some(branch) = context.get("implementation_branch").cloned() {
        context.insert("worktree_branch".to_owned(), branch);
    }
    context.insert("_review_cycle_count".to_owned(), json!(cycle(document)));
    match structured_findings(document) {
        Some(findings) => {
            context.insert(
                "structured_findings".to_owned(),
                json!({
                    "findings": qa::findings(document),
                    "summary": document.summary.unwrap_or_default(),
                    "total_count": findings.len(),
                    "critical_count": count(document, "CRITICAL"),
                    "high_count": count(document, "HIGH"),
                    "major_count": count(document, "MAJOR"),
                }),
            );
        }
        None => {
            let summary = document.summary.unwrap_or_default();
            context.insert("findings_summary".to_owned(), json!(summary));
        }
    }
    context
}
