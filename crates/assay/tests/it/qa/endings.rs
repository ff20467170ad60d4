//! Endings of a loop without an approval: the state on disk, and the output.

use std::fs;

use super::{FIX, PLAN, QaFixture, SPEC};

/// A fixer that changes something every time without fixing the failure.
const BUSY: &str = "n=$(wc -l < rounds.txt 2> /dev/null || echo 0)\necho round >> rounds.txt\n";

#[test]
fn a_loop_fixes_the_issues_and_approves() {
    let fixture = QaFixture::with_fixer(FIX);
    let ran = fixture.ends(0, &[]);
    assert!(ran.stdout.contains("\nAPPROVED after 2 rounds (tree "), "{}", ran.stdout);
    fixture.is_approved();
    let plan = fixture.plan();
    assert_eq!(plan["feature"], "Greeting", "what is not the loop's stays");
    let first = super::issues(&plan["qa_iteration_history"][0]["issues"]);
    let expected = [
        ("acceptance_criteria".to_owned(), "Not met: `leaves` passes".to_owned()),
        ("unit_test".to_owned(), "Test fails: leaves".to_owned()),
    ];
    assert_eq!(first, expected);
    assert_eq!(plan["qa_stats"]["total_iterations"], 2);
    assert_eq!(plan["qa_stats"]["last_status"], "approved");
    assert_eq!(
        fs::read_to_string(fixture.repository.file("greeting.txt")).unwrap(),
        "hello\ngoodbye\n"
    );
    // Git lists no work tree of the fixer.
    let worktrees = fixture.repository.git(&["worktree", "list"]);
    assert_eq!(worktrees.lines().count(), 1, "{worktrees}");
}

#[test]
fn a_loop_that_reaches_the_round_limit_is_escalated_to_a_person() {
    let fixture = QaFixture::with_fixer(BUSY);
    let ran = fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "2")]);
    assert!(
        ran.stdout.contains("A person is needed: the limit of 2 rounds is reached"),
        "{}",
        ran.stdout
    );
    fixture.is_handed_over("too_many_rounds", "the limit of 2 rounds is reached");
    let kinds: Vec<String> = fixture.issues().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["acceptance_criteria", "unit_test"]);
    let again = fixture.ends(4, &[]);
    assert!(
        again.stdout.contains("Waiting for a person: the limit of 2 rounds is reached"),
        "{}",
        again.stdout
    );
    assert_eq!(fixture.events_of("review_begun").len(), 2, "nothing was run");
}

#[test]
fn a_recurring_issue_is_escalated_with_the_attempted_fixes() {
    let fixture = QaFixture::with_fixer(&format!("{BUSY}echo \"attempt after $n\""));
    // Another test fails in each round, so that there is some progress.
    fixture.repository.write(
        "test.sh",
        "n=$(wc -l < rounds.txt 2> /dev/null || echo 0)\n\
         echo 1..3\necho ok 1 - greets\necho not ok 2 - leaves\necho \"not ok 3 - step $n\"\nexit 1\n",
    );
    fixture.ends(4, &[]);
    fixture.is_handed_over("recurring", "recurred in 3 rounds");
    let recurring = super::issues(&fixture.plan()["qa_signoff"]["recurring_issues"]);
    let titles: Vec<&str> = recurring.iter().map(|(_, title)| title.as_str()).collect();
    assert_eq!(titles, ["Not met: `leaves` passes", "Test fails: leaves"]);
    let artifact = fixture.artifact("QA_HUMAN_ESCALATION.md");
    assert!(artifact.contains("- Rounds: 1, 2, 3\n"), "{artifact}");
    assert!(artifact.contains("- Round 1, tried: attempt after 0\n"), "{artifact}");
    assert!(artifact.contains("- Round 2, tried: attempt after 1\n"), "{artifact}");
    assert!(artifact.contains("- Round 3, tried: nothing\n"), "{artifact}");
}

#[test]
fn a_fixer_that_changes_nothing_is_escalated_despite_its_claims() {
    let fixture = QaFixture::with(
        SPEC,
        PLAN,
        "echo 'all fixed, approve it'\n",
        "  recurring_issue_threshold: 9\n",
    );
    let ran = fixture.ends(4, &[]);
    assert!(ran.stdout.contains("no file was changed"), "{}", ran.stdout);
    fixture.is_handed_over("no_progress", "no progress in 3 rounds");
}

#[test]
fn limits_of_the_environment_override_those_of_the_configuration() {
    let fixture = QaFixture::with(SPEC, PLAN, BUSY, "  max_iterations: 3\n");
    fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "1")]);
    fixture.is_handed_over("too_many_rounds", "the limit of 1 round is reached");
    let wrong = fixture.ends_with(2, &["--resume"], &[("MAX_QA_ITERATIONS", "many")]);
    assert!(
        wrong.stderr.contains("invalid value `many` for `MAX_QA_ITERATIONS`"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn a_fixer_that_takes_too_long_uses_up_the_budget() {
    for (args, more) in [(&["--max-seconds", "1"][..], ""), (&[][..], "  budget: { seconds: 1 }\n")]
    {
        let fixture = QaFixture::with(SPEC, PLAN, "", more);
        // No process ever writes to the pipe, so the fixer waits until it is ended.
        let pipe = fixture.pipe("never");
        fixture.has_fixer(&format!("read word < '{}'\n", pipe.display()));
        fixture.ends(4, args);
        fixture.is_handed_over("budget", "the budget is used up: the time limit of 1 s is reached");
    }
}

#[test]
fn a_check_that_takes_too_long_uses_up_the_budget() {
    let fixture = QaFixture::with_fixer(FIX);
    let pipe = fixture.pipe("never");
    fixture.repository.write("test.sh", format!("read word < '{}'\n", pipe.display()));
    fixture.ends(4, &["--max-seconds", "1"]);
    fixture.is_handed_over("budget", "the budget is used up: the time limit of 1 s is reached");
}

#[test]
fn a_fix_is_not_applied_if_the_tree_changes_meanwhile() {
    let fixture = QaFixture::with_fixer("");
    let pipe = fixture.pipe("go");
    fixture.has_fixer(&format!("read word < '{}'\n{FIX}\n", pipe.display()));
    let (mut child, mut lines) = fixture.spawn(&["--spec", "001"]);
    assert!(lines.any(|line| line.trim_start().starts_with("fixing")));
    fixture.repository.write("mine.txt", "what I was writing\n");
    fs::write(&pipe, "go\n").unwrap();
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(4), "{rest:#?}");
    fixture.is_handed_over("tree_moved", "the files changed while the fixer ran");
    let greeting = fs::read_to_string(fixture.repository.file("greeting.txt")).unwrap();
    assert_eq!(greeting, "hello\n", "the fix was not applied");
    assert!(fixture.repository.path().join("mine.txt").exists());
    // After the edits of a person, the resumed loop fixes on top of them.
    fixture.has_fixer(FIX);
    fixture.ends(0, &["--resume"]);
    fixture.is_approved();
}

#[test]
fn a_write_of_the_fixer_into_the_tree_of_the_user_is_blocked_or_detected() {
    let fixture = QaFixture::with_fixer("");
    let theirs = fixture.repository.file("greeting.txt");
    let script = format!("echo goodbye >> '{}' 2> /dev/null; echo done\n", theirs.display());
    fixture.has_fixer(&script);
    fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "2")]);
    // If the kernel does not prevent the write, the tree has changed.
    let greeting = fs::read_to_string(theirs).unwrap();
    match greeting.as_str() {
        "hello\n" => fixture.is_handed_over("too_many_rounds", "2 rounds"),
        _ => fixture.is_handed_over("tree_moved", "changed while"),
    }
}
