//! Parses the answers of a model, and decides which of them count.

use std::collections::HashMap;

use assay_findings::grounding::squeeze;
use serde::Deserialize;

use crate::gate::NewItem;
use crate::item::{Item, Scope, Severity};
use crate::result::CheckResult;
use crate::subject::Subject;

/// Maximum number of items that a model can propose.
const MAX_PROPOSALS: usize = 12;

/// Minimum number of characters of a quote that proves something.
const MIN_QUOTE_CHARS: usize = 8;

/// The answers of a model about items.
#[derive(Debug, Deserialize)]
pub(super) struct Answers {
    answers: Vec<Answer>,
}

#[derive(Debug, Deserialize)]
struct Answer {
    id: String,
    status: Status,
    #[serde(default)]
    finding: String,
    #[serde(default)]
    quote: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Status {
    Pass,
    Fail,
    CannotTell,
}

impl Answers {
    pub(super) fn read(text: &str) -> Result<Answers, String> {
        serde_json::from_str(object_in(text)).map_err(|error| error.to_string())
    }

    /// Returns the result of each item, in order. Of two answers about one item the worse counts.
    pub(super) fn of(&self, items: &[&Item], material: &str) -> Vec<CheckResult> {
        let mut by_id: HashMap<&str, Vec<&Answer>> = HashMap::new();
        for answer in &self.answers {
            by_id.entry(answer.id.as_str()).or_default().push(answer);
        }
        let material = squeezed(material);
        items
            .iter()
            .map(|item| {
                let answers = by_id.get(item.id.as_str()).into_iter().flatten();
                let seen = answers.map(|answer| answer.seen(&material));
                seen.min_by_key(badness).unwrap_or_else(|| {
                    CheckResult::NotChecked("the model gave no answer for the item".to_owned())
                })
            })
            .collect()
    }
}

/// Returns the rank of a result, from the worst to the best.
fn badness(seen: &CheckResult) -> u8 {
    match seen {
        CheckResult::Fail(_) => 0,
        CheckResult::NotChecked(_) => 1,
        CheckResult::Pass => 2,
    }
}

impl Answer {
    fn seen(&self, material: &str) -> CheckResult {
        let finding = self.finding.trim();
        match self.status {
            Status::Fail if finding.is_empty() => {
                CheckResult::NotChecked("the model reports FAIL without a finding".to_owned())
            }
            Status::Fail => CheckResult::Fail(finding.to_owned()),
            Status::CannotTell => CheckResult::NotChecked("the model cannot tell".to_owned()),
            Status::Pass if !is_in(&self.quote, material) => CheckResult::NotChecked(
                "the model reports PASS, and its quote was not found".to_owned(),
            ),
            Status::Pass => CheckResult::Pass,
        }
    }
}

/// Returns true if all lines of a quote are in a text, without regard to blanks.
fn is_in(quote: &str, material: &str) -> bool {
    let lines: Vec<String> = quote.lines().map(squeeze).filter(|line| !line.is_empty()).collect();
    let letters: usize = lines.iter().map(|line| line.chars().count()).sum();
    letters >= MIN_QUOTE_CHARS && lines.iter().all(|line| material.contains(line.as_str()))
}

fn squeezed(text: &str) -> String {
    text.lines().map(squeeze).collect::<Vec<_>>().join("\n")
}

/// The items that a model proposes.
#[derive(Debug, Deserialize)]
pub(super) struct Proposals {
    items: Vec<Proposal>,
}

#[derive(Debug, Deserialize)]
struct Proposal {
    scope: String,
    check: String,
    #[serde(default)]
    category: String,
}

impl Proposals {
    pub(super) fn read(text: &str) -> Result<Proposals, String> {
        serde_json::from_str(object_in(text)).map_err(|error| error.to_string())
    }

    /// Converts the proposals into items. A scope that does not exist is replaced by the whole
    /// subject.
    pub(super) fn items(self, subject: &Subject<'_>) -> Vec<NewItem> {
        let is_said = |proposal: &Proposal| !proposal.check.trim().is_empty();
        let items = self.items.into_iter().filter(is_said).take(MAX_PROPOSALS);
        items
            .map(|Proposal { scope, check, category }| {
                let scope = known(scope.as_str().into(), subject);
                NewItem::new(scope, check.trim().to_owned(), severity_of(&category), None)
            })
            .collect()
    }
}

fn known(scope: Scope, subject: &Subject<'_>) -> Scope {
    let plan = subject.plan.map(|(plan, _)| plan);
    let is_known = match &scope {
        Scope::All => true,
        Scope::Milestone(id) => plan.is_some_and(|p| p.milestones.iter().any(|m| m.id == *id)),
        Scope::Decision(id) => plan.is_some_and(|p| p.decisions.iter().any(|d| d.id == *id)),
        Scope::File { path, .. } => {
            let path = assay_findings::path::RepoPath::exact(path);
            path.is_ok_and(|path| subject.tree.exists(&path).unwrap_or(false))
        }
        Scope::Other(_) => false,
    };
    if is_known { scope } else { Scope::All }
}

/// Returns the severity of a category; an unknown category has the highest one.
fn severity_of(category: &str) -> Severity {
    match category {
        "size" | "duplication" | "error-handling" | "tests" | "documents" => Severity::Should,
        "style" => Severity::May,
        _ => Severity::Must,
    }
}

/// Returns the JSON object in an answer, which may be in a fence.
pub(super) fn object_in(text: &str) -> &str {
    let start = text.find('{').unwrap_or(0);
    let end = text.rfind('}').map_or(text.len(), |at| at + 1);
    text.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::ItemResult;

    fn seen(answers: &str) -> CheckResult {
        let item = Item {
            id: "a-1".parse().expect("it is a name"),
            scope: Scope::All,
            check: "c".to_owned(),
            result: ItemResult::Todo,
        };
        let answers = Answers::read(&format!("Here:\n{{\"answers\": [{answers}]}}")).expect("JSON");
        answers.of(&[&item], "## M1\n  - The   answer is kept\n").remove(0)
    }

    #[test]
    fn a_pass_counts_only_with_a_quote_of_existing_lines() {
        let pass = |quote: &str| {
            seen(&format!(
                r#"{{"id": "a-1", "status": "PASS", "finding": "", "quote": "{quote}"}}"#
            ))
        };
        assert_eq!(pass("- The answer is kept"), CheckResult::Pass);
        assert_eq!(pass("## M1\\n- The answer is kept"), CheckResult::Pass);
        for made_up in ["- The answer is lost", "", " ", "M1"] {
            assert!(matches!(pass(made_up), CheckResult::NotChecked(_)), "{made_up}");
        }
    }

    #[test]
    fn the_worse_of_two_answers_counts_and_a_missing_answer_is_not_checked() {
        let pass = r#"{"id": "a-1", "status": "PASS", "quote": "The answer is kept"}"#;
        let fail = r#"{"id": "a-1", "status": "FAIL", "finding": "It is not."}"#;
        let other = r#"{"id": "b-1", "status": "PASS", "quote": "The answer is kept"}"#;
        assert_eq!(seen(&format!("{pass}, {fail}")), CheckResult::Fail("It is not.".to_owned()));
        assert!(matches!(seen(other), CheckResult::NotChecked(_)));
        let why_not = r#"{"id": "a-1", "status": "FAIL", "finding": " "}"#;
        assert!(matches!(seen(why_not), CheckResult::NotChecked(_)));
    }
}
