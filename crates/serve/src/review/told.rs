//! What several tools tell: tasks with as much text as fits, and findings.

use assay_findings::finding::Finding;
use assay_review::delegation::Brief;
use assay_rules::{injection_in_name, redacted_text, without_injections};
use schemars::JsonSchema;
use serde::Serialize;

/// The most bytes of texts in one answer; agents take about so much from a tool at a time.
const MOST_TEXT: usize = 56_000;

/// The most findings that are told in full.
const MOST_FINDINGS: usize = 40;

/// The most bytes of findings in one answer.
const MOST_OF_FINDINGS: usize = 50_000;

/// What stands in the place of a file's name that gives a reviewer orders.
const WITHHELD_NAME: &str = "[name withheld: it addresses a reviewer]";

/// So many quotes of a finding are told.
const QUOTES: usize = 3;

/// The most characters of one text of a finding.
const LONGEST: usize = 1_200;

/// What a persona is to do with a part of the change.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Task {
    /// Who you are in it; the report is handed in under this name.
    persona: String,
    /// Which part of the change, or which finding, it is about.
    part: usize,
    /// How many there are.
    of: usize,
    /// What was wrong with the report that was handed in before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    again: Option<String>,
    /// What to do. Where it is missing, read_brief gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    text: Option<String>,
}

/// A part of the change.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ChangePart {
    /// Which part.
    part: usize,
    /// The change. Where it is missing, read_brief gives it with the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    text: Option<String>,
}

/// Tasks, with what they share told once.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Tasks {
    /// What holds for every task.
    instructions: String,
    /// The change, in parts.
    change: Vec<ChangePart>,
    /// What is to be done.
    tasks: Vec<Task>,
}

impl Tasks {
    /// Takes briefs, with as much of their texts as fits.
    pub(super) fn new(briefs: Vec<Brief>) -> Tasks {
        let instructions = briefs.first().map(|brief| brief.instructions.clone());
        let instructions = instructions.unwrap_or_default();
        let mut left = MOST_TEXT.saturating_sub(instructions.len());
        let mut fitting = |text: String| {
            let fits = text.len() <= left;
            left -= if fits { text.len() } else { 0 };
            fits.then_some(text)
        };
        let mut change: Vec<ChangePart> = Vec::new();
        for brief in &briefs {
            let is_told = change.iter().any(|told| told.part == brief.part);
            if !is_told && !brief.change.is_empty() {
                change.push(ChangePart { part: brief.part, text: fitting(brief.change.clone()) });
            }
        }
        let task = |brief: Brief| Task {
            persona: brief.persona,
            part: brief.part,
            of: brief.of,
            again: brief.again,
            text: fitting(brief.task),
        };
        Tasks { instructions, change, tasks: briefs.into_iter().map(task).collect() }
    }

    /// Says whether some of the texts did not fit.
    pub(super) fn are_cut(&self) -> bool {
        self.change.iter().any(|part| part.text.is_none())
            || self.tasks.iter().any(|task| task.text.is_none())
    }
}

/// Who is waited for, on which part.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Waiting {
    /// The persona.
    persona: String,
    /// The part.
    part: usize,
}

impl From<&Brief> for Waiting {
    fn from(brief: &Brief) -> Waiting {
        Waiting { persona: brief.persona.clone(), part: brief.part }
    }
}

/// A finding.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Told {
    /// Its name in this review.
    finding: String,
    /// How bad it is.
    severity: String,
    /// What it is.
    title: String,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    place: Option<String>,
    /// What breaks.
    why: String,
    /// The code that shows it.
    evidence: Vec<String>,
    /// How many more quotes there are.
    more_evidence: usize,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    suggested_fix: Option<String>,
    /// Who found it.
    reviewers: Vec<String>,
    /// How sure they are, of 100.
    confidence: u8,
}

impl From<&Finding> for Told {
    fn from(finding: &Finding) -> Told {
        let (evidence, more_evidence) = cut(&finding.evidence, QUOTES);
        Told {
            finding: finding.id.clone(),
            severity: finding.severity.clone(),
            title: short(&finding.title),
            place: finding.place(),
            why: short(&finding.description),
            evidence: evidence.map(|text| short(text)).collect(),
            more_evidence,
            suggested_fix: finding.suggested_fix.as_deref().map(short),
            reviewers: finding.reviewers.clone(),
            confidence: finding.confidence.percent(),
        }
    }
}

/// Returns a text without credentials, and without lines and names that give a reviewer orders: text
/// of the change may stand in any field, and no marks stand around it there.
pub(super) fn without_orders(text: &str) -> String {
    let redacted = redacted_text(text);
    let lines = without_injections(&redacted);
    let is_end = |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | ',');
    let words = lines.split_inclusive(is_end).map(|word| {
        let name = word.trim_end_matches(is_end);
        match injection_in_name(name) {
            Some(_) => word.replacen(name, WITHHELD_NAME, 1),
            None => word.to_owned(),
        }
    });
    words.collect()
}

/// Findings, the worst first, and how many more there are.
pub(super) fn some(findings: &[Finding]) -> (Vec<Told>, usize) {
    let told = fitting(findings.iter().take(MOST_FINDINGS).map(Told::from));
    let more = findings.len() - told.len();
    (told, more)
}

/// Takes as many findings as fit into an answer, and the first in any case.
fn fitting(findings: impl Iterator<Item = Told>) -> Vec<Told> {
    let mut bytes = 0;
    let fits = |(at, told): &(usize, Told)| {
        bytes += serde_json::to_string(told).map_or(0, |text| text.len());
        *at == 0 || bytes <= MOST_OF_FINDINGS
    };
    findings.enumerate().take_while(fits).map(|(_, told)| told).collect()
}

/// The beginning of a list, and how many more there are.
pub(super) fn cut<T>(list: &[T], most: usize) -> (impl Iterator<Item = &T>, usize) {
    (list.iter().take(most), list.len().saturating_sub(most))
}

/// A finding in a line.
pub(super) fn in_a_line(finding: &Finding) -> String {
    let place = finding.place().map(|place| format!(" at {place}")).unwrap_or_default();
    format!("{}: {} {}{place}", finding.id, finding.severity, short(&finding.title))
}

fn short(text: &str) -> String {
    let mut cut: String = text.chars().take(LONGEST).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brief(persona: &str, change: usize, task: usize) -> Brief {
        Brief {
            persona: persona.to_owned(),
            part: 1,
            of: 1,
            again: None,
            instructions: "be fair".to_owned(),
            change: "x".repeat(change),
            task: "y".repeat(task),
        }
    }

    fn finding(bytes: usize) -> Told {
        Told {
            finding: "f".to_owned(),
            severity: "P1".to_owned(),
            title: "t".to_owned(),
            place: None,
            why: "w".repeat(bytes),
            evidence: Vec::new(),
            more_evidence: 0,
            suggested_fix: None,
            reviewers: Vec::new(),
            confidence: 100,
        }
    }

    #[test]
    fn findings_are_told_as_far_as_they_fit_and_the_first_in_any_case() {
        let told = |bytes: usize| fitting((0..9).map(|_| finding(bytes))).len();
        assert_eq!((told(10), told(12_000), told(60_000)), (9, 4, 1));
    }

    #[test]
    fn a_change_is_told_once_and_what_does_not_fit_is_left_out() {
        let tasks = Tasks::new(vec![brief("a", 30_000, 20_000), brief("b", 30_000, 20_000)]);
        assert_eq!(tasks.change.len(), 1);
        assert!(tasks.change[0].text.is_some() && tasks.tasks[0].text.is_some());
        assert!(tasks.tasks[1].text.is_none() && tasks.are_cut());
        assert!(!Tasks::new(vec![brief("a", 30, 20), brief("b", 30, 20)]).are_cut());
    }
}
