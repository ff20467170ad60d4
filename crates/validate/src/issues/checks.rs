//! Derives issues from the checks of a round: [`from_checks`].

use std::collections::{BTreeMap, BTreeSet};

use assay_base::text::first_chars;
use assay_checks::check::{CheckKind, CheckOutcome, CheckState};
use assay_checks::coverage::Gap;
use assay_checks::kept::{KeptPart, part_of};
use assay_checks::results::{TestOutcome, TestReport, TestResult};

use crate::issue::{Issue, IssueKind, IssueSeverity, Remedy};
use crate::loop_state::Round;
use crate::plan::TestsPassed;

/// Maximum number of failed tests of a check that are reported, each as an issue.
const MAX_TESTS: usize = 50;

/// Maximum number of missing tests that are reported, each as an issue.
const MAX_GONE_ISSUES: usize = 20;

/// Maximum number of characters of a failure message that are stored.
const MAX_MESSAGE: usize = 2_000;

/// Returns the issues of check outcomes, given the earlier rounds and the minimum coverage in
/// percent.
pub fn from_checks(checks: &[CheckOutcome], before: &[Round], minimum: Option<f64>) -> Vec<Issue> {
    let mut issues: Vec<Issue> =
        checks.iter().flat_map(|check| from_check(check, minimum)).collect();
    issues.extend(checks.iter().flat_map(left_out_issues));
    issues.extend(gone_issues(checks, before));
    issues.extend(minimum.into_iter().flat_map(|minimum| gaps(checks, minimum)));
    // A test that fails in two checks is one issue.
    let mut seen = BTreeSet::new();
    issues.retain(|issue| seen.insert(issue.key.clone()));
    issues
}

fn from_check(check: &CheckOutcome, minimum: Option<f64>) -> Vec<Issue> {
    let whole = |title: String, why: &str| {
        let key = format!("check:{}", check.name);
        vec![Issue::new(title, IssueKind::from(check.kind)).with_key(key).with_description(why)]
    };
    match &check.state {
        CheckState::Passed => Vec::new(),
        CheckState::NotRun { why } => whole(format!("Not run: {}", check.name), why),
        CheckState::TimedOut => whole(
            format!("Timed out: {}", check.name),
            "the check exceeded its time limit and was killed",
        ),
        // Insufficient coverage is reported below, by file.
        CheckState::Failed { .. } if is_short(check, minimum) => Vec::new(),
        CheckState::Failed { why } => {
            let failed = check.tests.iter().flat_map(TestReport::failed).take(MAX_TESTS);
            let failed: Vec<Issue> = failed.map(|test| from_test(check, test)).collect();
            match failed.is_empty() {
                true => whole(format!("Fails: {}", check.name), why),
                false => failed,
            }
        }
    }
}

/// Returns issues for tests that did not run although the tests themselves do not say so: a test
/// that the code under test skips, and a test without a result in a file that ran.
fn left_out_issues(check: &CheckOutcome) -> Vec<Issue> {
    let Some(tests) = &check.tests else { return Vec::new() };
    let issue = |title: String, key: String, file: &str, line: Option<u32>, why: String| Issue {
        file: Some(file.to_owned()),
        line,
        ..Issue::new(title, IssueKind::from(check.kind))
            .with_key(key)
            .with_description(why)
            .with_remedy(Remedy::FixOrDecision)
    };
    let skipped = tests.results.iter().filter_map(|test| {
        let place = test.skipped_in.as_deref().filter(|_| test.outcome == TestOutcome::Skipped)?;
        let (file, line) = place.rsplit_once(':').unwrap_or((place, ""));
        // Tests and their support files may skip tests, and so may installed modules.
        let is_code =
            !file.starts_with('/') && part_of(file, &BTreeSet::new()) != Some(KeptPart::Whole);
        is_code.then(|| {
            issue(
                format!("Skipped by the code under test: {}", test.name),
                format!("skipped:{}", test.name),
                file,
                line.parse().ok(),
                format!(
                    "`{place}` skips the test, and is code under test: a test that the code under \
                     test skips proves nothing"
                ),
            )
        })
    });
    let unreported = tests.unreported.iter().map(|test| {
        issue(
            format!("Test has no result: {}", test.name),
            format!("unreported:{}:{}", test.file, test.name),
            &test.file,
            Some(test.line),
            format!(
                "the test is in `{}`, which ran, and `{}` reports no result for the test: the run \
                 ended before the test, or left it out",
                test.file, check.name
            ),
        )
    });
    skipped.chain(unreported).collect()
}

/// Returns true if a check failed only because of its coverage.
fn is_short(check: &CheckOutcome, minimum: Option<f64>) -> bool {
    let failed = check.tests.as_ref().map_or(0, |tests| tests.totals.failed);
    let measured = check.coverage.as_ref().zip(minimum);
    let falls_short =
        measured.is_some_and(|(measured, minimum)| !measured.gaps(minimum).is_empty());
    falls_short && failed == 0 && check.exit_code == Some(0)
}

fn from_test(check: &CheckOutcome, test: &TestResult) -> Issue {
    let message = match &test.outcome {
        TestOutcome::Failed { message } => message.trim(),
        TestOutcome::Passed | TestOutcome::Skipped => "",
    };
    let message = first_chars(message, MAX_MESSAGE).to_owned();
    Issue {
        file: test.file.clone(),
        description: Some(message).filter(|message| !message.is_empty()),
        ..Issue::new(format!("Test fails: {}", test.name), IssueKind::from(check.kind))
            .with_key(format!("test:{}", test.name))
    }
}

/// Tests and checks of earlier rounds that are missing now, by name, each with its check.
#[derive(Default)]
struct MissingTests<'a> {
    tests: BTreeMap<&'a str, &'a CheckOutcome>,
    /// For checks whose tests have no names: the earlier and the current number of tests.
    fewer: BTreeMap<&'a str, (usize, usize, &'a CheckOutcome)>,
    checks: BTreeMap<&'a str, &'a CheckOutcome>,
}

impl<'a> MissingTests<'a> {
    fn of(checks: &'a [CheckOutcome], before: &'a [Round]) -> MissingTests<'a> {
        let now: BTreeMap<&str, &CheckOutcome> =
            checks.iter().map(|check| (check.name.as_str(), check)).collect();
        // Tests of several packages may have the same name.
        let ran_now = count_by_name(checks.iter().flat_map(ran));
        let mut most: BTreeMap<&str, usize> = BTreeMap::new();
        for round in before {
            for (name, times) in count_by_name(round.checks.iter().flat_map(ran)) {
                let known = most.entry(name).or_default();
                *known = times.max(*known);
            }
        }
        let mut missed = MissingTests::default();
        for earlier in before.iter().flat_map(|round| &round.checks) {
            let name = earlier.name.as_str();
            let has = match now.get(name) {
                // A check that failed before its tests ran is reported already.
                Some(check) if check.tests.is_none() && !check.is_pass() => continue,
                Some(check) => count(check.tests.as_ref()),
                None if earlier.tests.is_none() && !is_replaced(earlier, checks) => {
                    missed.checks.insert(name, earlier);
                    continue;
                }
                // The check may have another name by now.
                None => checks.iter().map(|check| count(check.tests.as_ref())).sum(),
            };
            let had = count(earlier.tests.as_ref());
            // Missing names are only recognised in complete lists of names.
            let is_named = match now.get(name) {
                Some(check) => is_whole(check),
                None => checks.iter().all(is_whole),
            };
            if is_whole(earlier) && is_named {
                let is_missed = |name: &&str| ran_now.get(name) < most.get(name);
                let names = ran(earlier).filter(is_missed);
                missed.tests.extend(names.map(|name| (name, earlier)));
            } else if has < had {
                missed.fewer.insert(name, (had, has, earlier));
            }
        }
        missed
    }
}

/// Returns issues for tests and checks of earlier rounds that are missing now: a removed or skipped
/// test does not pass.
fn gone_issues(checks: &[CheckOutcome], before: &[Round]) -> Vec<Issue> {
    let MissingTests { tests, fewer, checks } = MissingTests::of(checks, before);
    let left_out = tests.len().saturating_sub(MAX_GONE_ISSUES);
    let named = tests.iter().take(MAX_GONE_ISSUES).map(|(name, check)| {
        gone_issue(check, format!("Test is missing: {name}"), format!("gone:{name}"))
    });
    let mut issues: Vec<Issue> = named.collect();
    if let (Some((_, check)), true) = (tests.last_key_value(), left_out > 0) {
        let title = format!("{left_out} more tests are missing");
        issues.push(gone_issue(check, title, "gone".to_owned()));
    }
    issues.extend(fewer.into_iter().map(|(name, (had, has, check))| {
        let title = format!("Fewer tests run: {name} had {had}, now {has}");
        gone_issue(check, title, format!("fewer:{name}"))
    }));
    issues.extend(checks.into_iter().map(|(name, check)| {
        gone_issue(check, format!("Check is missing: {name}"), format!("left:{name}"))
    }));
    issues
}

/// Returns true if another check replaces a missing one.
fn is_replaced(earlier: &CheckOutcome, checks: &[CheckOutcome]) -> bool {
    checks.iter().any(|check| check.kind == earlier.kind || check.also.contains(&earlier.kind))
}

fn gone_issue(check: &CheckOutcome, title: String, key: String) -> Issue {
    let why = "it ran in an earlier round, and does not run now; a deleted or skipped test proves \
               nothing";
    Issue::new(title, IssueKind::from(check.kind))
        .with_key(key)
        .with_description(why)
        .with_remedy(Remedy::FixOrDecision)
}

/// Counts the occurrences of each name.
fn count_by_name<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut count_by_name = BTreeMap::new();
    names.for_each(|name| *count_by_name.entry(name).or_default() += 1);
    count_by_name
}

/// Returns the names of the tests that ran.
fn ran(check: &CheckOutcome) -> impl Iterator<Item = &str> {
    let tests = check.tests.iter().flat_map(|tests| &tests.results);
    tests.filter(|test| test.outcome != TestOutcome::Skipped).map(|test| test.name.as_str())
}

fn count(tests: Option<&TestReport>) -> usize {
    tests.map_or(0, |tests| tests.totals.ran())
}

/// Returns true if the outcome names all tests that ran.
fn is_whole(check: &CheckOutcome) -> bool {
    ran(check).count() >= count(check.tests.as_ref())
}

/// Returns issues for coverage below a minimum: in total, of the added lines, and of each changed
/// file.
fn gaps(checks: &[CheckOutcome], minimum: f64) -> Vec<Issue> {
    let measured = || checks.iter().filter_map(|check| check.coverage.as_ref());
    let gaps = measured().flat_map(|measured| measured.gaps(minimum));
    let mut issues: Vec<Issue> = gaps.map(|gap| from_gap(&gap)).collect();
    // A report without any changed file measures something else.
    let knows = measured().any(|it| !it.files.is_empty());
    let unmeasured = measured().flat_map(|it| &it.unmeasured).find(|path| !is_test(path));
    issues.extend(unmeasured.filter(|_| !knows).map(|path| {
        Issue {
            severity: IssueSeverity::Medium,
            file: Some(path.clone()),
            ..Issue::new("The coverage reports contain no changed file", IssueKind::Coverage)
                .with_key("coverage:unmeasured")
                .with_description(format!("no report contains the coverage of `{path}`"))
        }
    }));
    issues
}

/// Returns true if a path looks like that of a test file, whose coverage is not measured.
fn is_test(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let in_tests =
        folders.split('/').any(|it| ["test", "tests", "spec", "__tests__"].contains(&it));
    let marks = ["test_", "_test.", ".test.", ".spec.", "conftest"];
    in_tests || marks.iter().any(|mark| name.contains(mark))
}

fn from_gap(gap: &Gap<'_>) -> Issue {
    let (of, key, file, line) = match gap {
        Gap::Total { .. } => ("in total".to_owned(), "total".to_owned(), None, None),
        Gap::Changed { .. } => ("of the added lines".to_owned(), "changed".to_owned(), None, None),
        Gap::File { path, missing, .. } => {
            let first = missing.ranges().next().map(|(first, _)| first);
            let path = (*path).to_owned();
            (format!("of `{path}`"), format!("file:{path}"), Some(path), first)
        }
    };
    let (Gap::Total { minimum, .. } | Gap::Changed { minimum, .. } | Gap::File { minimum, .. }) =
        gap;
    Issue {
        severity: IssueSeverity::Medium,
        file,
        line,
        ..Issue::new(format!("Test coverage {of} is below {minimum}%"), IssueKind::Coverage)
            .with_key(format!("coverage:{key}"))
            .with_description(gap.to_string())
    }
}

/// Returns the groups of tests that passed. A group passes if it has at least one check and all its
/// checks pass.
pub fn tests_passed(checks: &[CheckOutcome]) -> TestsPassed {
    let passed = |kinds: &[CheckKind]| {
        let is_of = |check: &&CheckOutcome| {
            // A smoke check that reports tests counts as a unit check.
            let is_tested = check.kind == CheckKind::Smoke && check.tests.is_some();
            kinds.contains(&check.kind)
                || check.also.iter().any(|kind| kinds.contains(kind))
                || (is_tested && kinds.contains(&CheckKind::Unit))
        };
        let mut of_group = checks.iter().filter(is_of).peekable();
        of_group.peek().is_some() && of_group.all(CheckOutcome::is_pass)
    };
    TestsPassed {
        unit: passed(&[CheckKind::Unit, CheckKind::FullSuite]),
        integration: passed(&[CheckKind::Integration, CheckKind::FullSuite]),
        e2e: passed(&[CheckKind::E2e]),
    }
}
