//! How names look in schemas.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// What names of tasks, agents and kinds of work are made of.
const PATTERN: &str = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$";

/// Stands for a name of the store in a schema; the store itself knows none.
pub(super) struct Name;

impl JsonSchema for Name {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "maxLength": 128, "pattern": PATTERN })
    }
}
