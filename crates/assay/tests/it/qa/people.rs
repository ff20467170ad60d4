//! Actions of people: resuming a loop, and requests in feedback.

use std::fs;

use super::{FIX, QaFixture};

/// Returns a loop that ended after one round, with an issue left.
fn stopped() -> QaFixture {
    let fixture = QaFixture::with_fixer(FIX);
    fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "1")]);
    fixture
}

/// Returns the reason of each epoch.
fn epochs(fixture: &QaFixture) -> Vec<String> {
    let epoch_events = fixture.events_of("epoch_begun").into_iter();
    epoch_events.map(|event| event["why"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_waiting_loop_runs_nothing_until_it_is_resumed() {
    let fixture = stopped();
    let before = fixture.events().len();
    let ran = fixture.ends(4, &[]);
    assert_eq!(fixture.events().len(), before);
    assert!(ran.stdout.contains("assay qa --spec 001-greeting --resume"), "{}", ran.stdout);
    fixture.ends(0, &["--resume"]);
    assert_eq!(epochs(&fixture), ["first", "resumed"]);
    fixture.is_approved();
}

#[test]
fn deleting_the_request_resumes_a_loop() {
    let fixture = stopped();
    fixture.repository.remove("specs/001-greeting/QA_FIX_REQUEST.md");
    fixture.ends(0, &[]);
    assert_eq!(epochs(&fixture), ["first", "request_deleted"]);
    fixture.is_approved();
}

#[test]
fn resuming_a_loop_restarts_the_round_limit() {
    let fixture = stopped();
    fixture.has_fixer("echo more >> notes.txt");
    fixture.ends_with(4, &["--resume"], &[("MAX_QA_ITERATIONS", "2")]);
    fixture.is_handed_over("too_many_rounds", "the limit of 2 rounds is reached");
    let plan = fixture.plan();
    assert_eq!(plan["qa_signoff"]["qa_session"], 3, "rounds are numbered over all");
    assert_eq!(plan["qa_stats"]["total_iterations"], 3);
}

#[test]
fn feedback_of_a_person_is_handled_first_archived_and_answered_item_by_item() {
    let fixture = QaFixture::with_fixer(&format!("cat > told.md\n{FIX}"));
    let wanted = "# Please\n\n- Say goodbye as well\n- [x] Say hello\n";
    fixture.repository.write("specs/001-greeting/QA_FIX_REQUEST.md", wanted);
    let ran = fixture.ends(0, &[]);
    assert!(ran.stdout.contains("APPROVED after 1 round "), "{}", ran.stdout);
    assert_eq!(epochs(&fixture), ["feedback"]);
    let fix_request = fs::read_to_string(fixture.repository.file("told.md")).unwrap();
    assert!(
        fix_request.contains("Say goodbye as well") && !fix_request.contains("Say hello"),
        "{fix_request}"
    );
    let taken = &fixture.events_of("feedback_taken")[0];
    let archived = taken["archived"].as_str().unwrap();
    assert_eq!(fixture.artifact(archived), wanted, "it is kept as it was");
    let report = fixture.artifact("qa_report.md");
    let table = "| 1 | Say goodbye as well | sent to the fixer, which changed files |\n\
                 | 2 | Say hello | skipped: ticked off |\n";
    assert!(report.contains(table), "{report}");
    fixture.is_approved();
}

#[test]
fn feedback_after_an_approval_opens_the_loop_again() {
    let fixture = QaFixture::with_fixer(FIX);
    fixture.ends(0, &[]);
    fixture.has_fixer("echo 'good night' >> greeting.txt");
    fixture.repository.write("specs/001-greeting/QA_FIX_REQUEST.md", "Say good night, too.\n");
    fixture.ends(0, &[]);
    assert_eq!(epochs(&fixture), ["first", "feedback"]);
    let greeting = fs::read_to_string(fixture.repository.file("greeting.txt")).unwrap();
    assert_eq!(greeting, "hello\ngoodbye\ngood night\n");
    fixture.is_approved();
    fixture.ends(0, &[]);
    assert_eq!(epochs(&fixture).len(), 2, "it is not taken twice");
}

#[test]
fn text_that_a_person_adds_to_the_fix_request_is_feedback() {
    let fixture = stopped();
    let request = fixture.artifact("QA_FIX_REQUEST.md");
    let path = "specs/001-greeting/QA_FIX_REQUEST.md";
    fixture.repository.write(path, format!("{request}\n- Be brief\n"));
    fixture.ends(0, &[]);
    assert_eq!(epochs(&fixture), ["first", "feedback"]);
    let report = fixture.artifact("qa_report.md");
    assert!(report.contains("| Be brief | sent to the fixer"), "{report}");
}

#[test]
fn a_fixer_can_neither_change_the_spec_nor_approve_itself() {
    let script = "sed -i '/leaves/d' specs/001-greeting/spec.md\n\
                  echo '{}' > specs/001-greeting/implementation_plan.json\n\
                  rm -f specs/001-greeting/qa_journal.jsonl\necho done >> greeting.txt\n";
    let fixture = QaFixture::with_fixer(script);
    let spec = fixture.artifact("spec.md");
    let ran = fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "2")]);
    assert!(ran.stdout.contains("not allowed for the fixer"), "{}", ran.stdout);
    assert_eq!(fixture.artifact("spec.md"), spec);
    assert_eq!(fixture.plan()["feature"], "Greeting");
    fixture.is_handed_over("too_many_rounds", "the limit of 2 rounds is reached");
}
