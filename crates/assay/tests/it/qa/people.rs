//! Actions of people: resuming a loop, and requests in feedback.

use std::fs;

use super::{MEND, QaFixture};

/// Returns a loop that ended after one round, with an issue left.
fn stopped() -> QaFixture {
    let fixture = QaFixture::with_fixer(MEND);
    fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "1")]);
    fixture
}

/// Returns the reason of each epoch.
fn epochs(fixture: &QaFixture) -> Vec<String> {
    let begun = fixture.events_of("epoch_begun").into_iter();
    begun.map(|event| event["why"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_loop_that_waits_runs_nothing_until_it_is_taken_up() {
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
fn deleting_the_request_takes_a_loop_up_again() {
    let fixture = stopped();
    fixture.repository.remove("specs/001-greeting/QA_FIX_REQUEST.md");
    fixture.ends(0, &[]);
    assert_eq!(epochs(&fixture), ["first", "request_deleted"]);
    fixture.is_approved();
}

#[test]
fn counting_begins_anew_with_each_time_that_it_is_taken_up() {
    let fixture = stopped();
    fixture.has_fixer("echo more >> notes.txt");
    fixture.ends_with(4, &["--resume"], &[("MAX_QA_ITERATIONS", "2")]);
    fixture.is_handed_over("too_many_rounds", "the limit of 2 rounds is reached");
    let plan = fixture.plan();
    assert_eq!(plan["qa_signoff"]["qa_session"], 3, "rounds are numbered over all");
    assert_eq!(plan["qa_stats"]["total_iterations"], 3);
}

#[test]
fn what_a_person_wrote_is_done_first_archived_and_answered_item_by_item() {
    let fixture = QaFixture::with_fixer(&format!("cat > told.md\n{MEND}"));
    let wanted = "# Please\n\n- Say goodbye as well\n- [x] Say hello\n";
    fixture.repository.write("specs/001-greeting/QA_FIX_REQUEST.md", wanted);
    let ran = fixture.ends(0, &[]);
    assert!(ran.stdout.contains("APPROVED after 1 round "), "{}", ran.stdout);
    assert_eq!(epochs(&fixture), ["feedback"]);
    let told = fs::read_to_string(fixture.repository.file("told.md")).unwrap();
    assert!(told.contains("Say goodbye as well") && !told.contains("Say hello"), "{told}");
    let taken = &fixture.events_of("feedback_taken")[0];
    let archived = taken["archived"].as_str().unwrap();
    assert_eq!(fixture.paper(archived), wanted, "it is kept as it was");
    let report = fixture.paper("qa_report.md");
    let table = "| 1 | Say goodbye as well | sent to the fixer, which changed files |\n\
                 | 2 | Say hello | skipped: ticked off |\n";
    assert!(report.contains(table), "{report}");
    fixture.is_approved();
}

#[test]
fn feedback_after_an_approval_opens_the_loop_again() {
    let fixture = QaFixture::with_fixer(MEND);
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
fn what_a_person_adds_to_the_request_of_the_loop_is_feedback() {
    let fixture = stopped();
    let request = fixture.paper("QA_FIX_REQUEST.md");
    let path = "specs/001-greeting/QA_FIX_REQUEST.md";
    fixture.repository.write(path, format!("{request}\n- Be brief\n"));
    fixture.ends(0, &[]);
    assert_eq!(epochs(&fixture), ["first", "feedback"]);
    let report = fixture.paper("qa_report.md");
    assert!(report.contains("| Be brief | sent to the fixer"), "{report}");
}

#[test]
fn a_fixer_can_neither_change_the_spec_nor_approve_itself() {
    let script = "sed -i '/leaves/d' specs/001-greeting/spec.md\n\
                  echo '{}' > specs/001-greeting/implementation_plan.json\n\
                  rm -f specs/001-greeting/qa_journal.jsonl\necho done >> greeting.txt\n";
    let fixture = QaFixture::with_fixer(script);
    let spec = fixture.paper("spec.md");
    let ran = fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "2")]);
    assert!(ran.stdout.contains("not allowed for the fixer"), "{}", ran.stdout);
    assert_eq!(fixture.paper("spec.md"), spec);
    assert_eq!(fixture.plan()["feature"], "Greeting");
    fixture.is_handed_over("too_many_rounds", "the limit of 2 rounds is reached");
}
