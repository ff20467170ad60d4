//! A ledger in PostgreSQL, which several machines share: `ASSAY_LEDGER_URL`.

use assay_testenv::postgres::schema;
use assay_testkit::Repository;
use expect_test::{Expect, expect};
use serde_json::Value;

use crate::ledger::{id, review, run};
use crate::{AssayRun, LEDGER_URL, assay_with};

const SHELL: &str = "import os\n\n\ndef clean(name):\n    os.system(f\"rm -r {name}\")\n";

const EVAL: &str = "def answer(text):\n    return eval(text)\n";

const FIXED: &str = "def answer(text):\n    return text\n";

/// Returns the findings as `file rule state`, sorted.
fn states(repository: &Repository) -> Vec<String> {
    let list = run(repository, &["findings", "list", "--state", "all", "--format", "json"]).json();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let findings = list["findings"].as_array().unwrap().iter();
    let mut all: Vec<String> = findings
        .map(|f| format!("{} {} {}", text(&f["file"]), text(&f["rule"]), text(&f["state"])))
        .collect();
    all.sort();
    all
}

/// Reviews an example that changes from run to run. Returns the states after each run, and the
/// repository.
fn five_runs() -> (String, Repository) {
    let repository = Repository::new();
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    let mut told = String::new();
    let mut after = |run: &str, repository: &Repository| {
        review(repository, &[]);
        told.push_str(&format!("{run}: {}\n", states(repository).join(", ")));
    };
    repository.write("CODEOWNERS", "* @shop/py\n");
    repository.write("clean.py", SHELL);
    repository.write("answer.py", EVAL);
    repository.commit("second");
    after("new", &repository);
    let shell = id(&repository, "clean.py");
    let args = ["findings", "dismiss", &shell, "--reason", "an operator's tool"];
    assert_eq!(run(&repository, &args).code, 0);
    repository.write("clean.py", format!("# moved down\n\n{SHELL}"));
    after("still open, and lines shifted", &repository);
    repository.git(&["mv", "clean.py", "tidy.py"]);
    repository.write("answer.py", FIXED);
    repository.commit("third");
    after("resolved, and a file renamed", &repository);
    repository.write("answer.py", EVAL);
    after("regressed", &repository);
    repository.write("tidy.py", SHELL.replace("rm -r", "rm -rf"));
    after("dismissed code changed", &repository);
    // The finding has another id since its file was renamed.
    let earlier = run(&repository, &["findings", "show", &shell, "--format", "json"]);
    assert_eq!(earlier.json()["file"], "tidy.py", "{}", earlier.stderr);
    (told, repository)
}

/// Returns the statistics of a ledger, without times that depend on the speed of the machine.
fn statistics(repository: &Repository) -> Vec<Value> {
    let by = ["category", "file", "severity", "reviewer", "rule", "author-team"];
    let mut all: Vec<Value> = by
        .iter()
        .map(|by| run(repository, &["findings", "stats", "--by", by, "--format", "json"]).json())
        .collect();
    all.push(run(repository, &["findings", "stats", "--format", "json"]).json());
    all.iter_mut().for_each(remove_times);
    all
}

/// Removes the times and durations from JSON.
fn remove_times(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let is_time = |name: &str| name == "as_of" || name.contains("seconds");
            members.retain(|name, _| !is_time(name) && !name.contains("hours"));
            members.values_mut().for_each(remove_times);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_times),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn five_states() -> Expect {
    expect![[r#"
        new: answer.py python/eval-of-parameter open, clean.py python/shell-injection open
        still open, and lines shifted: answer.py python/eval-of-parameter open, clean.py python/shell-injection dismissed
        resolved, and a file renamed: answer.py python/eval-of-parameter gone, tidy.py python/shell-injection dismissed
        regressed: answer.py python/eval-of-parameter open, tidy.py python/shell-injection dismissed
        dismissed code changed: answer.py python/eval-of-parameter open, tidy.py python/shell-injection gone, tidy.py python/shell-injection open
    "#]]
}

#[test]
fn five_runs_of_a_changing_example_give_each_finding_its_state() {
    let (told, repository) = five_runs();
    five_states().assert_eq(&told);
    let shown = run(&repository, &["findings", "show", &id(&repository, "answer.py")]).stdout;
    let history = shown.split_once("history\n").map_or("", |(_, history)| history);
    let words = ["new", "still open", "gone", "regressed"];
    let of_line = |line: &str| words.into_iter().find(|word| line.contains(&format!("  {word}  ")));
    let told: Vec<&str> = history.lines().filter_map(of_line).collect();
    assert_eq!(told, ["new", "still open", "gone", "regressed", "still open"], "{shown}");
}

mod on_postgres {
    use super::*;

    #[test]
    fn both_databases_have_the_same_states_and_statistics_after_five_runs() {
        let (in_file, file) = five_runs();
        let expected = statistics(&file);
        LEDGER_URL.set(Some(schema()));
        let (in_database, database) = five_runs();
        five_states().assert_eq(&in_database);
        assert_eq!(in_file, in_database);
        assert_eq!(statistics(&database), expected);
        assert!(!database.path().join(".assay/ledger.db").exists());
    }

    #[test]
    fn a_dismissal_in_one_clone_holds_in_another_clone() {
        LEDGER_URL.set(Some(schema()));
        let first = crate::ledger::reviewed();
        let finding = id(&first, "clean.py");
        let args = ["findings", "dismiss", &finding, "--reason", "an operator's tool"];
        assert_eq!(run(&first, &args).code, 0);
        let second = tempfile::tempdir().unwrap();
        let place = second.path().join("clone");
        let from = first.path().to_str().unwrap();
        first.git(&["clone", "--quiet", from, place.to_str().unwrap()]);
        let ran = crate::assay_in(&place, &["review", "--commit", "HEAD", "--format", "json"], b"");
        let raised = ran.json()["findings"].as_array().unwrap().len();
        assert_eq!((raised, ran.json()["counts"]["dismissed"].as_u64()), (1, Some(1)));
    }

    #[test]
    fn a_finding_in_code_that_a_colleague_has_not_committed_stays_open() {
        LEDGER_URL.set(Some(schema()));
        let ada = Repository::new();
        ada.git(&["switch", "--quiet", "--create", "topic"]);
        ada.write("answer.py", FIXED);
        ada.write("other.py", FIXED);
        ada.commit("second");
        let folder = tempfile::tempdir().unwrap();
        let bob = folder.path().join("clone");
        ada.git(&["clone", "--quiet", ada.path().to_str().unwrap(), bob.to_str().unwrap()]);
        // Ada works on a defect that is in no commit, and Bob changes the same file.
        ada.write("answer.py", EVAL);
        review(&ada, &[]);
        assert_eq!(states(&ada), ["answer.py python/eval-of-parameter open"]);
        std::fs::write(bob.join("answer.py"), format!("# a comment\n{FIXED}")).unwrap();
        let ran = crate::assay_in(&bob, &["review", "--format", "json"], b"");
        assert_eq!(ran.json()["findings"], serde_json::json!([]), "{}", ran.stderr);
        assert_eq!(states(&ada), ["answer.py python/eval-of-parameter open"]);
        // The checkout that has the code can resolve the finding.
        ada.write("answer.py", format!("# fixed\n{FIXED}"));
        review(&ada, &[]);
        assert_eq!(states(&ada), ["answer.py python/eval-of-parameter gone"]);
    }

    #[test]
    fn a_finding_in_committed_code_is_gone_after_a_review_in_any_checkout() {
        LEDGER_URL.set(Some(schema()));
        let ada = Repository::new();
        ada.git(&["switch", "--quiet", "--create", "topic"]);
        ada.write("answer.py", EVAL);
        ada.commit("second");
        review(&ada, &[]);
        assert_eq!(states(&ada), ["answer.py python/eval-of-parameter open"]);
        let folder = tempfile::tempdir().unwrap();
        let bob = folder.path().join("clone");
        ada.git(&["clone", "--quiet", ada.path().to_str().unwrap(), bob.to_str().unwrap()]);
        std::fs::write(bob.join("answer.py"), FIXED).unwrap();
        let ran = crate::assay_in(&bob, &["review", "--format", "json"], b"");
        assert_eq!(ran.json()["findings"], serde_json::json!([]), "{}", ran.stderr);
        assert_eq!(states(&ada), ["answer.py python/eval-of-parameter gone"]);
    }

    fn with_url(repository: &Repository, args: &[&str], url: &str) -> AssayRun {
        assay_with(repository.path(), args, b"", &[("ASSAY_LEDGER_URL", url)])
    }

    #[test]
    fn a_database_that_cannot_be_used_is_named_without_its_password() {
        let repository = crate::ledger::reviewed();
        let away = "postgres://me:s3cret@127.0.0.1:1/team";
        let list = with_url(&repository, &["findings", "list"], away);
        assert_eq!(list.code, 3);
        let why = "error: cannot reach the ledger `postgres://127.0.0.1:1/team`: ";
        assert!(list.stderr.starts_with(why), "{}", list.stderr);
        let review = with_url(&repository, &["review"], away);
        assert_eq!(review.code, 1, "the review itself does not need the ledger");
        assert!(review.stderr.contains("cannot reach the ledger"), "{}", review.stderr);
        let none = with_url(&repository, &["findings", "list"], "s3cret-is-no-url");
        assert_eq!(none.code, 3);
        assert!(none.stderr.contains("invalid database URL"), "{}", none.stderr);
        for ran in [list, review, none] {
            assert!(!ran.stderr.contains("s3cret") && !ran.stdout.contains("s3cret"));
        }
        let adopt = with_url(&repository, &["findings", "adopt"], away);
        assert_eq!(adopt.code, 2);
        assert!(adopt.stderr.contains("there is no file to adopt"), "{}", adopt.stderr);
    }

    #[test]
    fn a_ledger_is_copied_to_a_database_and_back_with_its_dismissals() {
        let (_, repository) = five_runs();
        let (in_file, expected) = (states(&repository), statistics(&repository));
        let url = schema();
        let copy = |from: &str, to: &str| {
            let args = ["ledger", "copy", "--from", from, "--to", to];
            let ran = assay_with(repository.path(), &args, b"", &[("TEAM_LEDGER", &url)]);
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
            ran.stdout
        };
        let copied = copy(".assay/ledger.db", "${TEAM_LEDGER}");
        let counts = "copied: 5 runs, 3 findings, 11 outcomes, 9 votes, 1 dismissal\n";
        assert!(copied.starts_with(counts), "{copied}");
        let again = copy(".assay/ledger.db", "${TEAM_LEDGER}");
        assert!(again.starts_with("copied: 0 runs, 0 findings, 0 outcomes, 0 votes, 0 dismissals"));
        LEDGER_URL.set(Some(url.clone()));
        assert_eq!((states(&repository), statistics(&repository)), (in_file.clone(), expected));
        LEDGER_URL.set(None);
        std::fs::remove_file(repository.path().join(".assay/ledger.db")).unwrap();
        copy("${TEAM_LEDGER}", ".assay/ledger.db");
        assert_eq!(states(&repository), in_file, "the copy is sealed, so it is used");
    }
}
