//! The flow of a loop for an honest user: no round without a change, no check that runs twice, no
//! issue for a fixer that only a person can remove, and one command to continue.

use super::toolchains::has;
use super::{CONFIG, FIX, PLAN, QaFixture, RUNNER, SPEC};

/// A plan of low risk with all subtasks completed.
const LOW: &str = r#"{"verification_strategy": {"risk_level": "low"}, "phases": [{"name": "one",
    "subtasks": [{"id": "1", "title": "All of it", "status": "completed"}]}]}"#;

/// A spec without commands, whose only criterion is decided by code.
const EXISTS: &str = "# Sum\n\n## Acceptance Criteria\n\n- `sum.txt` exists\n";

/// Sets up a repository with a spec, without a fixer.
fn without_fixer(spec: &str, plan: &str, files: &[(&str, &str)]) -> QaFixture {
    let fixture = QaFixture::bare();
    fixture.repository.write("README.md", "before\n");
    fixture.repository.commit("before");
    files.iter().for_each(|(path, text)| fixture.repository.write(path, text));
    fixture.repository.write("specs/001-greeting/spec.md", spec);
    fixture.repository.write("specs/001-greeting/implementation_plan.json", plan);
    fixture
}

#[test]
fn a_project_of_low_risk_without_a_build_is_smoke_tested_by_its_tests() {
    let node = "const { test } = require('node:test');\ntest('adds', () => {});\n";
    let package = "{\"name\": \"sum\", \"scripts\": {\"test\": \"node --test\"}}\n";
    let python = "import unittest\n\nclass Sum(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(1 + 2, 3)\n";
    for (program, files, command) in [
        ("npm", &[("package.json", package), ("sum.test.js", node)][..], "npm test"),
        ("node", &[("package.json", "{}\n"), ("sum.test.js", node)], "node --test"),
        ("make", &[("Makefile", "test:\n\t@echo ok 1 - adds; echo 1..1\n")], "make test"),
        ("make", &[("Makefile", "all:\n\t@true\n"), ("test_sum.sh", "true\n")], "make all"),
        ("python3", &[("tests/test_sum.py", python)], "python3 -m unittest"),
    ] {
        if !has(program, &["--version"]) {
            continue;
        }
        let fixture = without_fixer(EXISTS, LOW, files);
        fixture.repository.write("sum.txt", "3\n");
        fixture.repository.write(".gitignore", "__pycache__/\n");
        let ran = fixture.ends(0, &[]);
        let passed = format!("  passed    smoke: {command}");
        assert!(ran.stdout.contains(&passed), "{command}: {}", ran.stdout);
    }
}

#[test]
fn a_test_that_fails_fails_the_smoke_test_of_a_project_without_a_build() {
    let files =
        [("Makefile", "test:\n\t@echo 1..1; echo not ok 1 - adds; exit 1\n"), ("sum.txt", "3\n")];
    let fixture = without_fixer(EXISTS, LOW, &files);
    let ran = fixture.ends(4, &[]);
    assert!(
        ran.stdout.contains("  failed    smoke: make test: 1 of 1 test failed"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_waiting_loop_reports_an_unchanged_tree_and_the_commands_to_continue() {
    let fixture = QaFixture::with_fixer("true");
    fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "1")]);
    let events = fixture.events().len();
    let ran = fixture.ends(4, &[]);
    for said in [
        "Waiting for a person: the limit of 1 round is reached",
        "  tree      not changed since the loop stopped in round 1\n",
        "  continue  assay qa --spec 001-greeting, after any change of the files\n",
        "  resume    assay qa --spec 001-greeting --resume, if no file must change\n",
    ] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
    assert_eq!(fixture.events().len(), events, "nothing was run");
}

#[test]
fn a_waiting_loop_continues_once_a_person_changed_the_tree() {
    let fixture = QaFixture::with_fixer("true");
    fixture.ends_with(4, &[], &[("MAX_QA_ITERATIONS", "1")]);
    fixture.repository.write("greeting.txt", "hello\ngoodbye\n");
    let status = fixture.ends(0, &["--status"]);
    assert!(status.stdout.contains("the tree has changed since"), "{}", status.stdout);
    assert!(status.stdout.contains("`assay qa --spec 001-greeting`"), "{}", status.stdout);
    let ran = fixture.ends(0, &[]);
    let said = "001-greeting: the tree changed since the loop stopped (the limit of 1 round is \
                reached); validating it again\n";
    assert!(ran.stdout.starts_with(said), "{}", ran.stdout);
    assert_eq!(fixture.events_of("epoch_begun")[1]["why"], "tree_changed");
    fixture.is_approved();
}

#[test]
fn pending_decisions_are_still_required_after_the_tree_changes() {
    let prose = SPEC.replace("`leaves` passes", "Guests feel welcome");
    let fixture = QaFixture::with(&prose, PLAN, "true\n", "");
    fixture.repository.write("greeting.txt", "hello\ngoodbye\n");
    fixture.ends(4, &[]);
    fixture.is_handed_over("awaits_decision", "a person must decide");
    fixture.repository.write("greeting.txt", "hello\ngoodbye!\n");
    let ran = fixture.ends(4, &[]);
    assert!(ran.stdout.contains("Cannot tell: Guests feel welcome"), "{}", ran.stdout);
    fixture.is_handed_over("awaits_decision", "a person must decide");
    let word =
        ["--sign-off", "Ada", "--for", "Guests feel welcome", "--because", "asked ten guests"];
    fixture.ends(0, &word);
    fixture.is_approved();
}

#[test]
fn a_loop_without_a_fixer_ends_after_one_round_and_says_how_to_configure_one() {
    let fixture = without_fixer(SPEC, PLAN, &[("test.sh", RUNNER), ("greeting.txt", "hello\n")]);
    let ran = fixture.ends(4, &[]);
    assert!(ran.stdout.contains("A person is needed: no fixer is configured"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("`qa.fixer.run` in `config/agent-framework.yaml`"),
        "{}",
        ran.stdout
    );
    fixture.is_handed_over("no_fixer", "no fixer is configured, and no safe fix applies");
    assert_eq!(fixture.events_of("review_begun").len(), 1);
    let artifact = fixture.artifact("QA_HUMAN_ESCALATION.md");
    assert!(!artifact.contains("the next run starts with them"), "{artifact}");
    // A person fixes the issue, and the plain command continues.
    fixture.repository.write("greeting.txt", "hello\ngoodbye\n");
    fixture.ends(0, &[]);
    fixture.is_approved();
}

#[test]
fn a_model_fixer_without_a_configured_model_is_reported_after_one_round() {
    let fixture = QaFixture::bare();
    fixture.repository.write(CONFIG, "qa: { fixer: model }\n");
    fixture.repository.write("test.sh", RUNNER);
    fixture.repository.commit("before");
    fixture.repository.write("specs/001-greeting/spec.md", SPEC);
    fixture.repository.write("specs/001-greeting/implementation_plan.json", PLAN);
    fixture.repository.write("greeting.txt", "hello\n");
    let ran = fixture.ends(4, &[]);
    assert!(ran.stdout.contains("`qa.fixer` is `model`, and no model is"), "{}", ran.stdout);
    assert_eq!(fixture.events_of("review_begun").len(), 1);
}

#[test]
fn a_fixer_that_only_the_branch_configures_is_not_used_and_the_remedy_is_named() {
    let fixture = without_fixer(SPEC, PLAN, &[("test.sh", RUNNER), ("greeting.txt", "hello\n")]);
    fixture.configure(FIX, "");
    let ran = fixture.ends(4, &[]);
    let said = "only the branch under review configures a fixer";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("to the main branch, rebase this branch onto it"),
        "{}",
        ran.stdout
    );
    fixture.is_handed_over("no_fixer", "configures a fixer only on the branch under review");
    assert_eq!(fixture.events_of("review_begun").len(), 1);
}

#[test]
fn issues_that_only_a_person_can_remove_do_not_reach_the_fixer() {
    let prose =
        SPEC.replace("- [ ] `leaves` passes", "- [ ] `leaves` passes\n- [ ] Guests feel welcome");
    let fixture = QaFixture::with(&prose, PLAN, "", "");
    fixture.has_fixer(&format!("cat > told.md\n{FIX}\n"));
    let ran = fixture.ends(4, &[]);
    assert!(ran.stdout.contains("  fixing    2 issues\n"), "{}", ran.stdout);
    let fix_request = std::fs::read_to_string(fixture.repository.file("told.md")).unwrap();
    assert!(
        fix_request.contains("Test fails: leaves") && !fix_request.contains("welcome"),
        "{fix_request}"
    );
    assert!(fix_request.contains("- Left out, for a person: 1\n"), "{fix_request}");
    fixture.is_handed_over("awaits_decision", "a person must decide");
    assert_eq!(fixture.events_of("review_begun").len(), 2, "no round is spent on asking");
}

#[test]
fn a_fixer_is_not_called_if_only_a_person_can_resolve_the_issues() {
    let prose = SPEC.replace("`leaves` passes", "Guests feel welcome");
    let none = "# Greeting\n\n## Verification\n\n**Unit Tests:**\n- `sh test.sh`\n";
    for spec in [prose.as_str(), none] {
        let fixture = QaFixture::with(spec, PLAN, "touch called.txt\n", "");
        fixture.repository.write("greeting.txt", "hello\ngoodbye\n");
        fixture.ends(4, &[]);
        fixture.is_handed_over("awaits_decision", "a person must decide");
        assert!(fixture.events_of("fix_begun").is_empty(), "{spec}");
    }
}

#[test]
fn a_criterion_that_names_a_missing_test_is_sent_to_the_fixer() {
    let spec = SPEC.replace("`leaves` passes", "`waves` passes");
    let runner = RUNNER.replace("1..2", "1..3") + "\n";
    let more = runner.replace("exit $failed", "look 3 waves hello\nexit $failed");
    let fixture = QaFixture::with(&spec, PLAN, "", "");
    fixture.repository.write("greeting.txt", "hello\ngoodbye\n");
    let fixed_script = fixture.aside("more.sh");
    std::fs::write(&fixed_script, more).unwrap();
    fixture.has_fixer(&format!("cp '{}' test.sh\n", fixed_script.display()));
    fixture.ends(0, &[]);
    assert_eq!(fixture.events_of("fix_begun").len(), 1);
}

#[test]
fn one_run_of_a_command_counts_for_all_kinds_of_check_that_name_it() {
    let fixture = QaFixture::with_fixer(FIX);
    let ran = fixture.ends(0, &[]);
    let said = "  passed    unit: sh test.sh: 2 tests\n  reused    integration: same command, not \
                run again\n";
    assert!(ran.stdout.contains(said), "{}", ran.stdout);
    let report = fixture.artifact("qa_report.md");
    assert!(report.contains("the run also counts as integration"), "{report}");
    assert_eq!(fixture.events_of("checked").len(), 2, "once in each round");
}

mod toolchains {
    use super::*;

    #[test]
    fn a_runner_that_refuses_its_command_line_was_not_run() {
        for (program, command, remedy) in [
            ("pytest", "python3 -m pytest --no-such-option", "correct the command"),
            ("pytest", "pytest tests/no_such_file.py", "correct the command"),
            ("python3", "python3 -m unittest --no-such-option", "correct the command"),
            ("node", "node --test --no-such-option", "correct the command"),
            ("cargo", "cargo test --no-such-option", "correct the command"),
        ] {
            if !has(program, &["--version"]) {
                continue;
            }
            let spec = format!(
                "# Sum\n\n## Acceptance Criteria\n\n- `sum.txt` exists\n\n## Verification\n\n\
                 **Unit Tests:**\n- `{command}`\n"
            );
            let fixture = without_fixer(&spec, LOW, &[("sum.txt", "3\n")]);
            fixture.repository.write(".gitignore", "__pycache__/\n.pytest_cache/\n");
            let ran = fixture.ends(4, &[]);
            let said =
                format!("  not run   smoke: {command}: the test runner rejected its command line");
            assert!(ran.stdout.contains(&said) && ran.stdout.contains(remedy), "{}", ran.stdout);
            assert!(!ran.stdout.contains("Test fails"), "{}", ran.stdout);
        }
    }
}

#[test]
fn a_program_under_test_that_refuses_its_arguments_has_failed() {
    let script = "echo 'usage: sum [-h]' >&2\necho 'sum: error: unrecognized arguments: --cov' >&2\nexit 2\n";
    let spec = "# Sum\n\n## Acceptance Criteria\n\n- `sum.txt` exists\n\n## Verification\n\n\
                **Unit Tests:**\n- `sh try.sh`\n";
    let fixture = without_fixer(spec, LOW, &[("sum.txt", "3\n"), ("try.sh", script)]);
    let ran = fixture.ends(4, &[]);
    assert!(
        ran.stdout.contains("  failed    smoke: sh try.sh: the command exited with code 2"),
        "{}",
        ran.stdout
    );
}
