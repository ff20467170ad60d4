//! An item of a gate's list: [`Item`].

use std::fmt;
use std::str::FromStr;

use assay_base::text::first_chars;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::phase::Phase;

/// An item to be verified, with its result. It is serialised with five fields: the result is a
/// `status` and a `finding`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(into = "ItemFields")]
pub struct Item {
    /// The id of the item.
    pub id: ItemId,
    /// The scope of the item.
    pub scope: Scope,
    /// The text of the check.
    pub check: String,
    /// The result of the last verification.
    pub result: ItemResult,
}

#[derive(Serialize, JsonSchema)]
struct ItemFields {
    id: ItemId,
    scope: Scope,
    check: String,
    #[schemars(extend("enum" = ["TODO", "PASS", "FAIL"]))]
    status: &'static str,
    finding: Option<String>,
}

impl From<Item> for ItemFields {
    fn from(item: Item) -> ItemFields {
        let Item { id, scope, check, result } = item;
        ItemFields { id, scope, check, status: result.word(), finding: result.finding() }
    }
}

/// The result of an item.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(rename = "Verified")]
pub enum ItemResult {
    /// The item was not verified, or its content has changed since.
    #[default]
    Todo,
    /// The item passed.
    Pass,
    /// The item failed, with the finding.
    Fail(String),
}

impl ItemResult {
    /// Returns the status without the finding: `TODO`, `PASS` or `FAIL`.
    pub fn word(&self) -> &'static str {
        match self {
            ItemResult::Todo => "TODO",
            ItemResult::Pass => "PASS",
            ItemResult::Fail(_) => "FAIL",
        }
    }

    /// Returns the finding of a failed item; `None` for other items.
    pub fn finding(&self) -> Option<String> {
        match self {
            ItemResult::Fail(finding) => Some(finding.clone()),
            ItemResult::Todo | ItemResult::Pass => None,
        }
    }
}

/// The id of an item, `{phase}-{number}` or another short name.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct ItemId(Box<str>);

/// A text that is no valid id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid item id `{}`: expected at most 64 letters, digits, `-`, `_` and `.`",
    .0.escape_debug()
)]
pub struct BadId(String);

impl ItemId {
    /// Returns the id with a number in a phase.
    pub fn numbered(phase: Phase, number: usize) -> ItemId {
        ItemId(format!("{phase}-{number:03}").into())
    }

    /// Returns the id that represents all items of a deleted list.
    pub(crate) fn lost() -> ItemId {
        ItemId("earlier-list".into())
    }

    /// Returns the number of an id of the form `{phase}-{number}`; `None` for other ids.
    pub fn number_in(&self, phase: Phase) -> Option<usize> {
        self.0.strip_prefix(phase.name())?.strip_prefix('-')?.parse().ok()
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ItemId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<ItemId, BadId> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_named = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        if is_named && text.len() <= 64 && text.chars().all(is_plain) {
            Ok(ItemId(text.into()))
        } else {
            Err(BadId(first_chars(text, 80).to_owned()))
        }
    }
}

impl TryFrom<String> for ItemId {
    type Error = BadId;

    fn try_from(text: String) -> Result<ItemId, BadId> {
        text.parse()
    }
}

impl From<ItemId> for String {
    fn from(id: ItemId) -> String {
        id.0.into()
    }
}

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The scope of an item: everything, or a part that can be verified in parallel with others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(into = "String")]
pub enum Scope {
    /// The whole subject: `*`.
    All,
    /// A milestone: `milestone:M1`.
    Milestone(String),
    /// A decision: `decision:DL-001`.
    Decision(String),
    /// A file, optionally with lines: `file:src/a.rs:45-52`.
    File {
        /// The path of the file, from the root.
        path: String,
        /// The first and last line, from 1; `None` for the whole file.
        lines: Option<(u32, u32)>,
    },
    /// Any other text.
    Other(String),
}

impl Scope {
    /// Returns the scope of a whole file.
    pub fn file(path: impl Into<String>) -> Scope {
        Scope::File { path: path.into(), lines: None }
    }

    /// Returns true if items of this scope are verified one after another.
    pub fn is_macro(&self) -> bool {
        *self == Scope::All
    }
}

impl From<&str> for Scope {
    fn from(text: &str) -> Scope {
        let text = text.trim();
        match text.split_once(':') {
            None if text == "*" => Scope::All,
            Some(("milestone", id)) => Scope::Milestone(id.to_owned()),
            Some(("decision", id)) => Scope::Decision(id.to_owned()),
            Some(("file", path)) => {
                let (path, lines) = split_lines(path);
                Scope::File { path: path.to_owned(), lines }
            }
            _ => Scope::Other(text.to_owned()),
        }
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> String {
        scope.to_string()
    }
}

/// Splits `a.rs:4-9` or `a.rs:4` into the path and its lines.
fn split_lines(path: &str) -> (&str, Option<(u32, u32)>) {
    let Some((before, lines)) = path.rsplit_once(':') else { return (path, None) };
    let read = match lines.split_once('-') {
        Some((from, to)) => from.parse().ok().zip(to.parse().ok()),
        None => lines.parse().ok().map(|line| (line, line)),
    };
    match read {
        Some(lines) if !before.is_empty() => (before, Some(lines)),
        _ => (path, None),
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::All => f.write_str("*"),
            Scope::Milestone(id) => write!(f, "milestone:{id}"),
            Scope::Decision(id) => write!(f, "decision:{id}"),
            Scope::File { path, lines: None } => write!(f, "file:{path}"),
            Scope::File { path, lines: Some((from, to)) } if from == to => {
                write!(f, "file:{path}:{from}")
            }
            Scope::File { path, lines: Some((from, to)) } => write!(f, "file:{path}:{from}-{to}"),
            Scope::Other(text) => f.write_str(text),
        }
    }
}

/// The severity of a failed item.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Severity {
    /// A defect that a formatter or a linter would find.
    May,
    /// A defect of structure: size, duplication, missing tests or documents.
    Should,
    /// A defect that loses knowledge or integrity.
    Must,
}

impl Severity {
    /// Returns the severity in its written form: `MAY`, `SHOULD` or `MUST`.
    pub fn word(self) -> &'static str {
        match self {
            Severity::May => "MAY",
            Severity::Should => "SHOULD",
            Severity::Must => "MUST",
        }
    }
}
