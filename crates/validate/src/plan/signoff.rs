//! Parses the sign-off and the history in a plan, tolerating deviations from the exported form.

use serde_json::{Map, Value};

use super::{HistoryEntry, ImplementationPlan, Signoff, SignoffStatus, TestsPassed};
use crate::issue::{Issue, IssueKind, IssueSeverity, Remedy};

impl ImplementationPlan {
    /// Returns the sign-off; `None` if there is none.
    ///
    /// The sign-off is for other tools and decides nothing in the loop. An unknown status only
    /// means that a person has to check the spec again.
    pub fn signoff(&self) -> Option<Signoff> {
        let said = self.whole().get("qa_signoff")?.as_object()?;
        let issues = |key: &str| -> Vec<Issue> {
            let listed = said.get(key).and_then(Value::as_array);
            listed.into_iter().flatten().filter_map(issue).collect()
        };
        Some(Signoff {
            status: status(text(said, &["status"]).unwrap_or("")),
            qa_session: said.get("qa_session").and_then(number).unwrap_or(0),
            timestamp: text(said, &["timestamp"]).unwrap_or("").to_owned(),
            tests_passed: said.get("tests_passed").and_then(tests_passed),
            issues_found: issues("issues_found"),
            recurring_issues: issues("recurring_issues"),
            escalation_reason: text(said, &["escalation_reason"]).map(str::to_owned),
        })
    }
}

impl ImplementationPlan {
    /// Returns the rounds in the history of the plan, tolerating deviations from the exported form.
    pub fn iteration_history(&self) -> Vec<HistoryEntry> {
        let listed = self.whole().get("qa_iteration_history").and_then(Value::as_array);
        let listed = listed.into_iter().flatten().filter_map(Value::as_object);
        let entry = |(said, place): (&Map<String, Value>, u32)| {
            let issues =
                ["issues", "issues_found"].iter().find_map(|key| said.get(*key)?.as_array());
            HistoryEntry {
                iteration: said.get("iteration").and_then(number).unwrap_or(place),
                status: text(said, &["status"]).unwrap_or("unknown").to_owned(),
                timestamp: text(said, &["timestamp", "at"]).unwrap_or("").to_owned(),
                issues: issues.into_iter().flatten().filter_map(issue).collect(),
            }
        };
        listed.zip(1..).map(entry).collect()
    }
}

fn status(word: &str) -> SignoffStatus {
    match word.trim().to_lowercase().as_str() {
        "rejected" => SignoffStatus::Rejected,
        "fixes_applied" => SignoffStatus::FixesApplied,
        "approved" => SignoffStatus::Approved,
        "human_escalation" | "error" => SignoffStatus::HumanEscalation,
        // The review is not complete.
        _ => SignoffStatus::Pending,
    }
}

/// Returns the text of the first key that has a non-empty one; `None` if there is none.
fn text<'a>(said: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    let texts = names.iter().filter_map(|name| said.get(*name)?.as_str());
    texts.map(str::trim).find(|text| !text.is_empty())
}

fn number(value: &Value) -> Option<u32> {
    match value {
        Value::Number(number) => u32::try_from(number.as_u64()?).ok(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn tests_passed(said: &Value) -> Option<TestsPassed> {
    let groups = match said {
        Value::Object(groups) if !groups.is_empty() => groups,
        // A total is no result of single groups, and unit tests are the group that always exists.
        Value::String(_) | Value::Bool(_) => {
            return Some(TestsPassed { unit: has_passed(said), ..TestsPassed::default() });
        }
        _ => return None,
    };
    let passed = |name: &str| {
        let mut named = groups.iter().filter(|(group, _)| group.to_lowercase().starts_with(name));
        named.next().is_some_and(|(_, said)| has_passed(said))
            && named.all(|(_, said)| has_passed(said))
    };
    Some(TestsPassed {
        unit: passed("unit"),
        integration: passed("integration"),
        e2e: passed("e2e"),
    })
}

/// Returns true if the value is `true`, or a text with a full count such as `4/4`.
fn has_passed(said: &Value) -> bool {
    let Some(text) = said.as_str() else { return said == &Value::Bool(true) };
    let count = |text: &str| text.trim().parse::<u64>().ok();
    match text.split_once('/').map(|(passed, all)| (count(passed), count(all))) {
        Some((Some(passed), Some(all))) => passed == all && all > 0,
        _ => false,
    }
}

/// Parses an issue. The default kind is code quality, the default severity is medium. Returns
/// `None` if there is no title.
fn issue(said: &Value) -> Option<Issue> {
    let nothing = Map::new();
    let (bare, said) = match said {
        Value::String(title) => (Some(title.clone()), &nothing),
        other => (None, other.as_object()?),
    };
    let kind = text(said, &["type"]).unwrap_or("");
    let (file, line) = text(said, &["location"]).map(place).unwrap_or_default();
    let owned = |names: &[&str]| text(said, names).map(str::to_owned);
    let description = owned(&["description", "problem"]);
    Some(Issue {
        title: bare.or_else(|| owned(&["title"])).or_else(|| description.clone())?,
        kind: IssueKind::from_name(kind).unwrap_or(IssueKind::CodeQuality),
        file: owned(&["file"]).or(file),
        line: said.get("line").and_then(number).or(line),
        // Some authors write the severity in place of the type.
        severity: severity(text(said, &["severity"]).unwrap_or(kind))
            .unwrap_or(IssueSeverity::Medium),
        description,
        fix: owned(&["fix", "fix_required", "suggested_fix"]),
        key: owned(&["key"]),
        remedy: Remedy::Fix,
    })
}

fn severity(word: &str) -> Option<IssueSeverity> {
    Some(match word.trim().to_lowercase().as_str() {
        "critical" | "blocker" => IssueSeverity::Critical,
        "high" | "major" => IssueSeverity::High,
        "medium" => IssueSeverity::Medium,
        "low" | "minor" => IssueSeverity::Low,
        _ => return None,
    })
}

/// Splits a location such as `src/api.py:42` or `src/api.py:42:7` into file and line.
fn place(location: &str) -> (Option<String>, Option<u32>) {
    let mut file = location;
    let mut line = None;
    for _ in 0..2 {
        let Some((before, number)) = file.rsplit_once(':') else { break };
        let Ok(number) = number.trim().parse() else { break };
        (file, line) = (before, Some(number));
    }
    (Some(file.trim().to_owned()).filter(|file| !file.is_empty()), line)
}
