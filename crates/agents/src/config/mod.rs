//! The configuration of agents: the agents themselves ([`roster`]), the settings of tasks
//! ([`framework`]), and the MCP servers of agents ([`mcp`]).
//!
//! Variables in the texts are already expanded. Errors name the line and the key ([`ConfigError`]).

pub mod framework;
pub mod mcp;
pub mod roster;

use assay_base::nearest::{did_you_mean, nearest};
use serde::de::DeserializeOwned;

/// The reason why a configuration file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read `{file}`{place}: {message}")]
pub struct ConfigError {
    file: String,
    line: Option<u64>,
    place: String,
    message: String,
}

impl ConfigError {
    /// Returns an error about a file as a whole.
    pub fn new(file: &str, message: impl Into<String>) -> ConfigError {
        let (line, place) = (None, String::new());
        ConfigError { file: file.to_owned(), line, place, message: message.into() }
    }

    /// Returns an error of the YAML parser, with its line and the key on that line.
    pub fn in_yaml(file: &str, text: &str, error: &serde_saphyr::Error) -> ConfigError {
        let whole = error.to_string();
        let message = whole.split(" at line ").next().unwrap_or(&whole).trim_end_matches(':');
        let line = error.location().map(|location| location.line());
        let place = line.map(|line| place(text, line)).unwrap_or_default();
        let message = without_types(&without_kind(message)) + &suggestion(message);
        ConfigError { file: file.to_owned(), line, place, message }
    }

    /// Adds the wrong value if the error is about its type. `written` is the text of the file, and
    /// `expanded` the text with the values of variables, which are never shown.
    pub fn with_value(mut self, written: &str, expanded: &str) -> ConfigError {
        let at = self.line.and_then(|line| usize::try_from(line).ok()?.checked_sub(1));
        let line = at.and_then(|at| {
            written.lines().nth(at).filter(|line| expanded.lines().nth(at) == Some(line))
        });
        let value = line.and_then(value_on).filter(|_| self.message.starts_with("expected "));
        if let Some(value) = value {
            self.message += &format!(", found `{value}`");
        }
        self
    }
}

/// The types of the code that the parser names as expected, and the words for them.
const TYPE_WORDS: [(&str, &str); 25] = [
    ("externally tagged enum expected scalar or mapping", "expected a word"),
    ("unknown field", "unknown key"),
    ("unknown variant", "unknown value"),
    ("invalid usize", "expected a number"),
    ("invalid u64", "expected a number"),
    ("invalid u32", "expected a number"),
    ("invalid u16", "expected a number"),
    ("invalid u8", "expected a number"),
    ("invalid i64", "expected a number"),
    ("invalid f64", "expected a number"),
    ("invalid boolean", "expected true or false"),
    ("expected sequence start", "expected a list"),
    ("expected mapping start", "expected a map"),
    ("a nonzero usize", "a number from 1"),
    ("a nonzero u64", "a number from 1"),
    ("a nonzero u32", "a number from 1"),
    ("expected usize", "expected a number"),
    ("expected u64", "expected a number"),
    ("expected u32", "expected a number"),
    ("expected u16", "expected a number"),
    ("expected u8", "expected a number"),
    ("expected i64", "expected a number"),
    ("expected f64", "expected a number"),
    ("expected a sequence", "expected a list"),
    ("expected a boolean", "expected true or false"),
];

/// Removes the type of a wrong value: `invalid value: string "x"` becomes `invalid value: \`x\``.
fn without_kind(message: &str) -> String {
    let Some((found, expected)) = message
        .strip_prefix("invalid value: ")
        .or_else(|| message.strip_prefix("invalid type: "))
        .and_then(|rest| rest.rsplit_once(", expected "))
    else {
        return message.to_owned();
    };
    let value = found.split_once(' ').filter(|_| found.ends_with(['"', '`']));
    match value {
        Some((_, value)) => {
            format!("invalid value: `{}`, expected {expected}", value.trim_matches(['"', '`']))
        }
        None => message.to_owned(),
    }
}

/// Replaces the types that the parser names as expected by words.
fn without_types(message: &str) -> String {
    let message = TYPE_WORDS
        .iter()
        .fold(message.to_owned(), |message, (kind, words)| message.replace(kind, words));
    match message.split_once("expected struct ") {
        Some((before, _)) => format!("{before}expected a map"),
        None => message,
    }
}

/// Returns a question for the names nearest to an unknown one; empty if there are none.
fn suggestion(message: &str) -> String {
    let name = |text: &str| text.trim_matches(['`', ' ', '\'', '"']).to_owned();
    let Some((unknown, known)) = message.split_once(", expected ") else { return String::new() };
    let Some(unknown) = unknown
        .strip_prefix("unknown field ")
        .or_else(|| unknown.strip_prefix("unknown variant "))
        .map(name)
    else {
        return String::new();
    };
    let known = known.trim_start_matches("one of ").replace(" or ", ", ");
    let known: Vec<String> = known.split(", ").map(name).collect();
    did_you_mean(&nearest(&unknown, known.iter().map(String::as_str)))
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
    let key = key.trim_matches(['"', '\'']);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '*');
    (!key.is_empty() && key.chars().all(is_plain)).then_some(key)
}

/// Returns the value on a line after its key or the mark of a list, without a comment; `None` if
/// there is none.
fn value_on(line: &str) -> Option<&str> {
    let line = line.split(" #").next().unwrap_or(line).trim();
    let value = match key(line) {
        Some(_) => line.split_once(':').map(|(_, value)| value),
        None => line.strip_prefix("- "),
    };
    value.map(str::trim).filter(|value| !value.is_empty() && value.len() <= MAX_VALUE)
}

/// The maximum length of a value that an error quotes, in bytes. A part of a longer one is not
/// quoted, since a part of a credential would not be recognised as one.
const MAX_VALUE: usize = 80;

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
