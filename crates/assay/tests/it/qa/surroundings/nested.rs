//! Repositories within the tree, and submodules.

use std::fs;
use std::process::Command;

use super::{BROKEN, CALC, MORE, is_approved, is_refused, python};
use crate::qa::QaFixture;

const IGNORE: (&str, &str) = (".gitignore", "__pycache__/\n");

/// Turns a folder of the fixture into a repository with the folder's content.
fn make_repository(fixture: &QaFixture, folder: &str) {
    let at = fixture.repository.file(folder);
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    for args in [&["init", "--quiet"][..], &["add", "--all"], &["commit", "--quiet", "-m", "a"]] {
        let done = Command::new("git").args(identity).args(args).current_dir(&at).status();
        assert!(done.unwrap().success(), "{args:?}");
    }
}

#[test]
fn a_repository_within_the_tree_needs_a_person() {
    let reason = "`calc` is a nested git repository: no commit of this branch contains its files";
    for is_added in [false, true] {
        let fixture = python(&[IGNORE]);
        let repository = &fixture.repository;
        repository.write("calc.py", BROKEN);
        if !is_added {
            repository.commit("work");
        }
        repository.write("calc/__init__.py", CALC);
        make_repository(&fixture, "calc");
        if is_added {
            // Git adds the repository as a submodule without an address.
            repository.commit("work");
        }
        is_refused(&fixture, &[], "1", "Nested git repository: calc", reason);
    }
}

#[test]
fn a_repository_that_the_main_branch_ignores_is_no_issue() {
    let fixture = python(&[(".gitignore", "__pycache__/\n/.worktrees/\n")]);
    fixture.repository.write("calc.py", MORE);
    fixture.repository.commit("work");
    fixture.repository.write(".worktrees/other/calc.py", CALC);
    make_repository(&fixture, ".worktrees/other");
    is_approved(&fixture, &[]);
}

/// Sets up the Python project with a submodule that tests import.
fn with_submodule() -> QaFixture {
    let fixture = python(&[IGNORE]);
    let repository = &fixture.repository;
    let other = fixture.aside("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("__init__.py"), "").unwrap();
    fs::write(other.join("same.py"), "def same(a, b):\n    assert a == b\n").unwrap();
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    for args in [&["init", "--quiet"][..], &["add", "--all"], &["commit", "--quiet", "-m", "a"]] {
        let done = Command::new("git").args(identity).args(args).current_dir(&other).status();
        assert!(done.unwrap().success(), "{args:?}");
    }
    repository.git(&["switch", "--quiet", "main"]);
    let url = other.to_str().unwrap().to_owned();
    let allow = "protocol.file.allow=always";
    repository.git(&["-c", allow, "submodule", "add", "--quiet", &url, "shared"]);
    let test = "import unittest\n\nfrom calc import sub\nfrom shared.same import same\n\n\nclass T(unittest.TestCase):\n    def test_sub(self):\n        same(sub(2, 3), -1)\n";
    repository.write("tests/test_calc.py", test);
    repository.commit("shared");
    repository.git(&["branch", "--quiet", "--force", "work", "main"]);
    repository.git(&["switch", "--quiet", "work"]);
    fixture
}

#[test]
fn an_unchanged_submodule_is_approved() {
    let fixture = with_submodule();
    fixture.repository.write("calc.py", MORE);
    fixture.repository.commit("work");
    is_approved(&fixture, &[]);
}

#[test]
fn a_submodule_with_tests_that_changed_needs_a_person() {
    let fixture = with_submodule();
    fixture.repository.write("calc.py", BROKEN);
    fixture.repository.commit("work");
    let soft = "def same(a, b):\n    return a == b\n";
    fs::write(fixture.repository.file("shared/same.py"), soft).unwrap();
    let reason = "tests are in the submodule `shared`, or import from it";
    is_refused(&fixture, &[], "1", "Weakened test: shared", reason);
}

#[test]
fn a_fixer_that_creates_a_nested_repository_causes_one_issue() {
    for commits in ["", "git add -A; git -c user.name=a -c user.email=a@example.com commit -qm x; "]
    {
        let fixture = python(&[IGNORE]);
        fixture.repository.write("calc.py", BROKEN);
        fixture.repository.commit("work");
        let script = format!(
            "mkdir calc; printf 'def sub(a, b):\\n    return a - b\\n' > calc/__init__.py\ncd calc; git init -q; {commits}echo done\n"
        );
        fixture.has_fixer(&script);
        let title = "The fixer left a nested git repository: calc";
        let reason = "the fixer turned `calc` into a nested git repository, whose files git does \
                      not track";
        let ran = is_refused(&fixture, &[], "3", title, reason);
        assert!(!ran.stdout.contains("aborted"), "{}", ran.stdout);
        let matching = fixture.issues().into_iter().filter(|(_, it)| it == title).count();
        assert_eq!(matching, 1, "{}", ran.stdout);
        assert!(!fixture.repository.file("calc").exists(), "nothing of it was taken");
    }
}
