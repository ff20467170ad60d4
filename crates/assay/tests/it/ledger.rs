//! The ledger: entries of reviews, states of findings, and decisions.

use std::fs;

use assay_testkit::Repository;
use rusqlite::Connection;
use serde_json::Value;

use crate::{AssayRun, LEDGER_URL, also_on_postgres, assay_in};

const SHELL: &str = "import os\n\n\ndef clean(name):\n    os.system(f\"rm -r {name}\")\n";

const EVAL: &str = "def answer(text):\n    return eval(text)\n";

also_on_postgres! {
    a_fixed_finding_has_the_state_gone_and_reopens_if_the_code_returns,
    a_review_that_did_not_cover_a_finding_leaves_it_open,
    a_later_commit_that_removes_the_code_closes_its_finding,
    a_dismissed_finding_is_not_raised_again_until_it_is_reopened_or_its_code_changes,
    findings_in_the_baseline_are_dismissed_and_reopen_when_the_baseline_is_removed,
    wrong_names_and_missing_reasons_are_refused_and_nothing_is_done,
    each_filter_lists_only_matching_findings,
    a_dismissal_ends_with_its_file_unless_the_file_is_renamed,
    concurrent_reviews_are_all_recorded_in_the_ledger,
}

pub(crate) fn run(repository: &Repository, args: &[&str]) -> AssayRun {
    assay_in(repository.path(), args, b"")
}

/// Reviews, and returns the findings as `file rule`.
pub(crate) fn review(repository: &Repository, args: &[&str]) -> Vec<String> {
    let ran = run(repository, &[&["review", "--format", "json"], args].concat());
    assert_eq!(ran.stderr, "");
    let synthesis = ran.json();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let findings = synthesis["findings"].as_array().unwrap().iter();
    findings.map(|f| format!("{} {}", text(&f["file"]), text(&f["rule"]))).collect()
}

fn listed(repository: &Repository, args: &[&str]) -> Vec<Value> {
    let command = [&["findings", "list", "--format", "json"], args].concat();
    let ran = run(repository, &command);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.json()["findings"].as_array().unwrap().clone()
}

/// Returns each finding as `file:line rule state`.
fn states(repository: &Repository) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let entries = listed(repository, &["--state", "all"]);
    let told = |e: &Value| {
        let (file, rule, state) = (text(&e["file"]), text(&e["rule"]), text(&e["state"]));
        format!("{file}:{} {rule} {state}", e["line"])
    };
    entries.iter().map(told).collect()
}

pub(crate) fn id(repository: &Repository, file: &str) -> String {
    let entries = listed(repository, &["--file", file, "--state", "all"]);
    assert_eq!(entries.len(), 1, "{file}: {entries:?}");
    entries[0]["id"].as_str().unwrap().to_owned()
}

/// Returns a repository with a branch on which two defects were found.
pub(crate) fn reviewed() -> Repository {
    let repository = Repository::new();
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    repository.write("clean.py", SHELL);
    repository.write("answer.py", EVAL);
    repository.commit("second");
    let raised = review(&repository, &[]);
    assert_eq!(raised, ["clean.py python/shell-injection", EVAL_RAISED]);
    repository
}

pub(crate) fn fixed(code: &str) -> String {
    code.replace("os.system(f\"rm -r {name}\")", "os.remove(name)").replace("eval(text)", "text")
}

const EVAL_RAISED: &str = "answer.py python/eval-of-parameter";

const OPEN: [&str; 2] =
    ["clean.py:5 python/shell-injection open", "answer.py:2 python/eval-of-parameter open"];

#[test]
fn every_stored_review_is_recorded_in_the_ledger_once() {
    let repository = reviewed();
    assert_eq!(states(&repository), OPEN);
    review(&repository, &[]);
    assert_eq!(states(&repository), OPEN);
    review(&repository, &["--mode", "report-only"]);
    let ran = run(&repository, &["findings", "list", "--format", "json"]);
    assert_eq!(ran.json()["runs"], 2);
    let ran =
        run(&repository, &["findings", "show", &id(&repository, "clean.py"), "--format", "json"]);
    let history = ran.json();
    let looks = history["looks"].as_array().unwrap();
    assert_eq!(looks.len(), 2);
    assert_eq!(looks[0]["votes"][0]["reviewer"], "rules");
    assert_eq!(history["finding"]["evidence"], looks[0]["votes"][0]["vote"]["evidence"]);
    assert_eq!(repository.git(&["status", "--short"]), "");
}

#[test]
fn a_fixed_finding_has_the_state_gone_and_reopens_if_the_code_returns() {
    let repository = reviewed();
    repository.write("clean.py", fixed(SHELL));
    assert_eq!(review(&repository, &[]), [EVAL_RAISED]);
    let gone = "clean.py:5 python/shell-injection gone";
    assert_eq!(states(&repository), [gone, OPEN[1]]);
    repository.write("clean.py", format!("# again\n{SHELL}"));
    review(&repository, &[]);
    assert_eq!(states(&repository), ["clean.py:6 python/shell-injection open", OPEN[1]]);
    repository.remove("clean.py");
    repository.commit("away with it");
    review(&repository, &["--commit", "HEAD"]);
    assert_eq!(states(&repository), ["clean.py:6 python/shell-injection gone", OPEN[1]]);
}

#[test]
fn a_review_that_did_not_cover_a_finding_leaves_it_open() {
    let repository = reviewed();
    let still_open = |what: &str| assert_eq!(states(&repository), OPEN, "{what}");
    // The defect still exists, away from the changed lines.
    repository.write("clean.py", format!("{SHELL}\n\ndef other():\n    return 1\n"));
    repository.commit("third");
    assert!(review(&repository, &["--commit", "HEAD"]).is_empty());
    still_open("other lines of the file");
    repository.write("other.py", "x = 1\n");
    repository.commit("fourth");
    assert!(review(&repository, &["--commit", "HEAD"]).is_empty());
    still_open("another file");
    repository.write("clean.py", fixed(SHELL));
    repository.commit("fifth");
    run(&repository, &["review", "--commit", "HEAD", "--mode", "report-only"]);
    still_open("a review that was not kept");
    repository.write("source.py", "x = 1\0\n");
    repository.git(&["add", "--all"]);
    repository.commit("sixth");
    let ran = run(&repository, &["review"]);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    still_open("an incomplete review");
    repository.git(&["switch", "--quiet", "--create", "aside", "main"]);
    repository.write("clean.py", fixed(SHELL));
    repository.commit("on another branch");
    assert!(review(&repository, &[]).is_empty());
    still_open("a review of another branch");
}

#[test]
fn an_unparsable_file_does_not_close_findings_that_need_parsing() {
    let repository = reviewed();
    repository.write("clean.py", "def clean(name:\n    ((\n");
    assert_eq!(review(&repository, &[]), [EVAL_RAISED]);
    assert_eq!(states(&repository), OPEN);
}

#[test]
fn a_later_commit_that_removes_the_code_closes_its_finding() {
    let repository = reviewed();
    repository.write("clean.py", fixed(SHELL));
    repository.commit("third");
    assert!(review(&repository, &["--commit", "HEAD"]).is_empty());
    assert_eq!(states(&repository), ["clean.py:5 python/shell-injection gone", OPEN[1]]);
}

#[test]
fn a_dismissed_finding_is_not_raised_again_until_it_is_reopened_or_its_code_changes() {
    let repository = reviewed();
    let id = id(&repository, "clean.py");
    let dismissed = ["findings", "dismiss", &id[..8], "--reason", "an operator's tool"];
    let ran = run(&repository, &dismissed);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.starts_with(&format!("dismissed {id} ")), "{}", ran.stdout);
    let eval = [EVAL_RAISED];
    assert_eq!(review(&repository, &[]), eval);
    let told = run(&repository, &["review"]).stdout;
    let why = "at clean.py:5: an operator's tool (accepted by tester)";
    assert!(told.contains("suppressed: ") && told.contains(why), "{told}");
    assert_eq!(states(&repository), ["clean.py:5 python/shell-injection dismissed", OPEN[1]]);
    repository.write("clean.py", format!("# moved down\n{SHELL}"));
    assert_eq!(review(&repository, &[]), eval);
    repository.git(&["mv", "clean.py", "tidy.py"]);
    repository.commit("renamed");
    assert_eq!(review(&repository, &[]), eval, "a file that is called otherwise");
    assert_eq!(states(&repository)[0], "tidy.py:6 python/shell-injection dismissed");
    repository.write("clean.py", SHELL);
    repository.commit("a second one");
    assert_eq!(review(&repository, &[]), ["clean.py python/shell-injection", EVAL_RAISED]);
    repository.write("tidy.py", SHELL.replace("rm -r", "rm -rf"));
    let raised = review(&repository, &[]);
    assert_eq!(raised.len(), 3, "other code: {raised:?}");
    repository.write("tidy.py", format!("# moved down\n{SHELL}"));
    assert_eq!(run(&repository, &["findings", "reopen", &id]).code, 2, "that is clean.py again");
    assert_eq!(review(&repository, &[]).len(), 2, "it is back, and left alone");
    let dismissed = listed(&repository, &["--state", "dismissed"]);
    let ran = run(&repository, &["findings", "reopen", dismissed[0]["id"].as_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(review(&repository, &[]).len(), 3);
}

#[test]
fn a_dismissal_ends_after_its_last_day() {
    let repository = reviewed();
    let id = id(&repository, "clean.py");
    let args = ["findings", "dismiss", &id, "--reason", "later", "--until", "2999-12-31"];
    assert_eq!(run(&repository, &args).code, 0);
    assert_eq!(review(&repository, &[]).len(), 1);
    let connection = Connection::open(repository.path().join(".assay/ledger.db")).unwrap();
    connection.execute("UPDATE dismissals SET until = '2026-01-01'", []).unwrap();
    drop(connection);
    assert_eq!(run(&repository, &["findings", "adopt"]).code, 0);
    assert_eq!(review(&repository, &[]).len(), 2);
    assert_eq!(states(&repository), OPEN);
    for (until, why) in [("2020-01-01", "has passed"), ("soon", "invalid date")] {
        let ran =
            run(&repository, &["findings", "dismiss", &id, "--reason", "x", "--until", until]);
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
}

#[test]
fn findings_in_the_baseline_are_dismissed_and_reopen_when_the_baseline_is_removed() {
    let repository = reviewed();
    assert_eq!(run(&repository, &["review", "--accept", "old code"]).code, 0);
    let id = id(&repository, "clean.py");
    assert_eq!(states(&repository).iter().filter(|s| s.ends_with("dismissed")).count(), 2);
    let shown = run(&repository, &["findings", "show", &id]).stdout;
    assert!(shown.contains("old code (accepted by tester)"), "{shown}");
    let ran = run(&repository, &["findings", "reopen", &id]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("by the baseline or a comment"), "{}", ran.stderr);
    repository.remove(".assay/baseline.json");
    review(&repository, &[]);
    assert_eq!(states(&repository), OPEN);
}

#[test]
fn wrong_names_and_missing_reasons_are_refused_and_nothing_is_done() {
    let repository = Repository::new();
    let nothing = run(&repository, &["findings", "show", "abc"]);
    assert_eq!(nothing.code, 2);
    assert!(nothing.stderr.contains("the ledger is empty; `assay review` fills it"));
    assert!(!repository.path().join(".assay").exists());
    let repository = reviewed();
    let known = id(&repository, "clean.py");
    for (args, why) in [
        (&["dismiss", &known, "nobody", "--reason", "x"][..], "unknown finding `nobody`"),
        (&["dismiss", &known][..], "--reason"),
        (&["dismiss", &known, "--reason", "  "][..], "missing reason"),
        (&["dismiss", "--reason", "x"][..], "ID"),
        (&["dismiss", "", "--reason", "x"][..], "unknown finding ``"),
        (&["reopen", &known][..], "is open, and was not dismissed"),
        (&["show", "%"][..], "unknown finding `%`"),
        (&["list", "--age", "old"][..], "is not a time such as 7d"),
        (&["list", "--since", "old"][..], "is neither a day"),
        (&["list", "--file", "a["][..], "--file"),
        (&["list", "--severity", "bad"][..], "expected one of CRITICAL"),
    ] {
        let ran = run(&repository, &[&["findings"], args].concat());
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.stderr.contains(why), "{args:?}: {}", ran.stderr);
    }
    assert_eq!(states(&repository), OPEN);
}

#[test]
fn each_filter_lists_only_matching_findings() {
    let repository = reviewed();
    let count = |args: &[&str]| listed(&repository, args).len();
    assert_eq!(count(&["--state", "open"]), 2);
    assert_eq!(count(&["--state", "gone"]), 0);
    assert_eq!(count(&["--severity", "MEDIUM"]), 2);
    assert_eq!(count(&["--severity", "P1"]), 1);
    assert_eq!(count(&["--severity", "CRITICAL"]), 0);
    assert_eq!(count(&["--category", "Security"]), 2);
    assert_eq!(count(&["--category", "style"]), 0);
    assert_eq!(count(&["--file", "*.py"]), 2);
    assert_eq!(count(&["--file", "{clean,other}.py"]), 1);
    assert_eq!(count(&["--reviewer", "rules"]), 2);
    assert_eq!(count(&["--reviewer", "security"]), 0);
    assert_eq!(count(&["--since", "1d"]), 2);
    assert_eq!(count(&["--since", "2999-01-01"]), 0);
    assert_eq!(count(&["--age", "1h"]), 0);
}

const CHANGED: &str = "`.assay/ledger.db` is not used: another program changed the state";

#[test]
fn an_unusable_ledger_is_reported_and_its_dismissals_are_ignored() {
    let repository = reviewed();
    let id = id(&repository, "clean.py");
    assert_eq!(run(&repository, &["findings", "dismiss", &id, "--reason", "x"]).code, 0);
    let path = repository.path().join(".assay/ledger.db");
    let good = fs::read(&path).unwrap();
    let check = |what: &str, why: &str, code: i32| {
        for mode in [&[][..], &["--mode", "report-only"][..]] {
            let ran = run(&repository, &[&["review", "--format", "json"], mode].concat());
            assert_eq!(ran.json()["findings"].as_array().unwrap().len(), 2, "{what}");
            assert_eq!(ran.code, 1, "{what}");
            assert!(ran.stderr.contains("its dismissals are ignored"), "{}", ran.stderr);
            assert!(ran.stderr.contains(why), "{what}: {}", ran.stderr);
        }
        let ran = run(&repository, &["findings", "list"]);
        assert_eq!(ran.code, code, "{what}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{what}: {}", ran.stderr);
    };
    fs::write(&path, [b"no database", &good[20..]].concat()).unwrap();
    check("damaged", CHANGED, 2);
    fs::write(&path, &good[..good.len() / 2]).unwrap();
    check("cut off", CHANGED, 2);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    check("a folder", CHANGED, 2);
    fs::remove_dir(&path).unwrap();
    std::os::unix::fs::symlink(repository.path().join("elsewhere.db"), &path).unwrap();
    check("a link", "`.assay/ledger.db` is not used: the path is a symbolic link", 2);
    assert!(!repository.path().join("elsewhere.db").exists());
    fs::remove_file(&path).unwrap();
    fs::write(&path, &good).unwrap();
    assert_eq!(review(&repository, &[]).len(), 1, "and when it is back, it counts");
}

#[test]
fn a_dismissal_ends_with_its_file_unless_the_file_is_renamed() {
    let repository = reviewed();
    let id = id(&repository, "clean.py");
    assert_eq!(run(&repository, &["findings", "dismiss", &id, "--reason", "x"]).code, 0);
    repository.git(&["mv", "clean.py", "tidy.py"]);
    assert_eq!(review(&repository, &[]), [EVAL_RAISED], "it is called otherwise");
    repository.remove("tidy.py");
    repository.commit("gone");
    assert_eq!(review(&repository, &[]), [EVAL_RAISED]);
    repository.write("prod.py", format!("import sys\n\n{SHELL}"));
    repository.commit("the same again");
    for _ in 0..2 {
        let raised = review(&repository, &[]);
        assert_eq!(raised, ["prod.py python/shell-injection", EVAL_RAISED]);
    }
}

#[test]
fn a_review_continues_while_another_process_locks_the_ledger() {
    let repository = reviewed();
    let id = id(&repository, "clean.py");
    assert_eq!(run(&repository, &["findings", "dismiss", &id, "--reason", "x"]).code, 0);
    let mut holder = Connection::open(repository.path().join(".assay/ledger.db")).unwrap();
    let held = holder.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let ran = run(&repository, &["review", "--format", "json"]);
    assert_eq!(ran.json()["findings"].as_array().unwrap().len(), 1, "what was dismissed is read");
    assert!(ran.stderr.contains("cannot record the review in the ledger: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("is locked by another process"), "{}", ran.stderr);
    drop(held);
}

#[test]
fn a_ledger_tracked_in_git_is_not_used() {
    let repository = reviewed();
    let id = id(&repository, "clean.py");
    assert_eq!(run(&repository, &["findings", "dismiss", &id, "--reason", "x"]).code, 0);
    repository.git(&["add", "--force", ".assay/ledger.db"]);
    repository.commit("with its own ledger");
    let before = fs::read(repository.path().join(".assay/ledger.db")).unwrap();
    let ran = run(&repository, &["review", "--format", "json"]);
    let raised = ran.json()["findings"].to_string();
    assert!(raised.contains("shell-injection"), "{raised}");
    assert!(ran.stderr.contains("is tracked in git"), "{}", ran.stderr);
    assert_eq!(fs::read(repository.path().join(".assay/ledger.db")).unwrap(), before);
    let ran = run(&repository, &["findings", "list"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("`git rm -r --cached .assay/ledger.db`"), "{}", ran.stderr);
    // A write-ahead log next to the database has the same effect.
    repository.git(&["rm", "--quiet", "--cached", ".assay/ledger.db"]);
    repository.write(".assay/ledger.db-wal", "");
    repository.git(&["add", "--force", ".assay/ledger.db-wal"]);
    let ran = run(&repository, &["findings", "list"]);
    let told = "`.assay/ledger.db-wal` is not used: the path is tracked in git";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}

#[test]
fn a_ledger_in_a_submodule_is_not_used() {
    let repository = reviewed();
    let id = id(&repository, "clean.py");
    assert_eq!(run(&repository, &["findings", "dismiss", &id, "--reason", "x"]).code, 0);
    let state = Repository::new();
    fs::copy(repository.path().join(".assay/ledger.db"), state.file("ledger.db")).unwrap();
    state.commit("a ledger");
    fs::remove_dir_all(repository.path().join(".assay")).unwrap();
    let url = state.path().to_str().unwrap();
    let add = ["-c", "protocol.file.allow=always", "submodule", "add", "--quiet", url, ".assay"];
    repository.git(&add);
    repository.commit("with its own state");
    for is_bare in [false, true] {
        // Without its own `.git`, only the index shows that the folder is tracked.
        if is_bare {
            fs::remove_file(repository.path().join(".assay/.git")).unwrap();
        }
        let ran = run(&repository, &["review", "--format", "json"]);
        let raised = ran.json()["findings"].to_string();
        assert!(raised.contains("shell-injection"), "{raised}");
        let why = match is_bare {
            true => "is not used: the path is tracked in git",
            false => "`.assay` is not used: the path is another git repository",
        };
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
        assert_eq!(run(&repository, &["replay"]).code, 2);
    }
}

#[test]
fn concurrent_reviews_are_all_recorded_in_the_ledger() {
    let repository = reviewed();
    let url = LEDGER_URL.with_borrow(Clone::clone);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                LEDGER_URL.set(url.clone());
                run(&repository, &["review"])
            });
        }
    });
    let runs = fs::read_dir(repository.path().join(".assay/runs")).unwrap().count();
    let ran = run(&repository, &["findings", "list", "--format", "json"]);
    assert_eq!(ran.json()["runs"], runs);
    assert_eq!(states(&repository), OPEN);
}

#[test]
fn commands_that_need_no_ledger_do_not_open_it() {
    let repository = Repository::new();
    repository.write(".assay/ledger.db", "no database");
    for args in [&["--version"][..], &["findings", "parse"], &["schema"], &["init", "--help"]] {
        let ran = run(&repository, args);
        assert!(!ran.stderr.contains("ledger"), "{args:?}: {}", ran.stderr);
    }
    assert_eq!(fs::read(repository.path().join(".assay/ledger.db")).unwrap(), b"no database");
}

#[test]
fn a_failed_export_leaves_the_old_file_as_it_is() {
    let repository = Repository::new();
    repository.write("out/findings.json", "the old export\n");
    let export = ["ledger", "export", "-o", "out/findings.json"];
    let failed = run(&repository, &export);
    assert_eq!(failed.code, 2, "{}", failed.stderr);
    assert!(failed.stderr.contains("the ledger is empty"), "{}", failed.stderr);
    let read = || std::fs::read_to_string(repository.path().join("out/findings.json")).unwrap();
    assert_eq!(read(), "the old export\n");
    review(&repository, &[]);
    let written = run(&repository, &export);
    assert_eq!((written.code, &*written.stderr), (0, ""));
    assert!(read().starts_with("{\"version\":"), "{}", read());
    let names = std::fs::read_dir(repository.path().join("out")).unwrap();
    assert_eq!(names.count(), 1, "no temporary file stays");
}
