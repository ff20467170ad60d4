//! Updates a field of a ticket: [`Jira::update_field`].

use assay_store::pulls::TicketKey;
use serde::Deserialize;
use serde_json::{Number, Value, json};

use super::{Flavour, Jira, JiraError};
use crate::http::Call;

/// A value for a field, in the notation of users.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldValue {
    /// A text, an option, a name or a date.
    Text(String),
    /// A number.
    Number(Number),
    /// Several texts.
    List(Vec<String>),
    /// No value: the field is cleared.
    Nothing,
}

/// A field of JIRA.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Field {
    pub(super) id: String,
    name: String,
    #[serde(default)]
    pub(super) schema: Schema,
}

/// The type of a field's values.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Schema {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    items: String,
    #[serde(default)]
    pub(super) custom: String,
}

impl Field {
    /// Returns true if the field contains text with markup.
    fn has_markup(&self) -> bool {
        matches!(self.id.as_str(), "description" | "environment")
            || self.schema.custom.ends_with(":textarea")
    }
}

impl Jira {
    /// Sets a field of a ticket, by the field's id or name.
    pub fn update_field(
        &self,
        key: &TicketKey,
        field: &str,
        value: &FieldValue,
    ) -> Result<(), JiraError> {
        let field = find_field(self.fields()?, field)?;
        let value = self.value_for(&field, value)?;
        let mut fields = serde_json::Map::new();
        fields.insert(field.id, value);
        let call = Call::put(self.path_of(key.as_str(), ""), json!({ "fields": fields }));
        match self.write(&call) {
            // Setting the same value twice has the same result, so the write can be repeated.
            Err(error) if error.is_outcome_unknown() => self.write(&call),
            written => written,
        }
    }

    /// Returns all fields of the JIRA.
    pub(super) fn fields(&self) -> Result<Vec<Field>, JiraError> {
        Ok(self.api.json(&Call::get(self.path("field")))?)
    }

    /// Converts a value to the JSON that a field accepts.
    fn value_for(&self, field: &Field, value: &FieldValue) -> Result<Value, JiraError> {
        let wrong =
            |why: &str| JiraError::InvalidValue { field: field.name.clone(), why: why.to_owned() };
        let kind = field.schema.kind.as_str();
        if field.id == "status" {
            return Err(wrong("a status is changed by a transition"));
        }
        match (kind, value) {
            (_, FieldValue::Nothing) => Ok(Value::Null),
            ("number", FieldValue::Number(number)) => Ok(Value::Number(number.clone())),
            ("number", FieldValue::Text(text)) => match text.trim().parse::<Number>() {
                Ok(number) => Ok(Value::Number(number)),
                Err(_) => Err(wrong("expected a number")),
            },
            ("string", FieldValue::Text(text)) if field.has_markup() => Ok(self.body(text)),
            ("array", FieldValue::List(words)) => {
                let one = |word: &String| self.to_json(&field.schema.items, word);
                let all: Option<Vec<Value>> = words.iter().map(one).collect();
                all.map(Value::Array).ok_or_else(|| wrong("lists of this type are not supported"))
            }
            ("array", FieldValue::Text(_) | FieldValue::Number(_)) => Err(wrong("expected a list")),
            (_, FieldValue::List(_)) => Err(wrong("expected one value, not a list")),
            (_, FieldValue::Number(_)) => Err(wrong("a number is not allowed")),
            (kind, FieldValue::Text(text)) => self
                .to_json(kind, text)
                .ok_or_else(|| wrong(&format!("values of type `{kind}` are not supported"))),
        }
    }

    /// Converts a text to the JSON of a value type. Returns `None` if the type is not supported.
    fn to_json(&self, kind: &str, text: &str) -> Option<Value> {
        match kind {
            "string" | "date" | "datetime" => Some(json!(text)),
            "option" => Some(json!({ "value": text })),
            "priority" | "resolution" | "version" | "component" | "issuetype" | "group" => {
                Some(json!({ "name": text }))
            }
            "issuelink" => Some(json!({ "key": text })),
            "user" => Some(match self.flavour {
                Flavour::Cloud { .. } => json!({ "accountId": text }),
                Flavour::Server => json!({ "name": text }),
            }),
            // A link to an epic is the plain key.
            "any" => Some(json!(text)),
            _ => None,
        }
    }
}

/// Returns the field with an id, or else the only one with a name.
fn find_field(fields: Vec<Field>, wanted: &str) -> Result<Field, JiraError> {
    let wanted = wanted.trim();
    if let Some(field) = fields.iter().find(|field| field.id == wanted) {
        return Ok(field.clone());
    }
    let lower = wanted.to_lowercase();
    let is_called = |field: &&Field| field.name.to_lowercase() == lower;
    let called: Vec<&Field> = fields.iter().filter(is_called).collect();
    match called[..] {
        [field] => Ok(field.clone()),
        [] => Err(JiraError::NoField {
            name: wanted.to_owned(),
            alike: fields.into_iter().map(|field| field.name).collect(),
        }),
        [..] => Err(JiraError::SeveralFields {
            name: wanted.to_owned(),
            ids: called.iter().map(|field| field.id.clone()).collect(),
        }),
    }
}
