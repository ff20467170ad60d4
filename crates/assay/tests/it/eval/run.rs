//! `assay eval SET`: the cases of a set, reviewed and scored.

use std::fs;
use std::path::Path;

use assay_testkit::model::{Answer, FakeModel, Options, PromptRequest, Script, SmallReview};
use serde_json::Value;

use super::write;
use crate::{AssayRun, assay_in, assay_with};

/// The key that the server requires.
const KEY: &str = "sk-test-5d0f8a7c61e94b23";

/// A set with a defect that rules find, one that they do not find, and a clean change.
pub(super) const SET: &[(&str, &str)] = &[
    (
        "set/cases.jsonl",
        r#"{"id": "markers", "language": "Python", "title": "Rates of 2027", "change": "changes/markers", "labels": [{"comment": "Conflict markers are left in the file", "path": "rates.py", "line": 2, "end_line": 6, "severity": "CRITICAL"}]}
{"id": "sign", "language": "Python", "title": "Discount", "change": "changes/sign", "purpose": ["changes/sign/before/docs/discount.md"], "labels": [{"comment": "The discount is added to the total instead of subtracted", "path": "cart.py", "line": 2, "severity": "HIGH"}]}
{"id": "clean", "language": "Python", "title": "A name", "change": "changes/clean.diff", "labels": []}
"#,
    ),
    ("set/changes/markers/before/rates.py", "def rate():\n    return 19\n"),
    (
        "set/changes/markers/after/rates.py",
        "def rate():\n<<<<<<< HEAD\n    return 19\n=======\n    return 21\n>>>>>>> rates\n",
    ),
    ("set/changes/sign/before/docs/discount.md", "The discount is subtracted.\n"),
    ("set/changes/sign/before/cart.py", "def total(prices):\n    return sum(prices)\n"),
    (
        "set/changes/sign/after/cart.py",
        "def total(prices, discount):\n    return sum(prices) + discount\n",
    ),
    (
        "set/changes/clean.diff",
        "--- a/name.py\n+++ b/name.py\n@@ -1,2 +1,2 @@\n def name():\n-    return 'a'\n+    return 'b'\n",
    ),
];

fn eval(files: &[(&str, &str)], args: &[&str]) -> (tempfile::TempDir, AssayRun) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), SET);
    write(folder.path(), files);
    let ran = assay_in(folder.path(), &[&["eval", "set"], args].concat(), b"");
    (folder, ran)
}

fn score(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("out/score.json")).unwrap()).unwrap()
}

/// Starts a model that answers the plain question with the defect, and personas by default.
fn model() -> FakeModel {
    let options = Options { key: Some(KEY.to_owned()), ..Options::default() };
    let script = |asked: &PromptRequest| match asked
        .text()
        .contains("Name the defects that its author")
    {
        true if asked.text().contains("+ discount") => Answer::text(
            r#"{"findings": [{"file": "cart.py", "line": 2, "severity": "HIGH", "title": "The discount is added instead of subtracted", "description": "The total grows."}]}"#,
        ),
        true => Answer::text(r#"{"findings": []}"#),
        false => SmallReview.answer(asked),
    };
    FakeModel::start_with(options, script).unwrap()
}

fn configuration(server: &FakeModel) -> String {
    format!(
        "models:\n  use:\n    fake:\n      api: anthropic\n      model: fake-1\n      url: {}\n      \
         key_env: FAKE_KEY\n      usd_per_million: {{ input: 1, output: 5 }}\n",
        server.url()
    )
}

#[test]
fn every_case_is_reviewed_and_scored_offline() {
    let (folder, ran) = eval(&[], &["--out", "out"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("set: 3 cases, 2 labels\n"), "{}", ran.stdout);
    let score = score(folder.path());
    let rules = &score["reviewers"][0];
    assert_eq!(rules["name"], "rules");
    assert_eq!(rules["summary"]["counts"]["hits"], 1, "{}", ran.stdout);
    assert_eq!(rules["summary"]["clean"], serde_json::json!([0, 1]));
    for id in ["markers", "sign", "clean"] {
        let kept = fs::read_to_string(folder.path().join(format!("out/rules/{id}.json"))).unwrap();
        let kept: Value = serde_json::from_str(&kept).unwrap();
        assert!(kept["verdict"].is_object(), "{id}");
    }
    let page = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("markers"));
    // The stored outputs can be scored like those of any tool.
    let again = assay_in(folder.path(), &["eval", "score", "set", "out/rules"], b"");
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stdout.contains("rules     0.667"), "{}", again.stdout);
}

#[test]
fn nothing_of_a_case_is_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (home, scratch) = (folder.path().join("home"), folder.path().join("scratch"));
    fs::create_dir(&scratch).unwrap();
    write(folder.path(), SET);
    let (home, scratch) = (home.display().to_string(), scratch.display().to_string());
    let variables = [("XDG_STATE_HOME", home.as_str()), ("TMPDIR", scratch.as_str())];
    let ran = assay_with(folder.path(), &["eval", "set"], b"", &variables);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!Path::new(&home).exists(), "a case has state in the user's home");
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
}

#[test]
fn a_model_is_compared_with_one_plain_question_and_can_be_replayed() {
    let server = model();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), SET);
    write(folder.path(), &[("config/agent-framework.yaml", &configuration(&server))]);
    let args =
        ["eval", "set", "--reviewers", "models", "--out", "out", "--record", "--repeat", "2"];
    let ran = assay_with(folder.path(), &args, b"", &[("FAKE_KEY", KEY)]);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let first = score(folder.path());
    let names: Vec<&str> = first["reviewers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["models", "question"]);
    let question = &first["reviewers"][1];
    assert_eq!(question["summary"]["counts"]["hits"], 1, "{}", ran.stdout);
    assert_eq!(question["summary"]["effort"]["calls"], 3);
    assert!(question["summary"]["effort"]["bytes"].as_u64() > Some(1000));
    assert_eq!(question["stability"]["same_labels"], 1.0);
    assert!(first["reviewers"][0]["summary"]["effort"]["calls"].as_u64() > Some(0));
    // The same reviews are replayed without the model.
    drop(server);
    fs::rename(folder.path().join("out/recordings"), folder.path().join("set/recordings")).unwrap();
    fs::remove_file(folder.path().join("config/agent-framework.yaml")).unwrap();
    write(folder.path(), &[("set/recordings/question/sign.txt", r#"{"findings": []}"#)]);
    let args = ["eval", "set", "--reviewers", "recorded", "--out", "out", "--case", "sign"];
    let ran = assay_in(folder.path(), &args, b"");
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let again = score(folder.path());
    assert_eq!(again["reviewers"][0]["name"], "recorded=models");
    assert_eq!(again["reviewers"][1]["name"], "recorded=question");
    let of = |score: &Value, id: &str| {
        let cases = score["reviewers"][0]["cases"].as_array().unwrap();
        cases.iter().find(|case| case["case"] == id).unwrap()["counts"].clone()
    };
    assert_eq!(of(&again, "sign"), of(&first, "sign"));
}

#[test]
fn limits_of_a_run_hold_for_all_cases_together() {
    let server = model();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), SET);
    write(folder.path(), &[("config/agent-framework.yaml", &configuration(&server))]);
    let args = ["eval", "set", "--reviewers", "question", "--max-usd", "0.0000001"];
    let ran = assay_with(folder.path(), &args, b"", &[("FAKE_KEY", KEY)]);
    assert_eq!(ran.code, 3, "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout.matches("NOT READ").count(), 3, "{}", ran.stdout);
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn limits_on_figures_decide_the_exit_code() {
    assert_eq!(eval(&[], &["--min", "f1=.5", "--max", "noise=.1"]).1.code, 0);
    let (_, ran) = eval(&[], &["--min", "f1=.9"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("rules: f1 is 0.667, and has to be at least 0.9"),
        "{}",
        ran.stderr
    );
    let (folder, _) = eval(&[], &["--out", "last"]);
    write(folder.path(), &[("set/changes/markers/after/rates.py", "def rate():\n    return 21\n")]);
    let args = ["eval", "set", "--baseline", "last/score.json"];
    let ran = assay_in(folder.path(), &args, b"");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
}

#[test]
fn a_case_cannot_influence_how_it_is_reviewed() {
    let ran_by = |name: &str| {
        format!(
            "review:\n  commands:\n    - name: own\n      run: [sh, -c, 'touch {name}']\n      form: sarif\n"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("was-run").display().to_string();
    write(folder.path(), SET);
    write(
        folder.path(),
        &[
            ("set/changes/sign/before/config/agent-framework.yaml", &ran_by(&marker)),
            ("set/changes/sign/before/.assay/rules/own.yaml", "nonsense"),
        ],
    );
    let ran = assay_in(folder.path(), &["eval", "set", "--case", "sign"], b"");
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    assert!(!Path::new(&marker).exists());
}

#[test]
fn a_case_with_an_invalid_diff_or_a_link_is_refused_with_the_reason() {
    let escape = "--- /dev/null\n+++ b/../../escaped\n@@ -0,0 +1 @@\n+x\n";
    let into_git = "--- /dev/null\n+++ b/.git/hooks/post-commit\n@@ -0,0 +1 @@\n+x\n";
    for (diff, said) in [
        (escape, "is not a path inside the repository"),
        (into_git, "is inside the `.git` folder"),
        ("no diff at all\n", "the diff changes no text"),
    ] {
        let (_, ran) = eval(&[("set/changes/clean.diff", diff)], &["--case", "clean"]);
        assert_eq!(ran.code, 3, "{}\n{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(said), "{}", ran.stdout);
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), SET);
    let link = folder.path().join("set/changes/sign/after/link.py");
    std::os::unix::fs::symlink("/etc/passwd", link).unwrap();
    let ran = assay_in(folder.path(), &["eval", "set", "--case", "sign"], b"");
    assert_eq!(ran.code, 3, "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("is a link or a device"), "{}", ran.stdout);
}

#[test]
fn a_diff_applies_to_the_before_files_and_listed_files_are_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let cases = "{\"id\": \"a\", \"title\": \"a\", \"change\": \"a\"}\n{\"id\": \"b\", \"title\": \"b\", \"change\": \"b\"}\n";
    let diff = "--- a/x.py\n+++ b/x.py\n@@ -2,1 +2,1 @@\n-b = 1\n+b = 2\n";
    write(
        folder.path(),
        &[
            ("set/cases.jsonl", cases),
            ("set/a/before/x.py", "a = 1\nb = 1\nc = 1\n"),
            ("set/a/change.diff", diff),
            ("set/b/before/x.py", "a = 1\n"),
            ("set/b/before/y.py", "a = 1\n"),
            ("set/b/after/x.py", "a = 2\n"),
            ("set/b/deleted.txt", "y.py\n"),
        ],
    );
    let ran = assay_in(folder.path(), &["eval", "set", "--out", "out"], b"");
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    write(folder.path(), &[("set/b/deleted.txt", "z.py\n"), ("set/a/before/x.py", "other\n")]);
    let ran = assay_in(folder.path(), &["eval", "set"], b"");
    assert_eq!(ran.code, 3, "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("names `z.py`, which is not in `before/`"), "{}", ran.stdout);
    assert!(ran.stdout.contains("the diff does not apply"), "{}", ran.stdout);
}

#[test]
fn wrong_arguments_are_explained() {
    for (args, said) in [
        (&["--reviewers", "everybody"][..], "unknown reviewer `everybody`"),
        (&["--reviewers", "recorded"], "the set has no folder `recordings/`"),
        (&["--case", "nowhere"], "the set has no case `nowhere`"),
        (&["--out", "set"], "contains other files; name a new or an empty folder"),
        (&["--record"], "--out"),
        (&["--repeat", "0"], "--repeat"),
    ] {
        let (_, ran) = eval(&[], args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{args:?}: {}", ran.stderr);
    }
}
