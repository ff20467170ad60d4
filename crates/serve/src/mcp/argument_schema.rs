//! Validation of a tool's arguments against the same schema that is published.

use std::fmt::Write as _;

use assay_base::text::first_chars;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value};

/// The maximum number of faults in one message.
const MAX_FAULTS: usize = 5;

/// A schema with its validator.
pub(super) struct ArgumentSchema {
    schema: Map<String, Value>,
    validator: Validator,
}

impl ArgumentSchema {
    /// Compiles a schema that was generated from a type.
    pub(super) fn new(schema: Map<String, Value>) -> ArgumentSchema {
        let validator = jsonschema::validator_for(&Value::Object(schema.clone()))
            .expect("a schema that is made from a type is valid");
        ArgumentSchema { schema, validator }
    }

    pub(super) fn schema(&self) -> &Map<String, Value> {
        &self.schema
    }

    /// Fails with a text that lists the faults of the arguments. The text does not repeat their
    /// values, which may be long and may address the reader of the message.
    pub(super) fn check(&self, arguments: &Value) -> Result<(), String> {
        let mut faults =
            self.validator.iter_errors(arguments).map(|error| self.describe_fault(&error));
        let mut message: Vec<String> = faults.by_ref().take(MAX_FAULTS).collect();
        match faults.count() {
            0 => {}
            more => message.push(format!("and {more} more")),
        }
        message.extend(find_controls(arguments, &mut String::new()));
        if message.is_empty() { Ok(()) } else { Err(message.join("; ")) }
    }

    /// Formats a fault, with the value that is expected instead.
    fn describe_fault(&self, error: &ValidationError<'_>) -> String {
        let at = format_path(error.instance_path().as_str());
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                format!("missing `{}`", property.as_str().unwrap_or_default())
            }
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                let known: Vec<&str> = self.properties().collect();
                let unexpected: Vec<String> =
                    unexpected.iter().take(3).map(|name| format!("{:?}", shorten(name))).collect();
                format!("unknown key {}; known keys: {}", unexpected.join(", "), known.join(", "))
            }
            ValidationErrorKind::Type { kind } => {
                format!("{at} must be {}", describe_type(kind))
            }
            ValidationErrorKind::Enum { options } => {
                format!("{at} must be one of {}", format_options(options))
            }
            ValidationErrorKind::Pattern { pattern } => {
                format!("{at} must match `{pattern}`")
            }
            ValidationErrorKind::MaxLength { limit } => {
                format!("{at} is too long: at most {limit} characters")
            }
            ValidationErrorKind::MinLength { limit: 1 } => format!("{at} is empty"),
            ValidationErrorKind::MinLength { limit } => {
                format!("{at} is too short: at least {limit} characters")
            }
            ValidationErrorKind::Minimum { limit } => format!("{at} must be at least {limit}"),
            ValidationErrorKind::MaxItems { limit } => {
                format!("{at} has too many items: at most {limit}")
            }
            ValidationErrorKind::MaxProperties { limit } => {
                format!("{at} has too many keys: at most {limit}")
            }
            _ => format!("{at}: {}", error.masked()),
        }
    }

    fn properties(&self) -> impl Iterator<Item = &str> {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(|all| all.keys().map(String::as_str))
    }
}

fn describe_type(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => format!("of type {kind}"),
        TypeKind::Multiple(kinds) => {
            let kinds: Vec<String> = kinds.iter().map(|kind| kind.to_string()).collect();
            format!("of type {}", kinds.join(" or "))
        }
    }
}

fn format_options(options: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let words: Vec<&str> = options.iter().filter_map(Value::as_str).collect();
    words.join(", ")
}

/// Formats a path in the arguments.
fn format_path(path: &str) -> String {
    match path.trim_start_matches('/') {
        "" => "the arguments".to_owned(),
        path => format!("`{}`", escape_controls(&shorten(path)).replace('/', ".")),
    }
}

fn shorten(text: &str) -> String {
    first_chars(text, 60).to_owned()
}

fn escape_controls(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Returns a message on the first text with control characters other than line breaks and tabs:
/// people and programs read these texts, and control characters have no use there.
fn find_controls(value: &Value, path: &mut String) -> Option<String> {
    let is_hostile = |text: &str| text.chars().any(|c| c.is_control() && !"\n\r\t".contains(c));
    match value {
        Value::String(text) if is_hostile(text) => {
            Some(format!("{} has control characters", format_path(path)))
        }
        Value::Array(items) => items.iter().enumerate().find_map(|(at, item)| {
            with_step(path, &at.to_string(), |path| find_controls(item, path))
        }),
        Value::Object(fields) => fields.iter().find_map(|(key, item)| {
            with_step(path, key, |path| match is_hostile(key) {
                true => Some(format!("{} has control characters in its name", format_path(path))),
                false => find_controls(item, path),
            })
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Calls `look` with a path that is extended by one step.
fn with_step<T>(path: &mut String, step: &str, look: impl FnOnce(&mut String) -> T) -> T {
    let length = path.len();
    let _ = write!(path, "/{step}");
    let found = look(path);
    path.truncate(length);
    found
}
