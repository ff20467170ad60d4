//! Criteria and verification in a plan: [`criteria`], [`add`].

use assay_checks::verification::Verification;
use serde_json::{Map, Value};

use super::Criterion;
use super::verification::{Which, ask_for, percentage, run};
use crate::plan::{ImplementationPlan, LOOP_KEYS};

/// The names under which the text of a criterion stands.
const TEXTS: [&str; 8] =
    ["criterion", "text", "description", "title", "name", "requirement", "statement", "then"];

/// How much of a value that is not understood is shown, in letters.
const MAX_SHOWN: usize = 200;

/// How deep a plan is searched for criteria.
const MAX_DEPTH: usize = 32;

/// Adds the criteria that a plan lists anywhere, and what stands among them and is not understood.
/// Parts of the plan that have another shape than they should are not understood either.
pub(super) fn criteria(
    plan: &ImplementationPlan,
    criteria: &mut Vec<Criterion>,
    not_understood: &mut Vec<Criterion>,
) {
    let whole = plan.whole().iter().filter(|(key, _)| !LOOP_KEYS.contains(&key.as_str()));
    for (key, value) in whole {
        search(key, value, 0, criteria, not_understood);
        let is_strategy = ["verification_strategy", "qa_acceptance"].contains(&key.as_str());
        match value {
            Value::Object(strategy) if is_strategy => odd_groups(key, strategy, not_understood),
            Value::Null | Value::Object(_) => {}
            other if is_strategy => not_understood.push(odd(key, other)),
            _ => {}
        }
    }
}

/// Looks for criteria below a key.
fn search(
    key: &str,
    value: &Value,
    depth: usize,
    criteria: &mut Vec<Criterion>,
    not_understood: &mut Vec<Criterion>,
) {
    if depth > MAX_DEPTH {
        return;
    }
    if is_criteria_key(key) {
        return list(key, value, depth, criteria, not_understood);
    }
    match value {
        Value::Object(members) => members
            .iter()
            .for_each(|(key, value)| search(key, value, depth + 1, criteria, not_understood)),
        Value::Array(entries) => {
            entries.iter().for_each(|entry| search("", entry, depth + 1, criteria, not_understood))
        }
        _ => {}
    }
}

/// Returns true if a key names acceptance criteria, however it is spelt.
fn is_criteria_key(key: &str) -> bool {
    let letters: String = key.chars().filter(|c| c.is_alphabetic()).collect();
    let letters = letters.to_lowercase();
    let names =
        ["acceptancecriteria", "acceptancecriterion", "successcriteria", "definitionofdone"];
    names.iter().any(|name| letters.contains(name))
        || ["criteria", "donewhen", "completioncriteria", "exitcriteria"]
            .contains(&letters.as_str())
}

/// Reads a list of criteria; a text that stands alone is read line by line.
fn list(
    key: &str,
    value: &Value,
    depth: usize,
    criteria: &mut Vec<Criterion>,
    not_understood: &mut Vec<Criterion>,
) {
    let mut add = |text: &str| {
        let lines = text.lines().map(crate::spec::criteria::without_mark).map(str::trim);
        let lines = lines.filter(|line| !line.is_empty()).map(str::to_owned);
        criteria.extend(lines.map(|text| Criterion { text, line: None }));
    };
    match value {
        Value::Null => {}
        Value::String(text) => add(text),
        Value::Array(entries) if depth <= MAX_DEPTH => {
            entries.iter().for_each(|entry| list(key, entry, depth + 1, criteria, not_understood))
        }
        Value::Object(members) => match text(value, &TEXTS) {
            Some(text) => add(&text),
            // Named criteria, such as `{"AC-1": "…"}`.
            None if !members.is_empty() && members.values().all(Value::is_string) => {
                members.values().filter_map(Value::as_str).for_each(add);
            }
            None => not_understood.push(odd(key, value)),
        },
        other => not_understood.push(odd(key, other)),
    }
}

/// Names the groups of tests in a strategy that are no objects.
fn odd_groups(strategy: &str, members: &Map<String, Value>, not_understood: &mut Vec<Criterion>) {
    for key in ["unit_tests", "integration_tests", "e2e_tests", "browser_verification"] {
        match members.get(key) {
            None | Some(Value::Null | Value::Bool(false) | Value::Object(_)) => {}
            Some(other) => not_understood.push(odd(&format!("{strategy}.{key}"), other)),
        }
    }
}

fn odd(key: &str, value: &Value) -> Criterion {
    let shown: String = value.to_string().chars().take(MAX_SHOWN).collect();
    Criterion { text: format!("`{key}` in the plan: {shown}"), line: None }
}

/// Adds what a plan says of verification; the error is a coverage that cannot be.
pub(super) fn add(plan: &ImplementationPlan, all: &mut Verification) -> Result<(), String> {
    for strategy in plan.strategies() {
        for (key, which) in [
            ("unit_tests", Which::Unit),
            ("integration_tests", Which::Integration),
            ("e2e_tests", Which::E2e),
            ("browser_verification", Which::E2e),
        ] {
            if let Some(Value::Object(said)) = strategy.get(key) {
                add_group(said, which, all)?;
            }
        }
    }
    Ok(())
}

fn add_group(
    said: &Map<String, Value>,
    which: Which,
    all: &mut Verification,
) -> Result<(), String> {
    match said.get("minimum_coverage") {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => ask_for(percentage(text)?, all),
        Some(other) => ask_for(percentage(&other.to_string())?, all),
    }
    let group = which.of(all);
    group.is_required |= said.get("required") == Some(&Value::Bool(true));
    for key in ["commands", "command"] {
        for command in said.get(key).into_iter().flat_map(entries) {
            let expected = text(command, &["expected", "expectation", "expected_outcome"]);
            let expected = expected.filter(|_| command.is_object()).unwrap_or_default();
            run(&text(command, &["command", "cmd"]).unwrap_or_default(), &expected, group);
        }
    }
    for key in ["flows", "pages"] {
        let words = ["name", "flow", "url", "page", "path"];
        group.flows.extend(said.get(key).into_iter().flat_map(|list| texts(list, &words)));
    }
    Ok(())
}

/// Returns the entries of a list; one that stands alone is a list of one.
fn entries(list: &Value) -> &[Value] {
    match list {
        Value::Array(all) => all,
        alone => std::slice::from_ref(alone),
    }
}

fn texts(list: &Value, words: &[&str]) -> Vec<String> {
    entries(list).iter().filter_map(|entry| text(entry, words)).collect()
}

/// Returns the text of an entry, or of an object the first that has one of the names.
fn text(entry: &Value, words: &[&str]) -> Option<String> {
    let text = match entry {
        Value::Object(named) => words.iter().find_map(|word| named.get(*word)?.as_str())?,
        other => other.as_str()?,
    };
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
