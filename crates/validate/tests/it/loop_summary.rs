//! Tests of the summary of an ended loop.

use assay_validate::loop_summary::LoopSummary;
use expect_test::{Expect, expect};

use crate::loop_simulation::{FixFn, LoopStorage, ReviewFn, SimulatedLoop, issue};

fn check(review: &ReviewFn<'_>, fix: &FixFn<'_>, expected: Expect) {
    let storage = LoopStorage::new();
    let (ending, loop_state) = SimulatedLoop::new(&storage, review, fix).run(None);
    let LoopSummary { name, text } = LoopSummary::of("001-stage", &loop_state, &ending);
    expected.assert_eq(&format!("{name}\n{text}"));
}

#[test]
fn a_summary_lists_issues_with_their_outcome_and_the_fixes() {
    check(
        &|it| Ok(if it.round == 1 { vec![issue("prefer spaces")] } else { vec![] }),
        &|it| Ok(it.tree + 5),
        expect![[r#"
            validation of spec 001-stage
            The validation of spec 001-stage ended after 3 rounds: all acceptance criteria are met.
            - "prefer spaces" (code_quality, high) was open in round 1 and was resolved afterwards.
            - "Fails: unit" (unit_test, high) was open in round 1, 2 and was resolved afterwards.
            - "Fails: integration" (integration_test, high) was open in round 1, 2 and was resolved afterwards.
            - After round 1 the fixer changed something, and reported: All tests pass, everything is perfect.
            - After round 2 the fixer changed something, and reported: All tests pass, everything is perfect.
        "#]],
    );
}

#[test]
fn a_summary_lists_open_issues_and_the_reason_for_the_end() {
    check(
        &|_| Ok(vec![]),
        &|it| Ok(it.tree),
        expect![[r#"
            validation of spec 001-stage
            The validation of spec 001-stage ended after 3 rounds: `Fails: unit` and 1 more recurred in 3 rounds.
            - "Fails: unit" (unit_test, high) was open in round 1, 2, 3 and was still open at the end.
            - "Fails: integration" (integration_test, high) was open in round 1, 2, 3 and was still open at the end.
            - After round 1 the fixer changed nothing, and reported: All tests pass, everything is perfect.
            - After round 2 the fixer changed nothing, and reported: All tests pass, everything is perfect.
        "#]],
    );
}

#[test]
fn a_summary_contains_no_secret_and_is_bounded_in_length() {
    let storage = LoopStorage::new();
    let secret = "password = \"kT9vQ2mX7pLw\"";
    let review = |_| {
        let many = (0..500).map(|n| issue(&format!("{n} {secret}\n- {}", "long ".repeat(9_000))));
        Ok(many.collect())
    };
    let fix = |it: crate::loop_simulation::StepCall| Ok(it.tree + 10);
    let mut simulation = SimulatedLoop::new(&storage, &review, &fix);
    simulation.limits.rounds = 1;
    let (ending, loop_state) = simulation.run(None);
    let LoopSummary { text, .. } = LoopSummary::of(&format!("001 {secret}"), &loop_state, &ending);
    assert!(!text.contains("kT9vQ2mX7pLw"), "{text}");
    assert!(text.len() < 16_000 && text.lines().count() <= 40, "{}", text.len());
}
