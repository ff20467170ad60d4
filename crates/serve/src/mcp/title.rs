//! The title of an object that a tool creates: [`Title`].

use std::borrow::Cow;

use assay_findings::write::escape::is_hidden;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// A title without invisible characters and without those that change the direction of writing:
/// they can make one title look like another.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Title(String);

/// The error of a title with a hidden character, which would not be read as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the title has the character U+{:04X}, which is invisible or changes the writing direction; \
     remove it",
    u32::from(*.0)
)]
pub struct HiddenCharacter(char);

impl TryFrom<String> for Title {
    type Error = HiddenCharacter;

    fn try_from(text: String) -> Result<Title, HiddenCharacter> {
        match text.chars().find(|c| is_hidden(*c) && *c != '\r') {
            Some(hidden) => Err(HiddenCharacter(hidden)),
            None => Ok(Title(text)),
        }
    }
}

impl Title {
    /// Returns the text of the title.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl JsonSchema for Title {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Title".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}
