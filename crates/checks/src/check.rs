//! A check that is required, and what became of it: [`RequiredCheck`], [`CheckOutcome`].

use serde::{Deserialize, Serialize};

use crate::command::CommandLine;
use crate::coverage::Measured;
use crate::discovery::Reading;
use crate::results::Tests;

/// What a check is for.
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
}

impl CheckKind {
    /// Gives its name, as it is written and read.
    pub fn name(self) -> &'static str {
        match self {
            CheckKind::Smoke => "smoke",
            CheckKind::Unit => "unit",
            CheckKind::Integration => "integration",
            CheckKind::FullSuite => "full_suite",
            CheckKind::Coverage => "coverage",
            CheckKind::E2e => "e2e",
            CheckKind::Manual => "manual",
        }
    }
}

/// A check to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequiredCheck {
    /// What it is called, such as `unit: pytest tests/`.
    pub name: String,
    /// What it is for.
    pub kind: CheckKind,
    /// What else it is for, since it runs those tests as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<CheckKind>,
    /// What is run.
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
    /// What the spec expects of it, in words.
    #[serde(default)]
    pub expect: Option<String>,
    /// Whether it may use the network.
    #[serde(default)]
    pub network: bool,
}

/// What became of a check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckOutcome {
    /// What the check is called.
    pub name: String,
    /// What it is for.
    pub kind: CheckKind,
    /// What else it is for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<CheckKind>,
    /// What was run.
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
    /// What became of its tests, where that can be told.
    #[serde(default)]
    pub tests: Option<Tests>,
    /// What its coverage is, where that was measured.
    #[serde(default)]
    pub coverage: Option<Measured>,
    /// What else is to be known of the run, such as that output is missing.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// How a check stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// It ran, and found nothing wrong.
    Passed,
    /// It ran, and something is wrong.
    Failed {
        /// What.
        why: String,
    },
    /// It could not run, or tested nothing: nobody knows, which is no pass.
    NotRun {
        /// Why.
        why: String,
    },
    /// It took too long and was ended.
    TimedOut,
}

impl CheckOutcome {
    /// Says whether it passed.
    pub fn is_pass(&self) -> bool {
        self.state == State::Passed
    }
}
