//! The JSON of `assay review`, and the text of any reviewer.

use assay_base::text::first_chars;
use assay_findings::finding::Finding;
use assay_findings::outcome;
use assay_findings::read;
use assay_findings::synthesis::Synthesis;
use assay_findings::verdict::VerdictState;
use assay_findings::vote::{Confidence, LineRange, Vote};
use serde_json::Value;

use super::{FormatError, typed};
use crate::comment::Comment;
use crate::score::{CaseResult, Effort};

/// Parses the JSON of `assay review`: the shown findings and the verdict.
pub(super) fn parse_synthesis(value: &Value) -> Result<CaseResult, FormatError> {
    let synthesis: Synthesis = typed("the JSON of `assay review`", value)?;
    Ok(CaseResult::from(&synthesis))
}

impl From<&Synthesis> for CaseResult {
    /// Returns the shown findings, the verdict and the cost of a review. Folded findings are left
    /// out.
    fn from(synthesis: &Synthesis) -> CaseResult {
        let spent = synthesis.spent.clone().unwrap_or_default();
        CaseResult {
            comments: synthesis
                .findings
                .iter()
                .filter(|it| it.shown)
                .map(finding_comment)
                .collect(),
            blocks: synthesis.verdict.state == VerdictState::NotReady,
            effort: Effort {
                calls: spent.calls + spent.kept_answers,
                bytes: spent.bytes,
                tokens: spent.tokens,
                dollars: spent.usd.unwrap_or(0.0),
                ..Effort::default()
            },
            is_incomplete: synthesis.verdict.incomplete,
        }
    }
}

fn finding_comment(finding: &Finding) -> Comment {
    let line = finding.line;
    Comment {
        text: claim(&finding.title, &finding.description, finding.suggested_fix.as_deref()),
        path: finding.file.as_ref().map(ToString::to_string),
        lines: line.map(|line| (line, finding.end_line.unwrap_or(line))),
        severity: Some(finding.severity.clone()),
        confidence: Some(f64::from(finding.confidence.percent()) / 100.0),
        blocks: finding.grade.blocks(),
    }
}

/// Returns the words of a claim as a person reads them in a comment. A label often says what to do,
/// so the fix is part of them.
fn claim(title: &str, description: &str, fix: Option<&str>) -> String {
    let parts = [Some(title), Some(description), fix];
    let known: Vec<&str> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    known.join("\n")
}

/// Parses a reviewer's text.
pub(super) fn parse(text: &str) -> Result<CaseResult, FormatError> {
    let reading = read::read(text, None);
    let Some(votes) = &reading.votes else {
        let begin = first_chars(text.trim(), 80);
        return Err(FormatError::Unknown(format!("it begins with `{begin}`")));
    };
    let judged = outcome::judge(text, &reading);
    Ok(CaseResult {
        comments: votes.iter().map(vote_comment).collect(),
        blocks: judged.outcome.needs_fix,
        ..CaseResult::default()
    })
}

fn vote_comment(vote: &Vote) -> Comment {
    Comment {
        text: claim(&vote.title, &vote.description, vote.suggested_fix.as_deref()),
        path: vote.file.as_ref().map(ToString::to_string),
        lines: vote.lines.map(|lines: LineRange| (lines.start(), lines.end())),
        severity: Some(vote.grade.word().to_owned()),
        confidence: vote.confidence.map(|anchor: Confidence| f64::from(anchor.percent()) / 100.0),
        blocks: vote.grade.blocks(),
    }
}
