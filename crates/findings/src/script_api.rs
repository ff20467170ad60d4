//! The answers of the low-level commands as JSON: one type for each command, and their schemas.

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::grade::{Grade, NativeSeverity};
use crate::incomplete::IncompleteReason;
use crate::merge::NO_CATEGORY;
use crate::outcome::{self, OutcomeAudit, TextJudgement, TextOutcome};
use crate::persona_schema::{self, ReportTier, SchemaFault};
use crate::read::{self, ReadFallback, RejectedText, Repair};
use crate::recurring::{IssueRound, Recurrence, RoundIssue, find_recurrences};
use crate::sequence_similarity;
use crate::synthesis::Synthesis;
use crate::title_similarity::{self, ComparedTitle};
use crate::vote::{AutofixClass, Confidence, LineRange, Owner, Vote};

/// The review that a reviewer's text contains, with its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Parsed")]
pub struct ParseResult {
    /// The findings; null if the text is no structured review.
    pub findings: Option<Vec<ParsedFinding>>,
    /// The outcome of the review.
    pub outcome: TextOutcome,
    /// The summary of the review.
    pub summary: String,
    /// The source from which the findings were read.
    pub fallback: ReadFallback,
    /// The repairs that were needed to read the text.
    pub repairs: Vec<Repair>,
    /// The entries that could not be read as findings.
    pub rejected: Vec<RejectedText>,
    /// The reasons why the text may have left out a finding; empty if its list of findings is
    /// complete and its words agree with the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<IncompleteReason>,
    /// The words and the rule that led to the outcome.
    pub audit: OutcomeAudit,
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
    pub confidence: Option<Confidence>,
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
    pub native_severity: Option<NativeSeverity>,
    /// The faults in the form of the finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
}

/// The vocabulary in which severities are returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SeverityFormat {
    /// The vocabulary of the text.
    #[default]
    Auto,
    /// The seven levels, `CRITICAL` to `SUGGESTION`.
    Qa,
    /// The levels `P0` to `P3`.
    Persona,
}

impl ParsedFinding {
    fn of(vote: &Vote, format: SeverityFormat) -> ParsedFinding {
        use crate::grade::Scheme;
        let scheme = match format {
            _ if vote.grade.is_unmapped() => None,
            SeverityFormat::Auto => None,
            SeverityFormat::Qa => Some(Scheme::Qa7),
            SeverityFormat::Persona => Some(Scheme::P),
        };
        let severity = scheme.map_or(vote.grade.word(), |scheme| vote.grade.word_in_scheme(scheme));
        let native = vote.grade.native();
        ParsedFinding {
            file: vote.file.as_ref().map(ToString::to_string).unwrap_or_default(),
            line_number: vote.line(),
            end_line: vote.lines.map(LineRange::end).filter(|end| Some(*end) != vote.line()),
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
pub fn parse(bytes: &[u8], format: SeverityFormat, root: Option<&str>) -> (ParseResult, bool) {
    let (text, encoding) = read::decode(bytes);
    let mut reading = read::read(&text, root);
    reading.repairs.splice(0..0, encoding);
    let usable = reading.usable;
    let judged = if usable { text.as_str() } else { "" };
    let TextJudgement { outcome, audit, incomplete, .. } = outcome::judge(judged, &reading);
    let parsed = ParseResult {
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
#[schemars(rename = "Validated")]
pub struct ValidationResult {
    /// True if the document matches the schema.
    pub valid: bool,
    /// The violations of the schema.
    pub errors: Vec<SchemaFault>,
    /// The faults that the schema allows and that should be fixed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<SchemaFault>,
}

/// Validates the bytes of a document.
pub fn validate(bytes: &[u8], tier: ReportTier) -> ValidationResult {
    let document: Value = match serde_json::from_slice(bytes) {
        Ok(document) => document,
        Err(error) => {
            let message = format!("is not JSON: {error}");
            let errors = vec![SchemaFault { path: String::new(), message }];
            return ValidationResult { valid: false, errors, warnings: Vec::new() };
        }
    };
    let errors = persona_schema::validate(&document, tier);
    ValidationResult {
        valid: errors.is_empty(),
        errors,
        warnings: persona_schema::advise(&document),
    }
}

/// The similarity of two findings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Same")]
pub struct CompareResult {
    /// True if the two count as one finding.
    pub same: bool,
    /// The similarity, from 0 to 1.
    pub score: f64,
    /// The rule that decided the score, in a few words.
    pub why: String,
}

/// The measure by which findings are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SimilarityMeasure {
    /// The words of their titles.
    #[default]
    TitleWords,
    /// The characters of their keys.
    Sequence,
}

/// Two findings to be compared.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(rename = "Pair")]
pub struct IssuePair {
    /// The first finding.
    pub a: RoundIssue,
    /// The second finding.
    pub b: RoundIssue,
}

/// Compares two findings.
pub fn compare(pair: &IssuePair, measure: SimilarityMeasure) -> CompareResult {
    let IssuePair { a, b } = pair;
    match measure {
        SimilarityMeasure::Sequence => {
            let key = |i: &RoundIssue| {
                sequence_similarity::key(i.title.as_deref(), i.file.as_deref(), i.line)
            };
            let score = sequence_similarity::ratio(&key(a), &key(b));
            let same = score >= sequence_similarity::THRESHOLD;
            CompareResult { same, score, why: "ratio of matching characters".to_owned() }
        }
        SimilarityMeasure::TitleWords => {
            if let (Some(a), Some(b)) = (&a.key, &b.key) {
                let same = a == b;
                return CompareResult {
                    same,
                    score: f64::from(u8::from(same)),
                    why: "keys".to_owned(),
                };
            }
            let (a_file, b_file) = (a.path(), b.path());
            let similarity = title_similarity::compare(
                ComparedTitle { title: a.words(), file: a_file.as_deref(), line: a.line },
                ComparedTitle { title: b.words(), file: b_file.as_deref(), line: b.line },
            );
            CompareResult {
                same: similarity.is_same(),
                score: similarity.score,
                why: similarity.why.to_owned(),
            }
        }
    }
}

/// The input of the search for recurring issues.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(rename = "RecurringQuestion")]
pub struct RecurrenceQuery {
    /// The issues of the current round.
    pub current: Vec<RoundIssue>,
    /// The rounds before the current one.
    #[serde(default)]
    pub history: Vec<IssueRound>,
    /// The number of rounds, the current one included, in which a recurring issue occurs.
    #[serde(default = "default_threshold")]
    pub threshold: usize,
}

fn default_threshold() -> usize {
    3
}

/// The recurring issues among the current ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Recurring")]
pub struct RecurrenceResult {
    /// True if there is a recurring issue.
    pub recurring: bool,
    /// The recurring issues.
    pub issues: Vec<Recurrence>,
}

/// Finds the issues that recur.
pub fn find_recurring(question: &RecurrenceQuery) -> RecurrenceResult {
    let issues = find_recurrences(&question.current, &question.history, question.threshold);
    RecurrenceResult { recurring: !issues.is_empty(), issues }
}

/// The names of the schemas.
pub const SCHEMAS: [&str; 10] = [
    "parse", "validate", "synthesize", "same", "recurring", "pair", "recurring-question",
    "persona", "qa", "fix-task",
];

/// Returns a schema by its name; `None` if there is no such schema.
pub fn schema(name: &str) -> Option<Value> {
    Some(match name {
        "parse" => schema_for!(ParseResult).to_value(),
        "validate" => schema_for!(ValidationResult).to_value(),
        "synthesize" => schema_for!(Synthesis).to_value(),
        "same" => schema_for!(CompareResult).to_value(),
        "recurring" => schema_for!(RecurrenceResult).to_value(),
        "pair" => schema_for!(IssuePair).to_value(),
        "recurring-question" => schema_for!(RecurrenceQuery).to_value(),
        "persona" => {
            serde_json::from_str(persona_schema::SCHEMA).expect("the schema is valid JSON")
        }
        "qa" => crate::write::qa_schema(),
        "fix-task" => crate::write::fix_task_schema(),
        _ => return None,
    })
}
