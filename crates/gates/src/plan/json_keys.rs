//! The known keys of a plan in JSON, and the recognition of unknown ones: [`unknown`].
//!
//! A list under an unknown key may be a requirement of the plan, so the key is reported and never
//! dropped.

use serde_json::{Map, Value};

use super::reasons::REASON_LABELS;
use super::{UnreadKind, UnreadLine};

pub(super) type Object = Map<String, Value>;

pub(super) const MILESTONES: [&str; 5] = ["milestones", "phases", "stages", "steps", "tasks"];

/// Keys of lists with parts of a milestone, which may be milestones themselves.
pub(super) const PARTS: [&str; 12] = [
    "milestones", "phases", "stages", "steps", "tasks", "sub_milestones", "subtasks", "sub_tasks",
    "sub_phases", "substeps", "sub_steps", "children",
];

/// Keys of lists of criteria.
pub(super) const CRITERIA: [&str; 13] = [
    "acceptance_criteria", "acceptance_criterion", "success_criteria", "exit_criteria",
    "completion_criteria", "done_criteria", "criteria", "acceptance", "done_when",
    "definition_of_done", "dod", "conditions_of_satisfaction", "must_have",
];

/// Normalises a key: `acceptance_criteria`, `acceptanceCriteria` and `Acceptance Criteria` are
/// equal.
pub(super) fn folded(key: &str) -> String {
    key.chars().take(60).filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The object that contains a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Plan,
    Milestone,
}

/// Keys that are read from a plan or from its context.
const OF_A_PLAN: [&str; 14] = [
    "plan", "planning_context", "context", "title", "name", "decision_log", "decisions",
    "key_decisions", "assumptions", "key_assumptions", "code_changes", "diffs", "changes",
    "patches",
];

/// Keys that are read from a milestone.
const OF_A_MILESTONE: [&str; 25] = [
    "id", "number", "title", "name", "goal", "summary", "files", "files_to_modify",
    "files_to_change", "files_to_create", "new_files", "files_to_delete", "tests", "test_plan",
    "testing", "verification", "depends_on", "dependencies", "needs", "blocked_by", "code_changes",
    "diffs", "changes", "patches", "decisions",
];

/// Keys of information about a plan that contains no requirements.
const OTHERS: [&str; 52] = [
    "alternatives", "rejected_alternatives", "authors", "author", "background", "code_intents",
    "constraints", "contributors", "decision_refs", "description", "diagram_graphs", "diagrams",
    "documentation", "effort", "estimate", "flags", "goals", "history", "implementation_notes",
    "invariants", "invisible_knowledge", "keywords", "labels", "links", "meta", "metadata",
    "non_goals", "note", "notes", "open_questions", "out_of_scope", "overview", "owner", "owners",
    "questions", "rationale", "readme_entries", "references", "related", "resources", "reviewers",
    "revisions", "risks", "scope", "stakeholders", "status", "tags", "timeline", "tradeoffs",
    "version", "waves", "glossary",
];

/// Keys of information about a criterion that is no part of its text.
const ABOUT_A_CRITERION: [&str; 22] = [
    "id", "ref", "number", "status", "state", "done", "met", "priority", "severity", "type",
    "kind", "category", "owner", "milestone", "verification", "verified_by", "verify", "evidence",
    "test", "tests", "source", "notes",
];

/// Returns true if a key is one of the names, in any spelling.
pub(super) fn is_one_of(key: &str, names: &[&str]) -> bool {
    let key = folded(key);
    names.iter().any(|name| folded(name) == key)
}

/// Returns true if an object has a key with one of the names.
pub(super) fn has_any(object: &Object, names: &[&str]) -> bool {
    object.iter().any(|(key, value)| !value.is_null() && is_one_of(key, names))
}

/// Returns true if a key holds information about a criterion.
pub(super) fn is_about_a_criterion(key: &str) -> bool {
    is_one_of(key, &ABOUT_A_CRITERION)
}

/// Returns true if a value has a key with one of the names at any depth.
pub(super) fn holds(value: &Value, names: &[&str]) -> bool {
    match value {
        Value::Array(list) => list.iter().any(|value| holds(value, names)),
        Value::Object(object) => {
            has_any(object, names) || object.values().any(|value| holds(value, names))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Returns the first two known keys of one object that have the same meaning; `None` if there are
/// none.
pub(super) fn same(value: &Value) -> Option<(String, String)> {
    match value {
        Value::Array(list) => list.iter().find_map(same),
        Value::Object(object) => {
            let known: Vec<(String, &String)> = object
                .keys()
                .filter(|key| is_known(key, Place::Plan) || is_known(key, Place::Milestone))
                .map(|key| (folded(key), key))
                .collect();
            let twice = known.iter().enumerate().find_map(|(at, (name, key))| {
                let (_, first) = known[..at].iter().find(|(earlier, _)| earlier == name)?;
                Some(((*first).clone(), (*key).clone()))
            });
            twice.or_else(|| object.values().find_map(same))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn is_known(key: &str, place: Place) -> bool {
    let read: &[&str] = match place {
        Place::Plan => &OF_A_PLAN,
        Place::Milestone => &OF_A_MILESTONE,
    };
    let parts: &[&str] = match place {
        Place::Plan => &MILESTONES,
        Place::Milestone => &PARTS,
    };
    [read, parts, &CRITERIA, &OTHERS, &REASON_LABELS].into_iter().any(|names| is_one_of(key, names))
}

/// Returns the unknown keys of an object with a list, each with the path above it.
pub(super) fn unknown(object: &Object, place: Place, above: &str) -> Vec<UnreadLine> {
    let is_told = |(key, value): &(&String, &Value)| {
        let may_hide = !is_known(key, place) && (has_list(value) || holds(value, &CRITERIA));
        // A part without requirements of its own may still contain criteria.
        may_hide || (is_one_of(key, &OTHERS) && holds(value, &CRITERIA))
    };
    let told = object.iter().filter(is_told);
    let line = |(key, _): (&String, &Value)| UnreadLine {
        text: format!("{above}{key}"),
        line: 0,
        kind: UnreadKind::Key,
    };
    told.map(line).collect()
}

/// Returns true if a value contains texts or objects in a list, at any depth.
fn has_list(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().any(|value| match value {
            Value::String(text) => !text.trim().is_empty(),
            Value::Object(object) => !object.is_empty(),
            Value::Array(_) => has_list(value),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }),
        Value::Object(object) => object.values().any(has_list),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
