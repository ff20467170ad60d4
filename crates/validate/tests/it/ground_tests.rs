//! Tests of the evidence that a real tree has to provide: tests, coverage, criteria, and a person's
//! sign-off if there are none.

use std::fs;

use assay_validate::ending::Ending;
use assay_validate::file_names::{ESCALATION, MANUAL_PLAN};
use assay_validate::plan;
use expect_test::expect;

use crate::stage::issue;
use crate::yard::{RIGHT, SPEC, Yard, mend, put};

fn spec(yard: &Yard, text: &str) {
    yard.repository.write(format!("{SPEC}/spec.md"), text);
}

/// Sets the risk level in the plan.
fn risk(yard: &Yard, risk: &str) {
    let text = yard.read(&format!("{SPEC}/{}", plan::NAME));
    let strategy = format!("{{\n  \"verification_strategy\": {{ \"risk_level\": \"{risk}\" }},");
    yard.repository.write(format!("{SPEC}/{}", plan::NAME), text.replacen('{', &strategy, 1));
}

/// Completes the implementation, so that only the issue under test is left.
fn done(yard: &Yard) {
    mend(yard.root());
}

#[test]
fn a_project_without_tests_gets_a_plan_to_go_through_by_hand() {
    let yard = Yard::new();
    spec(&yard, "## Acceptance Criteria\n\n- [ ] `docs/add.md` exists\n- [ ] `README` exists\n");
    yard.repository.remove("tests/run.sh");
    assert_eq!(yard.take_up(&mend), Ending::Approved);
    expect![[r#"
        # Manual Test Plan

        ## Test Cases

        1. [ ] `docs/add.md` exists
        2. [ ] `README` exists
    "#]]
    .assert_eq(&fs::read_to_string(yard.paper(MANUAL_PLAN)).unwrap());
}

#[test]
fn ticks_in_the_plan_to_go_through_are_kept_and_are_no_sign_off() {
    let yard = Yard::new();
    risk(&yard, "critical");
    spec(&yard, "## Acceptance Criteria\n\n- [ ] `README` exists\n");
    let ticked = "# Manual Test Plan\n\n## Test Cases\n\n1. [x] `README` exists\n   by Jo\n";
    yard.repository.write(format!("{SPEC}/{MANUAL_PLAN}"), ticked);
    let ending = yard.take_up(&|_| {});
    assert!(ending != Ending::Approved, "{ending:?}");
    assert_eq!(fs::read_to_string(yard.paper(MANUAL_PLAN)).unwrap(), ticked);
}

#[test]
fn a_plan_that_wants_tests_is_not_approved_without_them() {
    let yard = Yard::new();
    yard.repository.remove("tests/run.sh");
    spec(&yard, "## Acceptance Criteria\n\n- [ ] `README` exists\n");
    let path = format!("{SPEC}/{}", plan::NAME);
    let wants = r#"{ "verification_strategy": { "unit_tests": { "required": true } } }"#;
    yard.repository.write(&path, wants);
    assert!(matches!(yard.take_up(&|_| {}), Ending::Recurring { .. }));
    expect!["Not run: unit"].assert_eq(&yard.rounds()[0]);
}

#[test]
fn a_spec_without_criteria_is_never_approved() {
    let yard = Yard::new();
    done(&yard);
    spec(&yard, "## Verification\n\n**Unit Tests:**\n- `sh tests/run.sh`\n");
    risk(&yard, "low");
    assert_eq!(yard.take_up(&|_| {}), Ending::AwaitsDecision);
    expect!["The spec has no acceptance criteria"].assert_eq(&yard.rounds()[0]);
}

#[test]
fn a_criterion_of_which_nobody_can_tell_is_not_met() {
    let yard = Yard::new();
    done(&yard);
    risk(&yard, "trivial");
    spec(&yard, "## Acceptance Criteria\n\n- [ ] It is pleasant to use\n");
    assert_eq!(yard.take_up(&|_| {}), Ending::AwaitsDecision);
    expect!["Nobody can tell: It is pleasant to use"].assert_eq(&yard.rounds()[0]);
}

#[test]
fn a_criterion_is_met_by_the_test_that_it_names_and_by_no_other() {
    let yard = Yard::new();
    done(&yard);
    let verified = "\n## Verification\n\n**Unit Tests:**\n- `sh tests/run.sh`\n";
    risk(&yard, "low");
    spec(&yard, &format!("## Acceptance Criteria\n\n- [ ] `adds nothing`\n{verified}"));
    assert_eq!(yard.take_up(&|_| {}), Ending::Approved);
    spec(&yard, &format!("## Acceptance Criteria\n\n- [ ] `adds everything`\n{verified}"));
    assert!(yard.take_up(&|_| {}) != Ending::Approved);
}

#[test]
fn a_test_that_passes_does_not_show_that_it_is_gone() {
    let yard = Yard::new();
    done(&yard);
    risk(&yard, "low");
    let verified = "\n## Verification\n\n**Unit Tests:**\n- `sh tests/run.sh`\n";
    spec(&yard, &format!("## Acceptance Criteria\n\n- [ ] `adds nothing` is removed\n{verified}"));
    assert_eq!(yard.take_up(&|_| {}), Ending::AwaitsDecision);
}

#[test]
fn what_is_covered_too_little_is_an_issue_until_it_is_not() {
    let yard = Yard::new();
    done(&yard);
    yard.repository.write(".gitignore", "lcov.info\n");
    let measured = |hits: u32| {
        let record = format!("SF:src/add.sh\\nDA:1,1\\nDA:2,{hits}\\nend_of_record\\n");
        format!("sh tests/run.sh || exit 1\nprintf '{record}' > lcov.info\n")
    };
    yard.repository.write("src/add.sh", format!("{RIGHT}sub() {{ echo $(($1 - $2)); }}\n"));
    yard.repository.write("tests/coverage.sh", measured(0));
    spec(
        &yard,
        "## Acceptance Criteria\n\n- [ ] `adds nothing`\n\n## Verification\n\n**Unit Tests:**\n\
         - `sh tests/coverage.sh`\n- Coverage: >= 80%\n\n**Integration Tests:**\n\
         - `sh tests/run.sh`\n",
    );
    let mends = |folder: &std::path::Path| put(folder, "tests/coverage.sh", &measured(1));
    assert_eq!(yard.take_up(&mends), Ending::Approved);
    expect![[r#"
        [
            "Test coverage in all is below 80%; Test coverage of the lines that were added is below 80%; Test coverage of `src/add.sh` is below 80%",
            "",
        ]
    "#]].assert_debug_eq(&yard.rounds());
}

#[test]
fn a_critical_tree_needs_a_persons_word_besides() {
    let yard = Yard::new();
    done(&yard);
    risk(&yard, "critical");
    let text = yard.read(&format!("{SPEC}/spec.md"));
    yard.repository.write(".gitignore", "lcov.info\n");
    let record = "SF:src/add.sh\\nDA:1,1\\nend_of_record\\n";
    let coverage = format!("sh tests/run.sh || exit 1\nprintf '{record}' > lcov.info\n");
    yard.repository.write("tests/coverage.sh", coverage);
    let more = "- `sh tests/coverage.sh`\n\n**E2E Tests:**\n- `sh tests/run.sh`\n";
    spec(&yard, &format!("{text}{more}"));
    assert_eq!(yard.take_up(&|_| {}), Ending::AwaitsSignOff, "{:?}", yard.rounds());
    assert!(yard.paper(MANUAL_PLAN).exists());
    let escalation = fs::read_to_string(yard.paper(ESCALATION)).unwrap();
    assert!(escalation.contains("--sign-off YOU"), "{escalation}");
    yard.sign();
    assert_eq!(yard.take_up(&|_| {}), Ending::Approved);
    assert_eq!(yard.reviews.get(), 1);
    yard.repository.write("README", "more\n");
    assert_eq!(yard.take_up(&|_| {}), Ending::AwaitsSignOff);
}

#[test]
fn what_a_review_finds_blocks_whatever_the_tests_say() {
    let yard = Yard::new();
    done(&yard);
    yard.findings.borrow_mut().push(issue("A secret is committed"));
    let ending = yard.take_up(&|folder| {
        put(folder, "README", "nothing\n");
        yard.findings.borrow_mut().clear();
    });
    assert_eq!(ending, Ending::Approved);
    assert_eq!(yard.rounds(), ["A secret is committed", ""]);
    assert!(yard.requests.borrow()[0].contains("### 1. A secret is committed"));
}
