//! Tests of the outcome of a gate.

use assay_gates::attempt::{Attempt, AttemptResult, AttemptState};
use assay_gates::blocking_policy::BlockingPolicy;
use assay_gates::gate_state::{GateState, VerifiedScope};
use assay_gates::gate_status::{GateOutcome, ItemEffect};
use assay_gates::item::{ItemResult, Severity};
use assay_gates::sidecar::JournalDecision;
use expect_test::{Expect, expect};
use proptest::prelude::*;

use crate::answers::{digest, judged, shown, state, with};

fn check(iteration: u32, items: &str, expected: Expect) {
    expected.assert_eq(&shown(&judged(&state(iteration, items), &BlockingPolicy::DEFAULT)));
}

#[test]
fn fewer_severities_block_in_later_iterations_and_must_always_blocks() {
    let blocks = |bar: BlockingPolicy, iteration| {
        let all = [Severity::May, Severity::Should, Severity::Must];
        all.map(|severity| if bar.blocks(severity, iteration) { "x" } else { "-" }).concat()
    };
    let table = |bar| (1..=6).map(|n| format!("{n} {}\n", blocks(bar, n))).collect::<String>();
    expect![[r#"
        1 xxx
        2 xxx
        3 -xx
        4 -xx
        5 --x
        6 --x
    "#]]
    .assert_eq(&table(BlockingPolicy::DEFAULT));
    expect![[r#"
        1 xxx
        2 xxx
        3 xxx
        4 xxx
        5 xxx
        6 xxx
    "#]]
    .assert_eq(&table(BlockingPolicy::STRICT));
}

#[test]
fn an_unverified_item_prevents_a_pass_at_every_severity() {
    check(
        1,
        "qa-001 * MUST TODO",
        expect![[r#"
        Open Initial 1
        qa-001 open
    "#]],
    );
    check(
        6,
        "qa-001 * MAY TODO",
        expect![[r#"
        Open Retry 6
        qa-001 open
    "#]],
    );
}

#[test]
fn an_empty_list_is_no_pass() {
    check(
        1,
        "",
        expect![[r#"
        Empty Initial 1
    "#]],
    );
}

#[test]
fn a_failed_item_below_the_blocking_severity_stays_failed_and_does_not_block() {
    let items = "qa-001 * MAY FAIL x\n qa-002 * MUST PASS";
    check(
        3,
        items,
        expect![[r#"
        Pass Complete 3
        qa-001 waived
        qa-002 holds
    "#]],
    );
    assert_eq!(judged(&state(3, items), &BlockingPolicy::DEFAULT).counts().fail, 1);
    check(
        2,
        items,
        expect![[r#"
        Fail Retry 2
        qa-001 blocks
        qa-002 holds
    "#]],
    );
}

#[test]
fn a_failed_should_item_blocks_up_to_the_fourth_iteration() {
    check(
        4,
        "qa-001 * SHOULD FAIL x",
        expect![[r#"
        Fail Retry 4
        qa-001 blocks
    "#]],
    );
    check(
        5,
        "qa-001 * SHOULD FAIL x",
        expect![[r#"
        Pass Complete 5
        qa-001 waived
    "#]],
    );
    check(
        5,
        "qa-001 * MUST FAIL x",
        expect![[r#"
        Fail Retry 5
        qa-001 blocks
    "#]],
    );
}

#[test]
fn a_failure_beyond_the_iteration_limit_is_handed_over_to_a_person() {
    check(
        9,
        "qa-001 * MUST FAIL x",
        expect![[r#"
        HandedOver(["iteration 9 failed, and at most 8 iterations are allowed"]) Retry 9
        qa-001 blocks
    "#]],
    );
    check(
        9,
        "qa-001 * MUST PASS",
        expect![[r#"
        Pass Complete 9
        qa-001 holds
    "#]],
    );
}

/// Returns a gate whose item failed on `times` contents in a row, ending with `c`.
fn failed(times: u32, severity: &str) -> GateState {
    let mut state = state(1, &format!("qa-001 * {severity} TODO"));
    let id = "qa-001".parse().unwrap();
    for time in (0..times).rev() {
        let content = if time == 0 { "c".to_owned() } else { format!("before {time}") };
        with(&content, |content| {
            state.settle(&id, ItemResult::Fail("x".to_owned()), content, VerifiedScope::Everything)
        });
    }
    state
}

#[test]
fn beyond_the_failure_limit_a_must_item_is_handed_over_and_any_other_is_accepted() {
    let check = |times, severity, expected: Expect| {
        expected.assert_eq(&shown(&judged(&failed(times, severity), &BlockingPolicy::STRICT)));
    };
    check(
        5,
        "MUST",
        expect![[r#"
        Fail Initial 1
        qa-001 blocks
    "#]],
    );
    check(
        6,
        "MUST",
        expect![[r#"
        HandedOver(["qa-001 failed 6 times, and 5 are allowed"]) Initial 1
        qa-001 blocks
    "#]],
    );
    check(
        5,
        "SHOULD",
        expect![[r#"
        Fail Initial 1
        qa-001 blocks
    "#]],
    );
    check(
        6,
        "SHOULD",
        expect![[r#"
        Pass Complete 1
        qa-001 accepted by assay: failed 6 times, and 5 are allowed
    "#]],
    );
    check(
        6,
        "MAY",
        expect![[r#"
        Pass Complete 1
        qa-001 accepted by assay: failed 6 times, and 5 are allowed
    "#]],
    );
}

#[test]
fn a_repeated_failure_on_the_same_content_is_counted_once() {
    let mut state = failed(1, "MUST");
    let id = "qa-001".parse().unwrap();
    for _ in 0..10 {
        with("c", |content| {
            state.settle(&id, ItemResult::Fail("x".to_owned()), content, VerifiedScope::Everything)
        });
    }
    assert_eq!(state.note(&id).fails(), 1);
}

#[test]
fn a_failed_item_can_be_accepted_with_a_reason_and_only_for_its_current_finding() {
    let mut state = state(1, "qa-001 * MUST FAIL x");
    let id = "qa-001".parse().unwrap();
    let accept = |state: &mut GateState, reason: &str| {
        with("c", |content| state.accept(&id, reason, "ada", content))
    };
    let refused = accept(&mut state, " ").unwrap_err().to_string();
    assert!(refused.starts_with("reason required: explain why `qa-001` is accepted"));
    assert!(accept(&mut state, "because").is_err());
    accept(&mut state, "known, next release").unwrap();
    expect![[r#"
        Pass Complete 1
        qa-001 accepted by ada: known, next release
    "#]]
    .assert_eq(&shown(&judged(&state, &BlockingPolicy::DEFAULT)));
    with("c", |content| {
        state.settle(&id, ItemResult::Fail("worse".to_owned()), content, VerifiedScope::Everything)
    });
    expect![[r#"
        Fail Initial 1
        qa-001 blocks
    "#]]
    .assert_eq(&shown(&judged(&state, &BlockingPolicy::DEFAULT)));
}

#[test]
fn a_pass_is_void_once_the_content_changes() {
    let state = state(1, "qa-001 * MUST PASS\n qa-002 * MUST FAIL x");
    let on_other = with("d", |content| {
        let results = state.list.items().map(|item| state.result(item, content));
        results.collect::<Vec<_>>()
    });
    assert_eq!(on_other, [ItemResult::Todo, ItemResult::Fail("x".to_owned())]);
}

#[test]
fn verifying_the_same_content_again_does_not_advance_the_iteration() {
    let mut state = state(1, "qa-001 * MAY FAIL x");
    for _ in 0..5 {
        state.begin(&digest("c"));
        state.end(&digest("c"), AttemptResult::NeedsChanges);
    }
    assert_eq!(state.sidecar.iteration, 1);
    state.begin(&digest("d"));
    assert_eq!(state.sidecar.iteration, 2);
    state.end(&digest("d"), AttemptResult::NeedsChanges);
    state.begin(&digest("c"));
    assert_eq!(state.sidecar.iteration, 2, "it was tried before");
    state.sidecar.last = None;
    // The verification left an item open, so it was no complete attempt.
    state.begin(&digest("e"));
    assert_eq!(state.sidecar.iteration, 2);
    state.end(&digest("e"), AttemptResult::Pass);
    state.begin(&digest("f"));
    assert_eq!(state.sidecar.iteration, 1, "what comes after a pass is new work");
}

#[test]
fn an_attempt_moves_from_initial_to_retry_until_it_is_complete() {
    let after = |state, iteration, reviewed| {
        let Attempt { state, iteration } = Attempt { state, iteration }.after(reviewed);
        (state, iteration)
    };
    assert_eq!(after(AttemptState::Initial, 1, AttemptResult::Pass), (AttemptState::Complete, 1));
    assert_eq!(
        after(AttemptState::Initial, 1, AttemptResult::NeedsChanges),
        (AttemptState::Retry, 2)
    );
    assert_eq!(
        after(AttemptState::Retry, 2, AttemptResult::NeedsChanges),
        (AttemptState::Retry, 3)
    );
    assert_eq!(after(AttemptState::Retry, 3, AttemptResult::Pass), (AttemptState::Complete, 3));
}

fn update(before: &str, result: ItemResult) -> Result<(ItemResult, u32), String> {
    let mut state = state(1, &format!("qa-001 * MUST {before}"));
    let id = "qa-001".parse().unwrap();
    with("c", |content| state.update(&id, result, content)).map_err(|error| error.to_string())?;
    Ok((state.list.get(&id).unwrap().result.clone(), state.note(&id).version))
}

#[test]
fn an_item_goes_from_open_or_failed_to_passed_or_failed_and_nowhere_else() {
    let fail = |finding: &str| ItemResult::Fail(finding.to_owned());
    assert_eq!(update("TODO", ItemResult::Pass), Ok((ItemResult::Pass, 2)));
    assert_eq!(update("TODO", fail("x")), Ok((fail("x"), 2)));
    assert_eq!(update("FAIL gone", ItemResult::Pass), Ok((ItemResult::Pass, 3)));
    assert_eq!(update("FAIL one", fail("two")), Ok((fail("two"), 3)));
    let refused = |before, result| update(before, result).unwrap_err();
    expect!["cannot update `qa-001`: the item has passed for the current content, and stays passed until the content changes"]
        .assert_eq(&refused("PASS", fail("x")));
    expect!["cannot set `qa-001` to TODO: an item becomes TODO when its content changes; set PASS or FAIL with `assay gate update-item qa-001 --phase PHASE --status STATUS`"]
        .assert_eq(&refused("FAIL x", ItemResult::Todo));
    expect!["a FAIL needs a finding that describes the defect: add `--finding TEXT`"]
        .assert_eq(&refused("TODO", fail(" ")));
}

#[test]
fn an_update_of_an_unknown_item_is_refused() {
    let mut state = state(1, "qa-001 * MUST TODO");
    let id = "qa-009".parse().unwrap();
    let refused = with("c", |content| state.update(&id, ItemResult::Pass, content)).unwrap_err();
    expect!["unknown item `qa-009`; `assay gate status` shows the items of the list"]
        .assert_eq(&refused.to_string());
}

proptest! {
    /// Checks that, with any items, a gate is passed only if no item is open and no failed item
    /// blocks without being accepted.
    #[test]
    fn a_gate_is_never_passed_with_something_open_or_blocking(
        items in prop::collection::vec((0..3usize, 0..3usize), 0..8), iteration in 1..12u32,
    ) {
        let text: String = items.iter().enumerate().map(|(number, (severity, status))| {
            let severity = ["MUST", "SHOULD", "MAY"][*severity];
            format!("i-{number} * {severity} {}\n", ["TODO", "PASS", "FAIL x"][*status])
        }).collect();
        let status = judged(&state(iteration, &text), &BlockingPolicy::DEFAULT);
        let keeps_shut = items.is_empty() || items.iter().any(|(severity, status)| match status {
            0 => true,
            1 => false,
            _ => *severity == 0 || (*severity == 1 && iteration <= 4) || iteration <= 2,
        });
        prop_assert_eq!(status.outcome == GateOutcome::Pass, !keeps_shut, "{}", text);
    }
}

#[test]
fn written_forms_are_those_of_the_json() {
    let json = |value: serde_json::Value| value.as_str().unwrap().to_owned();
    for severity in [Severity::May, Severity::Should, Severity::Must] {
        assert_eq!(json(serde_json::to_value(severity).unwrap()), severity.word());
    }
    for decision in [JournalDecision::Accepted, JournalDecision::Released] {
        assert_eq!(json(serde_json::to_value(decision).unwrap()), decision.word());
    }
    let accepted = ItemEffect::Accepted { reason: "known".to_owned(), by: "Bea".to_owned() };
    for effect in
        [ItemEffect::Holds, ItemEffect::Open, ItemEffect::Blocks, ItemEffect::Waived, accepted]
    {
        let written = serde_json::to_value(&effect).unwrap();
        assert_eq!(json(written["stands"].clone()), effect.word());
    }
}
