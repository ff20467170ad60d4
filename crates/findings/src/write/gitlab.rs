//! A code-quality report of GitLab: a list of issues in the format of Code Climate.
//!
//! GitLab shows the issues whose place it can link, so a finding without a file is left out here, as
//! in the annotations of other services; the verdict counts it.

use serde::Serialize;

use super::{FindingsDocument, escape};
use crate::finding::Finding;
use crate::identity;

#[derive(Serialize)]
pub(super) struct Issue<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    description: String,
    check_name: &'a str,
    fingerprint: String,
    severity: &'static str,
    location: Location<'a>,
}

#[derive(Serialize)]
struct Location<'a> {
    path: &'a str,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
    end: u32,
}

/// The severities of GitLab, from the least severe to the worst, for the seven levels.
const SEVERITIES: [&str; 7] = ["critical", "major", "major", "minor", "info", "info", "info"];

pub(super) fn write<'a>(document: &FindingsDocument<'a>) -> Vec<Issue<'a>> {
    document.worst_first().into_iter().filter_map(issue).collect()
}

fn issue(finding: &Finding) -> Option<Issue<'_>> {
    let file = finding.file.as_ref()?;
    // GitLab shows one issue for each fingerprint, and the same code may be in several files.
    let fingerprint =
        format!("{}-{}", finding.fingerprint, identity::id(&finding.fingerprint, Some(file)));
    let begin = finding.line.unwrap_or(1);
    Some(Issue {
        kind: "issue",
        description: escape::one_line(&finding.title),
        check_name: finding.rule.as_deref().unwrap_or(&finding.category),
        fingerprint,
        severity: severity(finding),
        location: Location {
            path: file.as_str(),
            lines: Lines { begin, end: finding.end_line.unwrap_or(begin).max(begin) },
        },
    })
}

/// Returns the severity: `blocker` for a finding that must be fixed.
fn severity(finding: &Finding) -> &'static str {
    match finding.grade.blocks() {
        true => "blocker",
        false => SEVERITIES[usize::from(finding.grade.impact().level()).min(SEVERITIES.len() - 1)],
    }
}
