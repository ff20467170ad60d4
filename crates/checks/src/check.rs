//! Checks that are required, and their outcomes: [`RequiredCheck`], [`CheckOutcome`].

use serde::{Deserialize, Serialize};

use crate::command::CommandLine;
use crate::coverage::CoverageMeasurement;
use crate::discovery::ResultSource;
use crate::results::TestReport;

/// The purpose of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// A smoke test: a build or test command of the project succeeds.
    Smoke,
    /// Tests of single parts.
    Unit,
    /// Tests of several parts together.
    Integration,
    /// All tests of the project.
    FullSuite,
    /// A measurement of the coverage.
    Coverage,
    /// Tests of the whole, as its users see it.
    E2e,
    /// A confirmation by a person.
    Manual,
    /// A command that has to succeed by a criterion of the spec.
    Criterion,
}

impl CheckKind {
    /// Returns the name of the kind, as in files and output.
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
    /// The command to run.
    pub command: CommandLine,
    /// The folder to run the command in, from the root; empty for the root.
    pub folder: String,
    /// The location and the format of the test results.
    pub reading: ResultSource,
    /// The coverage reports: globs, as in [`ResultSource::Files`].
    #[serde(default)]
    pub coverage: Vec<String>,
    /// The minimum coverage in percent; `None` if none is required.
    #[serde(default)]
    pub minimum_coverage: Option<f64>,
    /// The result that the spec expects, in words; `None` if it names none.
    #[serde(default)]
    pub expect: Option<String>,
    /// True if the command may use the network.
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
    /// The folder in which the command was run, from the root.
    pub folder: String,
    /// The result of the check.
    #[serde(flatten)]
    pub state: CheckState,
    /// The exit code; `None` if the command was killed or did not run.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// The digest of stdout and stderr.
    pub output_digest: String,
    /// The number of bytes of stdout and stderr.
    pub output_bytes: u64,
    /// The end of the output.
    pub tail: String,
    /// The results of the tests; `None` if they cannot be read.
    #[serde(default)]
    pub tests: Option<TestReport>,
    /// The coverage; `None` if it was not measured.
    #[serde(default)]
    pub coverage: Option<CoverageMeasurement>,
    /// Further notes about the run, such as that output is missing.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum CheckState {
    /// The check ran, and found no problem.
    Passed,
    /// The check ran, and found a problem.
    Failed {
        /// The reason.
        why: String,
    },
    /// The check could not run, or tested nothing: the result is unknown, which is not a pass.
    NotRun {
        /// The reason.
        why: String,
    },
    /// The check exceeded its timeout and was killed.
    TimedOut,
}

impl CheckOutcome {
    /// Returns true if the check passed.
    pub fn is_pass(&self) -> bool {
        self.state == CheckState::Passed
    }
}
