//! The source of an API key as configured: a variable, or a command that prints the key.

use anyhow::bail;
use assay_sandbox::{Key, KeySource};

use crate::environment::Environment;

/// Returns the source of an API key: as configured, or else the variable `usual`.
///
/// `env` and `command` are each passed with the name of the configuration key, for messages.
pub(crate) fn key_source(
    environment: &Environment,
    (env_name, env): (&str, Option<&str>),
    (command_name, command): (&str, Option<&[String]>),
    usual: Option<&str>,
) -> anyhow::Result<KeySource> {
    Ok(match (env, command) {
        (Some(_), Some(_)) => {
            bail!("both `{env_name}` and `{command_name}` are set; remove one of them")
        }
        (None, Some(command)) => KeySource::Command(command.to_vec()),
        (Some(name), None) => from_variable(environment, name),
        (None, None) => usual.map_or(KeySource::None, |name| from_variable(environment, name)),
    })
}

fn from_variable(environment: &Environment, name: &str) -> KeySource {
    let value = environment.variable(name).map(|value| Key::new(&value));
    KeySource::Variable { name: name.to_owned(), value }
}
