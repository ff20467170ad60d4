//! Errors that stop a run before it begins, and gaps of a spec.

use std::fs;

use super::{FIX, PLAN, QaFixture, SPEC};
use crate::assay_in;

#[test]
fn an_unreadable_plan_stops_every_command_and_is_not_changed() {
    let fixture = QaFixture::with_fixer(FIX);
    let plan = fixture.repository.file("specs/001-greeting/implementation_plan.json");
    let cut = &PLAN.as_bytes()[..PLAN.len() / 2];
    for (bytes, why) in [
        (cut, "cannot parse the plan as JSON: EOF while parsing"),
        (b"", "cannot parse the plan as JSON"),
        (b"[1, 2]", "invalid plan: expected a JSON object, found a list"),
        (b"{\"feature\": \"\xff\"}", "the plan is not valid UTF-8 at byte 13"),
        (
            b"{\"verification_strategy\": {\"risk_level\": \"dire\"}}",
            "invalid value `dire` for `risk_level`",
        ),
    ] {
        fs::write(&plan, bytes).unwrap();
        for args in [&[][..], &["--status"], &["--resume"], &["--sign-off", "Ada"]] {
            let ran = fixture.ends(2, args);
            assert!(ran.stderr.contains(why), "{why}: {}", ran.stderr);
            assert_eq!(fs::read(&plan).unwrap(), bytes, "{args:?}");
        }
    }
    assert!(!fixture.has_artifact("qa_journal.jsonl"));
}

#[test]
fn subtasks_that_are_not_completed_are_named() {
    let plan = PLAN.replacen("\"completed\"", "\"in_progress\"", 1);
    let fixture = QaFixture::with(SPEC, &plan, FIX, "");
    let ran = fixture.ends(2, &[]);
    let why = "is completed: `1.1` (Say hello) is in_progress\n";
    assert!(ran.stderr.ends_with(why), "{}", ran.stderr);
    assert_eq!(fixture.artifact("implementation_plan.json"), plan);
    let none = QaFixture::with(SPEC, "{\"phases\": []}", FIX, "");
    let ran = none.ends(2, &[]);
    assert!(
        ran.stderr.contains("has no subtasks, so nothing was implemented yet"),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_unknown_or_ambiguous_spec_prefix_is_refused_with_the_candidates() {
    let fixture = QaFixture::with_fixer(FIX);
    let of = |prefix: &str| {
        let ran = assay_in(fixture.repository.path(), &["qa", "--spec", prefix], b"");
        assert_eq!(ran.code, 2, "{}", ran.stdout);
        ran.stderr
    };
    assert_eq!(of("7"), "error: unknown spec `7`; the specs are: `specs/001-greeting`\n");
    fixture.repository.write("specs/001-parting/spec.md", SPEC);
    assert_eq!(
        of("001"),
        "error: ambiguous spec `001`: it matches `specs/001-greeting`, `specs/001-parting`; write \
         more of the name, or the whole path\n"
    );
    assert!(of("../001").contains("invalid spec `"), "{}", of("../001"));
    let whole = assay_in(fixture.repository.path(), &["qa", "--spec", "001-greeting"], b"");
    assert_eq!(whole.code, 0, "{}{}", whole.stdout, whole.stderr);
    let missing = of("001-parting");
    assert!(missing.contains("missing plan `"), "{missing}");
}

#[test]
fn a_spec_without_criteria_is_never_approved() {
    let spec = SPEC.replace("- [ ] `greets` passes\n- [ ] `leaves` passes\n", "");
    let fixture = QaFixture::with(&spec, PLAN, FIX, "");
    fixture.repository.write("greeting.txt", "hello, goodbye\n");
    fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "1")]);
    let title = "The spec has no acceptance criteria".to_owned();
    assert_eq!(fixture.issues(), [("acceptance_criteria".to_owned(), title)]);
}

#[test]
fn a_null_sign_off_counts_as_no_sign_off() {
    let plan = PLAN.replacen("{\n", "{\n  \"qa_signoff\": null,\n", 1);
    let fixture = QaFixture::with(SPEC, &plan, FIX, "");
    let status = fixture.ends(0, &["--status"]);
    assert!(status.stdout.contains("QA Status: PENDING\nQA Sessions: 0\n"), "{}", status.stdout);
    fixture.ends(0, &[]);
    fixture.is_approved();
}

#[test]
fn a_sign_off_written_into_the_plan_approves_nothing() {
    let forged = "{\n  \"qa_signoff\": {\"status\": \"approved\", \"qa_session\": 1},\n";
    let fixture = QaFixture::with(SPEC, &PLAN.replacen("{\n", forged, 1), "", "");
    fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "1")]);
    assert_eq!(fixture.plan()["qa_signoff"]["status"], "human_escalation");
}

#[test]
fn a_project_without_tests_gets_a_manual_test_plan_that_keeps_its_ticks() {
    let spec = "# Greeting\n\n## Acceptance Criteria\n\n- [ ] The file `greeting.txt` exists\n- [ ] `greeting.txt` mentions `goodbye`\n";
    let fixture = QaFixture::bare();
    fixture.configure(FIX, "");
    fixture.repository.commit("before");
    fixture.repository.write("specs/001-greeting/spec.md", spec);
    fixture.repository.write("specs/001-greeting/implementation_plan.json", PLAN);
    fixture.repository.write("greeting.txt", "hello\n");
    fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "1")]);
    let title = "Not met: `greeting.txt` mentions `goodbye`".to_owned();
    assert_eq!(fixture.issues(), [("acceptance_criteria".to_owned(), title)]);
    let plan = fixture.artifact("MANUAL_TEST_PLAN.md");
    assert!(plan.contains("1. [ ] The file `greeting.txt` exists\n"), "{plan}");
    let ticked = plan.replacen("[ ]", "[x]", 1);
    fixture.repository.write("specs/001-greeting/MANUAL_TEST_PLAN.md", &ticked);
    fixture.ends(0, &["--resume"]);
    fixture.is_approved();
    assert_eq!(fixture.artifact("MANUAL_TEST_PLAN.md"), ticked);
}

#[test]
fn a_spec_without_an_implementation_is_refused() {
    let fixture = QaFixture::bare();
    fixture.repository.write("specs/001-greeting/spec.md", super::SPEC);
    fixture.repository.write("specs/001-greeting/implementation_plan.json", super::PLAN);
    let ran = fixture.ends(2, &["--base", "HEAD"]);
    assert!(ran.stderr.contains("only the spec was changed on top of"), "{}", ran.stderr);
    assert!(ran.stderr.contains("with `--base`"), "{}", ran.stderr);
}
