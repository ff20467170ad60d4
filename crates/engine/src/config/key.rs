//! Where a key comes from, as it is configured: a variable, or a command that prints it.

use anyhow::bail;
use assay_sandbox::{Key, KeySource};

use crate::environment::Environment;

/// Gives where a key comes from: what is configured, or else a variable by its usual name.
///
/// `env` and `command` are named as the configuration names them.
pub(crate) fn source(
    environment: &Environment,
    (env_name, env): (&str, Option<&str>),
    (command_name, command): (&str, Option<&[String]>),
    usual: Option<&str>,
) -> anyhow::Result<KeySource> {
    Ok(match (env, command) {
        (Some(_), Some(_)) => bail!("there are both `{env_name}` and `{command_name}`"),
        (None, Some(command)) => KeySource::Command(command.to_vec()),
        (Some(name), None) => from_variable(environment, name),
        (None, None) => usual.map_or(KeySource::None, |name| from_variable(environment, name)),
    })
}

fn from_variable(environment: &Environment, name: &str) -> KeySource {
    let value = environment.variable(name).map(|value| Key::new(&value));
    KeySource::Variable { name: name.to_owned(), value }
}
