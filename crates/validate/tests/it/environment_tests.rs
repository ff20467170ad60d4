//! Tests of the evidence that a real tree has to provide: tests, coverage, criteria, and a person's
//! sign-off if there are none.

use std::fs;

use assay_validate::ending::Ending;
use assay_validate::file_names::{ESCALATION, MANUAL_PLAN};
use assay_validate::plan;
use expect_test::expect;

use crate::loop_fixture::{LoopFixture, RIGHT, SPEC, apply_correct_fix, put};
use crate::loop_simulation::issue;

fn spec(fixture: &LoopFixture, text: &str) {
    fixture.repository.write(format!("{SPEC}/spec.md"), text);
}

/// Sets the risk level in the plan.
fn risk(fixture: &LoopFixture, risk: &str) {
    let text = fixture.read(&format!("{SPEC}/{}", plan::NAME));
    let strategy = format!("{{\n  \"verification_strategy\": {{ \"risk_level\": \"{risk}\" }},");
    fixture.repository.write(format!("{SPEC}/{}", plan::NAME), text.replacen('{', &strategy, 1));
}

/// Completes the implementation, so that only the issue under test is left.
fn done(fixture: &LoopFixture) {
    apply_correct_fix(fixture.root());
}

#[test]
fn a_project_without_tests_gets_a_manual_test_plan() {
    let fixture = LoopFixture::new();
    spec(&fixture, "## Acceptance Criteria\n\n- [ ] `docs/add.md` exists\n- [ ] `README` exists\n");
    fixture.repository.remove("tests/run.sh");
    assert_eq!(fixture.take_up(&apply_correct_fix), Ending::Approved);
    expect![[r#"
        # Manual Test Plan

        ## Test Cases

        1. [ ] `docs/add.md` exists
        2. [ ] `README` exists
    "#]]
    .assert_eq(&fs::read_to_string(fixture.artifact_path(MANUAL_PLAN)).unwrap());
}

#[test]
fn ticks_in_the_manual_test_plan_are_kept_and_are_not_a_sign_off() {
    let fixture = LoopFixture::new();
    risk(&fixture, "critical");
    spec(&fixture, "## Acceptance Criteria\n\n- [ ] `README` exists\n");
    let ticked = "# Manual Test Plan\n\n## Test Cases\n\n1. [x] `README` exists\n   by Jo\n";
    fixture.repository.write(format!("{SPEC}/{MANUAL_PLAN}"), ticked);
    let ending = fixture.take_up(&|_| {});
    assert!(ending != Ending::Approved, "{ending:?}");
    assert_eq!(fs::read_to_string(fixture.artifact_path(MANUAL_PLAN)).unwrap(), ticked);
}

#[test]
fn a_plan_that_requires_tests_is_not_approved_without_them() {
    let fixture = LoopFixture::new();
    fixture.repository.remove("tests/run.sh");
    spec(&fixture, "## Acceptance Criteria\n\n- [ ] `README` exists\n");
    let path = format!("{SPEC}/{}", plan::NAME);
    let wants = r#"{ "verification_strategy": { "unit_tests": { "required": true } } }"#;
    fixture.repository.write(&path, wants);
    assert!(matches!(fixture.take_up(&|_| {}), Ending::Recurring { .. }));
    expect!["Not run: unit"].assert_eq(&fixture.rounds()[0]);
}

#[test]
fn a_spec_without_criteria_is_never_approved() {
    let fixture = LoopFixture::new();
    done(&fixture);
    spec(&fixture, "## Verification\n\n**Unit Tests:**\n- `sh tests/run.sh`\n");
    risk(&fixture, "low");
    assert_eq!(fixture.take_up(&|_| {}), Ending::AwaitsDecision);
    expect!["The spec has no acceptance criteria"].assert_eq(&fixture.rounds()[0]);
}

#[test]
fn an_undecidable_criterion_is_not_met() {
    let fixture = LoopFixture::new();
    done(&fixture);
    risk(&fixture, "trivial");
    spec(&fixture, "## Acceptance Criteria\n\n- [ ] It is pleasant to use\n");
    assert_eq!(fixture.take_up(&|_| {}), Ending::AwaitsDecision);
    expect!["Cannot tell: It is pleasant to use"].assert_eq(&fixture.rounds()[0]);
}

#[test]
fn a_criterion_is_met_by_the_test_that_it_names_and_by_no_other() {
    let fixture = LoopFixture::new();
    done(&fixture);
    let verified = "\n## Verification\n\n**Unit Tests:**\n- `sh tests/run.sh`\n";
    risk(&fixture, "low");
    spec(&fixture, &format!("## Acceptance Criteria\n\n- [ ] `adds nothing`\n{verified}"));
    assert_eq!(fixture.take_up(&|_| {}), Ending::Approved);
    spec(&fixture, &format!("## Acceptance Criteria\n\n- [ ] `adds everything`\n{verified}"));
    assert!(fixture.take_up(&|_| {}) != Ending::Approved);
}

#[test]
fn a_passing_test_does_not_prove_its_own_removal() {
    let fixture = LoopFixture::new();
    done(&fixture);
    risk(&fixture, "low");
    let verified = "\n## Verification\n\n**Unit Tests:**\n- `sh tests/run.sh`\n";
    spec(
        &fixture,
        &format!("## Acceptance Criteria\n\n- [ ] `adds nothing` is removed\n{verified}"),
    );
    assert_eq!(fixture.take_up(&|_| {}), Ending::AwaitsDecision);
}

#[test]
fn coverage_below_the_minimum_is_an_issue_until_it_is_raised() {
    let fixture = LoopFixture::new();
    done(&fixture);
    fixture.repository.write(".gitignore", "lcov.info\n");
    let measured = |hits: u32| {
        let record = format!("SF:src/add.sh\\nDA:1,1\\nDA:2,{hits}\\nend_of_record\\n");
        format!("sh tests/run.sh || exit 1\nprintf '{record}' > lcov.info\n")
    };
    fixture.repository.write("src/add.sh", format!("{RIGHT}sub() {{ echo $(($1 - $2)); }}\n"));
    fixture.repository.write("tests/coverage.sh", measured(0));
    spec(
        &fixture,
        "## Acceptance Criteria\n\n- [ ] `adds nothing`\n\n## Verification\n\n**Unit Tests:**\n\
         - `sh tests/coverage.sh`\n- Coverage: >= 80%\n\n**Integration Tests:**\n\
         - `sh tests/run.sh`\n",
    );
    let raise_coverage = |folder: &std::path::Path| put(folder, "tests/coverage.sh", &measured(1));
    assert_eq!(fixture.take_up(&raise_coverage), Ending::Approved);
    expect![[r#"
        [
            "Test coverage in total is below 80%; Test coverage of the added lines is below 80%; Test coverage of `src/add.sh` is below 80%",
            "",
        ]
    "#]].assert_debug_eq(&fixture.rounds());
}

#[test]
fn a_tree_of_critical_risk_also_needs_the_sign_off_of_a_person() {
    let fixture = LoopFixture::new();
    done(&fixture);
    risk(&fixture, "critical");
    let text = fixture.read(&format!("{SPEC}/spec.md"));
    fixture.repository.write(".gitignore", "lcov.info\n");
    let record = "SF:src/add.sh\\nDA:1,1\\nend_of_record\\n";
    let coverage = format!("sh tests/run.sh || exit 1\nprintf '{record}' > lcov.info\n");
    fixture.repository.write("tests/coverage.sh", coverage);
    let more = "- `sh tests/coverage.sh`\n\n**E2E Tests:**\n- `sh tests/run.sh`\n";
    spec(&fixture, &format!("{text}{more}"));
    assert_eq!(fixture.take_up(&|_| {}), Ending::AwaitsSignOff, "{:?}", fixture.rounds());
    assert!(fixture.artifact_path(MANUAL_PLAN).exists());
    let escalation = fs::read_to_string(fixture.artifact_path(ESCALATION)).unwrap();
    assert!(escalation.contains("--sign-off YOU"), "{escalation}");
    fixture.sign();
    assert_eq!(fixture.take_up(&|_| {}), Ending::Approved);
    assert_eq!(fixture.reviews.get(), 1);
    fixture.repository.write("README", "more\n");
    assert_eq!(fixture.take_up(&|_| {}), Ending::AwaitsSignOff);
}

#[test]
fn a_review_finding_blocks_even_if_the_tests_pass() {
    let fixture = LoopFixture::new();
    done(&fixture);
    fixture.findings.borrow_mut().push(issue("A secret is committed"));
    let ending = fixture.take_up(&|folder| {
        put(folder, "README", "nothing\n");
        fixture.findings.borrow_mut().clear();
    });
    assert_eq!(ending, Ending::Approved);
    assert_eq!(fixture.rounds(), ["A secret is committed", ""]);
    assert!(fixture.requests.borrow()[0].contains("### 1. A secret is committed"));
}
