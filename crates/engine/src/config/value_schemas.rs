//! JSON Schemas of values that several sections of the configuration have.

use schemars::{Schema, SchemaGenerator, json_schema};

/// Returns the schema of a command: a program and its arguments. The parser takes any scalar as
/// text.
pub(super) fn command(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": { "type": ["string", "number", "boolean"] },
        "minItems": 1,
    })
}

/// Returns the schema of environment variables: a map from names to values.
pub(super) fn variables(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": { "type": ["string", "number", "boolean"] },
    })
}

/// Returns the schema of a text that is one of several words.
pub(super) fn words(words: impl IntoIterator<Item = &'static str>) -> Schema {
    json_schema!({ "type": "string", "enum": words.into_iter().collect::<Vec<_>>() })
}
