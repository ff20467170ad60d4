//! Tests of the documents that the loop writes into the folder of a spec.

use std::path::Path;
use std::time::Duration;

use assay_validate::artifacts::{
    self, Appearance, CheckLine, CheckLineOutcome, CoverageLine, Escalation, RecurringIssue,
    Report, TestCount,
};
use assay_validate::criterion::{CriterionAnswer, CriterionLine};
use assay_validate::issue::{Issue, IssueKind, IssueSeverity, Remedy};
use assay_validate::plan::ImplementationPlan;
use assay_validate::spec::Spec;
use expect_test::expect;

pub(crate) fn spec(name: &str) -> Spec {
    let plan = ImplementationPlan::parse("{}".to_owned()).unwrap();
    Spec::parse(&Path::new("specs").join(name), "", &plan).unwrap()
}

pub(crate) fn issue(title: &str) -> Issue {
    Issue {
        title: title.to_owned(),
        kind: IssueKind::AcceptanceCriteria,
        file: Some("src/api/client.py".to_owned()),
        line: Some(42),
        severity: IssueSeverity::High,
        description: Some(
            "A lost connection ends the program.\nIt should be tried again.".to_owned(),
        ),
        fix: Some("Handle `ConnectionError`".to_owned()),
        key: None,
        remedy: Remedy::Fix,
    }
}

pub(crate) fn bare(title: &str, kind: IssueKind, severity: IssueSeverity) -> Issue {
    let (file, line, description, fix) = (None, None, None, None);
    Issue { kind, severity, file, line, description, fix, ..issue(title) }
}

fn checks() -> Vec<CheckLine> {
    vec![
        CheckLine {
            name: "unit".to_owned(),
            command: Some("pytest -q | cat".to_owned()),
            outcome: CheckLineOutcome::Failed,
            exit: Some(1),
            took: Some(Duration::from_millis(1_240)),
            tests: Some(TestCount { passed: 3, failed: 1, skipped: 0 }),
            tail: "E   assert 1 == 2\n1 failed, 3 passed\n".to_owned(),
            notes: Vec::new(),
        },
        CheckLine {
            name: "build".to_owned(),
            command: Some("make".to_owned()),
            outcome: CheckLineOutcome::Passed,
            exit: Some(0),
            took: Some(Duration::from_secs(125)),
            tests: None,
            tail: "done".to_owned(),
            notes: Vec::new(),
        },
        CheckLine {
            name: "e2e".to_owned(),
            command: None,
            outcome: CheckLineOutcome::NotRun { why: "no flow is written down".to_owned() },
            exit: None,
            took: None,
            tests: None,
            tail: String::new(),
            notes: Vec::new(),
        },
    ]
}

#[test]
fn a_fix_request_lists_issues_and_forbidden_actions() {
    let coverage = bare("Unit test coverage below 80%", IssueKind::Coverage, IssueSeverity::Medium);
    let issues = [issue("Missing error handling for network failures"), coverage];
    expect![[r#"
        # QA Fix Request

        - Spec: 001-login
        - Round: 2
        - Issues: 2

        Each issue below keeps the spec from being approved. Whether it is fixed is seen by running the checks and the review again, and not by what is said of it.

        ## Issues

        ### 1. Missing error handling for network failures

        - Type: acceptance_criteria
        - Severity: high
        - Place: src/api/client.py:42
        - Description: A lost connection ends the program.
                It should be tried again.
        - Fix: Handle `ConnectionError`

        ### 2. Unit test coverage below 80%

        - Type: coverage
        - Severity: medium

        ## What must not be done

        - Do not change the spec, the plan or anything else in the spec's folder.
        - Do not delete, skip or weaken a test, and do not lower a limit, so that a check passes.
        - Do not silence a rule, a linter or a compiler instead of mending what it says.
        - Do not change what no issue asks for.
        - Do not write a sign-off: whether it is approved is not for the fixer to say.
    "#]].assert_eq(&artifacts::render_fix_request(&issues, &[], 2, &spec("001-login")));
}

#[test]
fn a_fix_request_without_issues_states_that_none_is_open() {
    let text = artifacts::render_fix_request(&[], &[], 2, &spec("001-login"));
    assert!(
        text.contains("## Issues\n\nNo issue is open.\n\n## What must not be done\n"),
        "{text}"
    );
}

#[test]
fn an_escalation_states_its_reason_the_attempts_and_how_to_resume() {
    let appearance = |round, tried: Option<&str>| Appearance {
        round,
        title: format!("Missing error handling ({round})"),
        tried: tried.map(str::to_owned),
    };
    let recurring = RecurringIssue {
        issue: issue("Missing error handling"),
        appearances: vec![
            appearance(1, Some("Caught the error.\nLogged it.")),
            appearance(2, Some("")),
            appearance(4, None),
        ],
    };
    let open = [bare("Slow query", IssueKind::Performance, IssueSeverity::Low)];
    let text = artifacts::render_escalation(&Escalation {
        spec: "001-login",
        round: 4,
        at: "2026-02-12T10:30:00Z",
        reason: "`Missing error handling` recurred in 3 rounds",
        recurring: &[recurring],
        open: &open,
        checks: &checks(),
        actions: &["Look at `src/api/client.py`.".to_owned()],
        has_fixer: true,
    });
    expect![[r#"
        # QA Human Escalation

        - Spec: 001-login
        - Round: 4
        - When: 2026-02-12T10:30:00Z

        ## Why

        The loop stopped here: `Missing error handling` recurred in 3 rounds

        ## Recurring Issues

        ### 1. Missing error handling

        - Type: acceptance_criteria
        - Severity: high
        - Place: src/api/client.py:42
        - Description: A lost connection ends the program.
                It should be tried again.
        - Fix: Handle `ConnectionError`
        - Rounds: 1, 2, 4
        - Round 1, seen as: Missing error handling (1)
        - Round 1, tried: Caught the error.
                Logged it.
        - Round 2, seen as: Missing error handling (2)
        - Round 2, tried: a fix without a summary
        - Round 4, seen as: Missing error handling (4)
        - Round 4, tried: nothing

        ## Open Issues

        ### 1. Slow query

        - Type: performance
        - Severity: low

        ## Output of the Checks

        | Check | Command | Outcome | Exit | Time | Tests |
        |---|---|---|---|---|---|
        | unit | `pytest -q \| cat` | failed | 1 | 1.2 s | 3 passed, 1 failed |
        | build | `make` | passed | 0 | 2 min 5 s | – |
        | e2e | – | not run: no flow is written down | – | – | – |

        Output of unit:

        ```
        E   assert 1 == 2
        1 failed, 3 passed
        ```

        ## Suggested Actions

        1. Look at `src/api/client.py`.
        2. Fix the recurring issues by hand: the fixer could not resolve them.
        3. Check the criteria in `spec.md`: an unclear criterion, or one that contradicts another, cannot be met.
        4. Write instructions for the fixer into `QA_FIX_REQUEST.md`: the next run starts with them.

        ## How to Resume

        After a change of any file, run `assay qa --spec 001-login`, which reviews the changed tree. If no file needs a change, run `assay qa --spec 001-login --resume`, or delete `QA_FIX_REQUEST.md` and run `assay qa --spec 001-login`. In each case, the limits count from zero again.
    "#]].assert_eq(&text);
}

#[test]
fn an_unsafe_spec_name_is_not_put_into_a_command() {
    let resume = |spec: &str| {
        let escalation = Escalation {
            spec,
            round: 1,
            at: "",
            reason: "",
            recurring: &[],
            open: &[],
            checks: &[],
            actions: &[],
            has_fixer: true,
        };
        artifacts::render_escalation(&escalation).lines().last().unwrap().to_owned()
    };
    assert!(resume("001-a; rm -rf ~").contains("`assay qa --spec 001-a --resume`"));
    assert!(resume("--help").contains("`assay qa --spec NAME --resume`"));
}

#[test]
fn a_report_shows_criteria_checks_coverage_and_issues() {
    let criterion = |text: &str, answer, evidence: &str| CriterionLine {
        text: text.to_owned(),
        answer,
        evidence: evidence.to_owned(),
    };
    let text = artifacts::render_report(&Report {
        sign_offs: &[],
        remarks: &[],
        not_judged: &[],
        no_test_project: false,
        spec: "001-login",
        verdict: "rejected",
        round: 2,
        at: "2026-02-12T10:30:00Z",
        tree: "5f3a",
        criteria: &[
            criterion("User can register", CriterionAnswer::Met, "`src/auth.py:12` does it"),
            criterion("a | b", CriterionAnswer::NotMet, "`a|b` is missing"),
            criterion("fast", CriterionAnswer::CannotTell, ""),
        ],
        checks: &checks(),
        coverage: &[
            CoverageLine { of: "total".to_owned(), percent: 79.96, minimum: Some(80.0) },
            CoverageLine { of: "src/a_b.py".to_owned(), percent: 100.0, minimum: None },
        ],
        kept: &[],
        feedback: None,
        issues: &[issue("Missing error handling")],
    });
    expect![[r#"
        # QA Report

        - Spec: 001-login
        - Verdict: REJECTED
        - Round: 2
        - When: 2026-02-12T10:30:00Z
        - Tree: 5f3a

        ## Acceptance Criteria

        | # | Criterion | Answer | Evidence |
        |---|---|---|---|
        | 1 | User can register | met | `src/auth.py:12` does it |
        | 2 | a \| b | not met | `a\|b` is missing |
        | 3 | fast | cannot tell |  |

        ## Checks

        | Check | Command | Outcome | Exit | Time | Tests |
        |---|---|---|---|---|---|
        | unit | `pytest -q \| cat` | failed | 1 | 1.2 s | 3 passed, 1 failed |
        | build | `make` | passed | 0 | 2 min 5 s | – |
        | e2e | – | not run: no flow is written down | – | – | – |

        Output of unit:

        ```
        E   assert 1 == 2
        1 failed, 3 passed
        ```

        ## Coverage

        | Of | Covered | Minimum |
        |---|---|---|
        | total | 79.9% | 80% |
        | src/a\_b.py | 100.0% | – |

        ## Issues

        ### 1. Missing error handling

        - Type: acceptance_criteria
        - Severity: high
        - Place: src/api/client.py:42
        - Description: A lost connection ends the program.
                It should be tried again.
        - Fix: Handle `ConnectionError`
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_report_without_content_states_that_for_each_section() {
    let text = artifacts::render_report(&Report {
        sign_offs: &[],
        remarks: &[],
        no_test_project: false,
        spec: "001-login",
        verdict: "approved",
        round: 1,
        at: "2026-02-12T10:30:00Z",
        tree: "5f3a",
        criteria: &[],
        not_judged: &[],
        checks: &[],
        coverage: &[],
        kept: &[],
        feedback: None,
        issues: &[],
    });
    expect![[r#"
        # QA Report

        - Spec: 001-login
        - Verdict: APPROVED
        - Round: 1
        - When: 2026-02-12T10:30:00Z
        - Tree: 5f3a

        ## Acceptance Criteria

        No acceptance criteria.

        ## Checks

        No check was run.

        ## Coverage

        Coverage was not measured.

        ## Issues

        None.
    "#]]
    .assert_eq(&text);
}
