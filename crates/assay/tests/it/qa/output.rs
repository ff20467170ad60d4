//! The output of `--status` and `--metrics`.

use expect_test::expect;

use super::{FIX, QaFixture};
use crate::assay_in;

/// Replaces each time and tree hash by a fixed one.
fn still(text: &str) -> String {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let mut out = text.to_owned();
    let bytes = text.as_bytes();
    for at in 0..bytes.len() {
        let is_clock = |at: usize, shape: &str| {
            bytes.len() >= at + shape.len()
                && shape.bytes().zip(&bytes[at..]).all(|(want, byte)| match want {
                    b'0' => is_digit(byte),
                    want => want == *byte,
                })
        };
        for (shape, fixed) in
            [("0000-00-00T00:00:00Z", "2026-02-12T10:30:00Z"), ("(00:00)", "(10:30)")]
        {
            if is_clock(at, shape) {
                out.replace_range(at..at + shape.len(), fixed);
            }
        }
    }
    out
}

#[test]
fn the_status_shows_a_spec_from_pending_to_approved() {
    let fixture = QaFixture::with_fixer(FIX);
    let status = || still(&fixture.ends(0, &["--status"]).stdout);
    expect![[r#"
        Spec: 001-greeting

        QA Status: PENDING
        QA Sessions: 0
        Last Check: never
    "#]]
    .assert_eq(&status());
    fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "1")]);
    expect![[r#"
        Spec: 001-greeting

        QA Status: HUMAN_ESCALATION
        QA Sessions: 1
        Last Check: 2026-02-12T10:30:00Z
        Reason: the limit of 1 round is reached

        Issues Found:
        - Test fails: leaves (unit_test, high)
        - Not met: `leaves` passes (acceptance_criteria, high)

        Iteration History:
          Iteration 1 (10:30): Rejected - 2 issues
    "#]]
    .assert_eq(&status());
    fixture.ends(0, &["--resume"]);
    expect![[r#"
        Spec: 001-greeting

        QA Status: APPROVED
        QA Sessions: 3
        Last Check: 2026-02-12T10:30:00Z

        Iteration History:
          Iteration 1 (10:30): Rejected - 2 issues
          Iteration 2 (10:30): Rejected - 2 issues
          Iteration 3 (10:30): Approved
    "#]]
    .assert_eq(&status());
    fixture.repository.write("greeting.txt", "hello\ngoodbye\n\n");
    let void = status();
    let reason = "QA Status: PENDING\nQA Sessions: 3\nLast Check: 2026-02-12T10:30:00Z\n\
                  Reason: the tree has changed since the approval\n";
    assert!(void.contains(reason), "{void}");
}

#[test]
fn the_json_status_equals_the_json_output_of_the_run() {
    let fixture = QaFixture::with_fixer(FIX);
    fixture.ends_with(4, &["--format", "json"], &[("MAX_QA_ITERATIONS", "1")]).json();
    let ran = fixture.ends(0, &["--status", "--format", "json"]);
    let shown = ran.json();
    assert_eq!(shown["spec"], "001-greeting");
    assert_eq!(shown["status"], "human_escalation");
    assert_eq!(shown["qa_sessions"], 1);
    assert_eq!(shown["escalation_reason"], "the limit of 1 round is reached");
    let kinds: Vec<&str> = shown["issues_found"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["unit_test", "acceptance_criteria"]);
    assert_eq!(shown["iteration_history"][0]["status"], "rejected");
    assert_eq!(shown["iteration_history"][0]["issues"], 2);
    let ended = fixture.ends(0, &["--resume", "--format", "json"]).json();
    assert_eq!(ended, fixture.ends(0, &["--status", "--format", "json"]).json());
}

#[test]
fn the_status_writes_nothing() {
    let fixture = QaFixture::with_fixer(FIX);
    fixture.repository.commit("all of it");
    fixture.ends(0, &["--status"]);
    assert_eq!(fixture.repository.git(&["status", "--porcelain", "--ignored"]), "");
}

#[test]
fn metrics_summarize_the_outcomes_of_loops() {
    let fixture = QaFixture::with_fixer(FIX);
    let metrics = |args: &[&str]| {
        let ran = assay_in(fixture.repository.path(), &[&["qa", "--metrics"], args].concat(), b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran
    };
    assert_eq!(metrics(&[]).stdout, "Specs: 0\nApproved: 0\nHanded over: 0\n");
    fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "1")]);
    fixture.ends(0, &["--resume"]);
    let text = metrics(&[]).stdout;
    let shown: Vec<&str> = text.split("\nTime:\n").collect();
    expect![[r#"
        Specs: 1
        Approved: 1
        Handed over: 1

        Rounds to approval:
          Median: 2
          95th percentile: 2

        Fixed by the next round:
          acceptance_criteria: 1 of 1 (100%)
          unit_test: 1 of 1 (100%)
    "#]]
    .assert_eq(shown[0]);
    let stages: Vec<&str> =
        shown[1].lines().map(|line| line.trim_start().split(':').next().unwrap()).collect();
    assert_eq!(stages, ["checks", "fix", "review"]);
    let json = metrics(&["--spec", "001", "--format", "json"]).json();
    assert_eq!(json["rounds_to_approval"]["median"], 2);
    assert_eq!(json["fixes_by_type"]["unit_test"]["fixed"], 1);
}
