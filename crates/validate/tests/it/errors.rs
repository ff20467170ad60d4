//! Regression tests of ways in which similar loops failed.
//!
//! The case of Rust and Go projects that were taken for untested is in the tests of `checks`.

use std::fs;

use assay_validate::ending::Ending;
use assay_validate::event::{EpochReason, Event};
use assay_validate::file_names::FIX_REQUEST;
use assay_validate::journal::Journal;
use assay_validate::plan::{self, ImplementationPlan, SignoffStatus};
use assay_validate::resume::ResumeAction;
use assay_validate::run::StepError;

use crate::loop_fixture::{LoopFixture, SPEC, WRONG, apply_correct_fix, put};
use crate::loop_simulation::{self, LoopStorage, SimulatedLoop, StepCall, issue};

fn broken() -> StepError {
    StepError::Round("it says nothing".to_owned())
}

#[test]
fn a_stale_approval_is_not_taken_for_a_new_one() {
    let storage = LoopStorage::new();
    let honest = SimulatedLoop::new(&storage, &|_| Ok(vec![]), &|_| Ok(10));
    assert_eq!(honest.take_up(), Ending::Approved);
    // A person gives feedback, the fixer changes nothing, and the reviewer returns nothing.
    fs::write(storage.artifact_path(FIX_REQUEST), "- It is slow.\n").unwrap();
    let silent = SimulatedLoop::new(&storage, &|_| Err(broken()), &|it| Ok(it.tree));
    assert!(matches!(silent.take_up(), Ending::Errors { .. }));
    assert!(!silent.exported.borrow().contains(&"approved"));
    assert_eq!(storage.loop_state().signoff_status(), SignoffStatus::HumanEscalation);
}

#[test]
fn an_approval_written_into_the_plan_is_ignored() {
    let fixture = LoopFixture::new();
    let path = format!("{SPEC}/{}", plan::NAME);
    let text = fixture.read(&path);
    let approved = "{\n  \"qa_signoff\": { \"status\": \"approved\", \"qa_session\": 1 },";
    fixture.repository.write(&path, text.replacen('{', approved, 1));
    assert!(matches!(fixture.take_up(&|_| {}), Ending::Recurring { .. }));
    let plan = ImplementationPlan::read(&fixture.artifact_path(plan::NAME)).unwrap();
    assert_eq!(plan.signoff().unwrap().status, SignoffStatus::HumanEscalation);
}

#[test]
fn nothing_is_approved_with_failed_tests() {
    let fixture = LoopFixture::new();
    let ending = fixture.take_up(&|folder| {
        apply_correct_fix(folder);
        put(folder, "src/add.sh", WRONG);
    });
    assert!(matches!(ending, Ending::Recurring { .. }));
    let entries = Journal::read(&fixture.root().join(SPEC)).unwrap();
    let is_approval = |event: &Event| {
        let Event::Reviewed { review } = event else { return false };
        review.issues.is_empty() || review.tests_passed.unit
    };
    assert!(!entries.iter().any(|entry| is_approval(&entry.event)));
}

#[test]
fn a_truncated_plan_is_not_overwritten() {
    let fixture = LoopFixture::new();
    let path = format!("{SPEC}/{}", plan::NAME);
    let truncated = "{\n  \"feature\": \"add\",\n  \"phases\": [{ \"subt";
    // The plan is truncated while the loop runs.
    let stopped = fixture.try_take_up(&|folder| {
        apply_correct_fix(folder);
        fixture.repository.write(&path, truncated);
    });
    assert!(matches!(stopped, Err(StepError::Fatal(_))), "{stopped:?}");
    assert_eq!(fixture.read(&path), truncated);
    let refused = fixture.try_take_up(&apply_correct_fix).unwrap_err().to_string();
    assert!(refused.contains(plan::NAME), "{refused}");
    assert_eq!(fixture.read(&path), truncated);
}

#[test]
fn a_null_sign_off_does_not_prevent_an_approval() {
    let fixture = LoopFixture::new();
    let path = format!("{SPEC}/{}", plan::NAME);
    let text = fixture.read(&path).replacen('{', "{\n  \"qa_signoff\": null,", 1);
    fixture.repository.write(&path, text);
    assert_eq!(fixture.take_up(&apply_correct_fix), Ending::Approved);
    let plan = ImplementationPlan::read(&fixture.artifact_path(plan::NAME)).unwrap();
    assert_eq!(plan.signoff().unwrap().status, SignoffStatus::Approved);
}

#[test]
fn counters_are_not_lost_on_a_restart() {
    let storage = LoopStorage::new();
    storage.tree.set(10);
    let mut reviews = 0;
    let ending = loop {
        // Every run is stopped after one round.
        let done = storage.loop_state().history.len();
        let review = |it: StepCall| match storage.loop_state().history.len() > done {
            true => Err(StepError::Fatal("killed".to_owned())),
            false => Ok(vec![issue(&format!("nit {0} of the {0}th kind", it.round))]),
        };
        let simulation = SimulatedLoop::new(&storage, &review, &|it| Ok(it.tree + 1));
        let ended = match storage.opening(false) {
            ResumeAction::Continue => simulation.try_run(None),
            other => panic!("{other:?}"),
        };
        reviews += 1;
        match ended {
            Ok((ending, _)) => break ending,
            Err(StepError::Fatal(_)) => {}
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!((ending, reviews), (Ending::TooManyRounds { rounds: 50 }, 50));
    let loop_state = storage.loop_state();
    assert_eq!((loop_state.round, loop_state.history.len()), (50, 50));
}

#[test]
fn errors_are_not_forgotten_on_a_restart() {
    let storage = LoopStorage::new();
    for run in 1..=3 {
        let first = storage.loop_state().history.len();
        let review = |_| match storage.loop_state().history.len() > first {
            true => Err(StepError::Fatal("killed".to_owned())),
            false => Err(broken()),
        };
        let simulation = SimulatedLoop::new(&storage, &review, &|it| Ok(it.tree));
        assert_eq!(simulation.try_run(None).is_ok(), run == 3, "{run}");
    }
    assert!(matches!(storage.opening(false), ResumeAction::Wait(Ending::Errors { errors: 3, .. })));
}

#[test]
fn a_fix_request_left_by_an_earlier_run_is_not_taken_for_feedback() {
    let fixture = LoopFixture::new();
    assert!(matches!(fixture.take_up(&|_| {}), Ending::Recurring { .. }));
    assert!(fixture.artifact_path(FIX_REQUEST).exists());
    let fixes = fixture.fixes.get();
    assert!(matches!(fixture.take_up(&apply_correct_fix), Ending::Recurring { .. }));
    assert_eq!(fixture.fixes.get(), fixes, "it waits, and nobody is set to work");
    let entries = Journal::read(&fixture.root().join(SPEC)).unwrap();
    assert!(!entries.iter().any(|it| matches!(it.event, Event::FeedbackTaken { .. })));
    fs::remove_file(fixture.artifact_path(FIX_REQUEST)).unwrap();
    assert_eq!(fixture.take_up(&apply_correct_fix), Ending::Approved);
    assert!(!fixture.artifact_path(FIX_REQUEST).exists(), "an approval leaves none behind");
}

#[test]
fn nonconsecutive_errors_reach_the_limit() {
    let storage = LoopStorage::new();
    storage.tree.set(10);
    let review = |it: StepCall| match it.round % 3 {
        0 => Ok(vec![issue(&format!("nit {0} of the {0}th kind", it.round))]),
        _ => Err(broken()),
    };
    let simulation = SimulatedLoop::new(&storage, &review, &|it| Ok(it.tree + 1));
    assert!(matches!(simulation.take_up(), Ending::Errors { errors: 10, .. }));
    assert!(simulation.reviews.get() < 20);
}

#[test]
fn a_rephrased_issue_counts_as_recurring() {
    let storage = LoopStorage::new();
    storage.tree.set(10);
    let titles = [
        "Missing error handling",
        "Error: Missing error handling",
        "No error handling for network failures",
    ];
    let review = |it: StepCall| {
        let title = titles[(it.round as usize - 1) % 3];
        let file = Some("api.py".to_owned());
        Ok(vec![assay_validate::issue::Issue {
            file,
            line: Some(42),
            ..loop_simulation::issue(title)
        }])
    };
    let simulation = SimulatedLoop::new(&storage, &review, &|it| Ok(it.tree + 1));
    let Ending::Recurring { issues } = simulation.take_up() else { panic!("it goes on for ever") };
    assert_eq!((issues.len(), issues[0].1), (1, 3));
    assert_eq!(simulation.reviews.get(), 3);
    let resumed = simulation.run(Some(EpochReason::Resumed.into())).1;
    assert_eq!(resumed.epoch().len(), 3, "and counts anew from there");
}
