//! Parses the content of a plan: its subtasks, its risk level, its verification strategies.

use std::path::Path;

use assay_checks::check_plan::Risk;
use assay_gates::unique_json;
use assay_store::durable_fs;
use serde_json::{Map, Value};

use super::{ImplementationPlan, PlanError};

/// A unit of work in a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subtask {
    /// The id of the subtask, or else its name.
    pub name: String,
    /// The description of the work; `None` if the plan has none.
    pub title: Option<String>,
    /// The status of the subtask, in the words of the plan.
    pub status: String,
}

impl Subtask {
    /// Returns true if the subtask is completed.
    pub fn is_completed(&self) -> bool {
        self.status == "completed"
    }
}

impl ImplementationPlan {
    /// Reads and parses the plan at a path.
    pub fn read(path: &Path) -> Result<ImplementationPlan, PlanError> {
        let missing = || PlanError::Missing { path: path.to_owned() };
        let bytes = durable_fs::read(path)?.ok_or_else(missing)?;
        let text = String::from_utf8(bytes)
            .map_err(|error| PlanError::NotText { at: error.utf8_error().valid_up_to() });
        text.and_then(ImplementationPlan::parse)
            .map_err(|source| PlanError::In { path: path.to_owned(), source: Box::new(source) })
    }

    /// Parses a plan.
    pub fn parse(text: String) -> Result<ImplementationPlan, PlanError> {
        let json = text.strip_prefix('\u{feff}').unwrap_or(&text);
        // Duplicate keys are refused: different parsers may use different values.
        let whole = unique_json::read(json)
            .map_err(|error| PlanError::NotJson { why: error.to_string() })?;
        let found = match whole {
            Value::Object(whole) => return Ok(ImplementationPlan { text, whole }),
            Value::Null => "null",
            Value::Bool(_) => "a truth value",
            Value::Number(_) => "a number",
            Value::String(_) => "a text",
            Value::Array(_) => "a list",
        };
        Err(PlanError::NotAnObject { found })
    }

    /// Returns the whole plan.
    pub fn whole(&self) -> &Map<String, Value> {
        &self.whole
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the subtasks of all phases, in order. An entry that is no subtask counts as a
    /// subtask that is not done, and so does a phase without a list of subtasks.
    pub fn subtasks(&self) -> Vec<Subtask> {
        let mut all = Vec::new();
        lists(&self.whole, &mut all);
        let phases = PHASES.iter().filter_map(|key| Some((*key, self.whole.get(*key)?)));
        for (key, value) in phases.filter(|(_, value)| !value.is_null()) {
            let Some(entries) = entries(value) else {
                all.push(unread(key.to_owned(), "is not a list of phases"));
                continue;
            };
            for (phase, number) in entries.into_iter().zip(1..) {
                of_phase(phase, &format!("{key} {number}"), &mut all);
            }
        }
        all
    }

    /// Returns true if there is a subtask, and all are completed.
    pub fn is_complete(&self) -> bool {
        let subtasks = self.subtasks();
        !subtasks.is_empty() && subtasks.iter().all(Subtask::is_completed)
    }

    /// Returns the subtasks that are not completed.
    pub fn missing(&self) -> Vec<Subtask> {
        let mut subtasks = self.subtasks();
        subtasks.retain(|subtask| !subtask.is_completed());
        subtasks
    }

    /// Returns the verification sections of the plan, under either name.
    pub(crate) fn strategies(&self) -> impl Iterator<Item = &Map<String, Value>> {
        let names = ["verification_strategy", "qa_acceptance"];
        names.into_iter().filter_map(|name| self.whole.get(name)?.as_object())
    }

    /// Returns the highest risk level in the plan; `None` if there is none. Fails if a level is
    /// unknown.
    pub fn risk_level(&self) -> Result<Option<Risk>, PlanError> {
        let mut highest = None;
        for level in self.strategies().filter_map(|strategy| strategy.get("risk_level")) {
            if level.is_null() {
                continue;
            }
            let found = level.as_str().map_or_else(|| level.to_string(), str::to_owned);
            highest = highest.max(Some(Risk::parse(&found).ok_or(PlanError::Risk { found })?));
        }
        Ok(highest)
    }
}

/// Keys of lists of phases.
const PHASES: [&str; 4] = ["phases", "milestones", "stages", "epics"];

/// Keys of lists of subtasks.
const SUBTASKS: [&str; 2] = ["subtasks", "chunks"];

/// Other keys of lists of subtasks, which count if an entry has a status, or if the object has no
/// other list and no status.
const ALSO: [&str; 2] = ["tasks", "steps"];

/// Adds the subtasks that an object lists. Returns true if the object has a list of subtasks.
fn lists(holder: &Map<String, Value>, all: &mut Vec<Subtask>) -> bool {
    let found = |keys: &[&'static str]| -> Vec<(&'static str, &Value)> {
        let found = keys.iter().filter_map(|key| Some((*key, holder.get(*key)?)));
        found.filter(|(_, value)| !value.is_null()).collect()
    };
    let mut listed = found(&SUBTASKS);
    let is_alone = listed.is_empty() && !holder.contains_key("status");
    let also = found(&ALSO);
    listed.extend(also.into_iter().filter(|(_, value)| is_alone || has_status(value)));
    for (key, value) in &listed {
        match entries(value) {
            Some(entries) => {
                for entry in entries {
                    all.push(Subtask::of(entry, all.len() + 1));
                    // A subtask of a subtask must be done as well.
                    entry.as_object().map(|inner| lists(inner, all));
                }
            }
            None => all.push(unread((*key).to_owned(), "is not a list of subtasks")),
        }
    }
    !listed.is_empty()
}

fn has_status(list: &Value) -> bool {
    let entries = entries(list).unwrap_or_default();
    entries.iter().any(|entry| entry.get("status").is_some())
}

fn of_phase(phase: &Value, name: &str, all: &mut Vec<Subtask>) {
    let Some(holder) = phase.as_object() else {
        all.push(unread(name.to_owned(), "is not a phase with a list of subtasks"));
        return;
    };
    if lists(holder, all) {
        return;
    }
    let status = "not understood: it has no list of subtasks".to_owned();
    all.push(Subtask { status, ..Subtask::of(phase, all.len() + 1) });
}

/// Returns the entries of a list, or the values of an object; `None` for other values.
fn entries(value: &Value) -> Option<Vec<&Value>> {
    match value {
        Value::Array(entries) => Some(entries.iter().collect()),
        Value::Object(named) => Some(named.values().collect()),
        _ => None,
    }
}

fn unread(name: String, why: &str) -> Subtask {
    Subtask { name, title: None, status: format!("not understood: it {why}") }
}

impl Subtask {
    fn of(entry: &Value, number: usize) -> Subtask {
        let text = |key: &str| match entry.get(key)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        Subtask {
            name: text("id").or_else(|| text("name")).unwrap_or_else(|| format!("#{number}")),
            title: text("title").or_else(|| text("description")),
            status: text("status").unwrap_or_else(|| "pending".to_owned()),
        }
    }
}
