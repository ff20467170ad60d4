//! The verification that a spec asks for: [`Verification`]. The parsers of specs are elsewhere.
//!
//! It has groups of tests with their commands, the minimum coverage, and the steps for a person.

use serde::{Deserialize, Serialize};

use crate::check::CheckKind;

/// The verification that a spec asks for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Verification {
    /// Tests of single parts.
    pub unit: Group,
    /// Tests of several parts together.
    pub integration: Group,
    /// Tests of the whole.
    pub e2e: Group,
    /// The minimum coverage in percent; `None` if the spec names none.
    pub minimum_coverage: Option<f64>,
    /// True if the commands may use the network.
    pub network: bool,
    /// Commands that have to succeed by a criterion, such as `make lint`.
    pub criterion_commands: Vec<NamedCommand>,
    /// Kinds of tests that all have to pass by a criterion.
    pub criterion_kinds: Vec<CheckKind>,
}

/// A group of tests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Group {
    /// True if the plan requires the group at any risk.
    pub is_required: bool,
    /// The commands.
    pub commands: Vec<NamedCommand>,
    /// Steps for a person, such as `Register`, `Verify email`, `Login`.
    pub by_hand: Vec<Vec<String>>,
    /// Flows and pages to try out.
    pub flows: Vec<String>,
}

/// A command that a spec names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedCommand {
    /// The command as written in the spec.
    pub command: String,
    /// The expected result, in words; `None` if the spec names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
}
