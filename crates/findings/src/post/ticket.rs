//! The short form of a review for a ticket: [`ticket_comment`], plain text, whatever markup the
//! tracker supports.

use super::comment;
use super::summary::{counts, reasons};
use super::text::defuse;
use crate::finding::Finding;
use crate::synthesis::Synthesis;
use crate::write::{escape, seven_level};

/// The maximum number of findings that are named.
const MAX_NAMED: usize = 10;

/// Formats the result of a review in a few lines: the verdict, the counts, the worst findings and
/// the pull request's address.
pub fn ticket_comment(synthesis: &Synthesis, pull_request: &str) -> String {
    let state = escape::capitalize(synthesis.verdict.state.in_words());
    let why = reasons(&synthesis.verdict);
    let why: Vec<String> = why.iter().take(2).map(|reason| defuse(reason)).collect();
    let mut lines = vec![format!("Review: {state}: {}.", why.join("; "))];
    let severities = synthesis.findings.iter().map(comment::level);
    lines.push(counts(severities).replace("**", ""));
    let mut findings: Vec<&Finding> = synthesis.findings.iter().collect();
    findings.sort_by(|a, b| a.cmp_by_weight(b));
    lines.extend(findings.iter().take(MAX_NAMED).zip(1..).map(|(finding, number)| {
        let place = finding.place().map(|place| format!(" ({})", defuse(&place)));
        let severity = defuse(seven_level(&finding.grade));
        format!("{number}. {severity}: {}{}", defuse(&finding.title), place.unwrap_or_default())
    }));
    if findings.len() > MAX_NAMED {
        lines.push(format!("and {} more", findings.len() - MAX_NAMED));
    }
    lines.push(escape::one_line(pull_request));
    lines.join("\n")
}
