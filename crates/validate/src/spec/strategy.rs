//! What the plan says of criteria and verification: [`criteria`], [`add`].

use assay_checks::verification::Verification;
use serde_json::{Map, Value};

use super::Criterion;
use super::verification::{Which, ask_for, percentage, run};
use crate::plan::ImplementationPlan;

/// Gives the criteria of a plan.
pub(super) fn criteria(plan: &ImplementationPlan) -> Vec<Criterion> {
    let lists = plan.strategies().filter_map(|strategy| strategy.get("acceptance_criteria"));
    let words = ["criterion", "text", "description", "title", "name"];
    let texts = lists.flat_map(|list| texts(list, &words));
    texts.map(|text| Criterion { text, line: None }).collect()
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

/// Gives the entries of a list; one that stands alone is a list of one.
fn entries(list: &Value) -> &[Value] {
    match list {
        Value::Array(all) => all,
        alone => std::slice::from_ref(alone),
    }
}

fn texts(list: &Value, words: &[&str]) -> Vec<String> {
    entries(list).iter().filter_map(|entry| text(entry, words)).collect()
}

/// Gives the text of an entry, or of an object the first that has one of the names.
fn text(entry: &Value, words: &[&str]) -> Option<String> {
    let text = match entry {
        Value::Object(named) => words.iter().find_map(|word| named.get(*word)?.as_str())?,
        other => other.as_str()?,
    };
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
