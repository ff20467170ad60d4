//! A check that is required, and what became of it: [`RequiredCheck`], [`CheckOutcome`].

use serde::{Deserialize, Serialize};

use crate::command::CommandLine;
use crate::coverage::Measured;
use crate::discovery::Reading;
use crate::results::Tests;

/// The purpose of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// Something runs at all.
    Smoke,
    /// Parts on their own.
    Unit,
    /// Parts together.
    Integration,
    /// Every test there is.
    FullSuite,
    /// Enough is tested.
    Coverage,
    /// The whole, as its users see it.
    E2e,
    /// A person looked.
    Manual,
    /// A criterion of the spec wants a command to succeed.
    Criterion,
}

impl CheckKind {
    /// Returns its name, as it is written and read.
    pub fn name(self) -> &'static str {
        match self {
            CheckKind::Smoke => "smoke",
            CheckKind::Unit => "unit",
            CheckKind::Integration => "integration",
            CheckKind::FullSuite => "full_suite",
            CheckKind::Coverage => "coverage",
            CheckKind::E2e => "e2e",
            CheckKind::Manual => "manual",
            CheckKind::Criterion => "criterion",
        }
    }
}

/// A check to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequiredCheck {
    /// The name, such as `unit: pytest tests/`.
    pub name: String,
    /// The purpose.
    pub kind: CheckKind,
    /// Further purposes, since the command runs those tests as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<CheckKind>,
    /// The command that is run.
    pub command: CommandLine,
    /// Where, from the root; empty for the root.
    pub folder: String,
    /// Where its results are.
    pub reading: Reading,
    /// Where its coverage reports are: globs, as in [`Reading::Files`].
    #[serde(default)]
    pub coverage: Vec<String>,
    /// How much must be covered, in percent.
    #[serde(default)]
    pub minimum_coverage: Option<f64>,
    /// The result that the spec expects, in words.
    #[serde(default)]
    pub expect: Option<String>,
    /// Whether it may use the network.
    #[serde(default)]
    pub network: bool,
}

/// The outcome of a check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckOutcome {
    /// The name of the check.
    pub name: String,
    /// The purpose of the check.
    pub kind: CheckKind,
    /// Further purposes of the check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<CheckKind>,
    /// The command that was run.
    pub command: String,
    /// Where, from the root.
    pub folder: String,
    /// How it stands.
    #[serde(flatten)]
    pub state: State,
    /// The exit code; none if it was ended.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// The digest of all that it printed and complained about.
    pub output_digest: String,
    /// How much that was, in bytes.
    pub output_bytes: u64,
    /// The end of it.
    pub tail: String,
    /// The results of its tests, where they can be read.
    #[serde(default)]
    pub tests: Option<Tests>,
    /// The coverage, where it was measured.
    #[serde(default)]
    pub coverage: Option<Measured>,
    /// Further notes about the run, such as that output is missing.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// How a check stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// The check ran, and found nothing wrong.
    Passed,
    /// The check ran, and something is wrong.
    Failed {
        /// The reason.
        why: String,
    },
    /// The check could not run, or tested nothing: the result is unknown, which is no pass.
    NotRun {
        /// The reason.
        why: String,
    },
    /// The check took too long and was ended.
    TimedOut,
}

impl CheckOutcome {
    /// Returns true if it passed.
    pub fn is_pass(&self) -> bool {
        self.state == State::Passed
    }
}
