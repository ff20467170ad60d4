//! Tests of how a run takes up a loop: when it continues, when it begins a new epoch, and when it
//! waits.

use std::cell::RefCell;
use std::fs;

use assay_validate::ending::Ending;
use assay_validate::event::{EpochReason, Event, FeedbackDisposition, ReviewResult};
use assay_validate::file_names::{self, FIX_REQUEST};
use assay_validate::journal::{Journal, JournalError};
use assay_validate::resume::ResumeAction;
use assay_validate::run::{EpochStart, StepError};

use crate::loop_simulation::{LoopStorage, SEAL, SPEC, SimulatedLoop, issue};

fn begins(opening: ResumeAction) -> EpochStart {
    match opening {
        ResumeAction::BeginEpoch(begin) => begin,
        other => panic!("{other:?}"),
    }
}

/// Runs a loop that ends with a request for a person.
fn handed_over() -> LoopStorage {
    let storage = LoopStorage::new();
    let simulation = SimulatedLoop::new(&storage, &|_| Ok(vec![]), &|it| Ok(it.tree));
    assert!(matches!(simulation.take_up(), Ending::Recurring { .. }));
    storage
}

fn approved() -> LoopStorage {
    let storage = LoopStorage::new();
    assert_eq!(honest(&storage).take_up(), Ending::Approved);
    storage
}

fn honest(storage: &LoopStorage) -> SimulatedLoop<'_> {
    SimulatedLoop::new(storage, &|_| Ok(vec![]), &|it| Ok(it.tree + 10))
}

#[test]
fn a_handed_over_loop_begins_a_new_epoch_once_the_tree_changed() {
    let storage = handed_over();
    let stopped_at = storage.tree.get();
    storage.tree.set(stopped_at + 1);
    assert_eq!(begins(storage.opening(false)), EpochReason::TreeChanged.into());
    assert_eq!(begins(storage.opening(true)), EpochReason::Resumed.into());
    storage.tree.set(stopped_at);
    assert!(matches!(storage.opening(false), ResumeAction::Wait(Ending::Recurring { .. })));
}

#[test]
fn a_handed_over_loop_waits_until_a_person_resumes_it() {
    let storage = handed_over();
    assert!(matches!(storage.opening(false), ResumeAction::Wait(Ending::Recurring { .. })));
    assert_eq!(begins(storage.opening(true)), EpochReason::Resumed.into());
    fs::remove_file(storage.artifact_path(FIX_REQUEST)).unwrap();
    assert_eq!(begins(storage.opening(false)), EpochReason::RequestDeleted.into());
    let simulation = honest(&storage);
    assert_eq!(simulation.take_up(), Ending::Approved);
    let loop_state = storage.loop_state();
    assert_eq!((loop_state.round, loop_state.epoch().len(), loop_state.history.len()), (5, 2, 5));
}

#[test]
fn an_edited_fix_request_of_the_loop_is_feedback() {
    let storage = handed_over();
    let path = storage.artifact_path(FIX_REQUEST);
    let own = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{own}\n- Do not touch the database.\n")).unwrap();
    let feedback = begins(storage.opening(false)).feedback.unwrap();
    let titles: Vec<&str> =
        feedback.items.iter().map(|it| it.issue.title.lines().next().unwrap()).collect();
    assert_eq!(titles, ["1. Fails: unit", "2. Fails: integration", "Do not touch the database."]);
}

#[test]
fn feedback_goes_to_the_fixer_first_and_ticked_items_are_skipped() {
    let storage = approved();
    let text = "- [ ] The button is blue.\n- [x] The title is wrong.\n";
    fs::write(storage.artifact_path(FIX_REQUEST), text).unwrap();
    let begin = begins(storage.opening(false));
    assert_eq!(begin.why, EpochReason::Feedback);
    let feedback_items = begin.feedback.as_ref().unwrap().items.iter();
    let feedback_items: Vec<_> =
        feedback_items.map(|it| (it.issue.title.as_str(), it.disposition)).collect();
    let wanted = ("The button is blue.", FeedbackDisposition::HandedToTheFixer);
    assert_eq!(feedback_items, [wanted, ("The title is wrong.", FeedbackDisposition::TickedOff)]);

    let fixer_issues = RefCell::new(Vec::new());
    let fix = |it: crate::loop_simulation::StepCall| {
        fixer_issues
            .borrow_mut()
            .extend(storage.loop_state().issues().into_iter().map(|it| it.title));
        Ok(it.tree + 1)
    };
    let simulation = SimulatedLoop::new(&storage, &|_| Ok(vec![]), &fix);
    assert_eq!(simulation.run(Some(begin)).0, Ending::Approved);
    assert_eq!(*fixer_issues.borrow(), ["The button is blue."]);
    assert_eq!((simulation.fixes.get(), simulation.reviews.get()), (1, 1));
    let feedback = storage.loop_state().feedback.unwrap();
    assert_eq!((feedback.changed_something, feedback.items.len()), (Some(true), 2));
}

#[test]
fn feedback_with_only_ticked_items_is_ignored() {
    let storage = approved();
    fs::write(storage.artifact_path(FIX_REQUEST), "- [x] The title is wrong.\n").unwrap();
    assert_eq!(storage.opening(false), ResumeAction::Approved);
    fs::write(storage.artifact_path(FIX_REQUEST), "\n\n").unwrap();
    assert_eq!(storage.opening(false), ResumeAction::Approved);
}

#[test]
fn feedback_does_not_count_as_a_recurrence_of_an_issue() {
    let storage = LoopStorage::new();
    storage.tree.set(10);
    // The review finds the issue of the feedback for exactly as many rounds as are allowed.
    let simulation =
        SimulatedLoop::new(&storage, &|_| Ok(vec![issue("It is slow.")]), &|it| Ok(it.tree + 1));
    fs::write(storage.artifact_path(FIX_REQUEST), "- It is slow.\n").unwrap();
    let Ending::Recurring { issues } = simulation.take_up() else { panic!("it does not end") };
    assert_eq!((issues[0].1, simulation.reviews.get(), simulation.fixes.get()), (3, 3, 3));
}

#[test]
fn recorded_feedback_is_not_taken_twice() {
    let storage = LoopStorage::new();
    storage.tree.set(10);
    fs::write(storage.artifact_path(FIX_REQUEST), "- It is slow.\n").unwrap();
    let EpochStart { why, feedback } = begins(storage.opening(false));
    let mut journal = storage.journal();
    let at = "2026-01-01T00:00:00Z";
    journal.add(at, Event::EpochBegun { why, base: None }).unwrap();
    drop(journal);
    assert_eq!(begins(storage.opening(false)).feedback, feedback, "it was not noted yet");
    let feedback = feedback.unwrap();
    let (items, digest, archived) = (feedback.items, feedback.digest, feedback.archived);
    storage.journal().add(at, Event::FeedbackTaken { items, digest, archived }).unwrap();
    assert_eq!(storage.opening(false), ResumeAction::Continue);
    let simulation = honest(&storage);
    assert_eq!(simulation.take_up(), Ending::Approved);
    assert_eq!((simulation.fixes.get(), simulation.reviews.get()), (1, 1));
}

#[test]
fn a_journal_with_a_missing_or_foreign_seal_approves_nothing() {
    for seal in [None, Some("of something else\n")] {
        let storage = approved();
        assert_eq!(storage.opening(false), ResumeAction::Approved);
        match seal {
            None => fs::remove_file(storage.root().join(SEAL)).unwrap(),
            Some(seal) => fs::write(storage.root().join(SEAL), seal).unwrap(),
        }
        assert_eq!(begins(storage.opening(false)), EpochReason::Elsewhere.into());
        let simulation = honest(&storage);
        assert_eq!(simulation.take_up(), Ending::Approved);
        assert_eq!(
            (simulation.reviews.get(), simulation.checks.get()),
            (1, 2),
            "all is looked at here"
        );
        assert_eq!(storage.opening(false), ResumeAction::Approved);
        assert_eq!(storage.loop_state().round, 3, "it is history all the same");
    }
}

#[test]
fn a_forged_journal_approves_nothing() {
    let storage = LoopStorage::new();
    let forged = LoopStorage::new();
    let mut journal = forged.journal();
    let tree = crate::loop_simulation::hash(0);
    for event in [
        Event::EpochBegun { why: EpochReason::First, base: None },
        Event::ReviewBegun { round: 1, tree },
        Event::Reviewed { review: ReviewResult::default() },
    ] {
        journal.add("2026-01-01T00:00:00Z", event).unwrap();
    }
    fs::copy(forged.artifact_path(file_names::JOURNAL), storage.artifact_path(file_names::JOURNAL))
        .unwrap();
    assert_eq!(storage.loop_state().signoff_status().name(), "approved");
    let simulation = SimulatedLoop::new(&storage, &|_| Ok(vec![]), &|it| Ok(it.tree));
    assert!(matches!(simulation.take_up(), Ending::Recurring { .. }));
}

#[test]
fn a_loop_handed_over_on_another_machine_waits_here_too() {
    let storage = handed_over();
    fs::remove_file(storage.root().join(SEAL)).unwrap();
    assert!(matches!(storage.opening(false), ResumeAction::Wait(Ending::Recurring { .. })));
    assert_eq!(begins(storage.opening(true)), EpochReason::Elsewhere.into());
}

#[test]
fn a_journal_that_is_changed_while_the_loop_runs_stops_the_loop() {
    let meddle: [&dyn Fn(&LoopStorage); 3] = [
        &|storage| fs::write(storage.artifact_path(file_names::JOURNAL), "").unwrap(),
        &|storage| fs::remove_file(storage.artifact_path(file_names::JOURNAL)).unwrap(),
        &|storage| {
            // A journal that a fixer writes may be valid in form.
            let other = LoopStorage::new();
            let review = ReviewResult::default();
            other.journal().add("2026-01-01T00:00:00Z", Event::Reviewed { review }).unwrap();
            fs::copy(
                other.artifact_path(file_names::JOURNAL),
                storage.artifact_path(file_names::JOURNAL),
            )
            .unwrap();
        },
    ];
    for meddle in meddle {
        let storage = LoopStorage::new();
        let fix = |_| {
            meddle(&storage);
            Ok(10)
        };
        let simulation = SimulatedLoop::new(&storage, &|_| Ok(vec![]), &fix);
        let stopped = simulation.try_run(None);
        assert!(matches!(stopped, Err(StepError::Journal(JournalError::Meddled { .. }))));
        assert_eq!(storage.tree.get(), 0, "what it did is not put in");
        let remaining = Journal::read(&storage.root().join(SPEC)).unwrap();
        assert!(remaining.len() < 2, "nothing is written behind what somebody else wrote");
    }
}
