//! Tests of a person's sign-off of a tree: what it approves, and what it does not.

use std::fs;

use assay_validate::ending::Ending;
use assay_validate::event::{Begun, Event};
use assay_validate::file_names::{ESCALATION, FIX_REQUEST};
use assay_validate::opening::Opening;

use crate::stage::{SEAL, Stage, World, hash, issue};

const AT: &str = "2026-01-01T00:00:00Z";

/// Runs a loop on the world's tree until a person has to sign the tree off.
fn awaits(world: &World) {
    world.tree.set(10);
    assert_eq!(critical(world).take_up(), Ending::AwaitsSignOff);
}

fn critical(world: &World) -> Stage<'_> {
    Stage { needs_sign_off: true, ..Stage::new(world, &|_| Ok(vec![]), &|it| Ok(it.tree + 10)) }
}

fn sign(world: &World, tree: u32) {
    let signed = Event::SignedOff { by: "Jo".to_owned(), tree: hash(tree) };
    world.journal().add(AT, signed).unwrap();
}

#[test]
fn a_tree_that_a_person_vouches_for_is_approved_without_another_review() {
    let world = World::new();
    awaits(&world);
    assert_eq!(world.standing().exported().name(), "human_escalation");
    assert!(world.paper(FIX_REQUEST).exists() && world.paper(ESCALATION).exists());
    sign(&world, 10);
    let stage = critical(&world);
    assert_eq!(stage.take_up(), Ending::Approved);
    assert_eq!((stage.reviews.get(), stage.checks.get()), (0, 0));
    assert!(!world.paper(FIX_REQUEST).exists() && !world.paper(ESCALATION).exists());
    assert_eq!(world.opening(false), Opening::Approved);
}

#[test]
fn the_word_for_another_tree_approves_nothing() {
    let world = World::new();
    awaits(&world);
    sign(&world, 11);
    assert_eq!(critical(&world).take_up(), Ending::AwaitsSignOff);
    world.tree.set(12);
    assert_eq!(critical(&world).run(Some(Begun::Resumed.into())).0, Ending::AwaitsSignOff);
}

#[test]
fn a_tree_that_was_changed_after_the_word_needs_another() {
    let world = World::new();
    awaits(&world);
    sign(&world, 10);
    world.tree.set(11);
    let stage = critical(&world);
    assert_eq!(stage.take_up(), Ending::AwaitsSignOff);
    assert_eq!(stage.reviews.get(), 1);
}

#[test]
fn a_word_given_beforehand_counts_once_all_else_holds() {
    let world = World::new();
    awaits(&world);
    sign(&world, 20);
    world.tree.set(20);
    let stage = critical(&world);
    assert_eq!(stage.run(Some(Begun::Resumed.into())).0, Ending::Approved);
    assert_eq!(stage.reviews.get(), 1, "it is looked at first");
}

#[test]
fn a_word_does_not_outweigh_what_is_wrong() {
    let world = World::new();
    world.tree.set(10);
    let stage = Stage {
        needs_sign_off: true,
        ..Stage::new(&world, &|_| Ok(vec![issue("wrong")]), &|it| Ok(it.tree))
    };
    assert!(matches!(stage.take_up(), Ending::Recurring { .. }));
    sign(&world, 10);
    assert!(matches!(stage.take_up(), Ending::Recurring { .. }));
    assert!(matches!(stage.run(Some(Begun::Resumed.into())).0, Ending::Recurring { .. }));
}

#[test]
fn what_was_signed_off_elsewhere_does_not_count_here() {
    let world = World::new();
    awaits(&world);
    sign(&world, 10);
    assert_eq!(critical(&world).take_up(), Ending::Approved);
    fs::remove_file(world.root().join(SEAL)).unwrap();
    let stage = critical(&world);
    assert_eq!(stage.take_up(), Ending::AwaitsSignOff);
    assert_eq!(stage.reviews.get(), 1);
}

#[test]
fn a_word_puts_no_seal_under_what_happened_elsewhere() {
    // On the other machine the loop awaits a sign-off, or is approved already.
    for signed_there in [false, true] {
        let world = World::new();
        awaits(&world);
        if signed_there {
            sign(&world, 10);
            assert_eq!(critical(&world).take_up(), Ending::Approved);
        }
        fs::write(world.root().join(SEAL), "of something else\n").unwrap();
        sign(&world, 10);
        assert!(!world.journal().is_own());
        let stage = critical(&world);
        assert_eq!(stage.take_up(), Ending::AwaitsSignOff, "it is looked at here first");
        assert_eq!(stage.reviews.get(), 1);
    }
}
