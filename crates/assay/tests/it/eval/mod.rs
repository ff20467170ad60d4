//! `assay eval`, as users run it.

mod delegate;
mod judge;
mod mine;
mod run;
mod shipped;

use std::fs;
use std::path::Path;

use crate::{AssayRun, assay_in};

const CASES: &str = r#"{"id": "a", "change": "a", "labels": [{"comment": "wrong sign of the discount", "path": "a.py", "line": 3}]}
{"id": "deep/b", "change": "b", "labels": []}
"#;
const FOUND: &str = r#"{"findings": [{"file": "a.py", "line": 3, "severity": "HIGH", "title": "Discount has the wrong sign"}]}"#;
const NONE: &str = r#"{"findings": []}"#;

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn score(files: &[(&str, &str)], args: &[&str]) -> AssayRun {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("set/cases.jsonl", CASES)]);
    write(folder.path(), files);
    assay_in(folder.path(), &[&["eval", "score", "set", "one"], args].concat(), b"")
}

#[test]
fn a_missing_or_unreadable_output_is_named_and_not_counted_as_an_empty_review() {
    for (text, reason) in [
        (None, "there is no output"),
        (Some("panic: out of memory"), "holds no findings in a form that is known"),
        (Some(""), "the output is empty"),
    ] {
        let mut files = vec![("one/deep/b.json", NONE)];
        files.extend(text.map(|text| ("one/a.txt", text)));
        let ran = score(&files, &[]);
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        assert!(
            ran.stdout.contains("NOT READ: a: ") && ran.stdout.contains(reason),
            "{}",
            ran.stdout
        );
        assert!(ran.stderr.contains("their labels count as missed"), "{}", ran.stderr);
    }
}

#[test]
fn limits_decide_the_exit_code() {
    let files = [("one/a.json", FOUND), ("one/deep/b.json", NONE)];
    assert_eq!(score(&files, &["--min", "f1=1", "--max", "noise=0"]).code, 0);
    assert_eq!(score(&files, &["--max", "comments=0.4"]).code, 1);
    for wrong in ["f1", "f1=", "f1=x", "f2=1", "f1=nan"] {
        let ran = score(&files, &["--min", wrong]);
        assert_eq!(ran.code, 2, "{wrong}: {}", ran.stderr);
    }
}

#[test]
fn a_score_below_the_baseline_exits_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let files = [("set/cases.jsonl", CASES), ("one/a.json", FOUND), ("one/deep/b.json", NONE)];
    write(folder.path(), &files);
    let args = ["eval", "score", "set", "one"];
    let before = assay_in(folder.path(), &[&args[..], &["--format", "json"]].concat(), b"");
    write(folder.path(), &[("last.json", &before.stdout), ("one/a.json", NONE)]);
    let ran = assay_in(folder.path(), &[&args[..], &["--baseline", "last.json"]].concat(), b"");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("one: f1 is 0.000, and has to be at least 1"), "{}", ran.stderr);
}

#[test]
fn a_page_runs_no_script_and_shows_no_markup_of_a_case() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[
            ("set/cases.jsonl", r#"{"id": "<script>alert(1)", "change": "a"}"#),
            ("one/<script>alert(1).json", NONE),
        ],
    );
    let ran = assay_in(folder.path(), &["eval", "score", "set", "one", "--format", "html"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!ran.stdout.contains("<script"), "{}", ran.stdout);
    assert!(ran.stdout.contains("default-src 'none'"), "{}", ran.stdout);
}

#[test]
fn wrong_input_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[
            ("set/cases.jsonl", CASES),
            ("bad/cases.jsonl", "{\"id\": \"a\"}"),
            ("one/a.json", NONE),
            ("two/a.json", NONE),
            ("two/a.sarif", NONE),
            ("empty/x.json", NONE),
        ],
    );
    for (args, said) in [
        (vec!["score", "nowhere", "one"], "cannot read the cases of the set"),
        (vec!["score", "bad", "one"], "line 1: missing field `change`"),
        (vec!["score", "set", "set/cases.jsonl"], "is not a folder with one output for each case"),
        (vec!["score", "set", "two"], "two outputs for the case `a`"),
        (vec!["score", "set", "empty"], "contains no output of any case"),
        (
            vec!["score", "set", "one", "--words", "0", "--within", "any"],
            "only by place or by words",
        ),
        (vec!["score", "set", "one", "--words", "2"], "expected a number from 0 to 1"),
        (
            vec!["score", "set", "one", "--verdicts", "set/cases.jsonl"],
            "contains no verdicts: line 1: ",
        ),
        (vec!["score", "set", "one", "--verdicts", "nowhere"], "cannot read the verdicts"),
        (vec!["compare", "one/a.json", "one/a.json"], "is not a report of `assay eval score"),
    ] {
        let ran = assay_in(folder.path(), &[&["eval"][..], &args].concat(), b"");
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{args:?}: {}", ran.stderr);
    }
}
