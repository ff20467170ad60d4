//! The base commit, and the refs that decide on it.

use super::{BROKEN, CALC, MORE, TEST, WEAKENED, is_approved, is_refused, project, python};

/// Returns a runner that runs a script and then reports that its only test passes.
fn runner(script: &str) -> String {
    format!("{script}\necho 'ok 1 - leaves'\necho 1..1\n")
}

#[test]
fn a_check_that_moves_the_main_branch_has_failed() {
    for (script, moved) in [
        ("git branch -f main work", "`refs/heads/main` (to "),
        (
            "git update-ref refs/heads/main HEAD; git pack-refs --all --prune",
            "`refs/heads/main` (to ",
        ),
        ("git update-ref refs/remotes/origin/main HEAD", "`refs/remotes/origin/main` (to "),
        ("git update-ref -d refs/heads/main", "`refs/heads/main` (deleted)"),
        ("git update-ref refs/heads/main main~1", "`refs/heads/main` (to "),
    ] {
        let main = [("check.sh", runner(script)), ("greeting.txt", "hello\n".to_owned())];
        let main: Vec<(&str, &str)> = main.iter().map(|(path, text)| (*path, &**text)).collect();
        let fixture = project(&main, "sh check.sh", "`leaves` passes");
        fixture.repository.write("greeting.txt", "hello, goodbye\n");
        fixture.repository.commit("work");
        let before = fixture.repository.git(&["for-each-ref", "refs/heads", "refs/remotes"]);
        is_refused(&fixture, &[], "1", "Fails: ", moved);
        let after = fixture.repository.git(&["for-each-ref", "refs/heads", "refs/remotes"]);
        assert_eq!(after, before, "{script}");
    }
}

#[test]
fn a_fixer_does_not_move_the_main_branch() {
    let check = "grep -q goodbye greeting.txt && echo 'ok 1 - leaves' || echo 'not ok 1 - leaves'\necho 1..1\ngrep -q goodbye greeting.txt\n";
    let main = [("check.sh", check), ("greeting.txt", "hello\n")];
    let fixture = project(&main, "sh check.sh", "`leaves` passes");
    fixture.has_fixer("git branch -f main work; echo goodbye >> greeting.txt\n");
    fixture.repository.write("greeting.txt", "hello, you\n");
    fixture.repository.commit("work");
    let before = fixture.repository.git(&["rev-parse", "main"]);
    fixture.qa_with(&[], &[("MAX_CONSECUTIVE_ERRORS", "1")]);
    assert_eq!(fixture.repository.git(&["rev-parse", "main"]), before);
}

#[test]
fn a_main_branch_that_advances_while_checks_run_is_left_unchanged() {
    let script = "c=$(git commit-tree -p main -m other main^{tree}); git update-ref refs/heads/main $c; git pack-refs --all";
    let main = [("check.sh", runner(script)), ("greeting.txt", "hello\n".to_owned())];
    let main: Vec<(&str, &str)> = main.iter().map(|(path, text)| (*path, &**text)).collect();
    let fixture = project(&main, "sh check.sh", "`leaves` passes");
    fixture.repository.write("greeting.txt", "hello, goodbye\n");
    fixture.repository.commit("work");
    let before = fixture.repository.git(&["rev-parse", "main"]);
    is_approved(&fixture, &[]);
    assert_ne!(fixture.repository.git(&["rev-parse", "main"]), before);
}

#[test]
fn a_base_that_contains_rejected_work_needs_a_person() {
    // The work is committed, or only in the work tree at its first validation.
    for is_committed in [true, false] {
        let fixture = python(&[(".gitignore", "__pycache__/\n")]);
        let repository = &fixture.repository;
        repository.write("calc.py", BROKEN);
        repository.write("tests/test_calc.py", WEAKENED);
        if is_committed {
            repository.commit("work");
        }
        is_refused(&fixture, &[], "1", "Weakened test: ", "passes only in the version");
        repository.commit("all of it");
        repository.git(&["branch", "--force", "main", "work"]);
        repository.write("calc.py", format!("{BROKEN}\n\nMORE = 1\n"));
        repository.commit("more");
        let title = "Base contains unapproved commits: ";
        is_refused(
            &fixture,
            &["--resume"],
            "1",
            title,
            "contains commits that earlier rounds reviewed",
        );
        let issues = fixture.issues();
        let issue = issues.iter().find(|(_, it)| it.starts_with(title)).unwrap();
        let sign =
            ["--sign-off", "Ann", "--for", &issue.1, "--because", "main was fast-forwarded by me"];
        let decided = fixture.qa(&sign);
        assert_eq!(decided.code, 0, "{}{}", decided.stdout, decided.stderr);
    }
}

#[test]
fn a_base_that_is_no_descendant_needs_a_person() {
    let fixture = python(&[(".gitignore", "__pycache__/\n")]);
    fixture.repository.write("calc.py", BROKEN);
    fixture.repository.commit("work");
    is_refused(&fixture, &[], "1", "Test fails: ", "");
    fixture.repository.git(&["branch", "--force", "main", "main~1"]);
    fixture.repository.write("calc.py", MORE);
    is_refused(&fixture, &["--resume"], "1", "Base was moved from ", "is no descendant of it");
}

#[test]
fn a_base_that_advances_with_other_work_is_approved() {
    for how in ["rebase", "merge"] {
        let fixture = python(&[(".gitignore", "__pycache__/\n")]);
        let repository = &fixture.repository;
        repository.write("calc.py", BROKEN);
        repository.commit("work");
        is_refused(&fixture, &[], "1", "Test fails: ", "");
        repository.git(&["stash", "--include-untracked", "--quiet"]);
        repository.git(&["switch", "--quiet", "main"]);
        repository.write("other.py", CALC);
        repository.write(
            "tests/test_other.py",
            TEST.replace("calc", "other").replace("test_sub", "test_other"),
        );
        repository.commit("others' work");
        repository.git(&["switch", "--quiet", "work"]);
        repository.git(&[how, "--quiet", "main"]);
        repository.git(&["stash", "pop", "--quiet"]);
        repository.write("calc.py", MORE);
        is_approved(&fixture, &["--resume"]);
    }
}

#[test]
fn approved_work_that_is_merged_is_a_base_like_any_other() {
    let fixture = python(&[(".gitignore", "__pycache__/\n")]);
    let repository = &fixture.repository;
    repository.write("calc.py", BROKEN);
    repository.commit("work");
    is_refused(&fixture, &[], "1", "Test fails: ", "");
    repository.write("calc.py", MORE);
    is_approved(&fixture, &["--resume"]);
    repository.commit("approved");
    repository.git(&["branch", "--force", "main", "work"]);
    repository.write("calc.py", format!("{MORE}\n\n\ndef one():\n    return 1\n"));
    repository.commit("more");
    is_approved(&fixture, &[]);
}

#[test]
fn commits_that_a_remote_does_not_have_are_part_of_the_work() {
    let fixture = python(&[(".gitignore", "__pycache__/\n")]);
    let repository = &fixture.repository;
    // The remote has the main branch as it was, under its own name.
    repository.git(&["update-ref", "refs/remotes/upstream/main", "main"]);
    repository.git(&["config", "remote.upstream.url", "."]);
    repository.git(&["config", "remote.upstream.fetch", "+refs/heads/*:refs/remotes/upstream/*"]);
    repository.git(&["config", "branch.main.remote", "upstream"]);
    repository.git(&["config", "branch.main.merge", "refs/heads/main"]);
    repository.write("calc.py", BROKEN);
    repository.write("tests/test_calc.py", WEAKENED);
    repository.commit("work");
    repository.git(&["branch", "--force", "main", "work"]);
    repository.write("calc.py", format!("{BROKEN}\n\nMORE = 1\n"));
    is_refused(&fixture, &[], "1", "Weakened test: ", "passes only in the version");
}
