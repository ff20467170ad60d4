//! Compares the results of a run with those of a run with kept tests: [`compare`].

use std::collections::{BTreeMap, BTreeSet};

use assay_base::text::first_chars;
use assay_checks::check::{CheckKind, CheckOutcome, CheckState};
use assay_checks::results::{TestOutcome, TestResult};

use super::test_sources::TestSources;
use super::{TestFate, WeakenedTest};

/// Maximum number of characters of a quoted failure message.
const MAX_MESSAGE_CHARS: usize = 300;

/// The number of results of the tests with one name, of which there may be several.
#[derive(Debug, Default)]
struct Tally<'a> {
    passed: usize,
    failed: usize,
    skipped: usize,
    said: &'a str,
    file: Option<&'a str>,
    kind: Option<CheckKind>,
}

impl Tally<'_> {
    fn ran(&self) -> usize {
        self.passed + self.failed
    }
}

/// The result of a comparison.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TestComparison {
    pub(crate) weakened: Vec<WeakenedTest>,
    /// Names of kept tests that were renamed and prove the same as before.
    pub(crate) renamed: Vec<String>,
    /// The number of tests that ran with kept tests.
    pub(crate) ran: usize,
}

/// Compares the outcomes of checks now with those of a run with kept tests. `changes_a_check` is
/// true if a file that affects a whole check was changed or deleted, and not only added.
pub(crate) fn compare(
    now: &[CheckOutcome],
    kept: &[CheckOutcome],
    sources: &TestSources,
    changes_a_check: bool,
) -> TestComparison {
    let (now_tests, kept_tests) = (tally(now), tally(kept));
    let mut compared =
        TestComparison { ran: kept.iter().map(ran).sum::<usize>(), ..TestComparison::default() };
    let new: BTreeSet<&str> =
        now_tests.keys().copied().filter(|name| !kept_tests.contains_key(name)).collect();
    // Tests that did not run at all are an issue already.
    let is_broken = now.iter().any(|check| check.tests.is_none() && !check.is_pass());
    for (name, tests) in &kept_tests {
        if tests.ran() == 0 {
            continue;
        }
        let fate = match now_tests.get(name) {
            Some(here) => fate(tests, here),
            None if is_broken => None,
            None => match successor(name, &new, &now_tests) {
                Some(here) if here.failed > 0 => None,
                Some(here) if here.passed == 0 => Some(TestFate::Skipped),
                Some(_) if tests.failed > 0 => Some(TestFate::Passes),
                Some(_) => {
                    compared.renamed.push((*name).to_owned());
                    None
                }
                None if tests.failed == 0
                    && (sources.is_renamed(leaf(name), &leaves(&new))
                        || has_as_many_cases(name, &kept_tests, &now_tests)) =>
                {
                    compared.renamed.push((*name).to_owned());
                    None
                }
                // An import error is no test. Kept tests cannot load a module that was renamed, and
                // if all of them exist now, they prove the same as before.
                None if is_import_error(name, tests) && sources.are_all_kept() => {
                    compared.renamed.push((*name).to_owned());
                    None
                }
                None if is_import_error(name, tests) => Some(TestFate::Unloadable),
                None => Some(TestFate::Gone),
            },
        };
        compared.weakened.extend(fate.map(|now| WeakenedTest {
            test: (*name).to_owned(),
            file: tests.file.map(str::to_owned),
            kind: tests.kind.unwrap_or(CheckKind::Unit),
            now,
            fails: (tests.failed > 0).then(|| short(tests.said)),
        }));
    }
    if changes_a_check {
        compared.weakened.extend(kept.iter().filter_map(|check| of_check(check, now)));
    }
    compared
}

/// Returns the state of a kept test that has the same name now; `None` if the test is not weakened.
fn fate(kept: &Tally<'_>, now: &Tally<'_>) -> Option<TestFate> {
    if now.failed > 0 {
        // The failing test is an issue already.
        return None;
    }
    match now.passed {
        0 => Some(TestFate::Skipped),
        _ if kept.failed > 0 => Some(TestFate::Passes),
        passed if passed < kept.ran() && now.skipped > 0 => Some(TestFate::Skipped),
        passed if passed < kept.ran() => Some(TestFate::Gone),
        _ => None,
    }
}

/// Returns the new test that has the name of a missing one, in another file, suite or class, or
/// with parameters.
fn successor<'a, 'b>(
    name: &str,
    new: &BTreeSet<&str>,
    now: &'b BTreeMap<&'a str, Tally<'a>>,
) -> Option<&'b Tally<'a>> {
    let is_case = |name: &str| leaf(name).ends_with(']');
    let wanted = leaf(name);
    // A case of a parametrised test does not replace another case.
    let is_it = |other: &&&str| match is_case(name) {
        true => leaf(other) == wanted,
        false => without_case(leaf(other)) == wanted,
    };
    new.iter().find(is_it).and_then(|found| now.get(*found))
}

/// Returns true if a kept test is one of several cases, and the test has at least as many cases
/// now, which all pass.
fn has_as_many_cases(
    name: &str,
    kept: &BTreeMap<&str, Tally<'_>>,
    now: &BTreeMap<&str, Tally<'_>>,
) -> bool {
    let Some(test) = without_case_of(name) else { return false };
    let cases = |all: &BTreeMap<&str, Tally<'_>>| {
        let cases = all.iter().filter(|(name, _)| without_case_of(name) == Some(test));
        cases.fold((0, 0), |(passed, others), (_, it)| {
            (passed + it.passed, others + it.failed + it.skipped)
        })
    };
    let ((passed, _), (passes, others)) = (cases(kept), cases(now));
    others == 0 && passes >= passed
}

/// Returns true if a result is that of a file that could not be loaded.
fn is_import_error(name: &str, tests: &Tally<'_>) -> bool {
    let is_module = ![" > ", "::", "("].iter().any(|mark| name.contains(mark))
        || name.contains("unittest.loader._FailedTest");
    let says = ["ImportError", "ModuleNotFoundError"].iter().any(|word| tests.said.contains(word));
    is_module && tests.failed > 0 && says
}

/// Returns a weakened test for a check whose tests have no names: the check passes now and fails
/// with kept tests, or runs fewer tests now.
fn of_check(kept: &CheckOutcome, now: &[CheckOutcome]) -> Option<WeakenedTest> {
    let has_names = |check: &CheckOutcome| check.tests.iter().any(|it| !it.results.is_empty());
    let same = now.iter().find(|check| check.name == kept.name);
    let same = same.or_else(|| now.iter().find(|check| check.kind == kept.kind))?;
    let counted = |check: &CheckOutcome| check.tests.as_ref().map(|tests| tests.totals.ran());
    let weakened = |now: TestFate, fails: Option<String>| {
        Some(WeakenedTest { test: kept.name.clone(), file: None, kind: kept.kind, now, fails })
    };
    match &kept.state {
        _ if !same.is_pass() => None,
        CheckState::Passed => match (counted(kept), counted(same)) {
            (Some(before), Some(after)) if after < before && !has_names(kept) => {
                weakened(TestFate::Fewer, None)
            }
            _ => None,
        },
        CheckState::Failed { .. }
            if kept.tests.iter().any(|tests| tests.failed().next().is_some()) =>
        {
            None
        }
        CheckState::Failed { why } | CheckState::NotRun { why } => {
            weakened(TestFate::CheckPasses, Some(reason(why, &kept.tail)))
        }
        CheckState::TimedOut => weakened(TestFate::CheckPasses, Some("it timed out".to_owned())),
    }
}

/// Returns the reason of a failed check: the first error of a compiler is more useful than its last
/// line.
fn reason(why: &str, tail: &str) -> String {
    let error = tail.lines().find(|line| line.starts_with("error") || line.contains(": error"));
    match error {
        Some(error) => short(error),
        None => short(why),
    }
}

fn tally(checks: &[CheckOutcome]) -> BTreeMap<&str, Tally<'_>> {
    let mut all: BTreeMap<&str, Tally<'_>> = BTreeMap::new();
    for check in checks {
        // The same tests may run in two checks: the highest counts of a name are used.
        let mut here: BTreeMap<&str, Tally<'_>> = BTreeMap::new();
        for test in check.tests.iter().flat_map(|tests| &tests.results) {
            add(here.entry(test_key(&test.name)).or_default(), test, check.kind);
        }
        for (name, tests) in here {
            let known = all.entry(name).or_default();
            known.passed = known.passed.max(tests.passed);
            known.skipped = known.skipped.max(tests.skipped);
            if tests.failed > known.failed {
                (known.failed, known.said) = (tests.failed, tests.said);
            }
            known.file = known.file.or(tests.file);
            known.kind = known.kind.or(tests.kind);
        }
    }
    all
}

fn add<'a>(tally: &mut Tally<'a>, test: &'a TestResult, kind: CheckKind) {
    match &test.outcome {
        TestOutcome::Passed => tally.passed += 1,
        TestOutcome::Skipped => tally.skipped += 1,
        TestOutcome::Failed { message } => {
            tally.failed += 1;
            tally.said = message;
        }
    }
    tally.file = tally.file.or(test.file.as_deref());
    tally.kind = Some(kind);
}

fn ran(check: &CheckOutcome) -> usize {
    check.tests.as_ref().map_or(0, |tests| tests.totals.ran())
}

/// Returns the name of a test without the line number of a documentation example.
fn test_key(name: &str) -> &str {
    name.split_once(" (line ").map_or(name, |(name, _)| name)
}

/// Returns the name of a test within its file and suite.
pub(crate) fn leaf(name: &str) -> &str {
    let name = test_key(name);
    if let Some((own, class)) = name.strip_suffix(')').and_then(|name| name.split_once(" ("))
        && !own.contains(' ')
        && class.contains('.')
    {
        return own;
    }
    // Separators within the parameters of a case belong to the parameters.
    let whole = without_case_of(name).unwrap_or(name);
    let ends = ["::", " > "].iter().filter_map(|mark| Some(whole.rfind(mark)? + mark.len()));
    &name[ends.max().unwrap_or(0)..]
}

/// Returns the full name of a parametrised test without its parameters: `a > test_b` of `a >
/// test_b[1-2]`. Returns `None` if the test has no parameters.
pub(crate) fn without_case_of(name: &str) -> Option<&str> {
    let (test, _) = name.strip_suffix(']')?.split_once('[')?;
    test.ends_with(|c: char| c.is_alphanumeric() || c == '_').then_some(test)
}

/// Returns the name of a test without the parameters of a case, such as `[1-2]`.
fn without_case(leaf: &str) -> &str {
    match leaf.strip_suffix(']').and_then(|rest| rest.split_once('[')) {
        Some((name, _)) if !name.is_empty() => name,
        Some(_) | None => leaf,
    }
}

fn leaves<'a>(names: &BTreeSet<&'a str>) -> BTreeSet<&'a str> {
    names.iter().map(|name| without_case(leaf(name))).collect()
}

/// Returns the line with the reason of a test failure, truncated to `MAX_MESSAGE_CHARS` characters.
fn short(said: &str) -> String {
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let says = |line: &&str| {
        let marks = ["Error", "assert", "panicked", "expected", "error", "Fail"];
        marks.iter().any(|mark| line.contains(mark))
    };
    // The summary line of a failed import only names the file.
    let missing = |line: &&str| {
        ["cannot import name", "No module named"].iter().any(|words| line.contains(words))
    };
    let line = lines()
        .find(missing)
        .or_else(|| lines().find(says))
        .or_else(|| lines().next())
        .unwrap_or_default();
    first_chars(line, MAX_MESSAGE_CHARS).to_owned()
}
