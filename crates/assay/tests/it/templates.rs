//! Templates of findings in the outputs of a review: `assay review`, `assay findings templates`.

use assay_testkit::Repository;
use expect_test::expect;
use serde_json::Value;

use crate::ledger::{id, review, run};

const SHELL: &str = "import os\n\n\ndef clean(name):\n    os.system(f\"rm -r {name}\")\n";

const OWN: &str = "\
name: command-injection
title: Program started by a shell
explanation: See the guide of the team.
fix: Call `run_program`.
match: {rules: ['python/shell-injection']}
";

/// Returns a repository whose branch adds a defect.
fn repository() -> Repository {
    let repository = Repository::new();
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    repository.write("clean.py", SHELL);
    repository.commit("a defect");
    repository
}

fn template(repository: &Repository) -> Value {
    let ran = run(repository, &["review", "--format", "json"]);
    let findings = ran.json()["findings"].clone();
    let shell = findings.as_array().unwrap().iter().find(|f| f["file"] == "clean.py");
    shell.unwrap()["template"].clone()
}

#[test]
fn each_output_has_the_common_title_and_the_reviewers_title() {
    let repository = repository();
    let terminal = run(&repository, &["review"]).stdout;
    assert!(terminal.contains("HIGH: Command injection (python/shell-injection)"), "{terminal}");
    assert!(terminal.contains("\n     Shell command built from a value. "), "{terminal}");
    assert!(terminal.contains("\n     see https://cwe.mitre.org/data/definitions/78.html\n"));
    let markdown = run(&repository, &["review", "--format", "markdown"]).stdout;
    assert!(markdown.contains("HIGH: Command injection\n"), "{markdown}");
    assert!(markdown.contains("\nShell command built from a value. "), "{markdown}");
    assert!(markdown.contains("**About** `command-injection`: Text from outside"), "{markdown}");
    let sarif = run(&repository, &["review", "--format", "sarif"]).json();
    let driver = &sarif["runs"][0]["tool"]["driver"];
    let rules = driver["rules"].as_array().unwrap();
    let rule = rules.iter().find(|rule| rule["id"] == "python/shell-injection").unwrap();
    assert_eq!(rule["helpUri"], "https://cwe.mitre.org/data/definitions/78.html");
    assert!(rule["help"]["text"].as_str().unwrap().contains("\nCommand injection: Text from"));
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let result = results.iter().find(|result| result["ruleId"] == "python/shell-injection");
    assert_eq!(result.unwrap()["properties"]["template"]["name"], "command-injection");
}

#[test]
fn the_ledger_lists_findings_by_the_common_title() {
    let repository = repository();
    run(&repository, &["review"]);
    let listed = run(&repository, &["findings", "list"]).stdout;
    assert!(listed.contains("clean.py:5  Command injection (python/shell-injection)"), "{listed}");
    let id = listed.lines().find(|line| line.contains("clean.py")).unwrap();
    let shown = run(&repository, &["findings", "show", &id[..12]]).stdout;
    assert!(shown.starts_with("HIGH: Command injection\n"), "{shown}");
    assert!(shown.contains("\n  Shell command built from a value. "), "{shown}");
}

#[test]
fn a_change_does_not_change_the_templates_of_its_own_review() {
    let repository = repository();
    repository.write(".assay/templates/shell.yml", OWN);
    repository.git(&["add", "."]);
    repository.git(&["commit", "--quiet", "--message", "a template"]);
    assert_eq!(template(&repository)["title"], "Command injection");
    let noted = run(&repository, &["review"]).stdout;
    let note = "the change modifies the repository's templates; using those before the change";
    assert!(noted.contains(note), "{noted}");
    repository.git(&["switch", "--quiet", "main"]);
    repository.git(&["checkout", "--quiet", "topic", "--", ".assay/templates"]);
    repository.git(&["commit", "--quiet", "--message", "the template alone"]);
    repository.git(&["switch", "--quiet", "topic"]);
    repository.git(&["rebase", "--quiet", "main"]);
    assert_eq!(template(&repository)["title"], "Program started by a shell");
}

#[test]
fn a_dismissed_finding_stays_dismissed_after_a_template_was_added() {
    let repository = repository();
    assert_eq!(review(&repository, &[]), ["clean.py python/shell-injection"]);
    let finding = id(&repository, "clean.py");
    let why = ["findings", "dismiss", &finding, "--reason", "the names are our own"];
    assert_eq!(run(&repository, &why).code, 0);
    repository.write(".assay/templates/shell.yml", OWN);
    let ran = run(&repository, &["review", "--format", "json"]).json();
    assert_eq!(ran["findings"], Value::Array(Vec::new()));
    assert_eq!(ran["dismissed"][0]["template"]["title"], "Program started by a shell");
    assert_eq!(id(&repository, "clean.py"), finding);
}

#[test]
fn a_failed_example_and_an_invalid_file_are_reported_with_the_reason() {
    let repository = repository();
    let with_examples = format!(
        "{OWN}examples:\n  match: [Shell script is slow]\n  other: [Command injection in x]\n"
    );
    repository.write(".assay/templates/shell.yml", with_examples);
    let ran = run(&repository, &["findings", "templates", "test"]);
    assert_eq!(ran.code, 1);
    expect![[r#"
        failed command-injection
            does not match: Shell script is slow
        39 passed, 1 failed, 0 without examples
    "#]]
    .assert_eq(&ran.stdout);
    repository.write(".assay/templates/shell.yml", OWN.replace("match:", "matches:"));
    let ran = run(&repository, &["review"]);
    assert_eq!(ran.code, 2);
    expect![[r#"
        error: the template `.assay/templates/shell.yml` cannot be used: unknown field `matches`, expected one of name, title, explanation, fix, link, match, examples at line 5, column 1
    "#]]
    .assert_eq(&ran.stderr);
    repository.write(".assay/templates/shell.yml", OWN);
    let ran = run(&repository, &["findings", "templates", "show", "sql-injektion"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("no template `sql-injektion`"), "{}", ran.stderr);
}
