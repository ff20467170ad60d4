//! The result of a second look at a finding: [`Validation`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::vote::Confidence;

/// The result of a second look at a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Validation {
    /// The state of the finding after the second look.
    pub state: ValidationState,
    /// The reason that the second look states.
    pub why: String,
    /// The code that the second look quotes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The action that a maintainer would take on the finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consequence: Option<Consequence>,
    /// The confidence before the second look; absent unless the look lowered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lowered_from: Option<Confidence>,
}

/// The state of a finding after its second look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Validated")]
pub enum ValidationState {
    /// The second look confirms the finding.
    Confirmed,
    /// Code in the tree refutes the finding, so the finding is held back.
    Refuted,
    /// Code in the tree refutes the finding, but the finding stays: it may be critical, or a rule
    /// or an analyser vouches for it.
    Disputed,
    /// The second look could not decide, or refuted the finding without a quote from the tree.
    Unsure,
    /// The second look did not take place.
    Unvalidated,
}

impl ValidationState {
    /// Returns the state as a word.
    pub fn as_str(self) -> &'static str {
        match self {
            ValidationState::Confirmed => "confirmed",
            ValidationState::Refuted => "refuted",
            ValidationState::Disputed => "disputed",
            ValidationState::Unsure => "unsure",
            ValidationState::Unvalidated => "unvalidated",
        }
    }
}

/// The action that a maintainer would take on a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Consequence {
    /// Stop the change until the finding is fixed.
    Block,
    /// Fix the finding later.
    Later,
    /// Do not fix the finding.
    Ignore,
}

impl Consequence {
    /// Parses a word; `None` if it names no consequence.
    pub fn from_word(word: &str) -> Option<Consequence> {
        match word.trim().to_ascii_lowercase().as_str() {
            "block" => Some(Consequence::Block),
            "later" => Some(Consequence::Later),
            "ignore" => Some(Consequence::Ignore),
            _ => None,
        }
    }

    /// Returns the consequence as a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Consequence::Block => "block",
            Consequence::Later => "later",
            Consequence::Ignore => "ignore",
        }
    }
}
