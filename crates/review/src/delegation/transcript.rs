//! The answers of an agent in a delegated review: [`ReviewTranscript`].
//!
//! A transcript has answers and no questions, so it is small: a review of the same change asks the
//! same questions again, which are identified by their hashes. The texts contain no secrets, and no
//! marks of their run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::brief::Brief;
use crate::exchange::TranscriptAnswer;
use crate::persona::validator::answers;
use crate::recording::Grouping;

/// The answers of an agent in one delegated review, and the settings of that review.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewTranscript {
    /// The name of the agent's model; empty if it is unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The purpose of the change as the agent stated it; `None` if it stated none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// The personas that were requested in addition to those that the change triggers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub personas: Vec<String>,
    /// The grouping of the personas into readings.
    #[serde(default)]
    pub grouping: Grouping,
    /// The answers, in the order in which the questions were asked.
    pub answers: Vec<TranscriptAnswer>,
}

/// The wordings of a question that an answer may belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// The current wording alone.
    Present,
    /// The current wording, or an earlier one of the question at the same position.
    Earlier,
}

/// The result of looking up a question in a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptMatch {
    /// An answer.
    Answer {
        /// The text, without marks.
        text: String,
        /// True if the answer belongs to an earlier wording of the question.
        earlier_wording: bool,
    },
    /// The agent submitted no report.
    NoReport,
    /// The question at this position had another wording.
    OtherWording,
    /// The transcript does not have the question.
    Unknown,
}

impl ReviewTranscript {
    /// Returns the answer to the question of a brief.
    pub fn find(&self, brief: &Brief, wording: Wording) -> TranscriptMatch {
        let is_here = |it: &&TranscriptAnswer| {
            it.reader == brief.persona && it.part == brief.part && it.again == brief.again.is_some()
        };
        let mut here = self.answers.iter().filter(is_here);
        let Some(kept) = here.clone().find(|it| it.question == brief.question).or(here.next())
        else {
            return TranscriptMatch::Unknown;
        };
        let is_present = kept.question == brief.question;
        if !is_present && wording == Wording::Present {
            return TranscriptMatch::OtherWording;
        }
        let Some(text) = &kept.answer else { return TranscriptMatch::NoReport };
        TranscriptMatch::Answer {
            text: renumber(text, &kept.findings, &brief.findings),
            earlier_wording: kept.earlier_wording || !is_present,
        }
    }

    /// Marks the answers that belong to an earlier wording, according to an earlier transcript of
    /// the same review.
    #[must_use]
    pub fn mark_earlier(mut self, earlier: &ReviewTranscript) -> ReviewTranscript {
        for answer in &mut self.answers {
            let is_same = |it: &&TranscriptAnswer| {
                (&it.reader, it.part, it.again) == (&answer.reader, answer.part, answer.again)
            };
            let before = earlier.answers.iter().find(is_same);
            answer.earlier_wording =
                before.is_some_and(|it| it.earlier_wording || it.question != answer.question);
        }
        self
    }
}

/// Returns the answer of a second look with the current numbers of its findings, found by their
/// titles. Answers on findings that no longer exist are left out.
fn renumber(text: &str, before: &[String], now: &[String]) -> String {
    if before == now {
        return text.to_owned();
    }
    let mut free: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, title) in now.iter().enumerate().rev() {
        free.entry(title).or_default().push(at + 1);
    }
    let numbers: Vec<Option<usize>> =
        before.iter().map(|title| free.get_mut(title.as_str()).and_then(Vec::pop)).collect();
    let look = |(number, mut entry): (usize, Value)| {
        let now = (*numbers.get(number.checked_sub(1)?)?)?;
        entry.as_object_mut()?.insert("finding".to_owned(), json!(now));
        Some(entry)
    };
    let looks: Vec<Value> = answers(text).into_iter().filter_map(look).collect();
    json!({ "looks": looks }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brief(question: &str, findings: &[&str]) -> Brief {
        Brief {
            persona: "validator".to_owned(),
            part: 1,
            of: 1,
            again: None,
            instructions: String::new(),
            change: String::new(),
            task: String::new(),
            repeats_change: false,
            question: question.to_owned(),
            findings: findings.iter().map(|&it| it.to_owned()).collect(),
        }
    }

    fn transcript() -> ReviewTranscript {
        let looks = json!({ "looks": [
            { "finding": 1, "answer": "confirm" },
            { "finding": 2, "answer": "refute", "quote": "a line" },
        ]});
        let answer = TranscriptAnswer {
            reader: "validator".to_owned(),
            part: 1,
            question: "old".to_owned(),
            findings: vec!["Lost update".to_owned(), "Wrong sign".to_owned()],
            answer: Some(looks.to_string()),
            ..TranscriptAnswer::default()
        };
        ReviewTranscript { answers: vec![answer], ..ReviewTranscript::default() }
    }

    #[test]
    fn an_answer_to_another_wording_is_used_only_on_request() {
        let (kept, brief) = (transcript(), brief("new", &["Lost update", "Wrong sign"]));
        assert_eq!(kept.find(&brief, Wording::Present), TranscriptMatch::OtherWording);
        let found = kept.find(&brief, Wording::Earlier);
        assert!(
            matches!(found, TranscriptMatch::Answer { earlier_wording: true, .. }),
            "{found:?}"
        );
    }

    #[test]
    fn a_second_look_follows_its_findings_to_their_new_numbers() {
        let brief = brief("new", &["Wrong sign", "No test"]);
        let TranscriptMatch::Answer { text, .. } = transcript().find(&brief, Wording::Earlier)
        else {
            panic!("the answer is there");
        };
        let looks: Value = serde_json::from_str(&text).unwrap();
        let expected = json!({ "looks": [{ "finding": 1, "answer": "refute", "quote": "a line" }]});
        assert_eq!(looks, expected);
    }

    #[test]
    fn no_report_and_an_unknown_question_are_different() {
        let mut kept = transcript();
        kept.answers[0].answer = None;
        assert_eq!(kept.find(&brief("old", &[]), Wording::Present), TranscriptMatch::NoReport);
        let other = Brief { part: 2, ..brief("old", &[]) };
        assert_eq!(kept.find(&other, Wording::Present), TranscriptMatch::Unknown);
        let again = Brief { again: Some("no list".to_owned()), ..brief("old", &[]) };
        assert_eq!(kept.find(&again, Wording::Present), TranscriptMatch::Unknown);
    }
}
