//! Rounds that fail: their reports, and their limits.

use super::{FIX, PLAN, QaFixture, SPEC};

/// Returns the status of each round, from the plan.
fn words(fixture: &QaFixture) -> Vec<String> {
    let plan = fixture.plan();
    let rounds = plan["qa_iteration_history"].as_array().unwrap().iter();
    rounds.map(|round| round["status"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_reviewer_that_fails_in_three_rounds_aborts_the_loop() {
    let fixture = QaFixture::with_fixer(FIX);
    let models = "models:\n  use:\n    gone:\n      api: command\n      model: any\n      run: [sh, -c, 'echo no login >&2; exit 1']\n      answer: text\n";
    let path = fixture.repository.file("config/agent-framework.yaml");
    let config = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, format!("{config}{models}")).unwrap();
    fixture.repository.git(&["add", "config"]);
    fixture.repository.git(&["commit", "--quiet", "--message", "a reviewer"]);
    fixture.repository.write("greet.py", "def greet(name):\n    return f\"hello {name}\"\n");
    let ran = fixture.ends(3, &[]);
    assert!(ran.stdout.contains("aborted"), "{}", ran.stdout);
    fixture.is_handed_over("errors", "3 rounds failed, the last one with");
    assert_eq!(words(&fixture), ["error", "error", "error"]);
    assert!(fixture.artifact("qa_report.md").contains("- Verdict: ERROR\n"));
    let again = fixture.ends(4, &[]);
    assert!(again.stdout.contains("Waiting for a person: 3 rounds failed"), "{}", again.stdout);
}

#[test]
fn a_failing_fixer_is_an_error_with_its_stderr() {
    let fixture = QaFixture::with_fixer("echo 'no disk left' >&2; exit 7");
    fixture.ends(3, &[]);
    fixture.is_handed_over("errors", "no disk left");
    fixture.has_fixer(FIX);
    fixture.ends(0, &["--resume"]);
    fixture.is_approved();
}

#[test]
fn errors_followed_by_a_success_do_not_abort_the_loop() {
    let fixture = QaFixture::with_fixer("");
    let pipe = fixture.pipe("go");
    let wait = format!("read word < '{}'\ntest \"$word\" = go || exit 1\n", pipe.display());
    fixture.has_fixer(&format!("{wait}{FIX}\n"));
    let (mut child, mut lines) = fixture.spawn(&["--spec", "001"]);
    for word in ["no\n", "no\n", "go\n"] {
        assert!(lines.any(|line| line.trim_start().starts_with("fixing")));
        std::fs::write(&pipe, word).unwrap();
    }
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{rest:#?}");
    fixture.is_approved();
    assert_eq!(fixture.events_of("failed").len(), 2);
}

#[test]
fn a_check_that_writes_unignored_files_is_named_with_the_remedy() {
    let fixture = QaFixture::with(SPEC, PLAN, FIX, "");
    let log = "date +%s%N >> test.log\necho 1..2\necho ok 1 - greets\necho ok 2 - leaves\n";
    fixture.repository.write("test.sh", log);
    let ran = fixture.ends(3, &[]);
    let why = "the tree changed while the checks ran: `test.log`; git does not ignore files that \
               the checks write: add `/test.log` to `.gitignore`, commit it, and resume the loop";
    assert!(ran.stdout.contains(why), "{}", ran.stdout);
    fixture.is_handed_over("errors", why);
    fixture.repository.write(".gitignore", "test.log\n");
    fixture.ends(0, &["--resume"]);
    fixture.is_approved();
}

#[test]
fn a_missing_test_runner_is_not_a_pass() {
    let fixture = QaFixture::with(&SPEC.replace("sh test.sh", "no-such-runner"), PLAN, "", "");
    fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "1")]);
    let titles: Vec<String> = fixture.issues().into_iter().map(|(_, title)| title).collect();
    assert!(titles.contains(&"Not run: unit: no-such-runner".to_owned()), "{titles:?}");
}
