//! Tests of the documents of a real loop: their authors are recognised, whenever the loop is
//! killed.

use std::fs;

use assay_validate::ending::Ending;
use assay_validate::event::{EpochReason, Event};
use assay_validate::file_names::{ESCALATION, FIX_REQUEST, REPORT};
use assay_validate::journal::Journal;
use expect_test::expect;

use crate::loop_fixture::{LoopFixture, SPEC, apply_correct_fix, put};
use crate::loop_simulation::digest;

/// Returns the reasons for the epochs.
fn epochs(fixture: &LoopFixture) -> Vec<EpochReason> {
    let entries = Journal::read(&fixture.root().join(SPEC)).unwrap().into_iter();
    let epoch_reasons = entries.filter_map(|entry| match entry.event {
        Event::EpochBegun { why, .. } => Some(why),
        _ => None,
    });
    epoch_reasons.collect()
}

/// Returns the names of the documents that a loop wrote.
fn feedback_files(fixture: &LoopFixture) -> Vec<String> {
    let names = fs::read_dir(fixture.root().join(SPEC)).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("QA_")).collect();
    names.sort();
    names
}

#[test]
fn a_fix_request_left_by_a_killed_run_is_not_taken_for_feedback() {
    for line in [5, 6, 7, 8, 11, 12] {
        let fixture = LoopFixture::new();
        fixture.kill_before(line, &apply_correct_fix);
        assert_eq!(fixture.take_up(&apply_correct_fix), Ending::Approved, "{line}");
        assert_eq!(epochs(&fixture), [EpochReason::First], "{line}");
        assert_eq!(fixture.loop_state().round, 2, "{line}");
        assert!(feedback_files(&fixture).is_empty(), "{line}");
    }
}

#[test]
fn artifacts_of_an_ending_match_the_journal_after_a_kill_at_any_point() {
    let lazy = |_: &std::path::Path| {};
    let fixture = LoopFixture::new();
    assert!(matches!(fixture.take_up(&lazy), Ending::Recurring { .. }));
    let lines = u32::try_from(fixture.journal().entries().len()).unwrap();
    let digest =
        |fixture: &LoopFixture, name| Some(digest(&fs::read(fixture.artifact_path(name)).unwrap()));
    for line in [lines - 1, lines] {
        let fixture = LoopFixture::new();
        fixture.kill_before(line, &lazy);
        assert!(matches!(fixture.take_up(&lazy), Ending::Recurring { .. }));
        let artifacts = fixture.loop_state().artifacts;
        assert_eq!(digest(&fixture, FIX_REQUEST), artifacts.request, "{line}");
        assert_eq!(digest(&fixture, ESCALATION), artifacts.escalation, "{line}");
        assert!(matches!(fixture.take_up(&lazy), Ending::Recurring { .. }));
        assert_eq!(epochs(&fixture), [EpochReason::First]);
    }
}

const WANTED: &str = "- [ ] Say more in the README.\n- [x] The title is wrong.\n";

fn say_more(folder: &std::path::Path) {
    put(folder, "README", "much more\n");
}

#[test]
fn feedback_is_handed_to_the_fixer_and_archived() {
    let fixture = LoopFixture::new();
    fixture.take_up(&apply_correct_fix);
    fixture.requests.borrow_mut().clear();
    fs::write(fixture.artifact_path(FIX_REQUEST), WANTED).unwrap();
    assert_eq!(fixture.take_up(&say_more), Ending::Approved);
    assert_eq!(fixture.read("README"), "much more\n");
    let requests = fixture.requests.borrow();
    assert_eq!(requests.len(), 1);
    assert!(requests[0].contains("### 1. Say more in the README."));
    assert!(!requests[0].contains("The title is wrong."));
    let [archived] = feedback_files(&fixture).try_into().unwrap();
    assert!(archived.starts_with("QA_FEEDBACK_"));
    assert_eq!(fs::read_to_string(fixture.artifact_path(&archived)).unwrap(), WANTED);
    let report = fs::read_to_string(fixture.artifact_path(REPORT)).unwrap();
    let feedback = report.split("## ").find(|part| part.starts_with("Feedback")).unwrap();
    expect![[r#"
        Feedback

        | # | Request | Result |
        |---|---|---|
        | 1 | Say more in the README. | sent to the fixer, which changed files |
        | 2 | The title is wrong. | skipped: ticked off |

    "#]]
    .assert_eq(feedback);
    assert_eq!(fixture.take_up(&say_more), Ending::Approved);
    assert_eq!(epochs(&fixture), [EpochReason::First, EpochReason::Feedback], "it is taken once");
}

#[test]
fn feedback_is_taken_once_after_a_kill_at_any_point() {
    // Killed before the feedback is recorded, before the fixer starts, while it works, before its
    // patch is applied.
    for (line, epoch) in [(2, 2), (3, 1), (4, 1), (5, 1)] {
        let fixture = LoopFixture::new();
        fixture.take_up(&apply_correct_fix);
        fs::write(fixture.artifact_path(FIX_REQUEST), WANTED).unwrap();
        fixture.kill_before(line, &say_more);
        assert_eq!(fixture.take_up(&say_more), Ending::Approved, "{line}");
        let [archived] = feedback_files(&fixture).try_into().unwrap();
        assert_eq!(fs::read_to_string(fixture.artifact_path(&archived)).unwrap(), WANTED, "{line}");
        let feedback = epochs(&fixture).iter().filter(|why| **why == EpochReason::Feedback).count();
        assert_eq!(feedback, epoch, "{line}");
        assert_eq!(fixture.read("README"), "much more\n", "{line}");
    }
}

#[test]
fn feedback_written_while_the_loop_runs_is_kept_for_the_next_run() {
    let fixture = LoopFixture::new();
    let ending = fixture.take_up(&|folder| {
        apply_correct_fix(folder);
        fs::write(fixture.artifact_path(FIX_REQUEST), WANTED).unwrap();
    });
    assert_eq!(ending, Ending::Approved);
    assert_eq!(fs::read_to_string(fixture.artifact_path(FIX_REQUEST)).unwrap(), WANTED);
    assert_eq!(fixture.take_up(&say_more), Ending::Approved);
    assert_eq!(fixture.read("README"), "much more\n", "and is taken up next");
}
