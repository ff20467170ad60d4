//! Tests of how a run takes up a loop: when it continues, when it begins a new epoch, and when it
//! waits.

use std::cell::RefCell;
use std::fs;

use assay_validate::ending::Ending;
use assay_validate::event::{Begun, Disposition, Event, Seen};
use assay_validate::file_names::{self, FIX_REQUEST};
use assay_validate::journal::{Journal, JournalError};
use assay_validate::opening::Opening;
use assay_validate::run::{Begin, Breakdown};

use crate::stage::{SEAL, SPEC, Stage, World, issue};

fn begins(opening: Opening) -> Begin {
    match opening {
        Opening::Begin(begin) => begin,
        other => panic!("{other:?}"),
    }
}

/// Runs a loop that ends with a request for a person.
fn handed_over() -> World {
    let world = World::new();
    let stage = Stage::new(&world, &|_| Ok(vec![]), &|it| Ok(it.tree));
    assert!(matches!(stage.take_up(), Ending::Recurring { .. }));
    world
}

fn approved() -> World {
    let world = World::new();
    assert_eq!(honest(&world).take_up(), Ending::Approved);
    world
}

fn honest(world: &World) -> Stage<'_> {
    Stage::new(world, &|_| Ok(vec![]), &|it| Ok(it.tree + 10))
}

#[test]
fn what_was_handed_over_begins_anew_once_the_tree_changed() {
    let world = handed_over();
    let stopped_at = world.tree.get();
    world.tree.set(stopped_at + 1);
    assert_eq!(begins(world.opening(false)), Begun::TreeChanged.into());
    assert_eq!(begins(world.opening(true)), Begun::Resumed.into());
    world.tree.set(stopped_at);
    assert!(matches!(world.opening(false), Opening::Waits(Ending::Recurring { .. })));
}

#[test]
fn what_was_handed_over_waits_until_a_person_says_so() {
    let world = handed_over();
    assert!(matches!(world.opening(false), Opening::Waits(Ending::Recurring { .. })));
    assert_eq!(begins(world.opening(true)), Begun::Resumed.into());
    fs::remove_file(world.paper(FIX_REQUEST)).unwrap();
    assert_eq!(begins(world.opening(false)), Begun::RequestDeleted.into());
    let stage = honest(&world);
    assert_eq!(stage.take_up(), Ending::Approved);
    let standing = world.standing();
    assert_eq!((standing.round, standing.epoch().len(), standing.history.len()), (5, 2, 5));
}

#[test]
fn the_loops_own_request_is_no_feedback_and_an_edited_one_is() {
    let world = handed_over();
    let path = world.paper(FIX_REQUEST);
    let own = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{own}\n- Do not touch the database.\n")).unwrap();
    let taken = begins(world.opening(false)).taken.unwrap();
    let titles: Vec<&str> =
        taken.items.iter().map(|it| it.issue.title.lines().next().unwrap()).collect();
    assert_eq!(titles, ["1. Fails: unit", "2. Fails: integration", "Do not touch the database."]);
}

#[test]
fn feedback_goes_to_the_fixer_first_and_what_is_ticked_is_left_alone() {
    let world = approved();
    let text = "- [ ] The button is blue.\n- [x] The title is wrong.\n";
    fs::write(world.paper(FIX_REQUEST), text).unwrap();
    let begin = begins(world.opening(false));
    assert_eq!(begin.why, Begun::Feedback);
    let said = begin.taken.as_ref().unwrap().items.iter();
    let said: Vec<_> = said.map(|it| (it.issue.title.as_str(), it.disposition)).collect();
    let wanted = ("The button is blue.", Disposition::HandedToTheFixer);
    assert_eq!(said, [wanted, ("The title is wrong.", Disposition::TickedOff)]);

    let told = RefCell::new(Vec::new());
    let fix = |it: crate::stage::Asked| {
        told.borrow_mut().extend(world.standing().issues().into_iter().map(|it| it.title));
        Ok(it.tree + 1)
    };
    let stage = Stage::new(&world, &|_| Ok(vec![]), &fix);
    assert_eq!(stage.run(Some(begin)).0, Ending::Approved);
    assert_eq!(*told.borrow(), ["The button is blue."]);
    assert_eq!((stage.fixes.get(), stage.reviews.get()), (1, 1));
    let feedback = world.standing().feedback.unwrap();
    assert_eq!((feedback.changed_something, feedback.items.len()), (Some(true), 2));
}

#[test]
fn feedback_of_which_all_is_ticked_wants_nothing() {
    let world = approved();
    fs::write(world.paper(FIX_REQUEST), "- [x] The title is wrong.\n").unwrap();
    assert_eq!(world.opening(false), Opening::Approved);
    fs::write(world.paper(FIX_REQUEST), "\n\n").unwrap();
    assert_eq!(world.opening(false), Opening::Approved);
}

#[test]
fn what_a_person_wants_does_not_count_as_coming_back() {
    let world = World::new();
    world.tree.set(10);
    // The review finds the issue of the feedback for exactly as many rounds as are allowed.
    let stage = Stage::new(&world, &|_| Ok(vec![issue("It is slow.")]), &|it| Ok(it.tree + 1));
    fs::write(world.paper(FIX_REQUEST), "- It is slow.\n").unwrap();
    let Ending::Recurring { issues } = stage.take_up() else { panic!("it does not end") };
    assert_eq!((issues[0].1, stage.reviews.get(), stage.fixes.get()), (3, 3, 3));
}

#[test]
fn feedback_that_was_noted_is_not_taken_twice() {
    let world = World::new();
    world.tree.set(10);
    fs::write(world.paper(FIX_REQUEST), "- It is slow.\n").unwrap();
    let Begin { why, taken } = begins(world.opening(false));
    let mut journal = world.journal();
    let at = "2026-01-01T00:00:00Z";
    journal.add(at, Event::EpochBegun { why, base: None }).unwrap();
    drop(journal);
    assert_eq!(begins(world.opening(false)).taken, taken, "it was not noted yet");
    let taken = taken.unwrap();
    let (items, digest, archived) = (taken.items, taken.digest, taken.archived);
    world.journal().add(at, Event::FeedbackTaken { items, digest, archived }).unwrap();
    assert_eq!(world.opening(false), Opening::GoOn);
    let stage = honest(&world);
    assert_eq!(stage.take_up(), Ending::Approved);
    assert_eq!((stage.fixes.get(), stage.reviews.get()), (1, 1));
}

#[test]
fn a_journal_from_elsewhere_approves_nothing() {
    for seal in [None, Some("of something else\n")] {
        let world = approved();
        assert_eq!(world.opening(false), Opening::Approved);
        match seal {
            None => fs::remove_file(world.root().join(SEAL)).unwrap(),
            Some(seal) => fs::write(world.root().join(SEAL), seal).unwrap(),
        }
        assert_eq!(begins(world.opening(false)), Begun::Elsewhere.into());
        let stage = honest(&world);
        assert_eq!(stage.take_up(), Ending::Approved);
        assert_eq!((stage.reviews.get(), stage.checks.get()), (1, 2), "all is looked at here");
        assert_eq!(world.opening(false), Opening::Approved);
        assert_eq!(world.standing().round, 3, "it is history all the same");
    }
}

#[test]
fn a_journal_that_somebody_wrote_themselves_approves_nothing() {
    let world = World::new();
    let forged = World::new();
    let mut journal = forged.journal();
    let tree = crate::stage::hash(0);
    for event in [
        Event::EpochBegun { why: Begun::First, base: None },
        Event::ReviewBegun { round: 1, tree },
        Event::Reviewed { seen: Seen::default() },
    ] {
        journal.add("2026-01-01T00:00:00Z", event).unwrap();
    }
    fs::copy(forged.paper(file_names::JOURNAL), world.paper(file_names::JOURNAL)).unwrap();
    assert_eq!(world.standing().exported().name(), "approved");
    let stage = Stage::new(&world, &|_| Ok(vec![]), &|it| Ok(it.tree));
    assert!(matches!(stage.take_up(), Ending::Recurring { .. }));
}

#[test]
fn whoever_waits_elsewhere_waits_here_too() {
    let world = handed_over();
    fs::remove_file(world.root().join(SEAL)).unwrap();
    assert!(matches!(world.opening(false), Opening::Waits(Ending::Recurring { .. })));
    assert_eq!(begins(world.opening(true)), Begun::Elsewhere.into());
}

#[test]
fn a_journal_that_is_changed_while_the_loop_runs_stops_it() {
    let meddle: [&dyn Fn(&World); 3] = [
        &|world| fs::write(world.paper(file_names::JOURNAL), "").unwrap(),
        &|world| fs::remove_file(world.paper(file_names::JOURNAL)).unwrap(),
        &|world| {
            // A journal that a fixer writes may be valid in form.
            let other = World::new();
            let seen = Seen::default();
            other.journal().add("2026-01-01T00:00:00Z", Event::Reviewed { seen }).unwrap();
            fs::copy(other.paper(file_names::JOURNAL), world.paper(file_names::JOURNAL)).unwrap();
        },
    ];
    for meddle in meddle {
        let world = World::new();
        let fix = |_| {
            meddle(&world);
            Ok(10)
        };
        let stage = Stage::new(&world, &|_| Ok(vec![]), &fix);
        let stopped = stage.try_run(None);
        assert!(matches!(stopped, Err(Breakdown::Journal(JournalError::Meddled { .. }))));
        assert_eq!(world.tree.get(), 0, "what it did is not put in");
        let left = Journal::read(&world.root().join(SPEC)).unwrap();
        assert!(left.len() < 2, "nothing is written behind what somebody else wrote");
    }
}
