//! The state of a check, from the evidence of its run: [`judge`].

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::check::{CheckKind, CheckState, RequiredCheck};
use crate::coverage::CoverageMeasurement;
use crate::discovery::ResultSource;
use crate::results::TestReport;

/// Exit codes of a shell for a program that cannot be run, or does not exist.
const NOT_FOUND_CODES: [i32; 2] = [126, 127];

/// Messages of tools about missing programs or packages.
const MISSING: [&str; 6] = [
    "No module named pytest",
    "error: no such command: `",
    "could not determine executable to run",
    "Missing script: \"",
    "MISSING DEPENDENCY",
    "is not installed for the toolchain",
];

/// Messages of runners that reject their command line: words in the line with the reason, and words
/// that occur in the command or in the output then. A program under test can print the first as
/// well.
const REFUSALS: [(&str, &str); 10] = [
    (": error: ", "[file_or_dir]"),
    ("ERROR: file or directory not found: ", "no tests ran"),
    ("unittest: error: ", "usage:"),
    ("error: unexpected argument '", "Usage: cargo"),
    ("flag provided but not defined: ", "usage: go "),
    (": unknown command", "Run 'go help' for usage."),
    ("node: bad option: ", "node"),
    ("Unrecognized option \"", "Unrecognized CLI Parameter"),
    ("CACError: Unknown option ", "vitest"),
    ("error: unknown option '", "playwright"),
];

/// Options of pytest that plugins define, with the package of each.
const PLUGINS: [(&str, &str); 8] = [
    ("--cov", "pytest-cov"),
    ("-n", "pytest-xdist"),
    ("--numprocesses", "pytest-xdist"),
    ("--dist", "pytest-xdist"),
    ("--timeout", "pytest-timeout"),
    ("--asyncio-mode", "pytest-asyncio"),
    ("--reruns", "pytest-rerunfailures"),
    ("--ds", "pytest-django"),
];

/// The evidence of a check that finished.
pub(super) struct RunEvidence<'a> {
    pub(super) status: ExitStatus,
    pub(super) tests: Option<&'a TestReport>,
    /// True if the results end before the tests did; false if output is only missing because it was
    /// too long.
    pub(super) broke_off: bool,
    pub(super) coverage: Option<&'a CoverageMeasurement>,
    pub(super) tail: &'a str,
}

/// Returns the state of a check. A check passes only if the evidence shows it.
pub(super) fn judge(check: &RequiredCheck, evidence: &RunEvidence<'_>) -> CheckState {
    let ran = evidence.tests.map_or(0, |tests| tests.totals.ran());
    if let Some(tests) = evidence.tests
        && tests.totals.failed > 0
    {
        let failed = tests.totals.failed;
        let noun = if ran == 1 { "test" } else { "tests" };
        return CheckState::Failed { why: format!("{failed} of {ran} {noun} failed") };
    }
    let refused = refusal(check, evidence.tail).filter(|_| ran == 0);
    match (evidence.status.code(), refused) {
        (Some(0), _) => {}
        (Some(_), Some(why)) => return CheckState::NotRun { why },
        (Some(_), None) if ran == 0 && is_empty(evidence) => return untested(),
        (Some(code), None) => return failed(code, ran, evidence.tail),
        (None, _) => {
            let signal = evidence.status.signal().unwrap_or_default();
            return CheckState::Failed {
                why: format!("the command was killed by signal {signal}"),
            };
        }
    }
    if evidence.tests.is_some() && ran == 0 && !evidence.broke_off {
        return untested();
    }
    if evidence.broke_off {
        // A test that ends the whole process also ends the tests after it.
        let why = "the test results are truncated: the run ended before all tests finished, or \
                   the code under test ended it";
        return CheckState::Failed { why: why.to_owned() };
    }
    if let Some(doubt) = evidence.tests.and_then(|tests| tests.doubt.as_ref()) {
        return CheckState::NotRun { why: format!("the test results are invalid: {doubt}") };
    }
    if evidence.tests.is_none() && requires_results(check) {
        let why = match check.reading {
            ResultSource::Files { .. } => {
                "the command exited with code 0 without a report and without test results: the \
                 run was interrupted, or another program ran"
            }
            ResultSource::Guess | ResultSource::Nothing | ResultSource::Printed(_) => {
                "the command exited with code 0 without test results"
            }
        };
        return CheckState::NotRun { why: why.to_owned() };
    }
    coverage_state(check, evidence.coverage)
}

fn untested() -> CheckState {
    CheckState::NotRun { why: "no test ran".to_owned() }
}

/// Returns true if the output says that there are no tests: pytest and others have an exit code of
/// their own for that.
fn is_empty(evidence: &RunEvidence<'_>) -> bool {
    let says = ["no tests ran", "NO TESTS RAN", "No tests found", "no tests to run"];
    says.iter().any(|words| evidence.tail.contains(words))
}

/// Returns the reason why a runner rejected its command line, with the remedy; `None` if it did
/// not. No test ran then, so the results of the tests are unknown.
fn refusal(check: &RequiredCheck, tail: &str) -> Option<String> {
    let command = check.command.to_string();
    let said = REFUSALS.iter().find_map(|(mark, beside)| {
        let line = tail.lines().find(|line| line.contains(mark))?;
        (tail.contains(beside) || command.contains(beside)).then_some(line)
    })?;
    // Options for our own reports name folders that are removed by now.
    let words: Vec<&str> =
        said.split_whitespace().filter(|word| !word.contains("/assay-check-")).collect();
    let is_defined_by = |word: &str, option: &str| {
        word.strip_prefix(option).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    let is_pytest = command.contains("pytest") || tail.contains("pytest");
    let plugin = words.iter().find_map(|word| {
        PLUGINS.iter().find(|(option, _)| is_pytest && is_defined_by(word, option))
    });
    let remedy = match plugin {
        Some((option, package)) => {
            format!("install `{package}`, or remove `{option}` from the command")
        }
        None => "correct the command, or install its dependencies".to_owned(),
    };
    let said = words.join(" ");
    Some(format!("the test runner rejected its command line, so no test ran: {said}; {remedy}"))
}

fn failed(code: i32, ran: usize, tail: &str) -> CheckState {
    let last = tail.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let said = MISSING.iter().find_map(|mark| tail.lines().find(|line| line.contains(mark)));
    if let (0, Some(said)) = (ran, said) {
        return CheckState::NotRun {
            why: format!("a dependency of the command is missing: {}", said.trim()),
        };
    }
    if NOT_FOUND_CODES.contains(&code) {
        return CheckState::NotRun {
            why: format!("a dependency of the command is missing: {last}"),
        };
    }
    match last.is_empty() {
        true => CheckState::Failed {
            why: format!("the command exited with code {code} without output"),
        },
        false => CheckState::Failed { why: format!("the command exited with code {code}: {last}") },
    }
}

/// Returns true if a check must have results, since its runner is known to report them.
fn requires_results(check: &RequiredCheck) -> bool {
    match check.reading {
        ResultSource::Printed(_) | ResultSource::Files { .. } => check.kind != CheckKind::Coverage,
        ResultSource::Guess | ResultSource::Nothing => false,
    }
}

fn coverage_state(check: &RequiredCheck, coverage: Option<&CoverageMeasurement>) -> CheckState {
    let is_asked_for = check.kind == CheckKind::Coverage || check.minimum_coverage.is_some();
    match coverage {
        None if is_asked_for => {
            CheckState::NotRun { why: "the check wrote no readable coverage report".to_owned() }
        }
        Some(measured) if is_asked_for && measured.total.total == 0 => {
            CheckState::NotRun { why: "the coverage report measures nothing".to_owned() }
        }
        Some(measured) => match check.minimum_coverage {
            Some(minimum) if !measured.total.reaches(minimum) => CheckState::Failed {
                why: format!("coverage is {}, below the minimum of {minimum}%", measured.total),
            },
            Some(_) | None => CheckState::Passed,
        },
        None => CheckState::Passed,
    }
}
