//! State below `.assay/` that another program wrote: it is refused, and the user is warned.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use assay_testkit::Repository;

use crate::{AssayRun, assay_in, assay_with};

const FLAWED: &str = "def f(a):\n    breakpoint()\n    return a\n";

fn run(repository: &Repository, args: &[&str]) -> AssayRun {
    assay_in(repository.path(), args, b"")
}

/// Returns a reviewed repository with a defect whose fix is safe.
fn reviewed() -> Repository {
    let repository = Repository::new();
    repository.write("a.py", FLAWED);
    repository.commit("after");
    assert_eq!(run(&repository, &["review"]).code, 1);
    repository
}

fn path(repository: &Repository, path: &str) -> PathBuf {
    repository.path().join(path)
}

fn newest_run(repository: &Repository) -> PathBuf {
    let runs = fs::read_dir(path(repository, ".assay/runs")).unwrap();
    runs.map(|run| run.unwrap().path()).max().unwrap()
}

#[test]
fn a_forged_or_foreign_run_is_neither_applied_nor_shown() {
    type Forms = [(&'static str, fn(&Repository), &'static str); 5];
    let forms: Forms = [
        (
            "edited",
            |repository| {
                let fixes = newest_run(repository).join("fixes.json");
                let text = fs::read_to_string(&fixes).unwrap();
                fs::write(fixes, text.replace("breakpoint", "boom")).unwrap();
                let log = newest_run(repository).join("log");
                fs::write(log, "forged\n").unwrap();
            },
            "another program changed the state",
        ),
        (
            "added",
            |repository| {
                let (newest, forged) =
                    (newest_run(repository), path(repository, ".assay/runs/99999999"));
                fs::create_dir(&forged).unwrap();
                for file in fs::read_dir(newest).unwrap().map(|file| file.unwrap().path()) {
                    fs::copy(&file, forged.join(file.file_name().unwrap())).unwrap();
                }
            },
            "did not write the state on this machine",
        ),
        (
            "tracked",
            |repository| {
                repository.git(&["add", "--force", ".assay/runs"]);
            },
            "the path is tracked in git",
        ),
        (
            "linked",
            |repository| {
                let (runs, real) = (path(repository, ".assay/runs"), path(repository, "real"));
                fs::rename(&runs, &real).unwrap();
                symlink(real, runs).unwrap();
            },
            "the path is a symbolic link",
        ),
        (
            "a repository",
            |repository| {
                fs::create_dir(path(repository, ".assay/runs/.git")).unwrap();
            },
            "the path is another git repository",
        ),
    ];
    for (form, forge, reason) in forms {
        let repository = reviewed();
        forge(&repository);
        for command in [&["fix"][..], &["replay"], &["report", "--html", "page.html"]] {
            let ran = run(&repository, command);
            assert_eq!(ran.code, 2, "{form} {command:?}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.stderr.contains("is not used: "), "{form} {command:?}: {}", ran.stderr);
            assert!(ran.stderr.contains(reason), "{form} {command:?}: {}", ran.stderr);
        }
        assert_eq!(fs::read_to_string(path(&repository, "a.py")).unwrap(), FLAWED, "{form}");
    }
    // The same run is applied if assay wrote it.
    let repository = reviewed();
    assert_eq!(run(&repository, &["fix"]).code, 0);
    assert_ne!(fs::read_to_string(path(&repository, "a.py")).unwrap(), FLAWED);
}

#[test]
fn a_state_folder_copied_from_another_clone_is_not_used() {
    let (repository, other) = (reviewed(), Repository::new());
    other.write("a.py", FLAWED);
    other.commit("after");
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .args([path(&repository, ".assay"), other.path().to_owned()])
        .status();
    assert!(copied.unwrap().success());
    let ran = run(&other, &["fix"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("is not used: assay did not write the state"), "{}", ran.stderr);
}

#[test]
fn an_older_ledger_that_is_put_back_dismisses_nothing() {
    let repository = reviewed();
    let listed = run(&repository, &["findings", "list", "--format", "json"]).json();
    let id = listed["findings"][0]["id"].as_str().unwrap().to_owned();
    let dismiss = ["findings", "dismiss", &id, "--reason", "for a moment"];
    assert_eq!(run(&repository, &dismiss).code, 0);
    assert_eq!(run(&repository, &["review"]).code, 0, "it is dismissed");
    let (ledger, copy) = (path(&repository, ".assay/ledger.db"), path(&repository, ".git/copy"));
    fs::copy(&ledger, &copy).unwrap();
    assert_eq!(run(&repository, &["findings", "reopen", &id]).code, 0);
    fs::copy(&copy, &ledger).unwrap();
    let ran = run(&repository, &["review"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let expected = "`.assay/ledger.db` is not used: another program changed the state";
    assert!(
        format!("{}{}", ran.stdout, ran.stderr).contains(expected),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let ran = run(&repository, &["findings", "list"]);
    assert_eq!(ran.code, 2, "an unusable ledger is no empty one: {}", ran.stdout);
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    // The remedies in the message work.
    assert_eq!(run(&repository, &["findings", "adopt"]).code, 0);
    assert_eq!(run(&repository, &["review"]).code, 0, "it is dismissed again");
    repository.git(&["add", "--force", ".assay/ledger.db"]);
    assert_eq!(run(&repository, &["findings", "adopt"]).code, 2, "what git tracks is not adopted");
    repository.git(&["rm", "--quiet", "--cached", ".assay/ledger.db"]);
    fs::remove_file(ledger).unwrap();
    assert_eq!(run(&repository, &["review"]).code, 1);
    assert_eq!(run(&repository, &["findings", "list"]).code, 0);
}

#[test]
fn without_a_state_home_a_review_runs_and_warns_that_it_is_not_stored() {
    let repository = Repository::new();
    repository.write("a.py", FLAWED);
    repository.commit("after");
    let inside = path(&repository, "state").display().to_string();
    for (home, why) in
        [("", "neither variable is an absolute path"), (&inside, "is inside of the work tree")]
    {
        let none = [("XDG_STATE_HOME", home), ("HOME", "")];
        let ran = assay_with(repository.path(), &["review"], b"", &none);
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
        assert!(ran.stderr.contains("set `XDG_STATE_HOME` or `HOME`"), "{}", ran.stderr);
    }
}

#[test]
fn state_is_ignored_by_git_and_a_change_that_adds_state_is_not_ready() {
    let repository = Repository::new();
    repository.write("a.py", "a = 1\n");
    repository.commit("before");
    assert_eq!(run(&repository, &["review"]).code, 0);
    repository.write(".assay/outbox/pull-o.r-1/review.json", "{}\n");
    repository.git(&["add", "."]);
    assert_eq!(repository.git(&["status", "--short"]), "");
    repository.git(&["add", "--force", ".assay/outbox"]);
    let ran = run(&repository, &["review", "--staged"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("State of assay is part of the change"), "{}", ran.stdout);
}

const RULE: &str = "id: house/no-floats\nlanguage: Python\nmessage: Money as a floating point number\n\
                    severity: warning\nrule:\n  pattern: float($PRICE)\n";

#[test]
fn a_rule_in_a_folder_with_a_similar_name_stays_inactive_when_a_change_touches_it() {
    for (folder, is_active) in [(".assay/rules", true), (".assay/rules-disabled", false)] {
        let repository = Repository::new();
        repository.write(format!("{folder}/no-floats.yml"), RULE);
        repository.commit("before");
        repository.write(format!("{folder}/no-floats.yml"), format!("# Later.\n{RULE}"));
        repository.write("pay.py", "total = float(price)\n");
        repository.commit("after");
        let ran = run(&repository, &["review", "--commit", "HEAD"]);
        let is_raised = ran.stdout.contains("Money as a floating point number");
        assert_eq!(is_raised, is_active, "{folder}: {}{}", ran.stdout, ran.stderr);
    }
}
