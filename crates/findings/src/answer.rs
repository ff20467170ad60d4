//! The answers of the low-level commands as JSON: one type for each command, and their schemas.

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

/// The review that a reviewer's text contains, with its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parsed {
    /// The findings; null if the text is no structured review.
    pub findings: Option<Vec<ParsedFinding>>,
    /// The outcome of the review.
    pub outcome: Outcome,
    /// The summary of the review.
    pub summary: String,
    /// The source from which the findings were read.
    pub fallback: Fallback,
    /// The repairs that were needed to read the text.
    pub repairs: Vec<Repair>,
    /// The entries that could not be read as findings.
    pub rejected: Vec<Rejected>,
    /// The reasons why the text may have left out a finding; empty if its list of findings is
    /// complete and its words agree with the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<IncompleteReason>,
    /// The words and the rule that led to the outcome.
    pub audit: Audit,
    /// The name of the reviewer, if the text has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<String>,
    /// Risks that the reviewer could not confirm.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub residual_risks: Vec<String>,
    /// Tests that the reviewer found missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub testing_gaps: Vec<String>,
    /// Notes on missing members of the report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A finding as the reviewer's text states it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ParsedFinding {
    /// The path of the file; empty if the text names none.
    pub file: String,
    /// The line, from 1; null if the text names none.
    pub line_number: Option<u32>,
    /// The last line, if the finding is on several lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// The severity, as a word of the requested format.
    pub severity: String,
    /// The defect and its effect.
    pub description: String,
    /// The fix that the reviewer suggests.
    pub suggested_fix: Option<String>,
    /// The kind of defect.
    pub category: String,
    /// The defect, in a few words.
    pub title: String,
    /// The severity as impact, obligation and original word.
    pub grade: Grade,
    /// The confidence that the reviewer states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Anchor>,
    /// The evidence that the reviewer quotes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The way in which the finding should be fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autofix_class: Option<AutofixClass>,
    /// The role that acts next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// True if a fix counts only after it is verified.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requires_verification: bool,
    /// True if the reviewer states that the defect is older than the change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pre_existing: bool,
    /// The rule that found the defect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The original severity word, if `severity` is in another vocabulary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_severity: Option<Native>,
    /// The faults in the form of the finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
}

/// The vocabulary in which severities are returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// The vocabulary of the text.
    #[default]
    Auto,
    /// The seven levels, `CRITICAL` to `SUGGESTION`.
    Qa,
    /// The levels `P0` to `P3`.
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

/// Reads and judges the bytes of a reviewer. The second value is false if the text has nothing
/// usable.
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

/// The result of validating a persona report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Validated {
    /// True if the document matches the schema.
    pub valid: bool,
    /// The violations of the schema.
    pub errors: Vec<Fault>,
    /// The faults that the schema allows and that should be fixed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Fault>,
}

/// Validates the bytes of a document.
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

/// The similarity of two findings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Same {
    /// True if the two count as one finding.
    pub same: bool,
    /// The similarity, from 0 to 1.
    pub score: f64,
    /// The rule that decided the score, in a few words.
    pub why: String,
}

/// The measure by which findings are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// The words of their titles.
    #[default]
    Alike,
    /// The characters of their keys.
    Sequence,
}

/// Two findings to be compared.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Pair {
    /// The first finding.
    pub a: Issue,
    /// The second finding.
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

/// The input of the search for recurring issues.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct RecurringQuestion {
    /// The issues of the current round.
    pub current: Vec<Issue>,
    /// The rounds before the current one.
    #[serde(default)]
    pub history: Vec<Round>,
    /// The number of rounds, the current one included, in which a recurring issue occurs.
    #[serde(default = "three")]
    pub threshold: usize,
}

fn three() -> usize {
    3
}

/// The recurring issues among the current ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recurring {
    /// True if there is a recurring issue.
    pub recurring: bool,
    /// The recurring issues.
    pub issues: Vec<Recurrence>,
}

/// Finds the issues that recur.
pub fn find_recurring(question: &RecurringQuestion) -> Recurring {
    let issues = recurring(&question.current, &question.history, question.threshold);
    Recurring { recurring: !issues.is_empty(), issues }
}

/// The names of the schemas.
pub const SCHEMAS: [&str; 10] = [
    "parse", "validate", "synthesize", "same", "recurring", "pair", "recurring-question",
    "persona", "qa", "fix-task",
];

/// Returns a schema by its name; `None` if there is no such schema.
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
