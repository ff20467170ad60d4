//! The review JSON of codex.

use serde::Deserialize;
use serde_json::Value;

use super::{FormatError, range, typed};
use crate::comment::Comment;
use crate::score::CaseResult;

/// The largest priority number of a finding that prevents a merge.
const BLOCKING_PRIORITY: u64 = 1;

#[derive(Deserialize)]
struct Review {
    findings: Vec<Finding>,
    overall_correctness: Option<String>,
}

#[derive(Deserialize)]
struct Finding {
    title: String,
    #[serde(default)]
    body: String,
    confidence_score: Option<f64>,
    priority: Option<u64>,
    code_location: Option<CodeLocation>,
}

#[derive(Deserialize)]
struct CodeLocation {
    absolute_file_path: Option<String>,
    line_range: Option<LineRange>,
}

#[derive(Deserialize)]
struct LineRange {
    start: Option<u32>,
    end: Option<u32>,
}

/// Returns true if a value is a review in the format of codex.
pub(super) fn is_review(value: &Value) -> bool {
    let findings = value.get("findings").and_then(Value::as_array);
    let has_place = |finding: &Value| finding.get("code_location").is_some();
    findings.is_some_and(|findings| {
        value.get("overall_correctness").is_some()
            || (!findings.is_empty() && findings.iter().all(has_place))
    })
}

/// Parses a review.
pub(super) fn parse(value: &Value) -> Result<CaseResult, FormatError> {
    let review: Review = typed("a review of codex", value)?;
    let comments: Vec<Comment> = review.findings.into_iter().map(comment).collect();
    let rejects = review.overall_correctness.is_some_and(|word| word.contains("incorrect"));
    let blocks = rejects || comments.iter().any(|comment| comment.blocks);
    Ok(CaseResult { comments, blocks, ..CaseResult::default() })
}

fn comment(finding: Finding) -> Comment {
    let (path, lines) = match finding.code_location {
        Some(place) => (place.absolute_file_path, place.line_range),
        None => (None, None),
    };
    Comment {
        text: format!("{}\n{}", finding.title, finding.body),
        path,
        lines: lines.and_then(|lines| range(lines.start, lines.end)),
        severity: finding.priority.map(|priority| format!("P{priority}")),
        confidence: finding.confidence_score.map(|score| score.clamp(0.0, 1.0)),
        blocks: finding.priority.is_some_and(|priority| priority <= BLOCKING_PRIORITY),
    }
}
