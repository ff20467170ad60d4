//! `report_findings`: the reports of personas and of second looks, one or many.

use std::sync::Arc;

use assay_base::text::truncate;
use assay_engine::delegated_review::Reviews;
use assay_review::delegation::Delegated;
use assay_review::delegation::receipt::{FindingReceipt, LookReceipt, Receipt, ReportState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::finding::is_zero;
use super::finish_review::{self, Ending};
use super::refused;
use super::room::Room;
use super::tasks::OpenTask;
use crate::mcp::{Effect, Refusal, Tool};

/// The most reports of one call.
pub(super) const MAX_REPORTS: usize = 50;

/// The most open tasks that are listed.
const MAX_WAITING: usize = 60;

/// The most reasons why something in a report could not be read.
const MAX_NOT_READ: usize = 5;

/// The most characters of a title, and of a reason.
const MAX_LINE: usize = 240;

/// The most characters of a persona's name.
const MAX_NAME: usize = 60;

/// The bytes for receipts in an answer that holds the end of the review as well.
const RECEIPTS_BESIDE_END: usize = 9_000;

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
    /// The part of the change that a single report is on; 1 where it is left out.
    #[serde(default)]
    #[schemars(with = "usize", range(min = 1, max = 1000))]
    part: Option<usize>,
    /// A single report: the JSON object that the task asks for, or the text as the model wrote it.
    #[serde(default)]
    #[schemars(with = "Written")]
    report: Option<Written>,
    /// Several reports, instead of persona, part and report. Each is answered on its own.
    #[serde(default)]
    #[schemars(with = "Vec<Entry>", length(min = 1, max = 50))]
    reports: Option<Vec<Entry>>,
    /// End the review in the same call, as finish_review does, if no report has to be corrected.
    #[serde(default)]
    finish: bool,
}

/// An entry of a batch. Anything is taken here, so that a broken entry costs only itself.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Entry {
    Report(Single),
    Broken(Value),
}

/// A report and its task.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Single {
    /// The persona that reports.
    persona: String,
    /// The part of the change; 1 where it is left out.
    #[serde(default = "first")]
    part: usize,
    /// The report.
    report: Written,
}

fn first() -> usize {
    1
}

/// A report as it is handed in.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Written {
    /// As text.
    Text(String),
    /// As an object.
    Object(Map<String, Value>),
    /// As a list of findings.
    List(Vec<Value>),
}

impl Written {
    fn text(self) -> String {
        match self {
            Written::Text(text) => text,
            Written::Object(fields) => Value::Object(fields).to_string(),
            Written::List(findings) => json!({ "findings": findings }).to_string(),
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// An answer to each report, in their order.
    reports: Vec<Answered>,
    /// The tasks that have no report yet.
    waiting: Vec<OpenTask>,
    /// The number of further tasks.
    #[serde(skip_serializing_if = "is_zero")]
    more_waiting: usize,
    /// The end of the review, where it was asked for and no report has to be corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Ending")]
    finish: Option<Ending>,
    /// The next step.
    next: String,
}

/// The answer to a report.
#[derive(Default, Serialize, JsonSchema)]
struct Answered {
    /// The persona.
    persona: String,
    /// The part of the change.
    part: usize,
    /// `taken`; `hand_in_again` where it can be corrected once; `refused` where it counts for
    /// nothing; `not_taken` where there is no such open task.
    state: &'static str,
    /// The reason why it is not taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    why: Option<String>,
    /// The number of findings in it; in a second look, of answers.
    findings: usize,
    /// How each finding was read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    read: Vec<ReadFinding>,
    /// How each answer of a second look was read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    looks: Vec<ReadLook>,
    /// The number of findings or answers that were read and are not listed, for their size.
    #[serde(skip_serializing_if = "is_zero")]
    more_read: usize,
    /// The reasons why something in it could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_read: Vec<String>,
    /// The number of further reasons.
    #[serde(skip_serializing_if = "is_zero")]
    more_not_read: usize,
}

/// How a finding was read.
#[derive(Serialize, JsonSchema)]
struct ReadFinding {
    /// The title.
    title: String,
    /// The severity that counts, `P0` to `P3`.
    severity: String,
    /// The confidence that counts, of 100.
    confidence: u8,
    /// The place that counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    place: Option<String>,
    /// How the place was found: `as named`, `moved from …`, `placed by assay`, `no place` …
    placed: String,
    /// `found`, `not_found`, `found elsewhere at file:line`, `not_checked` or `none`.
    quote: String,
    /// The fields of the schema that are missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<&'static str>,
    /// The values that count other than they were given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl From<&FindingReceipt> for ReadFinding {
    fn from(read: &FindingReceipt) -> ReadFinding {
        ReadFinding {
            title: truncate(&read.title, MAX_LINE),
            severity: read.severity.clone(),
            confidence: read.confidence,
            place: read.place.clone(),
            placed: read.placing.to_string(),
            quote: read.quote.to_string(),
            missing: read.missing.clone(),
            notes: read.notes.iter().take(MAX_NOT_READ).map(|n| truncate(n, MAX_LINE)).collect(),
        }
    }
}

/// How an answer of a second look was read.
#[derive(Serialize, JsonSchema)]
struct ReadLook {
    /// The number of the finding in the brief.
    finding: usize,
    /// The title of the finding.
    title: String,
    /// `confirm`, `refute`, `unsure`, or `missing`.
    answer: &'static str,
    /// `found`, `not_found` or `none`.
    quote: String,
    /// `block`, `later` or `ignore`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    consequence: Option<&'static str>,
    /// What the answer does to the finding.
    effect: String,
}

impl From<&LookReceipt> for ReadLook {
    fn from(look: &LookReceipt) -> ReadLook {
        ReadLook {
            finding: look.finding,
            title: truncate(&look.title, MAX_LINE),
            answer: look.answer,
            quote: look.quote.to_string(),
            consequence: look.consequence,
            effect: truncate(&look.effect, MAX_LINE),
        }
    }
}

pub(super) fn tool(reviews: &Arc<dyn Reviews>) -> Tool {
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

fn report(reviews: &dyn Reviews, input: Input) -> Result<Output, Refusal> {
    let Input { review: id, persona, part, report, reports, finish } = input;
    let mut review = reviews.open(&id).map_err(refused)?;
    let handed: Vec<Handed> = match (persona, report, reports) {
        (Some(persona), Some(report), None) => {
            let receipt = review.report(&persona, part.unwrap_or(1), &report.text());
            vec![Handed::from(receipt.map_err(|error| Refusal::of(&error))?)]
        }
        (None, None, Some(entries)) if part.is_none() => {
            entries.into_iter().map(|entry| hand_in(&mut review, entry)).collect()
        }
        _ => {
            return Err(Refusal::new(
                "give either `persona` and `report`, or `reports`; nothing was handed in",
            ));
        }
    };
    let briefs = review.briefs();
    let to_correct = handed.iter().filter(|handed| handed.answer.has_to_be_corrected()).count();
    let mut room = Room::new();
    if !finish || to_correct > 0 {
        handed.iter().for_each(|handed| room.charge(&handed.answer));
        let waiting = briefs.iter().take(MAX_WAITING).map(OpenTask::from).collect();
        let (waiting, _) = room.list(waiting);
        return Ok(Output {
            next: next(to_correct, briefs.is_empty(), finish),
            reports: with_details(handed, &mut room),
            more_waiting: briefs.len() - waiting.len(),
            waiting,
            finish: None,
        });
    }
    let mut receipts = room.split(RECEIPTS_BESIDE_END);
    handed.iter().for_each(|handed| receipts.charge(&handed.answer));
    let ending = finish_review::end(reviews, &id, false, &mut room)?;
    Ok(Output {
        next: ending.next().to_owned(),
        reports: with_details(handed, &mut receipts),
        waiting: Vec::new(),
        more_waiting: 0,
        finish: Some(ending.without_next()),
    })
}

/// A report that was handed in.
struct Handed {
    /// The answer without details.
    answer: Answered,
    /// The receipt; `None` where the report was not taken.
    receipt: Option<Receipt>,
}

/// Hands in an entry of a batch.
fn hand_in(review: &mut Delegated, entry: Entry) -> Handed {
    let Single { persona, part, report } = match entry {
        Entry::Report(single) => single,
        Entry::Broken(value) => {
            return Handed { answer: Answered::broken(&value), receipt: None };
        }
    };
    match review.report(&persona, part, &report.text()) {
        Ok(receipt) => Handed::from(receipt),
        Err(error) => Handed {
            answer: Answered {
                persona: truncate(&persona, MAX_NAME),
                part,
                state: "not_taken",
                why: Some(truncate(&Refusal::of(&error).to_string(), MAX_LINE)),
                ..Answered::default()
            },
            receipt: None,
        },
    }
}

impl From<Receipt> for Handed {
    fn from(receipt: Receipt) -> Handed {
        let (state, why) = match &receipt.state {
            ReportState::Taken => ("taken", None),
            ReportState::HandInAgain { why } => ("hand_in_again", Some(why)),
            ReportState::Refused { why } => ("refused", Some(why)),
        };
        let findings = receipt.findings.len() + receipt.looks.len();
        let answer = Answered {
            persona: receipt.persona.clone(),
            part: receipt.part,
            state,
            why: why.map(|why| truncate(why, MAX_LINE)),
            findings,
            more_read: findings,
            more_not_read: receipt.not_read.len(),
            ..Answered::default()
        };
        Handed { answer, receipt: Some(receipt) }
    }
}

/// Returns the answers with as many details as fit.
fn with_details(handed: Vec<Handed>, room: &mut Room) -> Vec<Answered> {
    let add = |Handed { answer, receipt }| match receipt {
        Some(receipt) => answer.with_details(&receipt, room),
        None => answer,
    };
    handed.into_iter().map(add).collect()
}

impl Answered {
    fn with_details(self, receipt: &Receipt, room: &mut Room) -> Answered {
        let (read, more_read) = room.list(receipt.findings.iter().map(ReadFinding::from).collect());
        let (looks, more_looks) = room.list(receipt.looks.iter().map(ReadLook::from).collect());
        let not_read = receipt.not_read.iter().take(MAX_NOT_READ);
        let (not_read, _) = room.list(not_read.map(|why| truncate(why, MAX_LINE)).collect());
        Answered {
            more_read: more_read + more_looks,
            more_not_read: receipt.not_read.len() - not_read.len(),
            read,
            looks,
            not_read,
            ..self
        }
    }

    /// Returns the answer to an entry that is no report.
    fn broken(value: &Value) -> Answered {
        let persona = value["persona"].as_str().unwrap_or_default();
        Answered {
            persona: truncate(persona, MAX_NAME),
            part: value["part"].as_u64().unwrap_or(1) as usize,
            state: "not_taken",
            why: Some(
                "the entry is no report; it needs `persona`, a text, and `report`, a text, an \
                 object or a list, and may have `part`, a number from 1"
                    .to_owned(),
            ),
            ..Answered::default()
        }
    }

    fn has_to_be_corrected(&self) -> bool {
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
