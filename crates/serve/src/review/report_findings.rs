//! `report_findings`: the reports of personas and of second looks, one or many.

use std::sync::Arc;

use assay_base::text::truncate;
use assay_engine::delegated_review::DelegatedReviews;
use assay_review::delegation::DelegatedReview;
use assay_review::delegation::receipt::{FindingReceipt, Receipt, ReportState, SecondLookReceipt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::answer_budget::AnswerBudget;
use super::finding_summary::is_zero;
use super::finish_review::{self, ReviewEnd};
use super::tasks::OpenTask;
use super::to_refusal;
use crate::mcp::{Effect, Refusal, Tool};

/// The maximum number of reports in one call.
pub(super) const MAX_REPORTS: usize = 50;

/// The maximum number of open tasks in an answer.
const MAX_WAITING: usize = 60;

/// The maximum number of parse errors in the answer to a report.
const MAX_PARSE_ERRORS: usize = 5;

/// The maximum number of characters of a title, and of a reason.
const MAX_LINE: usize = 240;

/// The maximum number of characters of a persona's name.
const MAX_NAME: usize = 60;

/// The bytes for receipts in an answer that also holds the end of the review.
const MAX_RECEIPT_BYTES: usize = 9_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of the review.
    #[schemars(length(min = 1, max = 40))]
    review: String,
    /// The persona of a single report.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 60))]
    persona: Option<String>,
    /// The part of the change that a single report is on; 1 by default.
    #[serde(default)]
    #[schemars(with = "usize", range(min = 1, max = 1000))]
    part: Option<usize>,
    /// A single report: the JSON object that the task asks for, or the text as the model wrote it.
    #[serde(default)]
    #[schemars(with = "ReportBody")]
    report: Option<ReportBody>,
    /// Several reports, instead of persona, part and report. Each is answered separately.
    #[serde(default)]
    #[schemars(with = "Vec<BatchEntry>", length(min = 1, max = 50))]
    reports: Option<Vec<BatchEntry>>,
    /// End the review in the same call, as finish_review does, unless a report has to be corrected.
    #[serde(default)]
    finish: bool,
}

/// An entry of a batch. Any JSON value is accepted, so that a broken entry affects only itself.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum BatchEntry {
    Report(SingleReport),
    Broken(Value),
}

/// A report and its task.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SingleReport {
    /// The persona that reports.
    persona: String,
    /// The part of the change; 1 by default.
    #[serde(default = "first_part")]
    part: usize,
    /// The report.
    report: ReportBody,
}

fn first_part() -> usize {
    1
}

/// A report in the form in which it is submitted.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum ReportBody {
    /// A text.
    Text(String),
    /// An object.
    Object(Map<String, Value>),
    /// A list of findings.
    List(Vec<Value>),
}

impl ReportBody {
    fn text(self) -> String {
        match self {
            ReportBody::Text(text) => text,
            ReportBody::Object(fields) => Value::Object(fields).to_string(),
            ReportBody::List(findings) => json!({ "findings": findings }).to_string(),
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// An answer to each report, in their order.
    reports: Vec<ReportAnswer>,
    /// The tasks that have no report yet.
    waiting: Vec<OpenTask>,
    /// The number of further tasks.
    #[serde(skip_serializing_if = "is_zero")]
    more_waiting: usize,
    /// The end of the review, if it was requested and no report has to be corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ReviewEnd")]
    finish: Option<ReviewEnd>,
    /// The next step.
    next: String,
}

/// The answer to a report.
#[derive(Default, Serialize, JsonSchema)]
struct ReportAnswer {
    /// The name of the persona.
    persona: String,
    /// The number of the part of the change, from 1.
    part: usize,
    /// The state: `taken`; `hand_in_again` if the report can be corrected once; `refused` if it
    /// counts for nothing; `not_taken` if there is no such open task.
    state: &'static str,
    /// The reason that the report is not taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    why: Option<String>,
    /// The number of findings in the report; for a second look, of answers.
    findings: usize,
    /// The findings as they were understood.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    read: Vec<UnderstoodFinding>,
    /// The answers of a second look as they were understood.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    looks: Vec<UnderstoodLook>,
    /// The number of parsed findings or answers that are left out because of their size.
    #[serde(skip_serializing_if = "is_zero")]
    more_read: usize,
    /// The reasons that a part of the report could not be parsed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_read: Vec<String>,
    /// The number of further reasons.
    #[serde(skip_serializing_if = "is_zero")]
    more_not_read: usize,
}

/// A finding as it was understood.
#[derive(Serialize, JsonSchema)]
struct UnderstoodFinding {
    /// The title.
    title: String,
    /// The severity that counts, `P0` to `P3`.
    severity: String,
    /// The confidence that counts, from 0 to 100.
    confidence: u8,
    /// The place that counts, as file and line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    place: Option<String>,
    /// The way the place was found: `as named`, `moved from …`, `placed by assay`, `no place` …
    placed: String,
    /// The result of the search for the quote: `found`, `not_found`,
    /// `found elsewhere at file:line`, `not_checked` or `none`.
    quote: String,
    /// The fields of the schema that are missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<&'static str>,
    /// The values that were changed, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl From<&FindingReceipt> for UnderstoodFinding {
    fn from(read: &FindingReceipt) -> UnderstoodFinding {
        UnderstoodFinding {
            title: truncate(&read.title, MAX_LINE),
            severity: read.severity.clone(),
            confidence: read.confidence,
            place: read.place.clone(),
            placed: read.placement.to_string(),
            quote: read.quote.to_string(),
            missing: read.missing.clone(),
            notes: read
                .notes
                .iter()
                .take(MAX_PARSE_ERRORS)
                .map(|n| truncate(n, MAX_LINE))
                .collect(),
        }
    }
}

/// An answer of a second look as it was understood.
#[derive(Serialize, JsonSchema)]
struct UnderstoodLook {
    /// The number of the finding in the brief.
    finding: usize,
    /// The title of the finding.
    title: String,
    /// The answer: `confirm`, `refute`, `unsure`, or `missing`.
    answer: &'static str,
    /// The result of the search for the quote: `found`, `not_found` or `none`.
    quote: String,
    /// The consequence: `block`, `later` or `ignore`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    consequence: Option<&'static str>,
    /// The effect of the answer on the finding.
    effect: String,
}

impl From<&SecondLookReceipt> for UnderstoodLook {
    fn from(look: &SecondLookReceipt) -> UnderstoodLook {
        UnderstoodLook {
            finding: look.finding,
            title: truncate(&look.title, MAX_LINE),
            answer: look.answer,
            quote: look.quote.to_string(),
            consequence: look.consequence,
            effect: truncate(&look.effect, MAX_LINE),
        }
    }
}

pub(super) fn tool(reviews: &Arc<dyn DelegatedReviews>) -> Tool {
    let reviews = Arc::clone(reviews);
    Tool::new(
        "report_findings",
        "Hands in the report of a persona on a part of the change, or up to 50 reports at once. \
         Each is read and checked against the code, and counts once; the answer says for each \
         finding how it was read. With `finish`, it ends the review as finish_review does.",
        Effect::Changes,
        move |input| report(&*reviews, input),
    )
}

fn report(reviews: &dyn DelegatedReviews, input: Input) -> Result<Output, Refusal> {
    let Input { review: id, persona, part, report, reports, finish } = input;
    let mut review = reviews.open(&id).map_err(to_refusal)?;
    let submitted: Vec<SubmittedReport> = match (persona, report, reports) {
        (Some(persona), Some(report), None) => {
            let receipt = review.report(&persona, part.unwrap_or(1), &report.text());
            vec![SubmittedReport::from(receipt.map_err(|error| Refusal::of(&error))?)]
        }
        (None, None, Some(entries)) if part.is_none() => {
            entries.into_iter().map(|entry| submit_entry(&mut review, entry)).collect()
        }
        _ => {
            return Err(Refusal::new(
                "give either `persona` and `report`, or `reports`; nothing was handed in",
            ));
        }
    };
    let briefs = review.briefs();
    let to_correct =
        submitted.iter().filter(|submitted| submitted.answer.needs_correction()).count();
    let mut budget = AnswerBudget::new();
    if !finish || to_correct > 0 {
        submitted.iter().for_each(|submitted| budget.charge(&submitted.answer));
        let waiting = briefs.iter().take(MAX_WAITING).map(OpenTask::from).collect();
        let (waiting, _) = budget.list(waiting);
        return Ok(Output {
            next: next(to_correct, briefs.is_empty(), finish),
            reports: with_details(submitted, &mut budget),
            more_waiting: briefs.len() - waiting.len(),
            waiting,
            finish: None,
        });
    }
    let mut receipts = budget.split(MAX_RECEIPT_BYTES);
    submitted.iter().for_each(|submitted| receipts.charge(&submitted.answer));
    let review_end = finish_review::finish(reviews, &id, false, &mut budget)?;
    Ok(Output {
        next: review_end.next().to_owned(),
        reports: with_details(submitted, &mut receipts),
        waiting: Vec::new(),
        more_waiting: 0,
        finish: Some(review_end.without_next()),
    })
}

/// A submitted report.
struct SubmittedReport {
    /// The answer without details.
    answer: ReportAnswer,
    /// The receipt; `None` if the report was not taken.
    receipt: Option<Receipt>,
}

/// Submits an entry of a batch.
fn submit_entry(review: &mut DelegatedReview, entry: BatchEntry) -> SubmittedReport {
    let SingleReport { persona, part, report } = match entry {
        BatchEntry::Report(single) => single,
        BatchEntry::Broken(value) => {
            return SubmittedReport { answer: ReportAnswer::broken(&value), receipt: None };
        }
    };
    match review.report(&persona, part, &report.text()) {
        Ok(receipt) => SubmittedReport::from(receipt),
        Err(error) => SubmittedReport {
            answer: ReportAnswer {
                persona: truncate(&persona, MAX_NAME),
                part,
                state: "not_taken",
                why: Some(truncate(&Refusal::of(&error).to_string(), MAX_LINE)),
                ..ReportAnswer::default()
            },
            receipt: None,
        },
    }
}

impl From<Receipt> for SubmittedReport {
    fn from(receipt: Receipt) -> SubmittedReport {
        let (state, why) = match &receipt.state {
            ReportState::Accepted => ("taken", None),
            ReportState::Resubmit { why } => ("hand_in_again", Some(why)),
            ReportState::Refused { why } => ("refused", Some(why)),
        };
        let findings = receipt.findings.len() + receipt.looks.len();
        let answer = ReportAnswer {
            persona: receipt.persona.clone(),
            part: receipt.part,
            state,
            why: why.map(|why| truncate(why, MAX_LINE)),
            findings,
            more_read: findings,
            more_not_read: receipt.not_read.len(),
            ..ReportAnswer::default()
        };
        SubmittedReport { answer, receipt: Some(receipt) }
    }
}

/// Adds as many details to the answers as fit.
fn with_details(submitted: Vec<SubmittedReport>, budget: &mut AnswerBudget) -> Vec<ReportAnswer> {
    let add = |SubmittedReport { answer, receipt }| match receipt {
        Some(receipt) => answer.with_details(&receipt, budget),
        None => answer,
    };
    submitted.into_iter().map(add).collect()
}

impl ReportAnswer {
    fn with_details(self, receipt: &Receipt, budget: &mut AnswerBudget) -> ReportAnswer {
        let (read, more_read) =
            budget.list(receipt.findings.iter().map(UnderstoodFinding::from).collect());
        let (looks, more_looks) =
            budget.list(receipt.looks.iter().map(UnderstoodLook::from).collect());
        let not_read = receipt.not_read.iter().take(MAX_PARSE_ERRORS);
        let (not_read, _) = budget.list(not_read.map(|why| truncate(why, MAX_LINE)).collect());
        ReportAnswer {
            more_read: more_read + more_looks,
            more_not_read: receipt.not_read.len() - not_read.len(),
            read,
            looks,
            not_read,
            ..self
        }
    }

    /// Returns the answer to an entry that is not a report.
    fn broken(value: &Value) -> ReportAnswer {
        let persona = value["persona"].as_str().unwrap_or_default();
        ReportAnswer {
            persona: truncate(persona, MAX_NAME),
            part: value["part"].as_u64().unwrap_or(1) as usize,
            state: "not_taken",
            why: Some(
                "invalid report: expected `persona`, a text, and `report`, a text, an object or a \
                 list, and optionally `part`, a number from 1"
                    .to_owned(),
            ),
            ..ReportAnswer::default()
        }
    }

    fn needs_correction(&self) -> bool {
        matches!(self.state, "hand_in_again" | "not_taken")
    }
}

fn next(to_correct: usize, is_complete: bool, finish: bool) -> String {
    let not_ended = if finish { " The review was not ended." } else { "" };
    match (to_correct, is_complete) {
        (0, true) => "Call finish_review.".to_owned(),
        (0, false) => "Hand in the reports of `waiting`, then call finish_review.".to_owned(),
        (reports, _) => format!(
            "{reports} of the reports not taken: see `why`.{not_ended} Where `state` is \
             hand_in_again, hand in the report once more as one JSON object of the form that the \
             instructions describe. Then call finish_review."
        ),
    }
}
