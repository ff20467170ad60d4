//! A spec of critical risk needs a person to approve the very tree.

use std::fs;

use super::QaFixture;
use super::coverage::half_covered_by_lcov;

const SPEC: &str = "\
# Greeting

## Acceptance Criteria

- [ ] `greets` passes

## Verification

**Unit Tests:**
- `sh cover.sh` - All pass
- Coverage: >= 50%

**Integration Tests:**
- `sh cover.sh` - All pass

**E2E Tests:**
- Manual: Greet → Wait → Leave
";

const PLAN: &str = r#"{
  "phases": [{"subtasks": [{"id": "1", "status": "completed"}]}],
  "verification_strategy": {"risk_level": "critical"}
}
"#;

/// Runs a critical spec until a person is needed.
fn awaiting() -> QaFixture {
    let fixture = half_covered_by_lcov(SPEC, PLAN);
    let ran = fixture.ends(4, &[]);
    assert!(ran.stdout.contains("--sign-off \"YOUR NAME\""), "{}", ran.stdout);
    fixture.is_handed_over("awaits_sign_off", "a person must sign off this tree");
    fixture
}

#[test]
fn a_critical_spec_is_approved_once_a_person_signs_off_its_tree() {
    let fixture = awaiting();
    let signed = fixture.ends(0, &["--sign-off", "Ada"]);
    assert!(signed.stdout.contains("APPROVED"), "{}", signed.stdout);
    fixture.is_approved();
    let event = &fixture.events_of("signed_off")[0];
    assert_eq!(event["by"], "Ada");
    assert_eq!(event["tree"], fixture.events_of("review_begun").last().unwrap()["tree"]);
    assert_eq!(fixture.events_of("review_begun").len(), 1, "nothing had to be run again");
}

#[test]
fn ticks_in_the_manual_test_plan_do_not_replace_a_sign_off() {
    let fixture = awaiting();
    let plan = fixture.artifact("MANUAL_TEST_PLAN.md").replace("[ ]", "[x]");
    fixture.repository.write("specs/001-greeting/MANUAL_TEST_PLAN.md", plan);
    fixture.ends(4, &[]);
    fixture.ends(4, &["--resume"]);
    fixture.is_handed_over("awaits_sign_off", "a person must sign off this tree");
}

#[test]
fn a_changed_tree_must_be_signed_off_again() {
    let fixture = awaiting();
    fixture.ends(0, &["--sign-off", "Ada"]);
    let greet = fs::read_to_string(fixture.repository.file("greet.sh")).unwrap();
    fixture.repository.write("greet.sh", format!("{greet}\n"));
    let status = fixture.ends(0, &["--status", "--format", "json"]).json();
    assert_eq!(status["status"], "pending");
    fixture.ends(4, &[]);
    fixture.is_handed_over("awaits_sign_off", "a person must sign off this tree");
    fixture.ends(0, &["--sign-off", "Grace"]);
    fixture.is_approved();
}

#[test]
fn a_sign_off_needs_a_name_and_a_validated_tree() {
    let fixture = awaiting();
    let unnamed = fixture.ends(2, &["--sign-off", " "]);
    assert!(unnamed.stderr.contains("missing name"), "{}", unnamed.stderr);
    // The tree has changed, so it must be validated first.
    fixture.repository.write("tested.txt", "");
    let ran =
        fixture.ends_with(4, &["--sign-off", "Ada", "--resume"], &[("MAX_QA_ITERATIONS", "1")]);
    assert!(ran.stdout.contains("rejected"), "{}", ran.stdout);
    fixture.is_handed_over("too_many_rounds", "the limit of 1 round is reached");
}
