//! The strict check of a persona report: [`validate`] compares a document with its schema.
//!
//! The schema is small and fixed, so its few keywords are applied here, with messages that name the
//! expected value. A test compares the result with a full JSON Schema implementation.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::path::RepoPath;

/// The schema of a persona report, as text.
pub const SCHEMA: &str = include_str!("../schemas/persona-report.json");

/// The fields that the compact report leaves out.
const DETAIL_FIELDS: [&str; 2] = ["why_it_matters", "evidence"];

static PARSED_SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(SCHEMA).expect("the schema is valid JSON"));

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReportTier {
    /// The form with every field, as stored in a file.
    #[default]
    Full,
    /// The form without reasons and evidence, as a persona returns it.
    Compact,
}

/// A fault of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Fault")]
pub struct SchemaFault {
    /// The location in the document, as a JSON pointer.
    pub path: String,
    /// The actual and the expected value.
    pub message: String,
}

/// Validates a document against the schema and returns all faults.
pub fn validate(document: &Value, tier: ReportTier) -> Vec<SchemaFault> {
    let mut faults = Vec::new();
    check(document, &PARSED_SCHEMA, String::new(), tier, &mut faults);
    faults
}

/// Returns faults that the schema allows and that a reader should know all the same.
pub fn advise(document: &Value) -> Vec<SchemaFault> {
    let mut advice = Vec::new();
    let findings = document.get("findings").and_then(Value::as_array);
    for (number, finding) in findings.into_iter().flatten().enumerate() {
        let mut note = |field: &str, message: String| {
            advice.push(SchemaFault { path: format!("/findings/{number}/{field}"), message });
        };
        let text = |field: &str| finding.get(field).and_then(Value::as_str);
        if let Some(title) = text("title") {
            let words = title.split_whitespace().count();
            if words > 10 {
                note("title", format!("has {words} words, expected ten or fewer"));
            }
        }
        if text("why_it_matters").is_some_and(|why| why.trim().is_empty()) {
            note("why_it_matters", "is blank, expected what breaks".to_owned());
        }
        if let Some(Err(error)) = text("file").map(|file| RepoPath::parse(file, None)) {
            note("file", error.to_string());
        }
        let evidence = finding.get("evidence").and_then(Value::as_array);
        if evidence
            .is_some_and(|all| all.iter().any(|e| e.as_str().is_some_and(|e| e.trim().is_empty())))
        {
            note("evidence", "has a blank entry".to_owned());
        }
    }
    advice
}

fn check(
    value: &Value,
    schema: &Value,
    path: String,
    tier: ReportTier,
    faults: &mut Vec<SchemaFault>,
) {
    let before = faults.len();
    check_value(value, schema, &path, faults);
    if faults.len() > before {
        return;
    }
    if let (Some(object), Some(properties)) = (value.as_object(), schema["properties"].as_object())
    {
        check_required(object, schema, &path, tier, faults);
        for (name, property) in properties {
            if let Some(inner) = object.get(name) {
                check(inner, property, format!("{path}/{name}"), tier, faults);
            }
        }
    }
    if let (Some(items), Some(schema)) = (value.as_array(), schema.get("items")) {
        for (number, item) in items.iter().enumerate() {
            check(item, schema, format!("{path}/{number}"), tier, faults);
        }
    }
}

fn check_required(
    object: &serde_json::Map<String, Value>,
    schema: &Value,
    path: &str,
    tier: ReportTier,
    faults: &mut Vec<SchemaFault>,
) {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        let left_out = tier == ReportTier::Compact && DETAIL_FIELDS.contains(&name);
        if !object.contains_key(name) && !left_out {
            faults.push(SchemaFault {
                path: path.to_owned(),
                message: format!("`{name}` is missing, but required"),
            });
        }
    }
}

/// Checks a value itself, without its members.
fn check_value(value: &Value, schema: &Value, path: &str, faults: &mut Vec<SchemaFault>) {
    let mut fault = |message: String| faults.push(SchemaFault { path: path.to_owned(), message });
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|kind| is_of_type(value, kind)) {
        return fault(format!("is {}, expected {}", json_type_name(value), types.join(" or ")));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.iter().any(|one| is_same_value(one, value))
    {
        let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
        fault(format!("is {value}, expected one of {}", allowed.join(", ")));
    }
    if let (Some(number), Some(least)) = (value.as_f64(), schema["minimum"].as_f64())
        && number < least
    {
        fault(format!("is {value}, expected {least} or more"));
    }
    if let (Some(text), Some(most)) = (value.as_str(), schema["maxLength"].as_u64()) {
        let length = text.chars().count();
        if length as u64 > most {
            fault(format!("has {length} characters, expected {most} or fewer"));
        }
    }
    if let (Some(items), Some(least)) = (value.as_array(), schema["minItems"].as_u64())
        && (items.len() as u64) < least
    {
        fault(format!("has {} entries, expected {least} or more", items.len()));
    }
}

fn is_of_type(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        // In JSON Schema, `42.0` is an integer.
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => false,
    }
}

/// Compares two values as JSON Schema does: numbers by their value.
fn is_same_value(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

fn json_type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
