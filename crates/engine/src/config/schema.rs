//! The JSON Schema of the configuration file: [`schema`].
//!
//! The schema is derived from the types that the parser fills. [`Completion`] adds the freedoms of
//! the parser that the types do not show: a section or a list without content, and `${NAME}` in
//! place of a number or a word. Bounds and defaults are part of each description, because editors
//! show descriptions.

use schemars::transform::{Transform, transform_subschemas};
use schemars::{Schema, schema_for};
use serde_json::{Value, json};

use super::Configuration;

/// The name of the schema, for `assay schema`.
pub const NAME: &str = "configuration";

/// The pattern of a text with an environment variable.
const VARIABLE_PATTERN: &str = r"\$\{[^}]+\}";

/// Returns the JSON Schema of the configuration file.
pub fn schema() -> Value {
    let mut schema = schema_for!(Configuration);
    Completion.transform(&mut schema);
    schema.to_value()
}

/// Completes a derived schema, subschemas first.
struct Completion;

impl Transform for Completion {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        describe_bounds_and_default(schema);
        accept_variables(schema);
        accept_null(schema);
    }
}

/// Joins the lines of each paragraph of a description, and adds paragraphs for bounds and default.
fn describe_bounds_and_default(schema: &mut Schema) {
    let Some(description) = schema.get("description").and_then(Value::as_str) else { return };
    // Links between items of the code mean nothing in a schema.
    let description = description.replace("[`", "`").replace("`]", "`");
    let mut paragraphs: Vec<String> =
        description.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
    let own_default = paragraphs.iter().position(|paragraph| paragraph.starts_with("Default: "));
    let own_default = own_default.map(|index| paragraphs.remove(index));
    paragraphs.extend(bounds(schema));
    paragraphs.extend(own_default.or_else(|| schema.get("default").and_then(describe_default)));
    schema.insert("description".to_owned(), paragraphs.join("\n\n").into());
}

/// Describes the bounds of a number; `None` if there are none but zero, from which every count is.
fn bounds(schema: &Schema) -> Option<String> {
    let bound = |key: &str| schema.get(key).filter(|bound| bound.as_f64() != Some(0.0));
    match (bound("minimum"), bound("maximum")) {
        (None, None) => None,
        (Some(min), None) => Some(format!("Bounds: at least {min}.")),
        (None, Some(max)) => Some(format!("Bounds: at most {max}.")),
        (Some(min), Some(max)) => Some(format!("Bounds: from {min} to {max}.")),
    }
}

/// Describes a default; `None` for a default without content.
fn describe_default(default: &Value) -> Option<String> {
    match default {
        Value::Null => None,
        Value::Array(items) if items.is_empty() => None,
        Value::Object(members) if members.is_empty() => None,
        Value::String(text) => Some(format!("Default: `{text}`.")),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            Some(format!("Default: `{default}`."))
        }
        Value::Number(number) => Some(format!("Default: {number}.")),
    }
}

/// Accepts null where the parser does: for a map without required keys, for a list that may be
/// empty, and for a key whose default is null.
fn accept_null(schema: &mut Schema) {
    let is = |name: &str| schema.get("type").is_some_and(|kind| kind == name);
    let is_open_map = is("object") && schema.get("required").is_none();
    let is_open_list = is("array") && schema.get("minItems").is_none();
    let is_null_by_default = schema.get("default").is_some_and(Value::is_null);
    if is_open_map || is_open_list || is_null_by_default {
        add_alternative(schema, "null", json!({ "type": "null" }));
    }
}

/// Adds an alternative to a schema, by its type if the schema has types.
fn add_alternative(schema: &mut Schema, kind: &str, alternative: Value) {
    if let Some(types) = schema.get_mut("type") {
        add_type(types, kind);
    } else if let Some(Value::Array(alternatives)) = schema.get_mut("anyOf")
        && !alternatives.contains(&alternative)
    {
        alternatives.push(alternative);
    }
}

fn add_type(types: &mut Value, kind: &str) {
    match types {
        Value::Array(types) if !types.iter().any(|known| known == kind) => types.push(kind.into()),
        Value::Array(_) => {}
        single if *single == kind => {}
        single => *single = json!([single.take(), kind]),
    }
}

/// Accepts `${NAME}` in place of a number, of true and false, of a word and of a text with a
/// pattern: the parser sees the value of the variable.
fn accept_variables(schema: &mut Schema) {
    let has_type = |name: &str| match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(|kind| kind == name),
        Some(single) => single == name,
        None => false,
    };
    let is_scalar = ["integer", "number", "boolean"].into_iter().any(has_type);
    if has_type("string") {
        accept_variable_texts(schema);
    } else if is_scalar {
        add_alternative(schema, "string", Value::Null);
        schema.insert("pattern".to_owned(), VARIABLE_PATTERN.into());
    } else if let Some(Value::Array(words)) = schema.get_mut("oneOf")
        && words.iter().all(|word| word.get("const").is_some())
    {
        words.push(variable());
    }
}

/// Accepts a variable in place of a text that is limited to words or to a pattern.
fn accept_variable_texts(schema: &mut Schema) {
    if let Some(Value::String(pattern)) = schema.get_mut("pattern") {
        *pattern = format!("({pattern})|{VARIABLE_PATTERN}");
    }
    if let Some(words) = schema.remove("enum") {
        schema.remove("type");
        let words = json!({ "type": "string", "enum": words });
        schema.insert("anyOf".to_owned(), json!([words, variable()]));
    }
}

fn variable() -> Value {
    json!({ "type": "string", "pattern": VARIABLE_PATTERN })
}

#[cfg(test)]
mod tests;
