//! A review as a check run: [`check_run`], for who may not comment or would rather not.

use std::collections::BTreeSet;

use assay_base::text::{first_bytes, truncate};
use serde::{Deserialize, Serialize};

use super::anchor::{Placed, lines_of};
use super::fitting::{Entry, Room};
use super::marker::Fingerprint;
use super::summary::{Page, counts, old_ones, title};
use super::{INLINE, Why, comment};
use crate::finding::Finding;
use crate::grade::SarifLevel;
use crate::path::RepoPath;
use crate::synthesis::Synthesis;
use crate::verdict::State;
use crate::write::{plain, seven_level};

/// The most bytes of a summary.
const SUMMARY: usize = 65_000;
/// The most bytes of an annotation's message.
const MESSAGE: usize = 60_000;
/// The most characters of an annotation's title.
const TITLE: usize = 250;
/// The most annotations that one call takes.
const BATCH: usize = 50;

/// A check run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRun {
    /// The verdict in a few words.
    pub title: String,
    /// The verdict with its reasons, and every finding that has no annotation.
    pub summary: String,
    /// What it comes to.
    pub conclusion: Conclusion,
    /// The annotations, as many together as one call takes, the worst first.
    pub batches: Vec<Vec<Annotation>>,
}

/// What a check run comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// The change is ready.
    Success,
    /// It is ready, and something should be fixed; or there was nothing to review.
    Neutral,
    /// It is not ready.
    Failure,
    /// Nobody can tell, so somebody has to see to it.
    ActionRequired,
}

impl Conclusion {
    fn of(state: State) -> Conclusion {
        match state {
            State::Ready => Conclusion::Success,
            State::ReadyWithFixes | State::NothingToReview => Conclusion::Neutral,
            State::NotReady => Conclusion::Failure,
            State::Incomplete => Conclusion::ActionRequired,
        }
    }
}

/// How an annotation is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnnotationLevel {
    /// It is worth knowing.
    Notice,
    /// It may break something.
    Warning,
    /// It breaks something.
    Failure,
}

/// A finding on the lines of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotation {
    /// The file.
    pub path: RepoPath,
    /// Its first line.
    pub start_line: u32,
    /// Its last line.
    pub end_line: u32,
    /// Where it starts, where it stands on one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_column: Option<u32>,
    /// How it is shown.
    pub annotation_level: AnnotationLevel,
    /// What it is.
    pub title: String,
    /// What is wrong and how to fix it.
    pub message: String,
}

/// Composes a check run. `run` says where all of the review can be read.
pub fn check_run(synthesis: &Synthesis, run: Option<&str>) -> CheckRun {
    let mut seen = BTreeSet::new();
    let mut is_first = |finding: &&Finding| seen.insert(Fingerprint::of(finding));
    let mut open: Vec<&Finding> = synthesis.findings.iter().filter(&mut is_first).collect();
    let old: Vec<&Finding> = synthesis.pre_existing.iter().filter(&mut is_first).collect();
    open.sort_by(|a, b| a.by_weight(b));
    let mut annotations = Vec::new();
    let mut entries = Vec::new();
    for finding in &open {
        match annotation(finding).filter(|_| finding.shown && annotations.len() < INLINE) {
            Some(annotation) => annotations.push(annotation),
            None => entries.push(entry(finding)),
        }
    }
    entries.sort_by_key(|entry: &Entry| entry.is_folded);
    let counts = counts(open.iter().map(|finding| comment::level(finding)));
    let page = Page::new(synthesis, &[], run, None);
    let old = old_ones(old.into_iter().map(comment::line).collect());
    let parts = page.with(&counts, &entries, old, Room { parts: 1, bytes: SUMMARY });
    CheckRun {
        title: truncate(&title(synthesis), TITLE),
        summary: parts.into_iter().next().unwrap_or_default(),
        conclusion: Conclusion::of(synthesis.verdict.state),
        batches: annotations.chunks(BATCH).map(<[Annotation]>::to_vec).collect(),
    }
}

fn entry(finding: &Finding) -> Entry {
    let why = if !finding.shown {
        Why::Folded
    } else if finding.line.is_some() {
        Why::TooMany
    } else {
        Why::NoFile
    };
    let full = comment::entry(finding, &Placed::in_summary(why));
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
        title: truncate(&plain::one_line(&title), TITLE),
        message: message(finding),
    })
}

/// Says what is wrong and how to fix it, as text that nothing is read into.
fn message(finding: &Finding) -> String {
    let text = |text: &str| plain::visible(&text.replace("\r\n", "\n")).trim().to_owned();
    let mut message = text(&finding.description);
    if message.is_empty() {
        message = text(&finding.title);
    }
    if message.is_empty() {
        message = "A finding without words.".to_owned();
    }
    if let Some(doubt) = finding.doubt() {
        message.push_str(&format!("\n\n{}", text(&doubt)));
    }
    if let Some(fix) = &finding.suggested_fix {
        message.push_str(&format!("\n\nFix: {}", text(fix)));
    }
    if message.len() <= MESSAGE {
        return message;
    }
    format!("{}… (the rest is cut)", first_bytes(&message, MESSAGE))
}
