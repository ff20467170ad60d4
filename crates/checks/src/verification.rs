//! The verification that a spec asks for: [`Verification`], whoever reads the spec.
//!
//! Groups of tests with their commands, how much must be covered, and what a person does by hand.

use serde::{Deserialize, Serialize};

use crate::check::CheckKind;

/// The verification that a spec asks for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Verification {
    /// Tests of parts on their own.
    pub unit: Group,
    /// Tests of parts together.
    pub integration: Group,
    /// Tests of the whole.
    pub e2e: Group,
    /// How much must be covered, in percent.
    pub minimum_coverage: Option<f64>,
    /// Whether its commands may use the network.
    pub network: bool,
    /// Commands that criteria want to succeed, such as `make lint`.
    pub criterion_commands: Vec<NamedCommand>,
    /// Kinds of tests of which criteria want all to pass.
    pub criterion_kinds: Vec<CheckKind>,
}

/// A group of tests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Group {
    /// Whether the plan asks for it, whatever the risk.
    pub is_required: bool,
    /// Its commands.
    pub commands: Vec<NamedCommand>,
    /// Steps that a person does by hand, such as `Register`, `Verify email`, `Login`.
    pub by_hand: Vec<Vec<String>>,
    /// Flows and pages that are named.
    pub flows: Vec<String>,
}

/// A command that a spec names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedCommand {
    /// The command as it stands there.
    pub command: String,
    /// The expected result, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
}
