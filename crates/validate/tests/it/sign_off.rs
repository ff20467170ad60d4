//! Tests of a person's sign-off of a tree: what it approves, and what it does not.

use std::fs;

use assay_validate::ending::Ending;
use assay_validate::event::{EpochReason, Event};
use assay_validate::file_names::{ESCALATION, FIX_REQUEST};
use assay_validate::resume::ResumeAction;

use crate::loop_simulation::{LoopStorage, SEAL, SimulatedLoop, hash, issue};

const AT: &str = "2026-01-01T00:00:00Z";

/// Runs a loop on the world's tree until a person has to sign the tree off.
fn awaits(storage: &LoopStorage) {
    storage.tree.set(10);
    assert_eq!(critical(storage).take_up(), Ending::AwaitsSignOff);
}

fn critical(storage: &LoopStorage) -> SimulatedLoop<'_> {
    SimulatedLoop {
        needs_sign_off: true,
        ..SimulatedLoop::new(storage, &|_| Ok(vec![]), &|it| Ok(it.tree + 10))
    }
}

fn sign(storage: &LoopStorage, tree: u32) {
    let signed = Event::SignedOff { by: "Jo".to_owned(), tree: hash(tree) };
    storage.journal().add(AT, signed).unwrap();
}

#[test]
fn a_signed_off_tree_is_approved_without_another_review() {
    let storage = LoopStorage::new();
    awaits(&storage);
    assert_eq!(storage.loop_state().signoff_status().name(), "human_escalation");
    assert!(
        storage.artifact_path(FIX_REQUEST).exists() && storage.artifact_path(ESCALATION).exists()
    );
    sign(&storage, 10);
    let simulation = critical(&storage);
    assert_eq!(simulation.take_up(), Ending::Approved);
    assert_eq!((simulation.reviews.get(), simulation.checks.get()), (0, 0));
    assert!(
        !storage.artifact_path(FIX_REQUEST).exists() && !storage.artifact_path(ESCALATION).exists()
    );
    assert_eq!(storage.opening(false), ResumeAction::Approved);
}

#[test]
fn a_sign_off_of_another_tree_approves_nothing() {
    let storage = LoopStorage::new();
    awaits(&storage);
    sign(&storage, 11);
    assert_eq!(critical(&storage).take_up(), Ending::AwaitsSignOff);
    storage.tree.set(12);
    assert_eq!(critical(&storage).run(Some(EpochReason::Resumed.into())).0, Ending::AwaitsSignOff);
}

#[test]
fn a_tree_that_changed_after_its_sign_off_needs_another() {
    let storage = LoopStorage::new();
    awaits(&storage);
    sign(&storage, 10);
    storage.tree.set(11);
    let simulation = critical(&storage);
    assert_eq!(simulation.take_up(), Ending::AwaitsSignOff);
    assert_eq!(simulation.reviews.get(), 1);
}

#[test]
fn an_early_sign_off_counts_once_the_review_passes() {
    let storage = LoopStorage::new();
    awaits(&storage);
    sign(&storage, 20);
    storage.tree.set(20);
    let simulation = critical(&storage);
    assert_eq!(simulation.run(Some(EpochReason::Resumed.into())).0, Ending::Approved);
    assert_eq!(simulation.reviews.get(), 1, "it is looked at first");
}

#[test]
fn a_sign_off_does_not_override_open_issues() {
    let storage = LoopStorage::new();
    storage.tree.set(10);
    let simulation = SimulatedLoop {
        needs_sign_off: true,
        ..SimulatedLoop::new(&storage, &|_| Ok(vec![issue("wrong")]), &|it| Ok(it.tree))
    };
    assert!(matches!(simulation.take_up(), Ending::Recurring { .. }));
    sign(&storage, 10);
    assert!(matches!(simulation.take_up(), Ending::Recurring { .. }));
    assert!(matches!(
        simulation.run(Some(EpochReason::Resumed.into())).0,
        Ending::Recurring { .. }
    ));
}

#[test]
fn a_sign_off_from_another_machine_does_not_count() {
    let storage = LoopStorage::new();
    awaits(&storage);
    sign(&storage, 10);
    assert_eq!(critical(&storage).take_up(), Ending::Approved);
    fs::remove_file(storage.root().join(SEAL)).unwrap();
    let simulation = critical(&storage);
    assert_eq!(simulation.take_up(), Ending::AwaitsSignOff);
    assert_eq!(simulation.reviews.get(), 1);
}

#[test]
fn a_sign_off_does_not_seal_the_journal_of_another_machine() {
    // On the other machine the loop awaits a sign-off, or is approved already.
    for signed_there in [false, true] {
        let storage = LoopStorage::new();
        awaits(&storage);
        if signed_there {
            sign(&storage, 10);
            assert_eq!(critical(&storage).take_up(), Ending::Approved);
        }
        fs::write(storage.root().join(SEAL), "of something else\n").unwrap();
        sign(&storage, 10);
        assert!(!storage.journal().is_own());
        let simulation = critical(&storage);
        assert_eq!(simulation.take_up(), Ending::AwaitsSignOff, "it is looked at here first");
        assert_eq!(simulation.reviews.get(), 1);
    }
}
