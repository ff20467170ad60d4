//! A tool of a server: [`Tool`], a typed function behind a published schema.
//!
//! A tool refuses in its answer ([`Refusal`]), since an error of the protocol never reaches the
//! model, which could correct its call. Only a call of an unknown tool is an error of the protocol.
//! A refusal does not repeat the text that was sent.

use std::fmt;

use assay_findings::write::escape::chain;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::argument_schema::ArgumentSchema;

/// The effect of a tool, as published to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The tool only reads.
    Reads,
    /// The tool adds something.
    Adds,
    /// The tool removes or replaces something.
    Changes,
}

/// The refusal of a tool: a text with the reason and the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(String);

impl Refusal {
    /// Creates a refusal from a text.
    pub fn new(text: impl Into<String>) -> Refusal {
        Refusal(text.into())
    }

    /// Creates a refusal from an error and its causes.
    pub fn of(error: &dyn std::error::Error) -> Refusal {
        Refusal(chain(error))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A picture for the caller of a tool, as a PNG.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Png(pub Vec<u8>);

/// The answer of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// The result, a JSON object.
    pub value: Value,
    /// A picture in addition to the result, if there is one.
    pub picture: Option<Png>,
}

/// The function of a tool, from checked arguments to an answer.
type Call = Box<dyn Fn(Value) -> Result<ToolAnswer, Refusal> + Send + Sync>;

/// A tool: its name, its description for a model, the schemas of its input and output, and its
/// function. Arguments are validated against the schema before the function is called.
pub struct Tool {
    name: &'static str,
    description: &'static str,
    effect: Effect,
    input: ArgumentSchema,
    output: Map<String, Value>,
    call: Call,
}

impl Tool {
    /// Creates a tool with the input `I` and the output `O`, both JSON objects.
    ///
    /// The function may block. It is called from several threads at the same time.
    pub fn new<I, O>(
        name: &'static str,
        description: &'static str,
        effect: Effect,
        function: impl Fn(I) -> Result<O, Refusal> + Send + Sync + 'static,
    ) -> Tool
    where
        I: DeserializeOwned + JsonSchema,
        O: Serialize + JsonSchema,
    {
        Tool::with_picture(name, description, effect, move |input| Ok((function(input)?, None)))
    }

    /// Creates a tool that may return a picture in addition to its output.
    pub fn with_picture<I, O>(
        name: &'static str,
        description: &'static str,
        effect: Effect,
        function: impl Fn(I) -> Result<(O, Option<Png>), Refusal> + Send + Sync + 'static,
    ) -> Tool
    where
        I: DeserializeOwned + JsonSchema,
        O: Serialize + JsonSchema,
    {
        let call = move |arguments: Value| {
            let input = serde_json::from_value(arguments).map_err(|error| {
                Refusal(format!(
                    "invalid arguments: {error}. Nothing was done; correct the arguments and call \
                     `{name}` again."
                ))
            })?;
            let (output, picture) = function(input)?;
            let value = serde_json::to_value(output).expect("what a tool gives is JSON");
            Ok(ToolAnswer { value, picture })
        };
        let input =
            ArgumentSchema::new(schema::<I>(SchemaSettings::draft2020_12().for_deserialize()));
        let output = schema::<O>(SchemaSettings::draft2020_12().for_serialize());
        Tool { name, description, effect, input, output, call: Box::new(call) }
    }

    /// Applies `clean` to every text that the tool returns, also in refusals, except for fields
    /// with the names in `except` at any depth. A field that is added later is cleaned too.
    pub fn with_cleaning(self, clean: fn(&str) -> String, except: &'static [&'static str]) -> Tool {
        let call = self.call;
        let cleaned = move |arguments: Value| match call(arguments) {
            Ok(answer) => {
                Ok(ToolAnswer { value: clean_texts(answer.value, clean, except), ..answer })
            }
            Err(Refusal(text)) => Err(Refusal(clean(&text))),
        };
        Tool { call: Box::new(cleaned), ..self }
    }

    /// Restricts an argument to certain words.
    pub fn with_choices(mut self, argument: &str, words: &[&str]) -> Tool {
        let mut schema = self.input.schema().clone();
        let property = schema.get_mut("properties").and_then(|all| all.get_mut(argument));
        let property = property.and_then(Value::as_object_mut);
        let property = property.expect("the argument is one of the tool's");
        // The words replace all other constraints of the argument.
        property.retain(|key, _| matches!(key.as_str(), "type" | "description"));
        property.insert("enum".into(), json!(words));
        self.input = ArgumentSchema::new(schema);
        self
    }

    /// Returns the name of the tool.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the description of the tool for a model.
    pub fn description(&self) -> &'static str {
        self.description
    }

    /// Returns the effect of the tool.
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// Returns the schema of the input.
    pub fn input(&self) -> &Map<String, Value> {
        self.input.schema()
    }

    /// Returns the schema of the output.
    pub fn output(&self) -> &Map<String, Value> {
        &self.output
    }

    /// Validates the arguments and calls the function of the tool.
    pub fn call(&self, arguments: Value) -> Result<ToolAnswer, Refusal> {
        self.input.check(&arguments).map_err(|wrong| {
            let name = self.name;
            Refusal(format!(
                "{wrong}. Nothing was done; correct the arguments and call `{name}` again."
            ))
        })?;
        (self.call)(arguments)
    }
}

/// Returns the schema of a type without references, since not every client resolves them.
fn schema<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    let schema: Schema = settings.into_generator().into_root_schema_for::<T>();
    let mut schema = schema.to_value();
    tidy(&mut schema);
    let Value::Object(mut schema) = schema else { return Map::new() };
    for of_the_type in ["title", "description"] {
        schema.remove(of_the_type);
    }
    schema
}

/// Removes details of Rust from a schema: widths of numbers, defaults that are null, and line
/// breaks of comments. A schema that is a boolean becomes an object, since not every client accepts
/// a boolean; only `additionalProperties: false` stays, which every client knows.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|key, value| match (key.as_str(), &*value) {
                ("default", Value::Null) | ("additionalProperties", Value::Bool(true)) => false,
                ("format", Value::String(format)) => {
                    !format.trim_start_matches('u').starts_with("int")
                }
                _ => true,
            });
            if let Some(Value::String(text)) = fields.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            for (key, value) in fields.iter_mut() {
                match key.as_str() {
                    "properties" | "patternProperties" | "$defs" | "dependentSchemas" => {
                        tidy_each(value.as_object_mut().into_iter().flat_map(Map::values_mut));
                    }
                    "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                        tidy_each(value.as_array_mut().into_iter().flatten());
                    }
                    "additionalProperties" if value.is_boolean() => {}
                    key if SINGLE_SCHEMA_KEYS.contains(&key) => tidy_each([value]),
                    _ => {}
                }
            }
        }
        Value::Bool(true) => *schema = json!({}),
        Value::Bool(false) => *schema = json!({ "not": {} }),
        Value::Array(_) | Value::Null | Value::Number(_) | Value::String(_) => {}
    }
}
/// Applies `clean` to the texts of a value, except for fields with the names in `except`.
fn clean_texts(value: Value, clean: fn(&str) -> String, except: &[&str]) -> Value {
    match value {
        Value::String(text) => Value::String(clean(&text)),
        Value::Array(values) => {
            values.into_iter().map(|value| clean_texts(value, clean, except)).collect()
        }
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| {
                let is_left = except.contains(&name.as_str()) && value.is_string();
                let value = if is_left { value } else { clean_texts(value, clean, except) };
                (name, value)
            });
            Value::Object(fields.collect())
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

/// The keys of a schema whose value is a schema.
const SINGLE_SCHEMA_KEYS: [&str; 10] = [
    "items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames",
    "unevaluatedItems", "unevaluatedProperties",
];

fn tidy_each<'a>(schemas: impl IntoIterator<Item = &'a mut Value>) {
    schemas.into_iter().for_each(tidy);
}
