//! Command lines, as people write them into a spec: [`CommandLine`].
//!
//! Words and quotes are split here, without a shell. A command that uses any other syntax of a
//! shell is run by `sh`: no other syntax is imitated.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The placeholder in a command for the folder of reports.
pub const REPORTS: &str = "{reports}";

/// The placeholder in a command for the folder of our own reporters.
pub const SUPPORT: &str = "{support}";

/// Characters with a meaning for a shell, outside of quotes.
const SHELL_CHARACTERS: &[char] = &[
    '|', '&', ';', '<', '>', '(', ')', '$', '`', '*', '?', '[', ']', '#', '~', '!', '{', '}', '\\',
    '\n', '\r',
];

/// A command to run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CommandLine {
    /// Variables that are set for the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<(String, String)>,
    /// The program, or the script.
    #[serde(flatten)]
    pub program: Program,
}

/// The program or the script of a command.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// A program with its arguments, the program first.
    Words(Vec<String>),
    /// A script for `sh`.
    Script(String),
}

/// The reason that a text is not a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommandParseError {
    /// The text names no program.
    #[error("the command is empty")]
    Empty,
    /// A quote is not closed.
    #[error("a quote is not closed")]
    OpenQuote,
    /// The text contains a NUL, which no argument can contain.
    #[error("it contains a NUL byte")]
    Nul,
}

impl CommandLine {
    /// Parses a command as a person wrote it.
    pub fn parse(text: &str) -> Result<CommandLine, CommandParseError> {
        let text = text.trim();
        if text.contains('\0') {
            return Err(CommandParseError::Nul);
        }
        let Some(words) = split(text)? else {
            let program = Program::Script(text.to_owned());
            return Ok(CommandLine { variables: Vec::new(), program });
        };
        let count = words.iter().take_while(|word| word.assignment().is_some()).count();
        let variables = words[..count].iter().filter_map(Word::assignment).collect();
        let words: Vec<String> = words[count..].iter().map(|word| word.text.clone()).collect();
        match words.is_empty() {
            true => Err(CommandParseError::Empty),
            false => Ok(CommandLine { variables, program: Program::Words(words) }),
        }
    }

    /// Creates a command from words that need no splitting.
    pub fn words<W: Into<String>>(words: impl IntoIterator<Item = W>) -> CommandLine {
        let words = words.into_iter().map(Into::into).collect();
        CommandLine { variables: Vec::new(), program: Program::Words(words) }
    }

    /// Creates a command from a script.
    pub fn script(script: impl Into<String>) -> CommandLine {
        CommandLine { variables: Vec::new(), program: Program::Script(script.into()) }
    }

    /// Returns the words of the command. A script is split at blanks and at the characters that end
    /// a word for a shell, so that programs can be found in it by name.
    pub fn mentioned_words(&self) -> Vec<&str> {
        match &self.program {
            Program::Words(words) => words.iter().map(String::as_str).collect(),
            Program::Script(script) => words_of(script),
        }
    }

    /// Appends words to the command, or to the end of the script.
    #[must_use]
    pub fn with<W: AsRef<str>>(mut self, more: impl IntoIterator<Item = W>) -> CommandLine {
        for word in more {
            match &mut self.program {
                Program::Words(words) => words.push(word.as_ref().to_owned()),
                Program::Script(script) => {
                    script.push(' ');
                    script.push_str(&quote(word.as_ref()));
                }
            }
        }
        self
    }
}

impl fmt::Display for CommandLine {
    /// Formats the command as it could be typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.variables {
            write!(f, "{name}={} ", quote(value))?;
        }
        match &self.program {
            Program::Script(script) => f.write_str(script),
            Program::Words(words) => {
                let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
                f.write_str(&words.join(" "))
            }
        }
    }
}

/// Quotes a word for a shell, if necessary. Our own placeholders stay readable.
fn quote(word: &str) -> String {
    let plain = word.replace(REPORTS, "").replace(SUPPORT, "");
    let needs =
        |c: char| SHELL_CHARACTERS.contains(&c) || c.is_whitespace() || matches!(c, '"' | '\'');
    match !word.is_empty() && !plain.contains(needs) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// A word, and the length of its beginning outside of quotes.
#[derive(Default)]
struct Word {
    text: String,
    bare: usize,
    has_quotes: bool,
}

impl Word {
    /// Parses `NAME=value`, if the name is not quoted.
    fn assignment(&self) -> Option<(String, String)> {
        let (name, value) = self.text.split_once('=')?;
        let is_name = name.len() < self.bare
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_name.then(|| (name.to_owned(), value.to_owned()))
    }
}

/// Splits a command into words. Returns `None` if the command needs a shell.
fn split(text: &str) -> Result<Option<Vec<Word>>, CommandParseError> {
    let mut words = Vec::new();
    let mut word: Option<Word> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                word.has_quotes = true;
                loop {
                    match chars.next().ok_or(CommandParseError::OpenQuote)? {
                        end if end == c => break,
                        // A shell expands these inside of double quotes.
                        '$' | '`' | '\\' | '!' if c == '"' => return Ok(None),
                        other => word.text.push(other),
                    }
                }
            }
            c if SHELL_CHARACTERS.contains(&c) => return Ok(None),
            c => {
                let word = word.get_or_insert_default();
                word.text.push(c);
                if !word.has_quotes {
                    word.bare = word.text.len();
                }
            }
        }
    }
    words.extend(word);
    Ok(Some(words))
}

/// Returns the words of a script, split at blanks and at the characters that end a word.
pub fn words_of(script: &str) -> Vec<&str> {
    let between =
        |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')' | '"' | '\'' | '=');
    let words = script.split(between).filter(|word| !word.is_empty());
    words.map(|word| word.trim_start_matches('@')).collect()
}
