//! The `fixer` keys of the configuration: a model or a command that fixes, for gates and for the
//! validation loop.

use std::time::Duration;

use anyhow::bail;
use serde::Deserialize;

use super::PATH;

/// A `fixer` key as written: a name, or a command.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum FixerConfig {
    Named(String),
    Command(FixerCommandConfig),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FixerCommandConfig {
    run: Vec<String>,
    /// The names of the variables that are passed to the command.
    #[serde(default)]
    env: Vec<String>,
    seconds: Option<u64>,
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
            FixerConfig::Named(name) if name == "model" => Ok(ChosenFixer::Model),
            FixerConfig::Named(name) => {
                bail!(
                    "invalid value `{name}` for `{key}` in `{PATH}`: expected `model`, or `run` \
                     with a command"
                )
            }
            FixerConfig::Command(FixerCommandConfig { run, env, seconds }) => {
                let Some((program, args)) = run.split_first() else {
                    bail!("`{key}.run` in `{PATH}` is empty");
                };
                Ok(ChosenFixer::Command(FixerCommand {
                    program: program.clone(),
                    args: args.to_vec(),
                    env: env.clone(),
                    time: Duration::from_secs(seconds.unwrap_or(default_seconds)),
                }))
            }
        }
    }
}
