//! Reviews of a diff that is not applied, and of all files.

use assay_testkit::Repository;

use crate::{AssayRun, assay_in};

const CLEAN: &str = "def f(a):\n    return a\n";
const FLAWED: &str = "def f(a):\n    breakpoint()\n    return a\n";
const DIFF: &str = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,2 +1,3 @@\n def f(a):\n+    breakpoint()\n     return a\n";

fn repository(code: &str) -> Repository {
    let repository = Repository::new();
    repository.write("src/a.py", code);
    repository.commit("code");
    repository
}

fn concise(repository: &Repository, args: &[&str], input: &str) -> AssayRun {
    let args = [&["review", "--format", "concise"], args].concat();
    assay_in(repository.path(), &args, input.as_bytes())
}

#[test]
fn a_diff_from_a_file_or_stdin_is_reviewed_and_changes_no_file() {
    let repository = repository(CLEAN);
    repository.write(".git/given.diff", DIFF);
    for (file, input) in [(".git/given.diff", ""), ("-", DIFF)] {
        let ran = concise(&repository, &["--diff", file], input);
        assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.starts_with("src/a.py:2:5: "), "{}", ran.stdout);
        assert!(ran.stdout.contains("[python/debugger]"), "{}", ran.stdout);
    }
    assert_eq!(repository.git(&["diff", "HEAD"]), "");
}

#[test]
fn a_diff_that_does_not_apply_names_file_and_hunk_and_is_never_a_pass() {
    let ran = concise(&repository("x = 1\n"), &["--diff", "-"], DIFF);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    let message = "error: the diff does not apply to `src/a.py`, hunk at line 3 of the diff: ";
    assert!(ran.stderr.starts_with(message), "{}", ran.stderr);
}

#[test]
fn a_diff_applies_to_the_commit_of_its_base() {
    let repository = repository(CLEAN);
    repository.write("src/a.py", "x = 1\n");
    repository.commit("later");
    let ran = concise(&repository, &["--diff", "-", "--base", "HEAD^"], DIFF);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
}

#[test]
fn a_diff_does_not_configure_its_own_review() {
    let repository = repository(CLEAN);
    let settings = "--- /dev/null\n+++ b/config/agent-framework.yaml\n@@ -0,0 +1,2 @@\n+review:\n\
                    +  ignore: [\"**\"]\n";
    let ran = assay_in(
        repository.path(),
        &["review", "--diff", "-"],
        format!("{DIFF}{settings}").as_bytes(),
    );
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("the change modifies the configuration"), "{}", ran.stdout);
}

#[test]
fn an_empty_diff_is_nothing_to_review() {
    let ran = concise(&repository(CLEAN), &["--diff", "-"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "nothing to review\n"), "{}", ran.stderr);
}

#[test]
fn committed_code_is_reviewed_with_all_files_and_the_files_left_out_are_counted() {
    let repository = repository(FLAWED);
    repository.write("Cargo.lock", "version = 4\n");
    repository.write("config/agent-framework.yaml", "review:\n  ignore: [\"gen/**\"]\n");
    repository.write("gen/b.py", FLAWED);
    repository.write("gen/c.py", FLAWED);
    repository.commit("more");
    let ran = assay_in(repository.path(), &["review", "--all"], b"");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("Review of all files (6 files)"), "{}", ran.stdout);
    let note = "3 of 6 files left out: 2 (ignored by `gen/**`), 1 (lock file)";
    assert!(ran.stdout.contains(note), "{}", ran.stdout);
    assert!(!ran.stdout.contains("modifies the configuration"), "{}", ran.stdout);
    let one = concise(&repository, &["--all", "README"], "");
    assert_eq!(one.code, 0, "{}{}", one.stdout, one.stderr);
}

#[test]
fn a_review_of_all_files_uses_the_committed_configuration() {
    let repository = repository(FLAWED);
    repository.write("config/agent-framework.yaml", "review:\n  shown: all\n");
    repository.commit("configured");
    repository.write("config/agent-framework.yaml", "review:\n  ignore: [\"**\"]\n");
    let ran = assay_in(repository.path(), &["review", "--all"], b"");
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("the change modifies the configuration"), "{}", ran.stdout);
}

#[test]
fn scopes_that_exclude_each_other_are_refused() {
    let repository = repository(CLEAN);
    for args in
        [&["--all", "--staged"][..], &["--all", "--base", "HEAD"], &["--all", "--diff", "-"]]
    {
        let ran = concise(&repository, args, "");
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
    }
}
