//! Results of tests: [`read`] returns [`TestReport`] from the output or report of a test runner.
//!
//! Each format is one file of this module and one line in [`ResultFormat`]. A parser skips
//! everything that it does not know. If a runner counts its tests itself, failures that it does not
//! name still count.

mod cargo;
mod go;
mod jest;
mod junit;
mod libtest;
mod nextest;
mod pytest;
mod report;
mod results_builder;
mod tap;
mod unittest;

use serde::{Deserialize, Serialize};

pub(crate) use self::report::{RaisedSkip, raised_skips};
use crate::text::plain;

/// The format in which a test runner reports its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResultFormat {
    /// The text of `cargo test`.
    Cargo,
    /// The text of `cargo nextest run`.
    Nextest,
    /// Lines of JSON of libtest and nextest.
    LibtestJson,
    /// The text of pytest.
    Pytest,
    /// The text of Python's own `unittest`.
    Unittest,
    /// JUnit's XML, of any origin.
    Junit,
    /// The JSON of jest and vitest.
    Jest,
    /// The lines of `go test -json`.
    GoJson,
    /// The text of `go test`.
    Go,
    /// The Test Anything Protocol.
    Tap,
    /// The report of our own reporters inside of `unittest` and `node --test`.
    Report,
}

impl ResultFormat {
    /// All formats that runners write by themselves, the least ambiguous first.
    pub const ALL: [ResultFormat; 10] = [
        ResultFormat::Junit,
        ResultFormat::Jest,
        ResultFormat::LibtestJson,
        ResultFormat::GoJson,
        ResultFormat::Tap,
        ResultFormat::Nextest,
        ResultFormat::Cargo,
        ResultFormat::Pytest,
        ResultFormat::Unittest,
        ResultFormat::Go,
    ];

    /// Returns the name of the format in the configuration, such as `libtest-json`.
    pub fn name(self) -> &'static str {
        match self {
            ResultFormat::Cargo => "cargo",
            ResultFormat::Nextest => "nextest",
            ResultFormat::LibtestJson => "libtest-json",
            ResultFormat::Pytest => "pytest",
            ResultFormat::Unittest => "unittest",
            ResultFormat::Junit => "junit",
            ResultFormat::Jest => "jest",
            ResultFormat::GoJson => "go-json",
            ResultFormat::Go => "go",
            ResultFormat::Tap => "tap",
            ResultFormat::Report => "report",
        }
    }

    /// Returns the format with a name. `vitest` writes the same format as `jest`.
    pub fn parse_name(name: &str) -> Option<ResultFormat> {
        let name = if name == "vitest" { "jest" } else { name };
        ResultFormat::ALL.into_iter().find(|form| form.name() == name)
    }

    fn reader(self) -> fn(&str) -> Option<TestReport> {
        match self {
            ResultFormat::Cargo => cargo::read,
            ResultFormat::Nextest => nextest::read,
            ResultFormat::LibtestJson => libtest::read,
            ResultFormat::Pytest => pytest::read,
            ResultFormat::Unittest => unittest::read,
            ResultFormat::Junit => junit::read,
            ResultFormat::Jest => jest::read,
            ResultFormat::GoJson => go::read_json,
            ResultFormat::Go => go::read_text,
            ResultFormat::Tap => tap::read,
            ResultFormat::Report => report::read,
        }
    }
}

/// A test and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestResult {
    /// The name, as the runner writes it.
    pub name: String,
    /// The file of the test, as the runner names it; `None` if the runner names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The outcome of the test.
    #[serde(flatten)]
    pub outcome: TestOutcome,
    /// The duration in milliseconds; `None` if the runner does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The file and line that raised the skip of the test; `None` if no reporter names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped_in: Option<String>,
}

/// The outcome of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum TestOutcome {
    /// The test passed.
    Passed,
    /// The test failed, or its set-up did.
    Failed {
        /// The message of the runner.
        message: String,
    },
    /// The test was skipped, or is expected to fail.
    Skipped,
}

/// The number of tests by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// The number of tests that passed.
    pub passed: usize,
    /// The number of tests that failed.
    pub failed: usize,
    /// The number of tests that were skipped.
    pub skipped: usize,
}

impl Totals {
    /// Returns the number of tests that ran.
    pub fn ran(self) -> usize {
        self.passed.saturating_add(self.failed)
    }
}

/// The results of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestReport {
    /// The number of tests by outcome.
    pub totals: Totals,
    /// The tests that the runner names. If there are too many, failed tests are retained before
    /// others.
    pub results: Vec<TestResult>,
    /// True if the results are truncated, so that there may have been more tests.
    #[serde(default)]
    pub is_cut: bool,
    /// The contradiction within the results; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Files that ran and reported no test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub empty_files: Vec<String>,
    /// Tests in the files that ran that have no result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreported: Vec<UnreportedTest>,
}

/// A test in a file that ran that has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreportedTest {
    /// The name of the test, with its class if it has one.
    pub name: String,
    /// The path of the file, from the root.
    pub file: String,
    /// The line of the name, from 1.
    pub line: u32,
}

impl TestReport {
    /// Returns the tests that failed.
    pub fn failed(&self) -> impl Iterator<Item = &TestResult> {
        self.results.iter().filter(|test| matches!(test.outcome, TestOutcome::Failed { .. }))
    }

    /// Adds the tests of another file or run.
    pub fn add(&mut self, other: TestReport) {
        self.totals.passed = self.totals.passed.saturating_add(other.totals.passed);
        self.totals.failed = self.totals.failed.saturating_add(other.totals.failed);
        self.totals.skipped = self.totals.skipped.saturating_add(other.totals.skipped);
        self.results.extend(other.results);
        results_builder::bound(&mut self.results);
        self.is_cut |= other.is_cut;
        self.doubt = self.doubt.take().or(other.doubt);
        self.empty_files.extend(other.empty_files);
        self.unreported.extend(other.unreported);
    }
}

/// Parses results in a format. Returns `None` if the text has nothing in that format.
pub fn read(form: ResultFormat, printed: &[u8]) -> Option<TestReport> {
    form.reader()(&plain(printed))
}

/// Parses results in the first format that has tests that ran; otherwise in the first format that
/// matches at all. Returns `None` if none does.
pub fn detect(printed: &[u8]) -> Option<(ResultFormat, TestReport)> {
    let text = plain(printed);
    let mut empty = None;
    for form in ResultFormat::ALL {
        match form.reader()(&text) {
            Some(tests) if tests.totals.ran() > 0 => return Some((form, tests)),
            Some(tests) if empty.is_none() => empty = Some((form, tests)),
            Some(_) | None => {}
        }
    }
    empty
}
