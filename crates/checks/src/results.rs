//! The results of tests: [`read`] returns [`Tests`] from the output or report of a test runner.
//!
//! Every form is a file of its own and a line in [`Form`]. A reader takes what it knows and leaves
//! the rest alone; where a runner counts its tests itself, more failures than are named still count.

mod cargo;
mod go;
mod jest;
mod junit;
mod libtest;
mod nextest;
mod pytest;
mod report;
mod sheet;
mod tap;
mod unittest;

use serde::{Deserialize, Serialize};

pub(crate) use self::report::{RaisedSkip, raised_skips};
use crate::text::plain;

/// How a test runner tells what became of its tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// The text of `cargo test`.
    Cargo,
    /// The text of `cargo nextest run`.
    Nextest,
    /// Lines of JSON as libtest and nextest write them.
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

impl Form {
    /// All forms that runners write by themselves, those first that cannot be taken for another.
    pub const ALL: [Form; 10] = [
        Form::Junit,
        Form::Jest,
        Form::LibtestJson,
        Form::GoJson,
        Form::Tap,
        Form::Nextest,
        Form::Cargo,
        Form::Pytest,
        Form::Unittest,
        Form::Go,
    ];

    /// Returns its name as it is configured, such as `libtest-json`.
    pub fn name(self) -> &'static str {
        match self {
            Form::Cargo => "cargo",
            Form::Nextest => "nextest",
            Form::LibtestJson => "libtest-json",
            Form::Pytest => "pytest",
            Form::Unittest => "unittest",
            Form::Junit => "junit",
            Form::Jest => "jest",
            Form::GoJson => "go-json",
            Form::Go => "go",
            Form::Tap => "tap",
            Form::Report => "report",
        }
    }

    /// Finds a form by its name. `vitest` writes as `jest` does.
    pub fn named(name: &str) -> Option<Form> {
        let name = if name == "vitest" { "jest" } else { name };
        Form::ALL.into_iter().find(|form| form.name() == name)
    }

    fn reader(self) -> fn(&str) -> Option<Tests> {
        match self {
            Form::Cargo => cargo::read,
            Form::Nextest => nextest::read,
            Form::LibtestJson => libtest::read,
            Form::Pytest => pytest::read,
            Form::Unittest => unittest::read,
            Form::Junit => junit::read,
            Form::Jest => jest::read,
            Form::GoJson => go::read_json,
            Form::Go => go::read_text,
            Form::Tap => tap::read,
            Form::Report => report::read,
        }
    }
}

/// One test and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestResult {
    /// The name, as the runner writes it.
    pub name: String,
    /// The file it stands in, as the runner names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The outcome of the test.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The file and line that raised the skip of a test, as far as a reporter tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped_in: Option<String>,
}

/// The outcome of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The test passed.
    Passed,
    /// The test failed, or could not be set up.
    Failed {
        /// The runner's message.
        message: String,
    },
    /// The test was left out, or is known to fail.
    Skipped,
}

/// How many tests there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Those that passed.
    pub passed: usize,
    /// Those that failed.
    pub failed: usize,
    /// Those that were left out.
    pub skipped: usize,
}

impl Totals {
    /// Counts those that ran.
    pub fn ran(self) -> usize {
        self.passed.saturating_add(self.failed)
    }
}

/// The results of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tests {
    /// How many there were.
    pub totals: Totals,
    /// Those that are named, the failed ones first to be kept where there are very many.
    pub results: Vec<TestResult>,
    /// Whether what was read breaks off: there may have been more.
    #[serde(default)]
    pub is_cut: bool,
    /// The contradiction within the results; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Files that ran and reported no test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub empty_files: Vec<String>,
    /// Tests that stand in the files that ran, and have no result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreported: Vec<UnreportedTest>,
}

/// A test that stands in a file that ran, and has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreportedTest {
    /// The name of the test, with its class where it has one.
    pub name: String,
    /// The file, from the root.
    pub file: String,
    /// The line of the name, from 1.
    pub line: u32,
}

impl Tests {
    /// Returns those that failed.
    pub fn failed(&self) -> impl Iterator<Item = &TestResult> {
        self.results.iter().filter(|test| matches!(test.outcome, Outcome::Failed { .. }))
    }

    /// Adds the tests of another file or run.
    pub fn add(&mut self, other: Tests) {
        self.totals.passed = self.totals.passed.saturating_add(other.totals.passed);
        self.totals.failed = self.totals.failed.saturating_add(other.totals.failed);
        self.totals.skipped = self.totals.skipped.saturating_add(other.totals.skipped);
        self.results.extend(other.results);
        sheet::bound(&mut self.results);
        self.is_cut |= other.is_cut;
        self.doubt = self.doubt.take().or(other.doubt);
        self.empty_files.extend(other.empty_files);
        self.unreported.extend(other.unreported);
    }
}

/// Reads what became of the tests, in a form. `None` if nothing there is of that form.
pub fn read(form: Form, printed: &[u8]) -> Option<Tests> {
    form.reader()(&plain(printed))
}

/// Reads what became of the tests, in whichever form tells of some that ran. Where none does, a form
/// that says so much counts.
pub fn detect(printed: &[u8]) -> Option<(Form, Tests)> {
    let text = plain(printed);
    let mut empty = None;
    for form in Form::ALL {
        match form.reader()(&text) {
            Some(tests) if tests.totals.ran() > 0 => return Some((form, tests)),
            Some(tests) if empty.is_none() => empty = Some((form, tests)),
            Some(_) | None => {}
        }
    }
    empty
}
