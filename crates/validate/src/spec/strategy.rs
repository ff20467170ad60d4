//! Parses criteria and verification in a plan: [`criteria`], [`add`].

use assay_base::text::first_chars;
use assay_checks::verification::Verification;
use serde_json::{Map, Value};

use super::Criterion;
use super::claim::is_command;
use super::verification::{TestGroup, ask_for, percentage, run};
use crate::plan::{ImplementationPlan, LOOP_KEYS};

/// Keys of the text of a criterion.
const TEXTS: [&str; 8] =
    ["criterion", "text", "description", "title", "name", "requirement", "statement", "then"];

/// Maximum number of characters of a quoted value that is not understood.
const MAX_SHOWN: usize = 200;

/// Maximum depth to which a plan is searched for criteria.
const MAX_DEPTH: usize = 32;

/// The requirements that a plan lists.
#[derive(Debug, Default)]
pub(super) struct PlanCriteria {
    pub(super) criteria: Vec<Criterion>,
    /// Parts of the plan that are requirements by their key, but could not be parsed.
    pub(super) not_understood: Vec<Criterion>,
    /// The commands that verify subtasks.
    pub(super) commands: Vec<String>,
}

/// Finds the criteria anywhere in a plan, the verification of each subtask, and the entries among
/// them that are not understood. Parts of the plan with an unexpected type are not understood
/// either.
pub(super) fn criteria(plan: &ImplementationPlan) -> PlanCriteria {
    let mut found = PlanCriteria::default();
    let whole = plan.whole().iter().filter(|(key, _)| !LOOP_KEYS.contains(&key.as_str()));
    for (key, value) in whole {
        found.search(key, value, 0);
        let is_strategy = ["verification_strategy", "qa_acceptance"].contains(&key.as_str());
        match value {
            Value::Object(strategy) if is_strategy => {
                odd_groups(key, strategy, &mut found.not_understood);
            }
            Value::Null | Value::Object(_) => {}
            other if is_strategy => found.not_understood.push(odd(key, other)),
            _ => {}
        }
    }
    found
}

/// Keys of a command.
const COMMANDS: [&str; 5] = ["command", "commands", "cmd", "run", "script"];

/// Keys of a verification in words.
const WAYS: [&str; 7] =
    ["instructions", "steps", "scenario", "check", "expected", "expected_outcome", "url"];

/// Texts that expect only the success of a command, in lower case.
const SUCCESSES: [&str; 22] = [
    "0", "ok", "pass", "passes", "passed", "all pass", "all passed", "all tests pass",
    "tests pass", "all tests passed", "all tests passing", "success", "succeeds", "successful",
    "exit 0", "exits 0", "exit code 0", "exits with 0", "exits with code 0", "no errors", "green",
    "true",
];

impl PlanCriteria {
    /// Searches a value for criteria.
    fn search(&mut self, key: &str, value: &Value, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        if is_criteria_key(key) {
            return list(key, value, depth, &mut self.criteria, &mut self.not_understood);
        }
        if is_verification_key(key) {
            return self.verification(key, value, depth);
        }
        match value {
            Value::Object(members) => {
                members.iter().for_each(|(key, value)| self.search(key, value, depth + 1));
            }
            Value::Array(entries) => {
                entries.iter().for_each(|entry| self.search("", entry, depth + 1));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Parses the verification of a subtask: a command, or words that a person or a model judges.
    fn verification(&mut self, key: &str, value: &Value, depth: usize) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::String(said) if is_command(said) || key.to_lowercase().contains("command") => {
                self.command(said, "");
            }
            Value::String(_) => {
                list(key, value, depth, &mut self.criteria, &mut self.not_understood);
            }
            Value::Array(entries) if depth <= MAX_DEPTH => {
                entries.iter().for_each(|entry| self.verification(key, entry, depth + 1));
            }
            Value::Object(members) => self.verification_object(key, members, depth),
            other => self.not_understood.push(odd(key, other)),
        }
    }

    fn verification_object(&mut self, key: &str, members: &Map<String, Value>, depth: usize) {
        let commands = COMMANDS.iter().filter_map(|name| members.get(*name)).flat_map(entries);
        let commands: Vec<String> =
            commands.filter_map(|entry| text(entry, &["command", "cmd"])).collect();
        let expected = ["expected", "expected_outcome", "expected_output", "expect"];
        let expected = expected.iter().find_map(|name| match members.get(*name)? {
            Value::String(said) => Some(said.trim().to_owned()),
            other => Some(other.to_string()),
        });
        let expected = expected.unwrap_or_default();
        commands.iter().for_each(|command| self.command(command, &expected));
        if !commands.is_empty() {
            return;
        }
        let is_none = |value: &Value| {
            let kind = value.as_str().unwrap_or_default().to_lowercase();
            ["none", "skip", "n/a", ""].contains(&kind.as_str())
        };
        let has_words = WAYS.iter().chain(&TEXTS).any(|name| members.contains_key(*name));
        if !has_words && members.get("type").is_none_or(is_none) && members.len() <= 1 {
            return;
        }
        let said = WAYS.iter().chain(&TEXTS).filter_map(|name| members.get(*name));
        let before = self.criteria.len();
        for value in said.filter(|value| value.is_string() || value.is_array()) {
            list(key, value, depth, &mut self.criteria, &mut self.not_understood);
        }
        if self.criteria.len() == before {
            self.not_understood.push(odd(key, &Value::Object(members.clone())));
        }
    }

    fn command(&mut self, command: &str, expected: &str) {
        let command = command.trim();
        if command.is_empty() || command.contains(['`', '\n']) {
            let text = format!("`verification` in the plan: {command}");
            self.not_understood.push(Criterion { text, line: None });
            return;
        }
        let is_success = SUCCESSES.contains(&expected.to_lowercase().trim_end_matches('.'));
        let text = match expected.is_empty() || is_success {
            true => format!("`{command}` succeeds"),
            false => format!("`{command}` succeeds, expected: {expected}"),
        };
        self.criteria.push(Criterion { text, line: None });
        self.commands.push(command.to_owned());
    }
}

/// Returns true if a key names the verification of a subtask, in any spelling.
fn is_verification_key(key: &str) -> bool {
    let letters: String = key.chars().filter(|c| c.is_alphabetic()).collect();
    let names = ["verification", "verificationcommand", "verifycommand", "testcommand", "verify"];
    names.contains(&letters.to_lowercase().as_str())
}

/// Returns true if a key names acceptance criteria, in any spelling.
fn is_criteria_key(key: &str) -> bool {
    let letters: String = key.chars().filter(|c| c.is_alphabetic()).collect();
    let letters = letters.to_lowercase();
    let names =
        ["acceptancecriteria", "acceptancecriterion", "successcriteria", "definitionofdone"];
    names.iter().any(|name| letters.contains(name))
        || ["criteria", "donewhen", "completioncriteria", "exitcriteria"]
            .contains(&letters.as_str())
}

/// Parses a list of criteria; a single text is parsed line by line.
fn list(
    key: &str,
    value: &Value,
    depth: usize,
    criteria: &mut Vec<Criterion>,
    not_understood: &mut Vec<Criterion>,
) {
    let mut add = |text: &str| {
        let lines = text.lines().map(crate::spec::sentences::without_mark).map(str::trim);
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

/// Reports the groups of tests in a strategy that are no objects.
fn odd_groups(strategy: &str, members: &Map<String, Value>, not_understood: &mut Vec<Criterion>) {
    for key in ["unit_tests", "integration_tests", "e2e_tests", "browser_verification"] {
        match members.get(key) {
            None | Some(Value::Null | Value::Bool(false) | Value::Object(_)) => {}
            Some(other) => not_understood.push(odd(&format!("{strategy}.{key}"), other)),
        }
    }
}

fn odd(key: &str, value: &Value) -> Criterion {
    let value = value.to_string();
    let shown = first_chars(&value, MAX_SHOWN);
    Criterion { text: format!("`{key}` in the plan: {shown}"), line: None }
}

/// Adds the verification in a plan. Fails with the text of a coverage that is no percentage.
pub(super) fn add(plan: &ImplementationPlan, all: &mut Verification) -> Result<(), String> {
    for strategy in plan.strategies() {
        for (key, which) in [
            ("unit_tests", TestGroup::Unit),
            ("integration_tests", TestGroup::Integration),
            ("e2e_tests", TestGroup::E2e),
            ("browser_verification", TestGroup::E2e),
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
    which: TestGroup,
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

/// Returns the entries of a list; a single value is a list of one.
fn entries(list: &Value) -> &[Value] {
    match list {
        Value::Array(all) => all,
        alone => std::slice::from_ref(alone),
    }
}

fn texts(list: &Value, words: &[&str]) -> Vec<String> {
    entries(list).iter().filter_map(|entry| text(entry, words)).collect()
}

/// Returns a text, or the first text of an object under one of the keys; `None` if there is none.
fn text(entry: &Value, words: &[&str]) -> Option<String> {
    let text = match entry {
        Value::Object(named) => words.iter().find_map(|word| named.get(*word)?.as_str())?,
        other => other.as_str()?,
    };
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
