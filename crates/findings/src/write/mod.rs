//! The output formats of findings: one file each, listed in [`OutputFormat`].
//!
//! Text from findings is data in all of them: [`escape`] escapes text that could forge a line, a
//! mark or an escape.

mod checklist;
mod concise;
pub mod escape;
mod fix_task;
mod github;
mod gitlab;
mod markdown;
mod persona;
mod qa;
mod rdjson;
mod sarif;
mod tasklist;

use std::collections::BTreeMap;
use std::fmt;

use assay_base::percent::encode_path;
use serde_json::{Map, Value};

pub use self::fix_task::{FixTask, ListStyle, describe_for_person};
use crate::finding::{Finding, GroundingMark};
use crate::grade::{Grade, Scheme};
use crate::report::Report;
use crate::synthesis::Synthesis;

/// An output format of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutputFormat {
    /// A numbered checklist under headings.
    Checklist,
    /// A line for each finding, with its place, severity, title and rule.
    Concise,
    /// A list of tasks with boxes.
    Tasklist,
    /// A task for a fixer, as JSON.
    FixTask,
    /// A page for a pull request.
    Markdown,
    /// SARIF 2.1.0.
    Sarif,
    /// Reviewdog's JSON.
    Rdjson,
    /// Reviewdog's JSON, with a line for each finding.
    Rdjsonl,
    /// Annotations for a GitHub workflow.
    Github,
    /// A code-quality report of GitLab.
    Gitlab,
    /// The seven-level findings JSON.
    Qa,
    /// The persona report, in full.
    Persona,
    /// The persona report without its details.
    PersonaCompact,
}

/// All formats with their names.
pub const OUTPUT_FORMATS: [(OutputFormat, &str); 13] = [
    (OutputFormat::Checklist, "checklist"),
    (OutputFormat::Concise, "concise"),
    (OutputFormat::Tasklist, "tasklist"),
    (OutputFormat::FixTask, "fix-task"),
    (OutputFormat::Markdown, "markdown"),
    (OutputFormat::Sarif, "sarif"),
    (OutputFormat::Rdjson, "rdjson"),
    (OutputFormat::Rdjsonl, "rdjsonl"),
    (OutputFormat::Github, "github"),
    (OutputFormat::Gitlab, "gitlab"),
    (OutputFormat::Qa, "qa"),
    (OutputFormat::Persona, "persona"),
    (OutputFormat::PersonaCompact, "persona-compact"),
];

impl OutputFormat {
    /// Returns a format by its name; `None` if there is no such format.
    pub fn from_name(name: &str) -> Option<OutputFormat> {
        OUTPUT_FORMATS.iter().find(|(_, known)| *known == name).map(|(form, _)| *form)
    }

    fn name(self) -> &'static str {
        OUTPUT_FORMATS.iter().find(|(form, _)| *form == self).map_or("", |(_, name)| name)
    }
}

impl fmt::Display for OutputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The content to write, with the facts around it.
#[derive(Debug, Default)]
pub struct FindingsDocument<'a> {
    /// The findings; `None` if a review has no structured ones.
    pub findings: Option<&'a [Finding]>,
    /// The synthesis of the findings; `None` if they are not from a synthesis.
    pub synthesis: Option<&'a Synthesis>,
    /// The report of the findings; `None` if they are not from one reviewer.
    pub report: Option<&'a Report>,
    /// The summary of the review.
    pub summary: Option<&'a str>,
    /// The web address of the repository, such as `https://github.com/owner/repo`.
    pub repository: Option<&'a str>,
    /// The commit that was reviewed.
    pub commit: Option<&'a str>,
    /// The id of the review.
    pub review_id: Option<&'a str>,
    /// The number of this round of review and fix; `None` for the first.
    pub cycle: Option<u32>,
    /// The context of the review task.
    pub context: Map<String, Value>,
    /// The columns at which findings start, in UTF-16 code units from 1, by the ids of the
    /// findings; `None` if the lines are not known.
    pub utf16_columns: Option<&'a BTreeMap<String, u32>>,
    /// The version of assay that writes the document.
    pub version: &'a str,
}

impl<'a> FindingsDocument<'a> {
    fn findings(&self) -> &'a [Finding] {
        self.findings.unwrap_or_default()
    }

    /// Returns the reasons why the review is incomplete; `None` if it is complete.
    fn why_incomplete(&self) -> Option<String> {
        let verdict = &self.synthesis?.verdict;
        let reasons: Vec<&str> =
            verdict.because.iter().map(|reason| reason.text.as_str()).collect();
        verdict.incomplete.then(|| reasons.join("; "))
    }

    /// Returns the findings, the worst first.
    fn worst_first(&self) -> Vec<&'a Finding> {
        let mut sorted: Vec<&Finding> = self.findings().iter().collect();
        sorted.sort_by(|a, b| a.grade.worst_first(&b.grade));
        sorted
    }

    /// Returns the address of a finding's line; `None` unless repository, commit and file are
    /// known.
    fn link(&self, finding: &Finding) -> Option<String> {
        let (repository, commit) = (self.repository?, self.commit?);
        let file = encode_path(finding.file.as_ref()?.as_str());
        let line = finding.line.map(|line| format!("#L{line}")).unwrap_or_default();
        Some(format!("{}/blob/{commit}/{file}{line}", repository.trim_end_matches('/')))
    }
}

/// Writes a document in a format.
pub fn write(form: OutputFormat, document: &FindingsDocument<'_>) -> String {
    match form {
        OutputFormat::Checklist => checklist::write(document),
        OutputFormat::Concise => concise::write(document),
        OutputFormat::Tasklist => tasklist::write(document),
        OutputFormat::FixTask => pretty(&fix_task(document, ListStyle::Headings)),
        OutputFormat::Markdown => markdown::write(document),
        OutputFormat::Sarif => pretty(&sarif::write(document)),
        OutputFormat::Rdjson => pretty(&rdjson::write(document)),
        OutputFormat::Rdjsonl => rdjson::write_lines(document),
        OutputFormat::Github => github::write(document),
        OutputFormat::Gitlab => pretty(&gitlab::write(document)),
        OutputFormat::Qa => pretty(&qa::write(document)),
        OutputFormat::Persona => pretty(&persona::write(document, persona::OutputTier::Detail)),
        OutputFormat::PersonaCompact => {
            pretty(&persona::write(document, persona::OutputTier::Merge))
        }
    }
}

/// Returns the task that a review creates for a fixer.
pub fn fix_task(document: &FindingsDocument<'_>, list: ListStyle) -> FixTask {
    fix_task::write(document, list)
}

/// Returns the schema of the seven-level format.
pub(crate) fn qa_schema() -> Value {
    schemars::schema_for!(qa::QaReview).to_value()
}

/// Returns the schema of a fix task.
pub(crate) fn fix_task_schema() -> Value {
    schemars::schema_for!(FixTask).to_value()
}

/// Writes a value as JSON over several lines.
pub fn pretty(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string_pretty(value).expect("our own types are valid JSON");
    escape::escape_json(text) + "\n"
}

/// Writes a value as JSON on one line.
fn compact(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string(value).expect("our own types are valid JSON");
    escape::escape_json(text) + "\n"
}

/// Returns the word of a grade among the seven levels; a word of no vocabulary stays as it is.
pub(crate) fn seven_level(grade: &Grade) -> &str {
    if grade.is_unmapped() { grade.word() } else { grade.word_in_scheme(Scheme::Qa7) }
}

/// Returns the sign of a grade; empty for a word of no vocabulary.
pub fn sign(grade: &Grade) -> &'static str {
    const SIGNS: [&str; 7] = ["🔴", "🟠", "🟡", "🔵", "⚪", "⚪", "💡"];
    if grade.is_unmapped() { "" } else { SIGNS[usize::from(grade.impact().level())] }
}

/// Returns the marks of a finding: its fix must be verified, or assay found its place.
fn verification_mark(finding: &Finding) -> &'static str {
    let is_placed = finding.marks.contains(&GroundingMark::PlacedByAssay);
    match (finding.requires_verification, is_placed) {
        (true, true) => " [needs-verification] [placed-by-assay]",
        (true, false) => " [needs-verification]",
        (false, true) => " [placed-by-assay]",
        (false, false) => "",
    }
}

/// Returns a note on the worth of a finding that only models found, to follow its confidence.
pub(crate) fn worth_note(finding: &Finding) -> String {
    let worth = finding.worth.filter(|worth| *worth < 1.0);
    worth.map(|worth| format!(" · worth {worth}")).unwrap_or_default()
}

/// Returns the mark of a finding that a review folds, with its worth.
fn folded_mark(finding: &Finding) -> String {
    let worth = finding.worth.filter(|_| !finding.shown);
    worth.map(|worth| format!(" [folded, worth {worth}]")).unwrap_or_default()
}

/// Returns the original severity word of a grade; `None` if it is in the vocabulary that is
/// written.
fn native_elsewhere(grade: &Grade, written_in: Scheme) -> Option<&crate::grade::NativeSeverity> {
    grade.native().filter(|native| native.scheme != written_in)
}
