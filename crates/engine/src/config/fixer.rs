//! The `fixer` keys of the configuration: a model or a command that fixes, for gates and for the
//! validation loop.

use std::time::Duration;

use anyhow::bail;
use serde::Deserialize;

use super::PATH;

/// A `fixer` key as written: a name, or a command.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum StoredFixer {
    Named(String),
    Command(StoredFixerCommand),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredFixerCommand {
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

impl StoredFixer {
    /// Validates the fixer of the key `key`. The time limit of a command is `usual_seconds` unless
    /// the configuration sets one.
    pub(super) fn chosen(&self, key: &str, usual_seconds: u64) -> anyhow::Result<ChosenFixer> {
        match self {
            StoredFixer::Named(name) if name == "model" => Ok(ChosenFixer::Model),
            StoredFixer::Named(name) => {
                bail!("`{key}` in `{PATH}` is `{name}`; say `model`, or `run` with a command")
            }
            StoredFixer::Command(StoredFixerCommand { run, env, seconds }) => {
                let Some((program, args)) = run.split_first() else {
                    bail!("`{key}.run` in `{PATH}` is empty");
                };
                Ok(ChosenFixer::Command(FixerCommand {
                    program: program.clone(),
                    args: args.to_vec(),
                    env: env.clone(),
                    time: Duration::from_secs(seconds.unwrap_or(usual_seconds)),
                }))
            }
        }
    }
}
