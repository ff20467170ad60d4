//! What a plan says: its subtasks, its level of risk, its strategies.

use std::path::Path;

use assay_checks::required::Risk;
use assay_store::disk;
use serde_json::{Map, Value};

use super::{ImplementationPlan, PlanError};

/// A part of the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subtask {
    /// Its id, or what else it is called.
    pub name: String,
    /// What is to be done, where it says so.
    pub title: Option<String>,
    /// Where it stands, in the plan's word.
    pub status: String,
}

impl Subtask {
    /// Says whether it is done.
    pub fn is_completed(&self) -> bool {
        self.status == "completed"
    }
}

impl ImplementationPlan {
    /// Reads a plan from its file.
    pub fn read(path: &Path) -> Result<ImplementationPlan, PlanError> {
        let missing = || PlanError::Missing { path: path.to_owned() };
        let bytes = disk::read(path)?.ok_or_else(missing)?;
        let text = String::from_utf8(bytes)
            .map_err(|error| PlanError::NotText { at: error.utf8_error().valid_up_to() });
        text.and_then(ImplementationPlan::parse)
            .map_err(|source| PlanError::In { path: path.to_owned(), source: Box::new(source) })
    }

    /// Reads a plan from its text.
    pub fn parse(text: String) -> Result<ImplementationPlan, PlanError> {
        let json = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let whole = serde_json::from_str(json)
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

    /// Gives all of it.
    pub fn whole(&self) -> &Map<String, Value> {
        &self.whole
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Gives the subtasks of all phases, in order. What is listed there and is no subtask counts as
    /// one that nobody did.
    pub fn subtasks(&self) -> Vec<Subtask> {
        let phases = self.whole.get("phases").and_then(Value::as_array);
        let phases = phases.into_iter().flatten().filter_map(Value::as_object);
        let lists = std::iter::once(&self.whole).chain(phases).flat_map(|holder| {
            ["subtasks", "chunks"].into_iter().filter_map(|key| holder.get(key)?.as_array())
        });
        lists.flatten().zip(1..).map(|(entry, number)| Subtask::of(entry, number)).collect()
    }

    /// Says whether there is a subtask, and every one is completed.
    pub fn is_complete(&self) -> bool {
        let subtasks = self.subtasks();
        !subtasks.is_empty() && subtasks.iter().all(Subtask::is_completed)
    }

    /// Gives the subtasks that are not completed.
    pub fn missing(&self) -> Vec<Subtask> {
        let mut subtasks = self.subtasks();
        subtasks.retain(|subtask| !subtask.is_completed());
        subtasks
    }

    /// Gives what the plan says of verification, under either name.
    pub(crate) fn strategies(&self) -> impl Iterator<Item = &Map<String, Value>> {
        let names = ["verification_strategy", "qa_acceptance"];
        names.into_iter().filter_map(|name| self.whole.get(name)?.as_object())
    }

    /// Gives the level of risk, where the plan says one.
    pub fn risk_level(&self) -> Result<Option<Risk>, PlanError> {
        let mut levels = self.strategies().filter_map(|strategy| strategy.get("risk_level"));
        let Some(level) = levels.find(|level| !level.is_null()) else { return Ok(None) };
        let found = level.as_str().map_or_else(|| level.to_string(), str::to_owned);
        Risk::named(&found).map(Some).ok_or(PlanError::Risk { found })
    }
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
