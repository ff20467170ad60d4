//! `assay fix --staged`, and the hook that names it.

use std::fs;
use std::process::Command;

use assay_testkit::Repository;

use crate::{AssayRun, assay_in};

const BEFORE: &str =
    "def f():\n    return 1\n\n\ndef g():\n    return 2\n\n\ndef h():\n    return 3\n";

/// The text before with a breakpoint in the first function.
fn flawed() -> String {
    BEFORE.replacen("    return 1", "    breakpoint()\n    return 1", 1)
}

/// Creates a repository with a committed file, whose flawed form is staged.
fn staged(flawed: &str) -> Repository {
    let repository = Repository::new();
    repository.write("a.py", BEFORE);
    repository.commit("before");
    repository.write("a.py", flawed);
    repository.git(&["add", "a.py"]);
    repository
}

fn fix(repository: &Repository, args: &[&str]) -> AssayRun {
    assay_in(repository.path(), &[&["fix", "--staged"], args].concat(), b"")
}

/// Returns the text of the file in the index and in the work tree.
fn texts(repository: &Repository) -> (String, String) {
    let index = repository.git(&["show", ":a.py"]) + "\n";
    (index, fs::read_to_string(repository.file("a.py")).unwrap())
}

#[test]
fn a_staged_fix_changes_the_index_and_the_work_tree() {
    let repository = staged(&flawed().replace("return 2", "return 22"));
    let checked = fix(&repository, &["--check"]);
    assert_eq!(checked.code, 1, "{}{}", checked.stdout, checked.stderr);
    assert!(checked.stdout.contains("1 safe fix would be applied"), "{}", checked.stdout);
    assert!(texts(&repository).0.contains("breakpoint"));
    let fixed = fix(&repository, &[]);
    assert_eq!(fixed.code, 0, "{}{}", fixed.stdout, fixed.stderr);
    assert!(fixed.stdout.contains("staged now: ready (rules only)"), "{}", fixed.stdout);
    let expected = BEFORE.replace("return 2", "return 22");
    assert_eq!(texts(&repository), (expected.clone(), expected));
    assert_eq!(repository.git(&["status", "--short"]).trim(), "M  a.py".trim());
}

#[test]
fn unstaged_edits_of_a_partly_staged_file_stay_unstaged() {
    let repository = staged(&flawed());
    repository.write("a.py", flawed().replace("return 3", "return 33"));
    let fixed = fix(&repository, &[]);
    assert_eq!(fixed.code, 0, "{}{}", fixed.stdout, fixed.stderr);
    assert!(fixed.stdout.contains("a.py has unstaged edits, which stay unstaged"));
    let work_tree = BEFORE.replace("return 3", "return 33");
    assert_eq!(texts(&repository), (BEFORE.to_owned(), work_tree));
}

#[test]
fn a_fix_on_lines_with_an_unstaged_edit_is_refused_and_loses_nothing() {
    let two = flawed().replace("    return 3", "    breakpoint()\n    return 3");
    let repository = staged(&two);
    let edited = two.replacen("breakpoint()", "breakpoint()  # not yet", 1);
    repository.write("a.py", &edited);
    let fixed = fix(&repository, &[]);
    assert_eq!(fixed.code, 0, "{}{}", fixed.stdout, fixed.stderr);
    assert!(fixed.stdout.contains("an unstaged edit changes the same lines"), "{}", fixed.stdout);
    assert!(fixed.stdout.contains("1 safe fix applied"), "{}", fixed.stdout);
    let (index, work_tree) = texts(&repository);
    assert_eq!(index, flawed());
    assert_eq!(work_tree, edited.replace("    breakpoint()\n    return 3", "    return 3"));
}

#[test]
fn the_line_ends_and_the_mode_of_a_file_stay() {
    let repository = Repository::new();
    repository.git(&["config", "core.autocrlf", "true"]);
    repository.write("a.py", BEFORE.replace('\n', "\r\n"));
    repository.commit("before");
    repository.write("a.py", flawed().replace("return 2", "return 22").replace('\n', "\r\n"));
    repository.git(&["add", "a.py"]);
    repository.git(&["update-index", "--chmod=+x", "a.py"]);
    let fixed = fix(&repository, &[]);
    assert_eq!(fixed.code, 0, "{}{}", fixed.stdout, fixed.stderr);
    let expected = BEFORE.replace("return 2", "return 22");
    assert_eq!(texts(&repository), (expected.clone(), expected.replace('\n', "\r\n")));
    let listed = repository.git(&["ls-files", "--stage", "a.py"]);
    assert!(listed.starts_with("100755"), "{listed}");
}

#[test]
fn a_file_that_is_deleted_in_the_work_tree_is_fixed_in_the_index_alone() {
    let repository = staged(&flawed().replace("return 2", "return 22"));
    fs::remove_file(repository.file("a.py")).unwrap();
    let fixed = fix(&repository, &[]);
    assert_eq!(fixed.code, 0, "{}{}", fixed.stdout, fixed.stderr);
    let index = repository.git(&["show", ":a.py"]) + "\n";
    assert_eq!(index, BEFORE.replace("return 2", "return 22"));
    assert!(!repository.file("a.py").exists());
}

#[test]
fn an_index_that_is_locked_leaves_the_work_tree_as_it_was() {
    let repository = staged(&flawed());
    repository.write(".git/index.lock", "");
    let fixed = fix(&repository, &[]);
    assert_ne!(fixed.code, 0, "{}", fixed.stdout);
    assert!(fixed.stderr.contains("no file was changed"), "{}", fixed.stderr);
    assert_eq!(fs::read_to_string(repository.file("a.py")).unwrap(), flawed());
}

#[test]
fn nothing_is_fixed_that_is_not_staged() {
    let repository = Repository::new();
    repository.write("a.py", BEFORE);
    repository.commit("before");
    repository.write("a.py", flawed());
    let fixed = fix(&repository, &[]);
    assert_eq!(fixed.code, 0, "{}{}", fixed.stdout, fixed.stderr);
    assert!(fixed.stdout.contains("no safe fixes to apply"), "{}", fixed.stdout);
    assert_eq!(fs::read_to_string(repository.file("a.py")).unwrap(), flawed());
}

#[test]
fn a_refused_commit_names_the_next_commands_and_keeps_the_run() {
    let repository = staged(&flawed());
    let ran = assay_in(repository.path(), &["review", "--hook"], b"");
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    for next in ["assay fix --staged ", "assay findings show ", "git commit --no-verify "] {
        assert!(ran.stdout.contains(next), "{next}: {}", ran.stdout);
    }
    let show = ran.stdout.lines().find_map(|line| line.trim().strip_prefix("assay findings show "));
    let id = show.unwrap().split(' ').next().unwrap();
    let shown = assay_in(repository.path(), &["findings", "show", id], b"");
    assert_eq!(shown.code, 0, "{}{}", shown.stdout, shown.stderr);
    assert!(shown.stdout.contains("Breakpoint left in the code"), "{}", shown.stdout);
}

#[test]
fn the_hook_prints_one_line_if_there_is_nothing_to_fix() {
    let repository = staged(&BEFORE.replace("return 2", "return 22"));
    let ran = assay_in(repository.path(), &["review", "--hook"], b"");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout, "assay: ready (rules only); 1 hunk: 1 by rules\n");
    repository.git(&["reset", "--quiet"]);
    let ran = assay_in(repository.path(), &["review", "--hook"], b"");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "assay: nothing to review\n"));
}

#[test]
fn the_hook_without_assay_on_the_path_says_how_to_commit() {
    let repository = staged(BEFORE);
    assert_eq!(assay_in(repository.path(), &["init", "--hook"], b"").code, 0);
    let ran = Command::new("/bin/sh")
        .arg(repository.file(".git/hooks/pre-commit"))
        .env("PATH", repository.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot find `assay`") && said.contains("--no-verify"), "{said}");
}

#[test]
fn a_commit_that_passes_is_followed_by_the_fixes_of_the_work_tree() {
    let repository = staged(&BEFORE.replace("return 2", "print(\"DEBUG\")\n    return 2"));
    let ran = assay_in(repository.path(), &["review", "--hook"], b"");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.ends_with("next: assay fix applies 1 safe fix\n"), "{}", ran.stdout);
    repository.git(&["commit", "--quiet", "-m", "With debugging output"]);
    let ran = assay_in(repository.path(), &["fix"], b"");
    assert!(ran.stdout.contains("1 safe fix applied"), "{}", ran.stdout);
}

#[test]
fn a_hook_of_an_earlier_version_is_replaced_and_another_hook_is_not() {
    let repository = Repository::new();
    let earlier = "#!/bin/sh\n# Reviews what is staged; a change that is not ready is not \
                   committed.\n# `git commit --no-verify` goes past it.\nexec assay review ";
    for arguments in ["--staged --mode report-only", "--hook"] {
        repository.write(".git/hooks/pre-commit", format!("{earlier}{arguments}\n"));
        let ran = assay_in(repository.path(), &["init", "--hook"], b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let hook = fs::read_to_string(repository.file(".git/hooks/pre-commit")).unwrap();
        assert!(hook.contains("command -v assay"), "{hook}");
        assert!(hook.ends_with("exec assay review --hook\n"), "{hook}");
    }
    repository.write(".git/hooks/pre-commit", "#!/bin/sh\nmake lint\n");
    let ran = assay_in(repository.path(), &["init", "--hook"], b"");
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    let hook = fs::read_to_string(repository.file(".git/hooks/pre-commit")).unwrap();
    assert_eq!(hook, "#!/bin/sh\nmake lint\n");
}
