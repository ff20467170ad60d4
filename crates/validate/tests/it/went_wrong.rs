//! Regression tests of ways in which similar loops failed.
//!
//! The case of Rust and Go projects that were taken for untested is in the tests of `checks`.

use std::fs;

use assay_validate::ending::Ending;
use assay_validate::event::{Begun, Event};
use assay_validate::file_names::FIX_REQUEST;
use assay_validate::journal::Journal;
use assay_validate::opening::Opening;
use assay_validate::plan::{self, ImplementationPlan, SignoffStatus};
use assay_validate::run::Breakdown;

use crate::stage::{self, Asked, Stage, World, issue};
use crate::yard::{SPEC, WRONG, Yard, mend, put};

fn broken() -> Breakdown {
    Breakdown::Round("it says nothing".to_owned())
}

#[test]
fn a_stale_approval_is_not_taken_for_a_new_one() {
    let world = World::new();
    let honest = Stage::new(&world, &|_| Ok(vec![]), &|_| Ok(10));
    assert_eq!(honest.take_up(), Ending::Approved);
    // A person gives feedback, the fixer changes nothing, and the reviewer returns nothing.
    fs::write(world.paper(FIX_REQUEST), "- It is slow.\n").unwrap();
    let silent = Stage::new(&world, &|_| Err(broken()), &|it| Ok(it.tree));
    assert!(matches!(silent.take_up(), Ending::Errors { .. }));
    assert!(!silent.exported.borrow().contains(&"approved"));
    assert_eq!(world.standing().exported(), SignoffStatus::HumanEscalation);
}

#[test]
fn an_approval_that_somebody_wrote_into_the_plan_is_none() {
    let yard = Yard::new();
    let path = format!("{SPEC}/{}", plan::NAME);
    let text = yard.read(&path);
    let approved = "{\n  \"qa_signoff\": { \"status\": \"approved\", \"qa_session\": 1 },";
    yard.repository.write(&path, text.replacen('{', approved, 1));
    assert!(matches!(yard.take_up(&|_| {}), Ending::Recurring { .. }));
    let plan = ImplementationPlan::read(&yard.paper(plan::NAME)).unwrap();
    assert_eq!(plan.signoff().unwrap().status, SignoffStatus::HumanEscalation);
}

#[test]
fn nothing_is_approved_with_failed_tests() {
    let yard = Yard::new();
    let ending = yard.take_up(&|folder| {
        mend(folder);
        put(folder, "src/add.sh", WRONG);
    });
    assert!(matches!(ending, Ending::Recurring { .. }));
    let entries = Journal::read(&yard.root().join(SPEC)).unwrap();
    let is_approval = |event: &Event| {
        let Event::Reviewed { seen } = event else { return false };
        seen.issues.is_empty() || seen.tests_passed.unit
    };
    assert!(!entries.iter().any(|entry| is_approval(&entry.event)));
}

#[test]
fn a_truncated_plan_is_not_overwritten() {
    let yard = Yard::new();
    let path = format!("{SPEC}/{}", plan::NAME);
    let truncated = "{\n  \"feature\": \"add\",\n  \"phases\": [{ \"subt";
    // The plan is truncated while the loop runs.
    let stopped = yard.try_take_up(&|folder| {
        mend(folder);
        yard.repository.write(&path, truncated);
    });
    assert!(matches!(stopped, Err(Breakdown::Fatal(_))), "{stopped:?}");
    assert_eq!(yard.read(&path), truncated);
    let refused = yard.try_take_up(&mend).unwrap_err().to_string();
    assert!(refused.contains(plan::NAME), "{refused}");
    assert_eq!(yard.read(&path), truncated);
}

#[test]
fn a_sign_off_that_is_null_stops_nobody() {
    let yard = Yard::new();
    let path = format!("{SPEC}/{}", plan::NAME);
    let text = yard.read(&path).replacen('{', "{\n  \"qa_signoff\": null,", 1);
    yard.repository.write(&path, text);
    assert_eq!(yard.take_up(&mend), Ending::Approved);
    let plan = ImplementationPlan::read(&yard.paper(plan::NAME)).unwrap();
    assert_eq!(plan.signoff().unwrap().status, SignoffStatus::Approved);
}

#[test]
fn counters_are_not_lost_on_a_restart() {
    let world = World::new();
    world.tree.set(10);
    let mut reviews = 0;
    let ending = loop {
        // Every run is stopped after one round.
        let done = world.standing().history.len();
        let review = |it: Asked| match world.standing().history.len() > done {
            true => Err(Breakdown::Fatal("killed".to_owned())),
            false => Ok(vec![issue(&format!("nit {0} of the {0}th kind", it.round))]),
        };
        let stage = Stage::new(&world, &review, &|it| Ok(it.tree + 1));
        let ended = match world.opening(false) {
            Opening::GoOn => stage.try_run(None),
            other => panic!("{other:?}"),
        };
        reviews += 1;
        match ended {
            Ok((ending, _)) => break ending,
            Err(Breakdown::Fatal(_)) => {}
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!((ending, reviews), (Ending::TooManyRounds { rounds: 50 }, 50));
    let standing = world.standing();
    assert_eq!((standing.round, standing.history.len()), (50, 50));
}

#[test]
fn errors_are_not_forgotten_on_a_restart() {
    let world = World::new();
    for run in 1..=3 {
        let first = world.standing().history.len();
        let review = |_| match world.standing().history.len() > first {
            true => Err(Breakdown::Fatal("killed".to_owned())),
            false => Err(broken()),
        };
        let stage = Stage::new(&world, &review, &|it| Ok(it.tree));
        assert_eq!(stage.try_run(None).is_ok(), run == 3, "{run}");
    }
    assert!(matches!(world.opening(false), Opening::Waits(Ending::Errors { errors: 3, .. })));
}

#[test]
fn a_request_that_was_left_behind_is_not_taken_for_feedback() {
    let yard = Yard::new();
    assert!(matches!(yard.take_up(&|_| {}), Ending::Recurring { .. }));
    assert!(yard.paper(FIX_REQUEST).exists());
    let fixes = yard.fixes.get();
    assert!(matches!(yard.take_up(&mend), Ending::Recurring { .. }));
    assert_eq!(yard.fixes.get(), fixes, "it waits, and nobody is set to work");
    let entries = Journal::read(&yard.root().join(SPEC)).unwrap();
    assert!(!entries.iter().any(|it| matches!(it.event, Event::FeedbackTaken { .. })));
    fs::remove_file(yard.paper(FIX_REQUEST)).unwrap();
    assert_eq!(yard.take_up(&mend), Ending::Approved);
    assert!(!yard.paper(FIX_REQUEST).exists(), "an approval leaves none behind");
}

#[test]
fn errors_in_between_reach_the_limit() {
    let world = World::new();
    world.tree.set(10);
    let review = |it: Asked| match it.round % 3 {
        0 => Ok(vec![issue(&format!("nit {0} of the {0}th kind", it.round))]),
        _ => Err(broken()),
    };
    let stage = Stage::new(&world, &review, &|it| Ok(it.tree + 1));
    assert!(matches!(stage.take_up(), Ending::Errors { errors: 10, .. }));
    assert!(stage.reviews.get() < 20);
}

#[test]
fn the_same_thing_in_other_words_reaches_a_person() {
    let world = World::new();
    world.tree.set(10);
    let titles = [
        "Missing error handling",
        "Error: Missing error handling",
        "No error handling for network failures",
    ];
    let review = |it: Asked| {
        let title = titles[(it.round as usize - 1) % 3];
        let file = Some("api.py".to_owned());
        Ok(vec![assay_validate::issue::Issue { file, line: Some(42), ..stage::issue(title) }])
    };
    let stage = Stage::new(&world, &review, &|it| Ok(it.tree + 1));
    let Ending::Recurring { issues } = stage.take_up() else { panic!("it goes on for ever") };
    assert_eq!((issues.len(), issues[0].1), (1, 3));
    assert_eq!(stage.reviews.get(), 3);
    let resumed = stage.run(Some(Begun::Resumed.into())).1;
    assert_eq!(resumed.epoch().len(), 3, "and counts anew from there");
}
