//! What the plumbing answers, as JSON: one type for each command, and their schemas.

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::alike::{self, Subject};
use crate::grade::{Grade, Native};
use crate::incomplete::IncompleteReason;
use crate::merge::NO_CATEGORY;
use crate::outcome::{self, Audit, Judgement, Outcome};
use crate::read::{self, Fallback, Rejected, Repair};
use crate::recurring::{Issue, Recurrence, Round, recurring};
use crate::sequence;
use crate::synthesis::Synthesis;
use crate::validate::{self, Fault, Tier};
use crate::vote::{Anchor, AutofixClass, Lines, Owner, Vote};

/// A reviewer's text, read and judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parsed {
    /// The findings; null where the text is no structured review.
    pub findings: Option<Vec<ParsedFinding>>,
    /// What the text comes to.
    pub outcome: Outcome,
    /// Its summary.
    pub summary: String,
    /// What the findings were taken from.
    pub fallback: Fallback,
    /// What was mended.
    pub repairs: Vec<Repair>,
    /// What could not be taken.
    pub rejected: Vec<Rejected>,
    /// Why the text may have left out a finding; empty where its list of findings is whole and
    /// its words agree with the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<IncompleteReason>,
    /// How the outcome came about.
    pub audit: Audit,
    /// Who wrote it, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<String>,
    /// Risks that it could not confirm.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub residual_risks: Vec<String>,
    /// Tests that it found missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub testing_gaps: Vec<String>,
    /// What is missing in its form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A finding as it was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ParsedFinding {
    /// Where; empty where it does not say.
    pub file: String,
    /// On which line.
    pub line_number: Option<u32>,
    /// The last such line, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// How bad.
    pub severity: String,
    /// What is wrong.
    pub description: String,
    /// How to fix it.
    pub suggested_fix: Option<String>,
    /// Of which kind.
    pub category: String,
    /// What it is, in a few words.
    pub title: String,
    /// How bad, in full.
    pub grade: Grade,
    /// How sure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Anchor>,
    /// What it is based on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// What should happen to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autofix_class: Option<AutofixClass>,
    /// Who acts next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// Whether a fix counts only once it was verified.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requires_verification: bool,
    /// Whether the reviewer says that it was there before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pre_existing: bool,
    /// The rule that found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The word it came in, where the severity is written in another vocabulary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_severity: Option<Native>,
    /// What was wrong with its form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
}

/// The vocabulary that a reading is to be shown in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// As it came.
    #[default]
    Auto,
    /// In the seven levels.
    Qa,
    /// In P0 to P3.
    Persona,
}

impl ParsedFinding {
    fn of(vote: &Vote, format: Format) -> ParsedFinding {
        use crate::grade::Scheme;
        let scheme = match format {
            _ if vote.grade.is_unmapped() => None,
            Format::Auto => None,
            Format::Qa => Some(Scheme::Qa7),
            Format::Persona => Some(Scheme::P),
        };
        let severity = scheme.map_or(vote.grade.word(), |scheme| vote.grade.in_words_of(scheme));
        let native = vote.grade.native();
        ParsedFinding {
            file: vote.file.as_ref().map(ToString::to_string).unwrap_or_default(),
            line_number: vote.line(),
            end_line: vote.lines.map(Lines::end).filter(|end| Some(*end) != vote.line()),
            severity: severity.to_owned(),
            description: vote.description.clone(),
            suggested_fix: vote.suggested_fix.clone(),
            category: vote.category.clone().unwrap_or_else(|| NO_CATEGORY.to_owned()),
            title: vote.title.clone(),
            grade: vote.grade.clone(),
            confidence: vote.confidence,
            evidence: vote.evidence.clone(),
            autofix_class: vote.autofix_class,
            owner: vote.owner,
            requires_verification: vote.requires_verification,
            pre_existing: vote.pre_existing,
            rule: vote.rule.clone(),
            native_severity: native.filter(|native| native.word != severity).cloned(),
            faults: vote.faults.clone(),
        }
    }
}

/// Reads and judges a reviewer's bytes. The second value is false where there was nothing usable.
pub fn parse(bytes: &[u8], format: Format, root: Option<&str>) -> (Parsed, bool) {
    let (text, encoding) = read::decode(bytes);
    let mut reading = read::read(&text, root);
    reading.repairs.splice(0..0, encoding);
    let usable = reading.usable;
    let judged = if usable { text.as_str() } else { "" };
    let Judgement { outcome, audit, incomplete, .. } = outcome::judge(judged, &reading);
    let parsed = Parsed {
        findings: reading
            .votes
            .as_ref()
            .map(|votes| votes.iter().map(|vote| ParsedFinding::of(vote, format)).collect()),
        outcome,
        summary: reading.summary,
        fallback: reading.fallback,
        repairs: reading.repairs,
        rejected: reading.rejected,
        incomplete,
        audit,
        reviewer: reading.envelope.reviewer,
        residual_risks: reading.envelope.remarks.residual_risks,
        testing_gaps: reading.envelope.remarks.testing_gaps,
        notes: reading.envelope.remarks.notes,
    };
    (parsed, usable)
}

/// Whether a document is a valid persona report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Validated {
    /// Whether the schema holds.
    pub valid: bool,
    /// Where it does not.
    pub errors: Vec<Fault>,
    /// What the schema lets through and should be mended all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Fault>,
}

/// Validates a document given as bytes.
pub fn validate(bytes: &[u8], tier: Tier) -> Validated {
    let document: Value = match serde_json::from_slice(bytes) {
        Ok(document) => document,
        Err(error) => {
            let message = format!("is not JSON: {error}");
            let errors = vec![Fault { path: String::new(), message }];
            return Validated { valid: false, errors, warnings: Vec::new() };
        }
    };
    let errors = validate::validate(&document, tier);
    Validated { valid: errors.is_empty(), errors, warnings: validate::advise(&document) }
}

/// Whether two findings are the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Same {
    /// Whether they are taken for one.
    pub same: bool,
    /// How alike they are, from 0 to 1.
    pub score: f64,
    /// What decided.
    pub why: String,
}

/// How findings are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// By the words of their titles.
    #[default]
    Alike,
    /// By the characters of their keys.
    Sequence,
}

/// The question whether two findings are the same.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Pair {
    /// One.
    pub a: Issue,
    /// The other.
    pub b: Issue,
}

/// Compares two findings.
pub fn same(pair: &Pair, measure: Measure) -> Same {
    let Pair { a, b } = pair;
    match measure {
        Measure::Sequence => {
            let key = |i: &Issue| sequence::key(i.title.as_deref(), i.file.as_deref(), i.line);
            let score = sequence::ratio(&key(a), &key(b));
            let same = score >= sequence::THRESHOLD;
            Same { same, score, why: "ratio of matching characters".to_owned() }
        }
        Measure::Alike => {
            if let (Some(a), Some(b)) = (&a.key, &b.key) {
                let same = a == b;
                return Same { same, score: f64::from(u8::from(same)), why: "keys".to_owned() };
            }
            let (a_file, b_file) = (a.path(), b.path());
            let likeness = alike::alike(
                Subject { title: a.words(), file: a_file.as_deref(), line: a.line },
                Subject { title: b.words(), file: b_file.as_deref(), line: b.line },
            );
            Same { same: likeness.is_same(), score: likeness.score, why: likeness.why.to_owned() }
        }
    }
}

/// The question which issues come back.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct RecurringQuestion {
    /// The issues of the current round.
    pub current: Vec<Issue>,
    /// The rounds before it.
    #[serde(default)]
    pub history: Vec<Round>,
    /// In how many rounds an issue has to stand.
    #[serde(default = "three")]
    pub threshold: usize,
}

fn three() -> usize {
    3
}

/// Which issues come back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recurring {
    /// Whether any does.
    pub recurring: bool,
    /// Those that do.
    pub issues: Vec<Recurrence>,
}

/// Finds the issues that come back.
pub fn find_recurring(question: &RecurringQuestion) -> Recurring {
    let issues = recurring(&question.current, &question.history, question.threshold);
    Recurring { recurring: !issues.is_empty(), issues }
}

/// The names of the schemas.
pub const SCHEMAS: [&str; 10] = [
    "parse", "validate", "synthesize", "same", "recurring", "pair", "recurring-question",
    "persona", "qa", "fix-task",
];

/// Gives a schema by its name.
pub fn schema(name: &str) -> Option<Value> {
    Some(match name {
        "parse" => schema_for!(Parsed).to_value(),
        "validate" => schema_for!(Validated).to_value(),
        "synthesize" => schema_for!(Synthesis).to_value(),
        "same" => schema_for!(Same).to_value(),
        "recurring" => schema_for!(Recurring).to_value(),
        "pair" => schema_for!(Pair).to_value(),
        "recurring-question" => schema_for!(RecurringQuestion).to_value(),
        "persona" => serde_json::from_str(validate::SCHEMA).expect("the schema is valid JSON"),
        "qa" => crate::write::qa_schema(),
        "fix-task" => crate::write::fix_task_schema(),
        _ => return None,
    })
}
