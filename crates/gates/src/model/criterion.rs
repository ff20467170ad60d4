//! Asks a model if a criterion of a plan is met: `ModelCriterionJudge`.

use std::collections::BTreeSet;

use assay_findings::write::escape::one_line;
use assay_models::Reply;
use assay_rules::redact_text;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ModelJudge;
use super::answer::object_in;
use super::material::Material;
use crate::reconcile::{CriterionJudge, Judgement, Question};
use crate::subject::{Subject, SubjectJudge};

const RECONCILE_PROMPT: &str = include_str!("reconciling.md");

/// A model that judges the criteria of a subject's plan.
pub struct ModelCriterionJudge<'a, 's> {
    /// The model that judges.
    pub judge: &'a ModelJudge,
    /// The subject of the plan, which the model is shown.
    pub subject: &'a Subject<'s>,
    /// Notes of earlier runs about the files, which prove nothing; `None` if there are none.
    pub memory: Option<&'a str>,
}

/// The answer of a model.
#[derive(Debug, Deserialize)]
struct Answer {
    status: Status,
    #[serde(default)]
    file: String,
    #[serde(default)]
    line: u32,
    #[serde(default)]
    quote: String,
    #[serde(default)]
    why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Status {
    Met,
    NotMet,
    CannotTell,
}

impl SubjectJudge for ModelJudge {
    fn criterion_judge<'s>(&'s self, subject: &'s Subject<'_>) -> Box<dyn CriterionJudge + 's> {
        Box::new(ModelCriterionJudge { judge: self, subject, memory: None })
    }
}

impl CriterionJudge for ModelCriterionJudge<'_, '_> {
    fn judge(&self, question: &Question<'_>) -> Result<Judgement, String> {
        let found = question.evidence.iter().map(|evidence| &evidence.at);
        let mut paths: BTreeSet<String> = found.map(|place| place.file.clone()).collect();
        let changed = self.subject.change.into_iter().flat_map(|change| &change.files);
        let changed = changed.filter(|file| file.left_out.is_none());
        paths.extend(changed.filter_map(|file| file.new_path.clone()));
        let paths: Vec<String> = paths.into_iter().collect();
        // Instructions in the text of the plan must not be followed, just like those in files.
        let words = format!("### MILESTONE\n{}\n", question.milestone.text);
        let mut material = Material::of_files(self.subject, &words, &paths)?;
        if let Some(memory) = self.memory {
            material.remember(memory);
        }
        let criterion = redact_text(&one_line(&question.criterion.text));
        let asked = format!("Is this met? {criterion}\n");
        let prompt =
            self.judge.prompt(RECONCILE_PROMPT, &material, "What is asked", &asked, schema());
        let read = |reply: &Reply| -> Result<Answer, String> {
            serde_json::from_str(object_in(&reply.text)).map_err(|error| error.to_string())
        };
        let Answer { status, file, line, quote, why } =
            self.judge.ask(&format!("reconcile {}", question.milestone.id), &prompt, &read)?;
        Ok(match status {
            Status::Met => Judgement::Met { file, line, quote },
            Status::NotMet => Judgement::NotMet { why },
            Status::CannotTell => Judgement::CannotTell { why },
        })
    }
}

fn schema() -> Value {
    let word = json!({ "type": "string" });
    json!({
        "type": "object",
        "required": ["status", "file", "line", "quote", "why"],
        "additionalProperties": false,
        "properties": {
            "status": { "enum": ["MET", "NOT_MET", "CANNOT_TELL"] },
            "file": word,
            "line": { "type": "integer" },
            "quote": word,
            "why": word,
        },
    })
}
