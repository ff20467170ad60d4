//! What is configured: who works ([`roster`]), how work is queued ([`framework`]), and which MCP
//! servers agents may use ([`mcp`]).
//!
//! Texts arrive with their variables filled in. What is wrong with one is told with its line and
//! key ([`ConfigError`]).

pub mod framework;
pub mod mcp;
pub mod roster;

use serde::de::DeserializeOwned;

/// Why a file of the configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{file}`{place} cannot be read: {message}")]
pub struct ConfigError {
    file: String,
    place: String,
    message: String,
}

impl ConfigError {
    /// An error about a file as a whole.
    pub fn new(file: &str, message: impl Into<String>) -> ConfigError {
        ConfigError { file: file.to_owned(), place: String::new(), message: message.into() }
    }

    /// An error of the YAML reader, with the line that it is about and the key on it.
    pub fn in_yaml(file: &str, text: &str, error: &serde_saphyr::Error) -> ConfigError {
        let whole = error.to_string();
        let message = whole.split(" at line ").next().unwrap_or(&whole).trim_end_matches(':');
        let line = error.location().map(|location| location.line());
        let place = line.map(|line| place(text, line)).unwrap_or_default();
        ConfigError { file: file.to_owned(), place, message: message.to_owned() }
    }
}

/// Names a line and the key on it, or the nearest one above.
fn place(text: &str, line: u64) -> String {
    let at = usize::try_from(line).unwrap_or(usize::MAX);
    let mut above = text.lines().take(at).collect::<Vec<_>>().into_iter().rev();
    match above.find_map(key) {
        Some(key) => format!(", line {line} (`{key}`)"),
        None => format!(", line {line}"),
    }
}

/// Gives the key on a line, if there is one.
fn key(line: &str) -> Option<&str> {
    let line = line.trim_start().trim_start_matches("- ").trim_start();
    let (key, _) = line.split_once(':').filter(|_| !line.starts_with('#'))?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!key.is_empty() && key.chars().all(is_plain)).then_some(key)
}

/// Reads YAML. Comments alone are no document: then there is nothing.
fn read_yaml<T: DeserializeOwned>(file: &str, text: &str) -> Result<Option<T>, ConfigError> {
    if text.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#')) {
        return Ok(None);
    }
    // A line that the reader quotes may hold the value of a variable.
    let options = serde_saphyr::options! { emit_comments: false, with_snippet: false };
    let read = serde_saphyr::from_str_with_options(text, options);
    read.map(Some).map_err(|error| ConfigError::in_yaml(file, text, &error))
}
