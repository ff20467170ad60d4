//! Parses plans in JSON, with many names for the fields: [`read`].
//!
//! The line of a value is unknown, so none is reported.

use std::collections::HashSet;

use serde_json::Value;

use super::json_keys::{CRITERIA, MILESTONES, Object, PARTS, folded};
use super::names::{self, Unit};
use super::reasons::{self, DecisionText, is_nothing};
use super::{
    Assumption, Criterion, Milestone, Plan, PlanError, PlannedDiff, UnreadKind, UnreadLine,
    evidence, json_keys, paths,
};
use crate::unique_json;

/// Keys of the text of an object.
const TEXT: [&str; 12] = [
    "text", "description", "criterion", "statement", "condition", "title", "name", "summary",
    "value", "assumption", "test", "requirement",
];

/// Parses a plan.
pub(super) fn read(name: &str, text: &str) -> Result<Plan, PlanError> {
    let name = || name.to_owned();
    let value: Value = unique_json::read(text).map_err(|error| PlanError::NotJson {
        name: name(),
        line: error.line(),
        column: error.column(),
        why: why(&error),
    })?;
    let Value::Object(object) = &value else {
        return Err(PlanError::NotAnObject { name: name(), found: kind(&value) });
    };
    let mut around = Vec::new();
    let object = match get(object, &["plan"]) {
        Some(Value::Object(inner)) if get(object, &MILESTONES).is_none() => {
            around = json_keys::unknown(object, json_keys::Place::Plan, "");
            inner
        }
        _ => object,
    };
    let context = match get(object, &["planning_context", "context"]) {
        Some(Value::Object(context)) => Some(context),
        _ => None,
    };
    if let Some((first, second)) = json_keys::same(&value) {
        return Err(PlanError::SameKey { name: name(), first, second });
    }
    let both = |keys: &[&str]| get(object, keys).or_else(|| get(context?, keys));
    let mut reading = MilestoneReader::default();
    reading.milestones(get(object, &MILESTONES), "");
    let MilestoneReader { milestones, mut unread } = reading;
    let criteria = criteria(object, "", &mut unread);
    unread.extend(around);
    unread.extend(beside(object));
    unread.extend(json_keys::unknown(object, json_keys::Place::Plan, ""));
    if let Some(context) = context {
        unread.extend(json_keys::unknown(context, json_keys::Place::Plan, "context."));
    }
    Ok(Plan {
        title: get(object, &["title", "name"]).and_then(Value::as_str).map(str::to_owned),
        text: text.to_owned(),
        milestones,
        criteria,
        decisions: decisions(both(&["decision_log", "decisions", "key_decisions"])),
        assumptions: assumptions(both(&["assumptions", "key_assumptions"])),
        loose_diffs: diffs(object),
        unread,
        ..Plan::default()
    })
}

/// Returns the fields with milestones, phases or steps that are not read because another field has
/// some.
fn beside(object: &Object) -> Vec<UnreadLine> {
    let has_some = |name: &&&str| !entries(get(object, &[**name])).is_empty();
    let beside = MILESTONES.iter().filter(has_some).skip(1);
    let unread =
        |name: &&str| UnreadLine { text: (*name).to_owned(), line: 0, kind: UnreadKind::Milestone };
    beside.map(unread).collect()
}

/// Returns the criteria of an object, from every field with criteria. An entry without text is
/// recorded as unread.
fn criteria(object: &Object, path: &str, unread: &mut Vec<UnreadLine>) -> Vec<Criterion> {
    let mut found = Vec::new();
    for (key, value) in object.iter().filter(|(key, _)| json_keys::is_one_of(key, &CRITERIA)) {
        let mut texts = Vec::new();
        if !criterion_texts(value, &mut texts) {
            let (text, kind) = (format!("{path}{key}"), UnreadKind::Criterion);
            unread.push(UnreadLine { text, line: 0, kind });
        }
        found.extend(texts);
    }
    found.retain(|text| !is_nothing(text));
    found.into_iter().map(|text| Criterion { text, line: 0 }).collect()
}

/// Collects the texts of criteria. Returns false if a value is no text and contains none.
fn criterion_texts(value: &Value, texts: &mut Vec<String>) -> bool {
    match value {
        Value::String(lines) => {
            texts.extend(lines.lines().map(|line| unmarked(line).to_owned()));
            true
        }
        Value::Number(number) => {
            texts.push(number.to_string());
            true
        }
        Value::Array(list) => all_texts(list.iter(), texts),
        Value::Object(object) => criterion_of_object(object, texts),
        Value::Null => true,
        Value::Bool(_) => false,
    }
}

/// Collects the texts of all values. Returns false if one of them is no text and contains none.
fn all_texts<'v>(values: impl Iterator<Item = &'v Value>, texts: &mut Vec<String>) -> bool {
    let mut is_whole = true;
    for value in values {
        is_whole &= criterion_texts(value, texts);
    }
    is_whole
}

/// Parses an object as one criterion with all of its fields, or as a map of criteria.
fn criterion_of_object(object: &Object, texts: &mut Vec<String>) -> bool {
    let said = get(object, &TEXT).filter(|value| !value.is_object()).and_then(text);
    let is_map = object.values().all(|value| !matches!(value, Value::Bool(_) | Value::Null));
    let Some(said) = said else {
        let steps = ["given", "when", "and", "then", "but"];
        let is_scenario = steps.iter().any(|step| get(object, &[*step]).is_some());
        if is_scenario {
            let parts = object.iter().filter_map(|(key, value)| Some((key, text(value)?)));
            let parts: Vec<String> = parts.map(|(key, text)| format!("{key} {text}")).collect();
            texts.push(parts.join(" "));
            return true;
        }
        return is_map && all_texts(object.values(), texts);
    };
    let is_said = |value: &Value| text(value).as_deref() == Some(said.as_str());
    let more = object.iter().filter(|(key, value)| {
        !json_keys::is_about_a_criterion(key) && !is_said(value) && !value.is_null()
    });
    let more: Vec<String> = more
        .filter(|(_, value)| !matches!(value, Value::Bool(_)))
        .map(|(key, value)| format!("{key} {}", text(value).unwrap_or_else(|| value.to_string())))
        .collect();
    // A criterion with a part that is not understood must not be decided by its first half.
    texts.push([vec![said], more].concat().join("; "));
    true
}

/// Returns the message of the parser without the position, which is reported separately.
fn why(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(why, _)| why.to_owned())
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Returns the first field with one of the names, in any spelling; `None` if there is none.
fn get<'a>(object: &'a Object, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| {
        let name = folded(name);
        object.iter().find(|(key, value)| folded(key) == name && !value.is_null()).map(|(_, v)| v)
    })
}

/// Returns the entries of a list, or the values of an object, each with its key.
fn entries(value: Option<&Value>) -> Vec<(Option<&str>, &Value)> {
    match value {
        Some(Value::Array(list)) => {
            list.iter().filter(|value| !value.is_null()).map(|value| (None, value)).collect()
        }
        Some(Value::Object(object)) => {
            object.iter().map(|(key, value)| (Some(key.as_str()), value)).collect()
        }
        Some(value @ (Value::String(_) | Value::Number(_))) => vec![(None, value)],
        Some(Value::Null | Value::Bool(_)) | None => Vec::new(),
    }
}

/// Returns the text of a value; `None` if it has none.
fn text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Object(object) => {
            return get(object, &TEXT).filter(|v| !v.is_object()).and_then(text);
        }
        Value::Null | Value::Bool(_) | Value::Array(_) => return None,
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns the texts of a list; a single text is a list with a line for each entry.
fn texts(value: Option<&Value>) -> Vec<String> {
    let found: Vec<String> = match value {
        Some(Value::String(lines)) => lines.lines().map(|line| unmarked(line).to_owned()).collect(),
        _ => entries(value).into_iter().filter_map(|(_, value)| text(value)).collect(),
    };
    found.into_iter().filter(|text| !is_nothing(text)).collect()
}

/// Returns a line without its list mark and check box.
fn unmarked(line: &str) -> &str {
    let line = line.trim();
    let rest =
        line.strip_prefix(['-', '*', '•']).filter(|rest| rest.starts_with(' ')).unwrap_or(line);
    let rest = rest.trim_start();
    let boxed = ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| rest.strip_prefix(mark));
    boxed.unwrap_or(rest).trim()
}

/// The milestones so far, and the parts of them that were not understood.
#[derive(Default)]
struct MilestoneReader {
    milestones: Vec<Milestone>,
    unread: Vec<UnreadLine>,
}

impl MilestoneReader {
    /// Parses a list of milestones. A milestone that only contains others is none itself.
    fn milestones(&mut self, value: Option<&Value>, above: &str) {
        for (at, (key, value)) in entries(value).into_iter().enumerate() {
            let Value::Object(object) = value else {
                let title = text(value).unwrap_or_default();
                let (id, text) = (format!("M{}", self.milestones.len() + 1), title.clone());
                self.milestones.push(Milestone { id, text, title, ..Milestone::default() });
                continue;
            };
            let name = key.map_or_else(|| (at + 1).to_string(), str::to_owned);
            let path = format!("{above}milestone {name}, ");
            let parts: Vec<&Value> = parts(object);
            if parts.is_empty() || json_keys::has_any(object, &CRITERIA) {
                let number = self.milestones.len() + 1;
                let read = milestone(number, key, value, object, (&path, &mut self.unread));
                self.milestones.push(read);
            }
            self.unread.extend(json_keys::unknown(object, json_keys::Place::Milestone, &path));
            for part in parts {
                self.milestones(Some(part), &path);
            }
        }
    }
}

/// Returns the lists in a milestone whose entries are milestones: at least one of them has criteria
/// at some depth. Other steps are parts of the milestone.
fn parts(object: &Object) -> Vec<&Value> {
    let lists = object.iter().filter(|(key, _)| json_keys::is_one_of(key, &PARTS));
    lists.map(|(_, value)| value).filter(|value| json_keys::holds(value, &CRITERIA)).collect()
}

fn milestone(
    number: usize,
    key: Option<&str>,
    value: &Value,
    object: &Object,
    (path, unread): (&str, &mut Vec<UnreadLine>),
) -> Milestone {
    let made = || format!("M{number}");
    let own = get(object, &["id", "number"]).and_then(text);
    let id = own.or_else(|| key.map(str::to_owned)).map(|id| named(&id));
    let (files, new_files) = files(object);
    let new: HashSet<&String> = new_files.iter().collect();
    let old_files = files.iter().filter(|path| !new.contains(path)).cloned().collect();
    let mut tests = texts(get(object, &["tests", "test_plan", "testing", "verification"]));
    tests.extend(files.iter().filter(|path| assay_rules::is_test(path)).cloned());
    let needs = texts(get(object, &["depends_on", "dependencies", "needs", "blocked_by"]));
    Milestone {
        id: id.filter(|id| !id.is_empty()).unwrap_or_else(made),
        title: get(object, &["title", "name", "goal", "summary"])
            .and_then(text)
            .unwrap_or_default(),
        text: serde_json::to_string_pretty(value).unwrap_or_default(),
        line: 0,
        criteria: criteria(object, path, unread),
        needs: needs.iter().map(|id| named(id)).collect(),
        files,
        only_diffed: 0,
        new_files,
        old_files,
        tests,
        diffs: diffs(object),
    }
}

/// Normalises the id of a milestone: `1` and `Milestone 1` become `M1`; other names stay.
fn named(id: &str) -> String {
    let references = names::references(id, Unit::Milestone);
    match references.as_slice() {
        [one] if id.len() <= "milestone ".len() + one.len() => one.clone(),
        _ => names::tidy(id),
    }
}

/// Returns the files of a milestone, and those of them that are new.
fn files(object: &Object) -> (Vec<String>, Vec<String>) {
    let (mut files, mut new) = (Vec::new(), Vec::new());
    let lists = [
        ("files", false),
        ("files_to_modify", false),
        ("files_to_change", false),
        ("files_to_create", true),
        ("new_files", true),
        ("files_to_delete", false),
    ];
    for (name, are_new) in lists {
        for (key, value) in entries(get(object, &[name])) {
            // An object is `{"create": […], "modify": […]}`.
            let is_new = are_new || key.is_some_and(paths::says_new) || is_new(value);
            for path in paths_in(value) {
                if is_new || paths::says_new(value.as_str().unwrap_or("")) {
                    new.push(path.clone());
                }
                files.push(path);
            }
        }
    }
    (files, new)
}

fn paths_in(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => paths::in_entry(text),
        Value::Array(list) => {
            list.iter().filter_map(Value::as_str).flat_map(paths::in_entry).collect()
        }
        Value::Object(object) => {
            let path = get(object, &["path", "file", "name", "filename"]).and_then(Value::as_str);
            path.map(paths::in_entry).unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

fn is_new(value: &Value) -> bool {
    let Value::Object(object) = value else { return false };
    let says =
        get(object, &["action", "change", "operation", "status", "kind"]).and_then(Value::as_str);
    says.is_some_and(paths::says_new)
        || get(object, &["is_new", "new", "create"]).and_then(Value::as_bool) == Some(true)
}

fn diffs(object: &Object) -> Vec<PlannedDiff> {
    let changes = entries(get(object, &["code_changes", "diffs", "changes", "patches"]));
    changes.into_iter().filter_map(|(key, value)| diff(key, value)).collect()
}

fn diff(key: Option<&str>, value: &Value) -> Option<PlannedDiff> {
    let (path, text) = match value {
        Value::Object(object) => {
            let path = get(object, &["file", "path", "filename"]).and_then(Value::as_str).or(key);
            (path, get(object, &["diff", "patch"])?.as_str()?)
        }
        Value::String(text) if has_names(text) || key.is_some() => (key, text.as_str()),
        _ => return None,
    };
    let text = match path {
        // The field next to the diff names the file.
        Some(path) if !has_names(text) => format!("--- a/{path}\n+++ b/{path}\n{text}"),
        _ => text.to_owned(),
    };
    (!text.trim().is_empty()).then_some(PlannedDiff { text, line: 0 })
}

fn has_names(text: &str) -> bool {
    text.starts_with("diff --git ") || text.starts_with("+++ ") || text.contains("\n+++ ")
}

fn decisions(value: Option<&Value>) -> Vec<super::Decision> {
    let told = entries(value).into_iter().filter_map(|(key, value)| decision(key, value));
    told.enumerate().map(|(at, told)| told.finish(at + 1)).collect()
}

fn decision(key: Option<&str>, value: &Value) -> Option<DecisionText> {
    let Value::Object(object) = value else {
        let mut told = DecisionText::read(&text(value)?, 0);
        told.id = told.id.or_else(|| key.map(names::tidy));
        return Some(told);
    };
    let what = get(object, &["decision", "choice"]).or_else(|| get(object, &TEXT)).and_then(text);
    let mut told = DecisionText::read(&what.unwrap_or_default(), 0);
    let own = get(object, &["id", "ref"]).and_then(text);
    told.id = own.as_deref().or(key).map(names::tidy).or(told.id);
    if let Some(reason) = get(object, &reasons::REASON_LABELS) {
        told.reason = joined(reason);
    }
    (told.id.is_some() || !told.text.is_empty()).then_some(told)
}

/// Returns a text, or the texts of a list joined by blanks.
fn joined(value: &Value) -> String {
    text(value).unwrap_or_else(|| texts(Some(value)).join(" "))
}

fn assumptions(value: Option<&Value>) -> Vec<Assumption> {
    let ways = [
        "evidence", "validation", "validated_by", "verification", "verified_by", "how_validated",
        "validate_by", "source", "proof",
    ];
    let entries = entries(value).into_iter();
    let told = entries.filter_map(|(_, value)| {
        let text = text(value).filter(|text| !is_nothing(text))?;
        let field = match value {
            Value::Object(object) => get(object, &ways).map(joined),
            _ => None,
        };
        let evidence =
            field.as_deref().and_then(evidence::in_cell).or_else(|| evidence::find(&text));
        Some(Assumption { text, evidence, line: 0 })
    });
    told.collect()
}
