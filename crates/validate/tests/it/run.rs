//! Tests of the loop with reviewers and fixers that are honest, lazy or lying.

use assay_validate::ending::Ending;
use assay_validate::event::EpochReason;
use assay_validate::run::StepError;
use expect_test::{Expect, expect};
use proptest::prelude::*;

use crate::loop_simulation::{FixFn, LoopStorage, ReviewFn, SimulatedLoop, StepCall, issue};

fn check(review: &ReviewFn<'_>, fix: &FixFn<'_>, expected: Expect) {
    let storage = LoopStorage::new();
    let simulation = SimulatedLoop::new(&storage, review, fix);
    let (ending, _) = simulation.run(None);
    let (reviews, fixes) = (simulation.reviews.get(), simulation.fixes.get());
    expected.assert_eq(&format!("{} ({reviews} reviews, {fixes} fixes)", ending.reason()));
    assert!(ending != Ending::Approved || storage.tree.get() >= 10);
}

#[test]
fn an_honest_fixer_is_approved() {
    check(
        &|_| Ok(vec![]),
        &|it| Ok(it.tree + 5),
        expect!["all acceptance criteria are met (3 reviews, 2 fixes)"],
    );
}

#[test]
fn a_new_issue_in_every_round_ends_the_loop_at_the_round_limit() {
    check(
        &|it| Ok(vec![issue(&format!("nit {0} of the {0}th kind", it.round))]),
        &|it| Ok(it.tree + 1),
        expect!["`Fails: unit` and 1 more recurred in 3 rounds (3 reviews, 2 fixes)"],
    );
    check(
        &|it| Ok(vec![issue(&format!("nit {0} of the {0}th kind", it.round))]),
        &|it| Ok(it.tree + 10),
        expect!["the limit of 50 rounds is reached (50 reviews, 49 fixes)"],
    );
}

#[test]
fn a_reviewer_that_alternates_its_findings_ends_the_loop() {
    check(
        &|it| Ok(vec![issue(if it.round % 2 == 0 { "use tabs here" } else { "prefer spaces" })]),
        &|it| Ok(it.tree + 10),
        expect!["`prefer spaces` recurred in 3 rounds (5 reviews, 4 fixes)"],
    );
}

#[test]
fn a_failing_reviewer_ends_the_loop_with_errors() {
    check(
        &|_| Err(StepError::Round("it says nothing".to_owned())),
        &|it| Ok(it.tree + 10),
        expect!["3 rounds failed, the last one with: it says nothing (3 reviews, 0 fixes)"],
    );
}

#[test]
fn a_fixer_that_changes_nothing_fails_or_exceeds_the_budget_ends_the_loop() {
    check(
        &|_| Ok(vec![]),
        &|it| Ok(it.tree),
        expect!["`Fails: unit` and 1 more recurred in 3 rounds (3 reviews, 2 fixes)"],
    );
    check(
        &|_| Ok(vec![]),
        &|_| Err(StepError::Round("no keys".to_owned())),
        expect!["3 rounds failed, the last one with: no keys (1 reviews, 3 fixes)"],
    );
    check(
        &|_| Ok(vec![]),
        &|_| Err(StepError::Budget("2.50 USD".to_owned())),
        expect!["the budget is used up: 2.50 USD (1 reviews, 1 fixes)"],
    );
}

#[test]
fn an_approved_tree_is_reviewed_again_once_it_changed() {
    let storage = LoopStorage::new();
    let simulation = SimulatedLoop::new(&storage, &|_| Ok(vec![]), &|it| Ok(it.tree + 10));
    assert_eq!(simulation.run(None).0, Ending::Approved);
    let reviews = simulation.reviews.get();
    assert_eq!(simulation.run(None).0, Ending::Approved);
    assert_eq!(simulation.reviews.get(), reviews, "nothing is run for the same tree");
    storage.tree.set(3);
    assert_eq!(simulation.run(None).0, Ending::Approved);
    assert!(simulation.reviews.get() > reviews);
    assert_eq!(storage.tree.get(), 13);
}

#[test]
fn an_ended_loop_runs_no_review_until_a_new_epoch() {
    let storage = LoopStorage::new();
    let simulation = SimulatedLoop::new(&storage, &|_| Ok(vec![]), &|it| Ok(it.tree));
    assert!(matches!(simulation.run(None).0, Ending::Recurring { .. }));
    let reviews = simulation.reviews.get();
    assert!(matches!(simulation.run(None).0, Ending::Recurring { .. }));
    assert_eq!(simulation.reviews.get(), reviews);
    storage.tree.set(10);
    assert_eq!(simulation.run(Some(EpochReason::RequestDeleted.into())).0, Ending::Approved);
}

/// Random behaviour of reviewers and fixers, as numbers.
fn behaviours() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    (prop::collection::vec(0..6u8, 1..8), prop::collection::vec(0..6u8, 1..8))
}

proptest! {
    /// With any behaviour, the loop ends within its limits, and a tree with a failing check is
    /// never approved.
    #[test]
    fn every_loop_ends_and_a_regression_blocks((reviewers, fixers) in behaviours()) {
        let review = move |StepCall { time: round, .. }: StepCall| match reviewers[round as usize % reviewers.len()] {
            0 => Ok(vec![]),
            1 => Ok(vec![issue("always the same thing")]),
            2 => Ok(vec![issue(&format!("something new, number {round} this time"))]),
            3 => Err(StepError::Round("garbage".to_owned())),
            4 => Ok(vec![issue("this"), issue("that other thing")]),
            _ => Ok((0..20).map(|n| issue(&format!("flood {n} in {round}"))).collect()),
        };
        let fix = move |StepCall { time, tree, .. }: StepCall| match fixers[time as usize % fixers.len()] {
            0 => Ok(tree),
            1 => Ok(tree + 1),
            2 => Ok(tree.saturating_sub(1)),
            3 => Err(StepError::Round("it broke".to_owned())),
            4 => Ok(10 + time),
            _ => Ok(0),
        };
        let storage = LoopStorage::new();
        let simulation = SimulatedLoop::new(&storage, &review, &fix);
        let (ending, _) = simulation.run(None);
        prop_assert!(ending != Ending::Approved || storage.tree.get() >= 10);
        prop_assert!(simulation.reviews.get() <= 50 && simulation.fixes.get() <= 60);
    }
}
