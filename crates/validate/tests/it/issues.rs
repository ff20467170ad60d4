//! Tests of the issues that are derived from checks and criteria.

use assay_checks::check::{CheckKind, CheckOutcome, CheckState};
use assay_checks::coverage::{CoverageCount, CoverageMeasurement, FileMeasure};
use assay_checks::results::{ResultFormat, Totals, read};
use assay_validate::criterion::{CriterionAnswer, CriterionLine};
use assay_validate::event::ReviewResult;
use assay_validate::issues::{from_checks, from_criteria, tests_passed};
use assay_validate::loop_state::{Round, RoundOutcome};
use assay_validate::tree_hash::TreeHash;
use expect_test::{Expect, expect};
use proptest::prelude::*;

use crate::loop_simulation;

/// Parses checks: `NAME: TEST, -TEST, ~TEST`, where `-` marks a failed and `~` a skipped test;
/// `NAME = STATE` for checks without tests.
fn checks(text: &str) -> Vec<CheckOutcome> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(check_of).collect()
}

fn check_of(line: &str) -> CheckOutcome {
    let Some((name, tests)) = line.split_once(": ") else {
        let (name, state) = line.split_once(" = ").unwrap_or((line, "passed"));
        let why = || "it is not there".to_owned();
        let state = match state {
            "passed" => CheckState::Passed,
            "failed" => CheckState::Failed { why: why() },
            "not run" => CheckState::NotRun { why: why() },
            "timed out" => CheckState::TimedOut,
            other => panic!("`{other}`"),
        };
        return CheckOutcome { state, ..loop_simulation::outcome(name, CheckKind::Unit, true) };
    };
    let mut tap = format!("1..{}\n", tests.split(", ").count());
    for test in tests.split(", ") {
        tap.push_str(&match (test.strip_prefix('-'), test.strip_prefix('~')) {
            (Some(failed), _) => format!("not ok - {failed}\n"),
            (_, Some(skipped)) => format!("ok - {skipped} # SKIP\n"),
            (None, None) => format!("ok - {test}\n"),
        });
    }
    let tests = read(ResultFormat::Tap, tap.as_bytes()).unwrap();
    let passes = tests.totals.failed == 0;
    CheckOutcome { tests: Some(tests), ..loop_simulation::outcome(name, CheckKind::Unit, passes) }
}

fn round(checks: Vec<CheckOutcome>) -> Round {
    let at = String::new;
    Round {
        surroundings: Default::default(),
        number: 1,
        begun: at(),
        at: at(),
        tree: TreeHash("tree".to_owned()),
        checks,
        kept: Vec::new(),
        outcome: RoundOutcome::Verdict(ReviewResult::default()),
        fix: None,
    }
}

/// Compares the titles of the issues of checks, given the checks of an earlier round, with those
/// expected.
fn check(before: &str, now: &str, expected: Expect) {
    let issues = from_checks(&checks(now), &[round(checks(before))], None);
    let titles: String = issues.iter().map(|issue| format!("{}\n", issue.title)).collect();
    expected.assert_eq(&titles);
}

#[test]
fn every_test_and_check_that_did_not_pass_is_an_issue() {
    check(
        "",
        "unit: a, -b, -c
         slow = timed out
         lost = not run
         lint = failed
         fine",
        expect![[r#"
            Test fails: b
            Test fails: c
            Timed out: slow
            Not run: lost
            Fails: lint
        "#]],
    );
}

#[test]
fn a_test_that_is_deleted_skipped_or_silenced_is_reported_as_missing() {
    check(
        "unit: a, b",
        "unit: a",
        expect![[r#"
        Test is missing: b
    "#]],
    );
    check(
        "unit: a, b",
        "unit: a, ~b",
        expect![[r#"
        Test is missing: b
    "#]],
    );
    check(
        "unit: a, b",
        "unit = passed",
        expect![[r#"
        Test is missing: a
        Test is missing: b
    "#]],
    );
    check(
        "unit: a, b",
        "",
        expect![[r#"
        Test is missing: a
        Test is missing: b
    "#]],
    );
    check("unit: a, ~b", "unit: a", expect![[""]]);
}

#[test]
fn a_test_that_moved_to_another_check_is_not_reported_as_missing() {
    check("unit: a, b", "other: b, a", expect![[""]]);
    check("unit: a", "unit: b, a", expect![[""]]);
}

#[test]
fn a_check_that_did_not_run_is_reported_without_its_tests() {
    let observed = from_checks(&checks("unit = not run"), &[round(checks("unit: a, b"))], None);
    assert_eq!(observed.len(), 1);
    assert_eq!(observed[0].title, "Not run: unit");
}

#[test]
fn a_deleted_check_that_never_ran_is_reported_as_missing() {
    check(
        "unit = not run",
        "",
        expect![[r#"
        Check is missing: unit
    "#]],
    );
    check("unit = not run", "unit: a", expect![[""]]);
    check("unit = not run", "another: a", expect![[""]]);
}

#[test]
fn many_missing_tests_are_listed_up_to_a_limit_and_then_counted() {
    let names: Vec<String> = (10..40).map(|number| format!("t{number}")).collect();
    let issues = from_checks(
        &checks("unit: a"),
        &[round(checks(&format!("unit: a, {}", names.join(", "))))],
        None,
    );
    assert_eq!(issues.len(), 21);
    assert_eq!(issues[20].title, "10 more tests are missing");
}

#[test]
fn a_lower_number_of_unnamed_tests_is_reported() {
    let counted = |name: &str, passed: usize| {
        let mut check = check_of(&format!("{name}: a"));
        let tests = check.tests.as_mut().unwrap();
        (tests.totals, tests.results) = (Totals { passed, failed: 0, skipped: 0 }, Vec::new());
        check
    };
    let observed = |now: Vec<CheckOutcome>| -> Vec<String> {
        let issues = from_checks(&now, &[round(vec![counted("unit", 3)])], None);
        issues.into_iter().map(|issue| issue.title).collect()
    };
    assert_eq!(observed(vec![counted("unit", 2)]), ["Fewer tests run: unit had 3, now 2"]);
    assert_eq!(observed(vec![counted("other", 2)]), ["Fewer tests run: unit had 3, now 2"]);
    assert_eq!(observed(vec![]), ["Fewer tests run: unit had 3, now 0"]);
    assert!(observed(vec![counted("other", 3)]).is_empty());
    assert!(observed(vec![counted("unit", 4)]).is_empty());
}

#[test]
fn a_coverage_gap_is_reported_once_and_a_failed_coverage_check_always() {
    let count = |covered, total| CoverageCount { covered, total };
    let file = FileMeasure { count: count(1, 2), ..FileMeasure::default() };
    let measured = |total| CoverageMeasurement {
        total,
        files: [("src/a.rs".to_owned(), file.clone())].into(),
        ..CoverageMeasurement::default()
    };
    let short = CheckOutcome {
        exit_code: Some(0),
        coverage: Some(measured(count(7, 10))),
        ..check_of("coverage = failed")
    };
    let observed = |checks: &[CheckOutcome], minimum| -> Vec<String> {
        from_checks(checks, &[], minimum).into_iter().map(|issue| issue.title).collect()
    };
    let both = ["Test coverage in total is below 80%", "Test coverage of `src/a.rs` is below 80%"];
    assert_eq!(observed(&[short.clone(), short.clone()], Some(80.0)), both);
    assert_eq!(
        observed(std::slice::from_ref(&short), None),
        ["Fails: coverage"],
        "it failed all the same"
    );
    assert_eq!(observed(&[short], Some(10.0)), ["Fails: coverage"]);
}

#[test]
fn a_test_group_passes_if_it_has_checks_and_all_of_them_pass() {
    let of = |kind, passes| loop_simulation::outcome("x", kind, passes);
    let observed = |checks: &[CheckOutcome]| {
        let passed = tests_passed(checks);
        [passed.unit, passed.integration, passed.e2e]
    };
    assert_eq!(observed(&[]), [false; 3]);
    assert_eq!(observed(&[of(CheckKind::Unit, true)]), [true, false, false]);
    assert_eq!(observed(&[of(CheckKind::FullSuite, true)]), [true, true, false]);
    let mixed = [of(CheckKind::Unit, true), of(CheckKind::Unit, false), of(CheckKind::E2e, true)];
    assert_eq!(observed(&mixed), [false, false, true]);
    let also = CheckOutcome { also: vec![CheckKind::E2e], ..of(CheckKind::Unit, true) };
    assert_eq!(observed(&[also]), [true, false, true]);
}

#[test]
fn every_criterion_that_is_not_met_is_an_issue() {
    let line = |answer| CriterionLine { text: "c".to_owned(), answer, evidence: String::new() };
    let observed = |lines: &[CriterionLine]| -> Vec<String> {
        from_criteria(lines, true).into_iter().map(|issue| issue.title).collect()
    };
    assert_eq!(observed(&[]), ["The spec has no acceptance criteria"]);
    let all = [CriterionAnswer::Met, CriterionAnswer::NotMet, CriterionAnswer::CannotTell];
    assert_eq!(observed(&all.map(line)), ["Not met: c", "Cannot tell: c"]);
}

proptest! {
    #[test]
    fn a_check_that_did_not_pass_always_blocks(
        state in 0..3usize,
        exit in prop::option::of(0..2i32),
        covered in prop::option::of(0..5u64),
        tests in "[-~]?a(, [-~]?b)?",
        has_tests: bool,
        minimum in prop::option::of(0..100u32),
    ) {
        let states = ["failed", "not run", "timed out"];
        let mut check = check_of(&format!("unit = {}", states[state]));
        check.exit_code = exit;
        check.tests = check_of(&format!("unit: {tests}")).tests.filter(|_| has_tests);
        let total = |covered| CoverageCount { covered, total: 4.max(covered) };
        check.coverage = covered.map(|it| CoverageMeasurement { total: total(it), ..CoverageMeasurement::default() });
        prop_assert!(!from_checks(&[check], &[], minimum.map(f64::from)).is_empty());
    }
}
