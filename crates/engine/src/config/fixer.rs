//! Who fixes what is wrong, as it is configured for gates and for the validation loop.

use std::time::Duration;

use anyhow::bail;
use serde::Deserialize;

use super::PATH;

/// Who fixes, as it is written: a name, or a command.
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
    /// The variables that it is given.
    #[serde(default)]
    env: Vec<String>,
    seconds: Option<u64>,
}

/// Who fixes what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChosenFixer {
    /// A model.
    Model,
    /// A command.
    Command(FixerCommand),
}

/// A command that fixes what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixerCommand {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The variables that it is given.
    pub env: Vec<String>,
    /// How long it may take.
    pub time: Duration,
}

impl StoredFixer {
    /// Gives who is meant by what stands under a key.
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
