//! The result of a second look at a finding: [`Validation`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::vote::Anchor;

/// What became of a finding at its second look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Validation {
    /// Where it stands.
    pub state: Validated,
    /// Why.
    pub why: String,
    /// The code that the second look quotes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The action that a maintainer would take on the finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consequence: Option<Consequence>,
    /// The confidence before the second look, where the look lowered the confidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lowered_from: Option<Anchor>,
}

/// Where a finding stands after its second look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Validated {
    /// Somebody else sees it too.
    Confirmed,
    /// Code that stands in the tree speaks against it: it is held back.
    Refuted,
    /// Code that stands in the tree speaks against it, and it stays where it is all the same.
    Disputed,
    /// Nobody could tell, or nothing was shown.
    Unsure,
    /// The second look did not come about.
    Unvalidated,
}

impl Validated {
    /// Gives the state in a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Validated::Confirmed => "confirmed",
            Validated::Refuted => "refuted",
            Validated::Disputed => "disputed",
            Validated::Unsure => "unsure",
            Validated::Unvalidated => "unvalidated",
        }
    }
}

/// The action that a maintainer would take on a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Consequence {
    /// Stop the change until the finding is mended.
    Block,
    /// Mend it later.
    Later,
    /// Leave it.
    Ignore,
}

impl Consequence {
    /// Returns the consequence that a word names.
    pub fn from_word(word: &str) -> Option<Consequence> {
        match word.trim().to_ascii_lowercase().as_str() {
            "block" => Some(Consequence::Block),
            "later" => Some(Consequence::Later),
            "ignore" => Some(Consequence::Ignore),
            _ => None,
        }
    }

    /// Returns the consequence in a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Consequence::Block => "block",
            Consequence::Later => "later",
            Consequence::Ignore => "ignore",
        }
    }
}
