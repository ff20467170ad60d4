//! A review as a check run: [`check_run`], for users who may not or do not want to comment.

use std::collections::BTreeSet;

use assay_base::text::{first_bytes, truncate};
use serde::{Deserialize, Serialize};

use super::layout::{Entry, SummaryLimits};
use super::marker::Fingerprint;
use super::placement::{Placement, lines_of};
use super::summary::{SummaryPage, counts, pre_existing_list, title};
use super::{MAX_INLINE_COMMENTS, SummaryReason, comment};
use crate::finding::Finding;
use crate::grade::SarifLevel;
use crate::path::RepoPath;
use crate::synthesis::Synthesis;
use crate::verdict::VerdictState;
use crate::write::{escape, seven_level};

/// The maximum length of a summary, in bytes.
const MAX_SUMMARY_BYTES: usize = 65_000;
/// The maximum length of an annotation's message, in bytes.
const MAX_MESSAGE_BYTES: usize = 60_000;
/// The maximum length of an annotation's title, in characters.
const MAX_TITLE_CHARS: usize = 250;
/// The maximum number of annotations in one call.
const MAX_BATCH: usize = 50;

/// A check run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRun {
    /// The verdict in a few words.
    pub title: String,
    /// The verdict with its reasons, and every finding that has no annotation.
    pub summary: String,
    /// The result of the check run.
    pub conclusion: Conclusion,
    /// The annotations in batches of one call each, the worst first.
    pub batches: Vec<Vec<Annotation>>,
}

/// The result of a check run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// The change is ready.
    Success,
    /// The change is ready, and a finding should be fixed; or the change has nothing to review.
    Neutral,
    /// The change is not ready.
    Failure,
    /// The review is incomplete, so a person must act.
    ActionRequired,
}

impl Conclusion {
    fn of(state: VerdictState) -> Conclusion {
        match state {
            VerdictState::Ready => Conclusion::Success,
            VerdictState::ReadyWithFixes | VerdictState::NothingToReview => Conclusion::Neutral,
            VerdictState::NotReady => Conclusion::Failure,
            VerdictState::Incomplete => Conclusion::ActionRequired,
        }
    }
}

/// The level at which an annotation is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnnotationLevel {
    /// The finding is worth knowing.
    Notice,
    /// The finding may break something.
    Warning,
    /// The finding breaks something.
    Failure,
}

/// A finding on the lines of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotation {
    /// The path of the file.
    pub path: RepoPath,
    /// The first line, from 1.
    pub start_line: u32,
    /// The last line, from 1.
    pub end_line: u32,
    /// The column where the finding starts; `None` if it is not known, or the finding is on several
    /// lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_column: Option<u32>,
    /// The level at which the annotation is shown.
    pub annotation_level: AnnotationLevel,
    /// The defect, in a few words.
    pub title: String,
    /// The description of the defect, and its fix.
    pub message: String,
}

/// Composes a check run. `run` is the address or the command that shows the whole review.
pub fn check_run(synthesis: &Synthesis, run: Option<&str>) -> CheckRun {
    let mut seen = BTreeSet::new();
    let mut is_first = |finding: &&Finding| seen.insert(Fingerprint::of(finding));
    let mut open: Vec<&Finding> = synthesis.findings.iter().filter(&mut is_first).collect();
    let old: Vec<&Finding> = synthesis.pre_existing.iter().filter(&mut is_first).collect();
    open.sort_by(|a, b| a.cmp_by_weight(b));
    let mut annotations = Vec::new();
    let mut entries = Vec::new();
    for finding in &open {
        match annotation(finding)
            .filter(|_| finding.shown && annotations.len() < MAX_INLINE_COMMENTS)
        {
            Some(annotation) => annotations.push(annotation),
            None => entries.push(entry(finding)),
        }
    }
    entries.sort_by_key(|entry: &Entry| entry.is_folded);
    let counts = counts(open.iter().map(|finding| comment::level(finding)));
    let page = SummaryPage::new(synthesis, &[], run, None);
    let old = pre_existing_list(old.into_iter().map(comment::line).collect());
    let parts =
        page.with(&counts, &entries, old, SummaryLimits { parts: 1, bytes: MAX_SUMMARY_BYTES });
    CheckRun {
        title: truncate(&title(synthesis), MAX_TITLE_CHARS),
        summary: parts.into_iter().next().unwrap_or_default(),
        conclusion: Conclusion::of(synthesis.verdict.state),
        batches: annotations.chunks(MAX_BATCH).map(<[Annotation]>::to_vec).collect(),
    }
}

fn entry(finding: &Finding) -> Entry {
    let why = if !finding.shown {
        SummaryReason::Folded
    } else if finding.line.is_some() {
        SummaryReason::TooMany
    } else {
        SummaryReason::NoFile
    };
    let full = comment::entry(finding, &Placement::in_summary(why));
    let is_folded = !finding.shown;
    Entry {
        group: comment::level(finding).to_owned(),
        is_folded,
        full,
        line: comment::line(finding),
    }
}

fn annotation(finding: &Finding) -> Option<Annotation> {
    let (path, lines) = (finding.file.clone()?, lines_of(finding)?);
    let title = format!("{}: {}", seven_level(&finding.grade), finding.title);
    Some(Annotation {
        path,
        start_line: lines.start(),
        end_line: lines.end(),
        start_column: finding.column.filter(|_| lines.start() == lines.end()),
        annotation_level: match finding.grade.sarif_level() {
            SarifLevel::Error => AnnotationLevel::Failure,
            SarifLevel::Warning => AnnotationLevel::Warning,
            SarifLevel::Note => AnnotationLevel::Notice,
        },
        title: truncate(&escape::one_line(&title), MAX_TITLE_CHARS),
        message: message(finding),
    })
}

/// Returns the description and the fix as inert plain text.
fn message(finding: &Finding) -> String {
    let text = |text: &str| escape::escape_hidden(&text.replace("\r\n", "\n")).trim().to_owned();
    let mut message = text(&finding.description);
    if message.is_empty() {
        message = text(&finding.title);
    }
    if message.is_empty() {
        message = "A finding without a description.".to_owned();
    }
    if let Some(doubt) = finding.doubt() {
        message.push_str(&format!("\n\n{}", text(&doubt)));
    }
    if let Some(fix) = &finding.suggested_fix {
        message.push_str(&format!("\n\nFix: {}", text(fix)));
    }
    if message.len() <= MAX_MESSAGE_BYTES {
        return message;
    }
    format!("{}… (truncated)", first_bytes(&message, MAX_MESSAGE_BYTES))
}
