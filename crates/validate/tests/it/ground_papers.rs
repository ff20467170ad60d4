//! Tests of the documents of a real loop: their authors are recognised, whenever the loop is
//! killed.

use std::fs;

use assay_validate::ending::Ending;
use assay_validate::event::{Begun, Event};
use assay_validate::file_names::{ESCALATION, FIX_REQUEST, REPORT};
use assay_validate::journal::Journal;
use expect_test::expect;

use crate::stage::digest;
use crate::yard::{SPEC, Yard, mend, put};

/// Returns the reasons for the epochs.
fn epochs(yard: &Yard) -> Vec<Begun> {
    let entries = Journal::read(&yard.root().join(SPEC)).unwrap().into_iter();
    let begun = entries.filter_map(|entry| match entry.event {
        Event::EpochBegun { why, .. } => Some(why),
        _ => None,
    });
    begun.collect()
}

/// Returns the names of the documents that a loop wrote.
fn papers(yard: &Yard) -> Vec<String> {
    let names = fs::read_dir(yard.root().join(SPEC)).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("QA_")).collect();
    names.sort();
    names
}

#[test]
fn a_request_that_a_killed_run_left_is_not_taken_for_feedback() {
    for line in [5, 6, 7, 8, 11, 12] {
        let yard = Yard::new();
        yard.kill_before(line, &mend);
        assert_eq!(yard.take_up(&mend), Ending::Approved, "{line}");
        assert_eq!(epochs(&yard), [Begun::First], "{line}");
        assert_eq!(yard.standing().round, 2, "{line}");
        assert!(papers(&yard).is_empty(), "{line}");
    }
}

#[test]
fn papers_of_an_ending_are_written_once_whenever_it_is_killed() {
    let lazy = |_: &std::path::Path| {};
    let yard = Yard::new();
    assert!(matches!(yard.take_up(&lazy), Ending::Recurring { .. }));
    let lines = u32::try_from(yard.journal().entries().len()).unwrap();
    let digest = |yard: &Yard, name| Some(digest(&fs::read(yard.paper(name)).unwrap()));
    for line in [lines - 1, lines] {
        let yard = Yard::new();
        yard.kill_before(line, &lazy);
        assert!(matches!(yard.take_up(&lazy), Ending::Recurring { .. }));
        let left = yard.standing().left;
        assert_eq!(digest(&yard, FIX_REQUEST), left.request, "{line}");
        assert_eq!(digest(&yard, ESCALATION), left.escalation, "{line}");
        assert!(matches!(yard.take_up(&lazy), Ending::Recurring { .. }));
        assert_eq!(epochs(&yard), [Begun::First]);
    }
}

const WANTED: &str = "- [ ] Say more in the README.\n- [x] The title is wrong.\n";

fn say_more(folder: &std::path::Path) {
    put(folder, "README", "much more\n");
}

#[test]
fn feedback_is_handed_to_the_fixer_and_kept_under_another_name() {
    let yard = Yard::new();
    yard.take_up(&mend);
    yard.requests.borrow_mut().clear();
    fs::write(yard.paper(FIX_REQUEST), WANTED).unwrap();
    assert_eq!(yard.take_up(&say_more), Ending::Approved);
    assert_eq!(yard.read("README"), "much more\n");
    let requests = yard.requests.borrow();
    assert_eq!(requests.len(), 1);
    assert!(requests[0].contains("### 1. Say more in the README."));
    assert!(!requests[0].contains("The title is wrong."));
    let [archived] = papers(&yard).try_into().unwrap();
    assert!(archived.starts_with("QA_FEEDBACK_"));
    assert_eq!(fs::read_to_string(yard.paper(&archived)).unwrap(), WANTED);
    let report = fs::read_to_string(yard.paper(REPORT)).unwrap();
    let feedback = report.split("## ").find(|part| part.starts_with("Feedback")).unwrap();
    expect![[r#"
        Feedback

        | # | Wanted | What became of it |
        |---|---|---|
        | 1 | Say more in the README. | handed to the fixer, which changed something |
        | 2 | The title is wrong. | left alone: it was ticked off |

    "#]]
    .assert_eq(feedback);
    assert_eq!(yard.take_up(&say_more), Ending::Approved);
    assert_eq!(epochs(&yard), [Begun::First, Begun::Feedback], "it is taken once");
}

#[test]
fn feedback_is_taken_once_whenever_it_is_killed() {
    // Killed before the feedback is recorded, before the fixer starts, while it works, before its
    // patch is applied.
    for (line, epoch) in [(2, 2), (3, 1), (4, 1), (5, 1)] {
        let yard = Yard::new();
        yard.take_up(&mend);
        fs::write(yard.paper(FIX_REQUEST), WANTED).unwrap();
        yard.kill_before(line, &say_more);
        assert_eq!(yard.take_up(&say_more), Ending::Approved, "{line}");
        let [archived] = papers(&yard).try_into().unwrap();
        assert_eq!(fs::read_to_string(yard.paper(&archived)).unwrap(), WANTED, "{line}");
        let feedback = epochs(&yard).iter().filter(|why| **why == Begun::Feedback).count();
        assert_eq!(feedback, epoch, "{line}");
        assert_eq!(yard.read("README"), "much more\n", "{line}");
    }
}

#[test]
fn what_a_person_wrote_while_the_loop_ran_stays() {
    let yard = Yard::new();
    let ending = yard.take_up(&|folder| {
        mend(folder);
        fs::write(yard.paper(FIX_REQUEST), WANTED).unwrap();
    });
    assert_eq!(ending, Ending::Approved);
    assert_eq!(fs::read_to_string(yard.paper(FIX_REQUEST)).unwrap(), WANTED);
    assert_eq!(yard.take_up(&say_more), Ending::Approved);
    assert_eq!(yard.read("README"), "much more\n", "and is taken up next");
}
