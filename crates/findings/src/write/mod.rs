//! Every form in which findings leave: one file each, listed in [`Form`].
//!
//! Text from findings is data in all of them: [`plain`] makes what could forge a line, a mark or
//! an escape harmless.

mod checklist;
mod fix_task;
mod github;
mod markdown;
mod persona;
pub mod plain;
mod qa;
mod rdjson;
mod sarif;
mod tasklist;

use std::fmt;

use assay_base::percent::encode_path;
use serde_json::{Map, Value};

pub use self::fix_task::{FixTask, List, for_a_person};
use crate::finding::{Finding, Mark};
use crate::grade::{Grade, Scheme};
use crate::report::Report;
use crate::synthesis::Synthesis;

/// A form to write findings in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// A numbered checklist under headings.
    Checklist,
    /// A list of tasks with boxes.
    Tasklist,
    /// A task for whoever fixes.
    FixTask,
    /// A page for a pull request.
    Markdown,
    /// SARIF 2.1.0.
    Sarif,
    /// Reviewdog's JSON.
    Rdjson,
    /// The same, a line each.
    Rdjsonl,
    /// Annotations for a GitHub workflow.
    Github,
    /// The seven-level findings JSON.
    Qa,
    /// The persona report, in full.
    Persona,
    /// The persona report without its details.
    PersonaCompact,
}

/// All forms with their names.
pub const FORMS: [(Form, &str); 11] = [
    (Form::Checklist, "checklist"),
    (Form::Tasklist, "tasklist"),
    (Form::FixTask, "fix-task"),
    (Form::Markdown, "markdown"),
    (Form::Sarif, "sarif"),
    (Form::Rdjson, "rdjson"),
    (Form::Rdjsonl, "rdjsonl"),
    (Form::Github, "github"),
    (Form::Qa, "qa"),
    (Form::Persona, "persona"),
    (Form::PersonaCompact, "persona-compact"),
];

impl Form {
    /// Finds a form by its name.
    pub fn from_name(name: &str) -> Option<Form> {
        FORMS.iter().find(|(_, known)| *known == name).map(|(form, _)| *form)
    }

    fn name(self) -> &'static str {
        FORMS.iter().find(|(form, _)| *form == self).map_or("", |(_, name)| name)
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is to be written, and what is known around it.
#[derive(Debug, Default)]
pub struct Document<'a> {
    /// The findings; `None` where a review had no structured ones.
    pub findings: Option<&'a [Finding]>,
    /// The synthesis they come from, if they come from one.
    pub synthesis: Option<&'a Synthesis>,
    /// The report they come from, where it is that of one reviewer.
    pub report: Option<&'a Report>,
    /// The review's summary.
    pub summary: Option<&'a str>,
    /// The web address of the repository, such as `https://github.com/owner/repo`.
    pub repository: Option<&'a str>,
    /// The commit that was reviewed.
    pub commit: Option<&'a str>,
    /// The id of the review.
    pub review_id: Option<&'a str>,
    /// Which round of review and fix this is.
    pub cycle: Option<u32>,
    /// The context of the review task.
    pub context: Map<String, Value>,
    /// The version of assay that writes.
    pub version: &'a str,
}

impl<'a> Document<'a> {
    fn findings(&self) -> &'a [Finding] {
        self.findings.unwrap_or_default()
    }

    /// Says why the review is incomplete, where it is.
    fn why_incomplete(&self) -> Option<String> {
        let verdict = &self.synthesis?.verdict;
        let reasons: Vec<&str> =
            verdict.because.iter().map(|reason| reason.text.as_str()).collect();
        verdict.incomplete.then(|| reasons.join("; "))
    }

    /// Gives the findings, the worst first.
    fn worst_first(&self) -> Vec<&'a Finding> {
        let mut sorted: Vec<&Finding> = self.findings().iter().collect();
        sorted.sort_by(|a, b| a.grade.worst_first(&b.grade));
        sorted
    }

    /// Gives the address of a finding's line, where the repository and the commit are known.
    fn link(&self, finding: &Finding) -> Option<String> {
        let (repository, commit) = (self.repository?, self.commit?);
        let file = encode_path(finding.file.as_ref()?.as_str());
        let line = finding.line.map(|line| format!("#L{line}")).unwrap_or_default();
        Some(format!("{}/blob/{commit}/{file}{line}", repository.trim_end_matches('/')))
    }
}

/// Writes a document in a form.
pub fn write(form: Form, document: &Document<'_>) -> String {
    match form {
        Form::Checklist => checklist::write(document),
        Form::Tasklist => tasklist::write(document),
        Form::FixTask => pretty(&fix_task(document, List::Headings)),
        Form::Markdown => markdown::write(document),
        Form::Sarif => pretty(&sarif::write(document)),
        Form::Rdjson => pretty(&rdjson::write(document)),
        Form::Rdjsonl => rdjson::write_lines(document),
        Form::Github => github::write(document),
        Form::Qa => pretty(&qa::write(document)),
        Form::Persona => pretty(&persona::write(document, persona::Tier::Detail)),
        Form::PersonaCompact => pretty(&persona::write(document, persona::Tier::Merge)),
    }
}

/// Makes the task that a review leaves for whoever fixes.
pub fn fix_task(document: &Document<'_>, list: List) -> FixTask {
    fix_task::write(document, list)
}

/// Gives the schema of the seven-level form.
pub(crate) fn qa_schema() -> Value {
    schemars::schema_for!(qa::Review).to_value()
}

/// Gives the schema of a fix task.
pub(crate) fn fix_task_schema() -> Value {
    schemars::schema_for!(FixTask).to_value()
}

/// Writes a value as JSON over several lines.
pub fn pretty(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string_pretty(value).expect("our own types are valid JSON");
    plain::json(text) + "\n"
}

/// Writes a value as JSON on a line of its own.
fn compact(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string(value).expect("our own types are valid JSON");
    plain::json(text) + "\n"
}

/// Gives a grade's word among the seven levels; a word that belongs to none is kept.
pub(crate) fn seven_level(grade: &Grade) -> &str {
    if grade.is_unmapped() { grade.word() } else { grade.in_words_of(Scheme::Qa7) }
}

/// Gives the sign of a grade; a word that belongs to no vocabulary has none.
pub fn sign(grade: &Grade) -> &'static str {
    const SIGNS: [&str; 7] = ["🔴", "🟠", "🟡", "🔵", "⚪", "⚪", "💡"];
    if grade.is_unmapped() { "" } else { SIGNS[usize::from(grade.impact().level())] }
}

/// Returns the marks of a finding: its fix has to be verified, or its place is not its reviewers'.
fn verification_mark(finding: &Finding) -> &'static str {
    let is_placed = finding.marks.contains(&Mark::PlacedByAssay);
    match (finding.requires_verification, is_placed) {
        (true, true) => " [needs-verification] [placed-by-assay]",
        (true, false) => " [needs-verification]",
        (false, true) => " [placed-by-assay]",
        (false, false) => "",
    }
}

/// Returns the worth of a finding that only models found, to stand behind its confidence.
pub(crate) fn worth_note(finding: &Finding) -> String {
    let worth = finding.worth.filter(|worth| *worth < 1.0);
    worth.map(|worth| format!(" · worth {worth}")).unwrap_or_default()
}

/// Returns the mark of a finding that a review folds, with its worth.
fn folded_mark(finding: &Finding) -> String {
    let worth = finding.worth.filter(|_| !finding.shown);
    worth.map(|worth| format!(" [folded, worth {worth}]")).unwrap_or_default()
}

/// Gives the word that a grade came in, where it is written in another vocabulary.
fn native_elsewhere(grade: &Grade, written_in: Scheme) -> Option<&crate::grade::Native> {
    grade.native().filter(|native| native.scheme != written_in)
}
