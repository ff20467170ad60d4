//! The schema of names: `NameSchema`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// The pattern of ids of tasks and agents, and of types of work.
const NAME_PATTERN: &str = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$";

/// The schema of a name that is never null, even if the name is optional.
pub(super) struct NameSchema;

impl JsonSchema for NameSchema {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "maxLength": 128, "pattern": NAME_PATTERN })
    }
}
