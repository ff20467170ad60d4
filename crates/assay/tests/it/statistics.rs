//! `assay findings stats`: statistics of the ledger, from real reviews.

use std::fs;
use std::process::Command;

use assay_testkit::Repository;
use serde_json::{Value, json};

use crate::ledger::{fixed, id, review, reviewed, run};
use crate::{AssayRun, assay};

const EVAL: &str = "def answer(text):\n    return eval(text)\n";

const SHELL: &str = "import os\n\n\ndef clean(name):\n    os.system(f\"rm -r {name}\")\n";

fn stats(repository: &Repository, args: &[&str]) -> Value {
    let ran = run(repository, &[&["findings", "stats", "--format", "json"], args].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    check_schema(&ran);
    ran.json()
}

fn check_schema(ran: &AssayRun) {
    let schema = assay(&["schema", "findings-stats"], "").json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&ran.json()).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

/// Returns a repository with a fixed finding, and a dismissed one.
fn settled() -> Repository {
    let repository = reviewed();
    let id = id(&repository, "answer.py");
    assert_eq!(run(&repository, &["findings", "dismiss", &id, "--reason", "a toy"]).code, 0);
    let code = fs::read_to_string(repository.path().join("clean.py")).unwrap();
    repository.write("clean.py", fixed(&code));
    assert!(review(&repository, &[]).is_empty());
    repository
}

#[test]
fn the_overview_counts_findings_by_state() {
    let repository = settled();
    let stats = stats(&repository, &[]);
    assert_eq!(stats["version"], 1);
    assert_eq!(stats["runs"], json!({ "total": 2, "complete": 2, "incomplete": 0 }));
    let total = &stats["total"];
    let counts = ["findings", "open", "resolved", "dismissed", "accepted", "decided", "precision"];
    let counts = counts.map(|key| total[key].as_f64().unwrap());
    assert_eq!(counts, [2.0, 0.0, 1.0, 1.0, 1.0, 2.0, 0.5]);
    let overview = &stats["overview"];
    assert_eq!(overview["severities"][0]["name"], "HIGH");
    assert_eq!(overview["severities"][0]["share_resolved"], 1.0);
    assert_eq!(overview["reviewers"][0]["name"], "rules");
    assert_eq!(overview["timeline"]["period"], "day");
    assert_eq!(overview["mostly_dismissed"], json!([]));
    let text = run(&repository, &["findings", "stats"]).stdout;
    for line in ["2 reviews\n", "2 findings: 0 open, 1 resolved, 1 dismissed\n", "50 % (9-91 %)"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(text.is_ascii(), "a pipe gets plain text: {text}");
}

#[test]
fn each_grouping_is_one_table() {
    let repository = settled();
    let groupings = [
        ("category", "security 2"),
        ("file", "answer.py 1, clean.py 1"),
        ("folder", ". 2"),
        ("severity", "HIGH 1, MEDIUM 1"),
        ("reviewer", "rules 2"),
        ("rule", "python/eval-of-parameter 1, python/shell-injection 1"),
    ];
    for (by, expected) in groupings {
        let stats = stats(&repository, &["--by", by]);
        assert_eq!((&stats["by"], &stats["overview"]), (&json!(by), &Value::Null));
        let groups = stats["groups"].as_array().unwrap().iter();
        let shown = groups.map(|g| format!("{} {}", g["name"].as_str().unwrap(), g["findings"]));
        assert_eq!(shown.collect::<Vec<_>>().join(", "), expected);
        let text = run(&repository, &["findings", "stats", "--by", by]).stdout;
        assert!(text.contains(&format!("\n{} ", by.to_uppercase())), "{text}");
    }
}

#[test]
fn teams_are_the_owners_in_the_head_commit() {
    let repository = reviewed();
    let by_team = ["findings", "stats", "--by", "author-team"];
    let ran = run(&repository, &by_team);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("`HEAD` has no file `.github/CODEOWNERS`"), "{}", ran.stderr);
    repository.write(".github/CODEOWNERS", "*.py @shop/py\n/clean.py @shop/py @ops\n?! x\n");
    repository.commit("owners");
    let stats = stats(&repository, &by_team[2..]);
    let groups = stats["groups"].as_array().unwrap().iter();
    let shown: Vec<String> =
        groups.map(|g| format!("{} {}", g["name"].as_str().unwrap(), g["findings"])).collect();
    assert_eq!(
        (shown.join(", ").as_str(), &stats["overlapping"]),
        ("@shop/py 2, @ops 1", &json!(true))
    );
    let notes = stats["notes"].to_string();
    assert!(
        notes.contains("not understood in `.github/CODEOWNERS`, and not used: line 3"),
        "{notes}"
    );
    let csv = run(&repository, &["findings", "stats", "--by", "author-team", "--format", "csv"]);
    assert!(csv.stdout.contains("\r\nauthor-team,'@shop/py,2,"), "{}", csv.stdout);
}

#[test]
fn teams_of_the_configuration_are_those_of_the_authors_of_the_lines() {
    let repository = Repository::new();
    let as_author = |name: &str, mail: &str| {
        repository.git(&["config", "user.name", name]);
        repository.git(&["config", "user.email", mail]);
    };
    as_author("Ada", "Ada@Py.Shop.example");
    repository.write("clean.py", SHELL);
    repository.commit("one");
    as_author("Bob", "bob@old.example");
    repository.write("answer.py", EVAL);
    repository.commit("two");
    as_author("Eve", "eve@elsewhere.example");
    // The line is not committed, so its author is the user of git.
    repository.write("third.py", EVAL.replace("text", "third"));
    repository.write(".mailmap", "Bob <bob@ops.shop.example> <bob@old.example>\n");
    repository.git(&["add", "."]);
    assert_eq!(review(&repository, &["--base", "HEAD~2"]).len(), 3);
    repository.write(
        "config/agent-framework.yaml",
        "ledger:\n  teams:\n    python: ['*@py.shop.example']\n    operations: [bob@ops.shop.example]\n",
    );
    let stats = stats(&repository, &["--by", "author-team"]);
    let groups = stats["groups"].as_array().unwrap().iter();
    let mut shown: Vec<String> =
        groups.map(|g| format!("{} {}", g["name"], g["findings"])).collect();
    shown.sort();
    assert_eq!(shown, ["\"operations\" 1", "\"python\" 1", "null 1"]);
    assert_eq!(
        stats["notes"],
        json!([
            "teams are those of `ledger.teams`, by the authors of the lines",
            "authors in no team: eve@elsewhere.example (1)",
        ])
    );
}

#[test]
fn csv_has_a_header_and_lines_as_in_the_standard() {
    let repository = settled();
    let csv = run(&repository, &["findings", "stats", "--format", "csv", "--by", "file"]).stdout;
    let lines: Vec<&str> = csv.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 3, "{csv}");
    assert!(lines[0].starts_with("by,name,findings,open,"), "{csv}");
    assert!(lines[1].starts_with("file,answer.py,1,0,0,0,1,0,0,1,0,"), "{csv}");
    assert!(lines.iter().all(|line| line.split(',').count() == 19), "{csv}");
}

#[test]
fn a_rule_that_is_mostly_dismissed_is_named_with_a_command_that_works() {
    let repository = Repository::new();
    for number in 0..6 {
        repository.write(format!("answer{number}.py"), EVAL.replace("text", &format!("t{number}")));
    }
    repository.commit("second");
    assert_eq!(review(&repository, &["--commit", "HEAD"]).len(), 6);
    for number in 0..5 {
        let id = id(&repository, &format!("answer{number}.py"));
        assert_eq!(run(&repository, &["findings", "dismiss", &id, "--reason", "a toy"]).code, 0);
    }
    let before = stats(&repository, &[]);
    let named = before["overview"]["mostly_dismissed"].as_array().unwrap();
    let names: Vec<_> = named.iter().map(|source| source["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["rules", "python/eval-of-parameter"]);
    let command = named[1]["command"].as_str().unwrap();
    let text = run(&repository, &["findings", "stats"]).stdout;
    assert!(text.contains("rule python/eval-of-parameter: 0 of 5 accepted"), "{text}");
    assert!(text.contains(command), "{text}");
    let status =
        Command::new("sh").args(["-c", command]).current_dir(repository.path()).status().unwrap();
    assert!(status.success());
    repository.write("more.py", EVAL);
    repository.git(&["add", "more.py"]);
    assert!(review(&repository, &["--staged"]).is_empty(), "the rule is off");
    let after = stats(&repository, &[]);
    let named = after["overview"]["mostly_dismissed"].as_array().unwrap();
    assert_eq!(named.len(), 1, "a rule that is off is not named: {named:?}");
}

#[test]
fn a_finding_that_a_switched_off_rule_no_longer_reports_is_not_accepted() {
    let repository = reviewed();
    repository.write(
        ".assay/rules/off.yml",
        "id: python/eval-of-parameter\nlanguage: Python\nseverity: off\nrule: { regex: '^$' }\n",
    );
    repository.git(&["switch", "--quiet", "main"]);
    repository.git(&["add", "--force", ".assay/rules/off.yml"]);
    repository.git(&["commit", "--quiet", "--message", "off"]);
    repository.git(&["switch", "--quiet", "topic"]);
    repository.git(&["merge", "--quiet", "--no-edit", "main"]);
    assert_eq!(review(&repository, &[]), ["clean.py python/shell-injection"]);
    let stats = stats(&repository, &["--by", "rule"]);
    let group = &stats["groups"][0];
    assert_eq!(group["name"], "python/shell-injection");
    let group = &stats["groups"][1];
    let counts = ["resolved", "accepted", "decided", "precision"].map(|key| group[key].clone());
    assert_eq!(counts, [json!(1), json!(0), json!(0), Value::Null], "{group}");
    let text = run(&repository, &["findings", "stats", "--by", "rule"]).stdout;
    assert!(text.contains("no decision"), "{text}");
}

#[test]
fn since_selects_reviews_and_findings_by_time() {
    let repository = settled();
    let later = stats(&repository, &["--since", "2999-01-01"]);
    assert_eq!((&later["runs"]["total"], &later["total"]["findings"]), (&json!(0), &json!(0)));
    assert_eq!(later["since"], "2999-01-01T00:00:00.000Z");
    assert_eq!(stats(&repository, &["--since", "1d"])["total"]["findings"], 2);
    let text = run(&repository, &["findings", "stats", "--since", "2999-01-01"]).stdout;
    assert_eq!(text, "no review since 2999-01-01T00:00:00.000Z\n");
    assert_eq!(run(&repository, &["findings", "stats", "--since", "soon"]).code, 2);
}

#[test]
fn an_incomplete_review_is_counted_and_resolves_nothing() {
    let repository = reviewed();
    repository.write("clean.py", "import os\n");
    repository.write("source.py", "x = 1\0\n");
    repository.git(&["add", "--all"]);
    repository.commit("third");
    assert_eq!(run(&repository, &["review"]).code, 3);
    let stats = stats(&repository, &[]);
    assert_eq!(stats["runs"], json!({ "total": 2, "complete": 1, "incomplete": 1 }));
    assert_eq!((&stats["total"]["open"], &stats["total"]["resolved"]), (&json!(2), &json!(0)));
    let text = run(&repository, &["findings", "stats"]).stdout;
    assert!(text.starts_with("2 reviews, 1 of them incomplete: such a review resolves"), "{text}");
}

#[test]
fn an_unusable_ledger_is_an_error_and_not_an_empty_ledger() {
    let repository = Repository::new();
    let ran = run(&repository, &["findings", "stats"]);
    let empty = "the ledger is empty; `assay review` fills it\n";
    assert_eq!((ran.code, ran.stdout.as_str()), (0, empty));
    assert_eq!(stats(&repository, &[])["runs"]["total"], 0);
    let repository = reviewed();
    let path = repository.path().join(".assay/ledger.db");
    fs::write(&path, "no database, and longer than the header of a database has to be, surely so")
        .unwrap();
    for format in ["table", "json", "csv"] {
        let ran = run(&repository, &["findings", "stats", "--format", format]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    }
    assert_eq!(run(&repository, &["findings", "adopt"]).code, 0);
    let ran = run(&repository, &["findings", "stats"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("is damaged"), "{}", ran.stderr);
}
