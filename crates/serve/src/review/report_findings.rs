//! `report_findings`: one persona's report on a part of the change.

use std::sync::Arc;

use assay_review::delegation::Became;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Reviews;
use super::told::{Waiting, cut};
use crate::mcp::{Effect, Refusal, Tool};

/// So many of those who are waited for are named.
const NAMED: usize = 60;

/// So many reasons for which something could not be read are told.
const TOLD: usize = 5;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The name of the review.
    #[schemars(length(min = 1, max = 40))]
    review: String,
    /// The persona that reports.
    #[schemars(length(min = 1, max = 60))]
    persona: String,
    /// The part of the change, or the finding, that it reports on.
    #[serde(default = "first")]
    #[schemars(range(min = 1, max = 1000))]
    part: usize,
    /// The report: the JSON object that the task asks for, or the text as the model wrote it.
    report: Handed,
}

fn first() -> usize {
    1
}

/// A report as it is handed in.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Handed {
    /// As text.
    Text(String),
    /// As an object.
    Object(Map<String, Value>),
    /// As a list of findings.
    List(Vec<Value>),
}

impl Handed {
    fn text(self) -> String {
        match self {
            Handed::Text(text) => text,
            Handed::Object(fields) => Value::Object(fields).to_string(),
            Handed::List(findings) => json!({ "findings": findings }).to_string(),
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// `taken`, `hand_in_again` or `refused`.
    state: &'static str,
    /// Why it is not taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    why: Option<String>,
    /// How many findings were read from it.
    findings: usize,
    /// Why some of it could not be read.
    not_read: Vec<String>,
    /// How much more of it could not be read.
    more_not_read: usize,
    /// Who is still to report.
    waiting: Vec<Waiting>,
    /// How many more are.
    more_waiting: usize,
    /// What to do next.
    next: String,
}

pub(super) fn tool(reviews: &Arc<dyn Reviews>) -> Tool {
    let reviews = Arc::clone(reviews);
    Tool::new(
        "report_findings",
        "Hands in one persona's report on a part of the change. It is read and held against the \
         code; each counts once.",
        Effect::Adds,
        move |input| report(&*reviews, input),
    )
}

fn report(reviews: &dyn Reviews, input: Input) -> Result<Output, Refusal> {
    let mut review = reviews.open(&input.review)?;
    let taken = review.report(&input.persona, input.part, &input.report.text());
    let taken = taken.map_err(|error| Refusal::of(&error))?;
    let briefs = review.briefs();
    let (state, why) = match taken.became {
        Became::Taken => ("taken", None),
        Became::HandInAgain { why } => ("hand_in_again", Some(why)),
        Became::Refused { why } => ("refused", Some(why)),
    };
    let next = match (state, briefs.is_empty()) {
        ("hand_in_again", _) => {
            "Hand it in once more as one JSON object of the form that the instructions describe."
        }
        (_, true) => "Call finish_review.",
        (_, false) => "Go on with those who are waited for, then call finish_review.",
    };
    let (not_read, more_not_read) = cut(&taken.not_read, TOLD);
    let (waiting, more_waiting) = cut(&briefs, NAMED);
    Ok(Output {
        state,
        why,
        findings: taken.findings,
        not_read: not_read.cloned().collect(),
        more_not_read,
        waiting: waiting.map(Waiting::from).collect(),
        more_waiting,
        next: next.to_owned(),
    })
}
