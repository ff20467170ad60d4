//! The configuration of agents: the agents themselves ([`roster`]), the settings of tasks
//! ([`framework`]), and the MCP servers of agents ([`mcp`]).
//!
//! Variables in the texts are already expanded. Errors name the line and the key ([`ConfigError`]).

pub mod framework;
pub mod mcp;
pub mod roster;

use serde::de::DeserializeOwned;

/// The reason why a configuration file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read `{file}`{place}: {message}")]
pub struct ConfigError {
    file: String,
    place: String,
    message: String,
}

impl ConfigError {
    /// Returns an error about a file as a whole.
    pub fn new(file: &str, message: impl Into<String>) -> ConfigError {
        ConfigError { file: file.to_owned(), place: String::new(), message: message.into() }
    }

    /// Returns an error of the YAML parser, with its line and the key on that line.
    pub fn in_yaml(file: &str, text: &str, error: &serde_saphyr::Error) -> ConfigError {
        let whole = error.to_string();
        let message = whole.split(" at line ").next().unwrap_or(&whole).trim_end_matches(':');
        let line = error.location().map(|location| location.line());
        let place = line.map(|line| place(text, line)).unwrap_or_default();
        ConfigError { file: file.to_owned(), place, message: without_integer_types(message) }
    }
}

/// Replaces the integer types that the parser names for a count by words.
fn without_integer_types(message: &str) -> String {
    ["a nonzero usize", "a nonzero u64", "a nonzero u32"]
        .iter()
        .fold(message.to_owned(), |message, kind| message.replace(kind, "a number from 1"))
}

/// Formats a line number with the key on the line, or the nearest key above.
fn place(text: &str, line: u64) -> String {
    let at = usize::try_from(line).unwrap_or(usize::MAX);
    let mut above = text.lines().take(at).collect::<Vec<_>>().into_iter().rev();
    match above.find_map(key) {
        Some(key) => format!(", line {line} (`{key}`)"),
        None => format!(", line {line}"),
    }
}

/// Returns the key on a line, if there is one.
fn key(line: &str) -> Option<&str> {
    let line = line.trim_start().trim_start_matches("- ").trim_start();
    let (key, _) = line.split_once(':').filter(|_| !line.starts_with('#'))?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!key.is_empty() && key.chars().all(is_plain)).then_some(key)
}

/// Parses YAML. Returns `None` if the text has only comments.
fn read_yaml<T: DeserializeOwned>(file: &str, text: &str) -> Result<Option<T>, ConfigError> {
    if text.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#')) {
        return Ok(None);
    }
    // A quoted line could contain the value of a variable, so snippets are off.
    let options = serde_saphyr::options! { emit_comments: false, with_snippet: false };
    let read = serde_saphyr::from_str_with_options(text, options);
    read.map(Some).map_err(|error| ConfigError::in_yaml(file, text, &error))
}
