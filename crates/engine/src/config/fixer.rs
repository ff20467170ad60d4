//! The `fixer` keys of the configuration: a model or a command that fixes, for gates and for the
//! validation loop.

use std::num::NonZeroU64;
use std::time::Duration;

use anyhow::bail;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::name_or_definition::NameOrDefinition;
use super::value_schemas;

/// A `fixer` key as written: a name, or a command.
pub(super) type FixerConfig = NameOrDefinition<FixerCommandConfig>;

/// A command that fixes, as configured.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FixerCommandConfig {
    /// The program and its arguments.
    #[schemars(schema_with = "value_schemas::command")]
    run: Vec<String>,
    /// The names of the environment variables that are passed to the command.
    #[serde(default)]
    env: Vec<String>,
    /// The timeout of one run, in seconds.
    ///
    /// Default: 600 for `gates.fixer`, 1800 for `qa.fixer`.
    #[serde(default)]
    seconds: Option<NonZeroU64>,
}

/// Returns the schema of the fixer of gates.
pub(super) fn gate_fixer(generator: &mut SchemaGenerator) -> Schema {
    fixer_schema(generator, &["model"])
}

/// Returns the schema of the fixer of the validation loop.
pub(super) fn loop_fixer(generator: &mut SchemaGenerator) -> Schema {
    fixer_schema(generator, &["model", "safe"])
}

fn fixer_schema(generator: &mut SchemaGenerator, names: &[&'static str]) -> Schema {
    let command = generator.subschema_for::<FixerCommandConfig>();
    let names = value_schemas::words(names.iter().copied());
    json_schema!({ "anyOf": [names, command, { "type": "null" }] })
}

/// A configured fixer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChosenFixer {
    /// A language model.
    Model,
    /// A program.
    Command(FixerCommand),
}

/// A command that fixes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixerCommand {
    /// The program to run.
    pub program: String,
    /// The arguments of the program.
    pub args: Vec<String>,
    /// The names of the variables that are passed to the command.
    pub env: Vec<String>,
    /// The time limit of one run.
    pub time: Duration,
}

impl FixerConfig {
    /// Validates the fixer of the key `key`. The time limit of a command is `default_seconds`
    /// unless the configuration sets one.
    pub(super) fn validate(&self, key: &str, default_seconds: u64) -> anyhow::Result<ChosenFixer> {
        match self {
            NameOrDefinition::Name(name) if name == "model" => Ok(ChosenFixer::Model),
            NameOrDefinition::Name(name) => {
                bail!(
                    "invalid value `{name}` for `{key}` in the configuration: expected `model`, or `run` \
                     with a command"
                )
            }
            NameOrDefinition::Definition(FixerCommandConfig { run, env, seconds }) => {
                let Some((program, args)) = run.split_first() else {
                    bail!("`{key}.run` in the configuration is empty");
                };
                Ok(ChosenFixer::Command(FixerCommand {
                    program: program.clone(),
                    args: args.to_vec(),
                    env: env.clone(),
                    time: Duration::from_secs(seconds.map_or(default_seconds, NonZeroU64::get)),
                }))
            }
        }
    }
}
