//! Pairs of a comment and a label that a judge decides on: [`JudgedPair`].
//!
//! A judge decides on pairs whose locations are near or whose words are similar. All other pairs
//! are no matches, so that the number of questions stays small. Calling a model is left to the
//! caller.

use std::collections::{BTreeMap, BTreeSet};

use assay_findings::claim_similarity::ComparedTexts;
use assay_findings::read::repair_json;
use serde_json::Value;

use crate::comment::{Comment, deduplicate};
use crate::matching::{Verdict, distance};
use crate::set::{Case, Label};

/// The maximum number of pairs in one question.
pub const MAX_PAIRS: usize = 20;

/// The rule that selects the pairs for a judge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgedPairs {
    /// The maximum number of lines between comment and label; `None` if locations do not matter.
    pub within: Option<u32>,
    /// The minimum similarity of words, from 0 to 1. A pair that reaches it is sent to the judge
    /// wherever the comment is, and a pair without an answer is decided by it.
    pub at_least: f64,
}

/// A comment and a label of one case that a judge decides on.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedPair {
    /// The id of the case.
    pub case: String,
    /// The text of the comment.
    pub comment: String,
    /// The text of the label.
    pub label: String,
    /// True if the pair would match by location and words alone.
    pub is_alike: bool,
}

impl JudgedPair {
    /// Returns the verdict on the pair: `names` is the decision, `judge` the name of the judge.
    pub fn verdict(&self, names: bool, judge: Option<&str>) -> Verdict {
        Verdict {
            case: self.case.clone(),
            comment: self.comment.clone(),
            label: self.label.clone(),
            names,
            judge: judge.map(str::to_owned),
        }
    }
}

impl JudgedPairs {
    /// Returns the pairs of a case that a judge decides on. Pairs with the same words are returned
    /// once.
    pub fn of_case(self, case: &Case, comments: &[Comment]) -> Vec<JudgedPair> {
        let comments = deduplicate(comments);
        let said = comments.iter().map(|comment| comment.text.as_str());
        let labels = case.labels.iter().map(|label| label.comment.as_str());
        let texts = ComparedTexts::of(said.chain(labels));
        let mut pairs: BTreeMap<(String, String), JudgedPair> = BTreeMap::new();
        for (at, comment) in comments.iter().enumerate() {
            for (number, label) in case.labels.iter().enumerate() {
                let is_near = self.is_near(comment, label);
                let is_alike = texts.cosine(at, comments.len() + number) >= self.at_least;
                if !is_near && !is_alike {
                    continue;
                }
                let key = (comment.text.clone(), label.comment.clone());
                let pair = pairs.entry(key).or_insert_with(|| JudgedPair {
                    case: case.id.clone(),
                    comment: comment.text.clone(),
                    label: label.comment.clone(),
                    is_alike: false,
                });
                pair.is_alike |= is_near && is_alike;
            }
        }
        pairs.into_values().collect()
    }

    fn is_near(self, comment: &Comment, label: &Label) -> bool {
        match self.within.filter(|_| label.path.is_some()) {
            Some(within) => distance(comment, label).is_some_and(|lines| lines <= within),
            None => true,
        }
    }
}

/// Parses the answer of a judge on some pairs. Returns true or false for each pair, or `None` if
/// the answer does not decide the pair.
pub fn read_decisions(text: &str, pairs: usize) -> Vec<Option<bool>> {
    let mut said: Vec<BTreeSet<bool>> = vec![BTreeSet::new(); pairs];
    // Models put JSON after a sentence or into a code fence.
    let start = text.find(['{', '[']).unwrap_or_default();
    let value = repair_json(&text[start..]).unwrap_or_default();
    let entries = value.get("pairs").unwrap_or(&value);
    for entry in entries.as_array().into_iter().flatten() {
        let number = entry["pair"].as_u64().and_then(|number| usize::try_from(number).ok());
        let at = number.and_then(|number| number.checked_sub(1)).filter(|at| *at < pairs);
        let same = match &entry["same"] {
            Value::Bool(same) => Some(*same),
            Value::String(word) if word.eq_ignore_ascii_case("yes") => Some(true),
            Value::String(word) if word.eq_ignore_ascii_case("no") => Some(false),
            _ => None,
        };
        if let Some((at, same)) = at.zip(same) {
            said[at].insert(same);
        }
    }
    // Two answers that contradict each other decide nothing.
    let decision = |said: BTreeSet<bool>| said.first().copied().filter(|_| said.len() == 1);
    said.into_iter().map(decision).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_decided_by_one_plain_answer_and_by_nothing_else() {
        let text = r#"Here: {"pairs": [{"pair": 1, "same": true}, {"pair": 2, "same": "no"},
            {"pair": 3, "same": "maybe"}, {"pair": 4, "same": true}, {"pair": 4, "same": false},
            {"pair": 5, "same": true}, {"pair": 0, "same": true}, {"pair": 7, "same": true}]}"#;
        let expected = [Some(true), Some(false), None, None, Some(true), None];
        assert_eq!(read_decisions(text, 6), expected);
        assert_eq!(read_decisions("no JSON at all", 2), [None, None]);
    }

    #[test]
    fn pairs_that_are_neither_near_nor_alike_are_not_asked_about() {
        let label = |comment: &str, line| Label {
            comment: comment.to_owned(),
            path: Some("a.py".to_owned()),
            line: Some(line),
            ..Label::default()
        };
        let case = Case {
            id: "a".to_owned(),
            labels: vec![label("The sum is negated", 3), label("Lock is never released", 90)],
            ..Case::default()
        };
        let comment = |text: &str, line| Comment {
            text: text.to_owned(),
            path: Some("a.py".to_owned()),
            lines: Some((line, line)),
            ..Comment::default()
        };
        let comments =
            [comment("Result has the wrong sign", 4), comment("The lock is never released", 20)];
        let rule = JudgedPairs { within: Some(3), at_least: 0.24 };
        let pairs = rule.of_case(&case, &comments);
        let asked: Vec<(&str, &str, bool)> = pairs
            .iter()
            .map(|pair| (pair.comment.as_str(), pair.label.as_str(), pair.is_alike))
            .collect();
        let expected = [
            ("Result has the wrong sign", "The sum is negated", false),
            ("The lock is never released", "Lock is never released", false),
        ];
        assert_eq!(asked, expected);
    }
}
