//! Every example of the manual, run as printed.
//!
//! An example is a fenced block tagged `console`: a line `$ command`, which lines `> …` continue,
//! and its output, both streams, up to the next command. A line `…` matches any number of lines,
//! and a line `[exit 1]` is the exit code of the command. The examples of one page share a folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use assay_testkit::Repository;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

/// Defines a test for every page with examples, named after the page.
macro_rules! pages {
    ($($test:ident: $page:literal, $min_examples:literal;)*) => {
        const PAGES: &[&str] = &[$($page),*];

        mod page_shows_what_happens {
            $(#[test]
            fn $test() {
                super::check($page, $min_examples);
            })*
        }
    };
}

// Each page with its minimum number of examples.
pages! {
    agents: "agents.md", 12;
    commands: "commands.md", 6;
    configuration: "configuration.md", 4;
    delegation: "delegation.md", 17;
    e2e: "e2e.md", 2;
    editor: "editor.md", 1;
    eval: "eval.md", 17;
    findings: "findings.md", 10;
    fix: "fix.md", 6;
    gates: "gates.md", 8;
    github: "github.md", 7;
    gitlab: "gitlab.md", 2;
    jira: "jira.md", 5;
    ledger: "ledger.md", 21;
    mcp: "mcp.md", 3;
    models: "models.md", 2;
    persona_reports: "persona-reports.md", 1;
    polling: "polling.md", 2;
    qa: "qa.md", 13;
    queue: "queue.md", 19;
    report: "report.md", 6;
    review: "review.md", 7;
    rules: "rules.md", 10;
    serve: "serve.md", 4;
    setup: "setup.md", 7;
    severity_routing: "severity-routing.md", 13;
    statistics: "statistics.md", 11;
    templates: "templates.md", 12;
    triggers: "triggers.md", 5;
}

#[test]
fn every_page_with_examples_has_a_test() {
    let files = fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().path());
    let with_examples = files
        .filter(|file| file.extension().is_some_and(|extension| extension == "md"))
        .filter(|file| fs::read_to_string(file).unwrap().contains("```console\n"))
        .map(|file| file.file_name().unwrap().to_str().unwrap().to_owned());
    let tested = PAGES.iter().map(|page| (*page).to_owned());
    assert_eq!(with_examples.collect::<BTreeSet<_>>(), tested.collect::<BTreeSet<_>>());
}

/// Runs the examples of a page. Fails if there are fewer than `min_examples`.
fn check(page: &str, min_examples: usize) {
    let page = &Path::new(FOLDER).join(page);
    let text = fs::read_to_string(page).unwrap();
    let repository = Repository::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    std::os::unix::fs::symlink(examples, repository.path().join("examples")).unwrap();
    repository.write(".git/info/exclude", "examples\n");
    let mut run = 0;
    for block in text.split("```console\n").skip(1) {
        let block = block.split("\n```").next().unwrap();
        for example in block.split("\n$ ") {
            let example = example.strip_prefix("$ ").unwrap_or(example);
            check_example(page, repository.path(), example);
            run += 1;
        }
    }
    assert!(run >= min_examples, "{}: only {run} examples were run", page.display());
}

fn check_example(page: &Path, folder: &Path, example: &str) {
    let mut lines = example.lines().peekable();
    let mut command = lines.next().unwrap().to_owned();
    while let Some(more) = lines.next_if(|line| line.starts_with("> ")) {
        command = command + "\n" + &more[2..];
    }
    let expected: Vec<&str> = lines.collect();
    let binary = Path::new(env!("CARGO_BIN_EXE_assay")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(folder)
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .env("XDG_STATE_HOME", crate::state_home())
        .env("XDG_CONFIG_HOME", crate::config_home())
        .env_remove("ANTHROPIC_API_KEY")
        .env_remove("OPENAI_API_KEY")
        .env_remove("ASSAY_LEDGER_URL")
        .output()
        .unwrap();
    let mut printed = String::from_utf8(output.stdout).unwrap();
    let code = output.status.code().unwrap();
    if code != 0 {
        printed.push_str(&format!("[exit {code}]\n"));
    }
    let actual: Vec<&str> = printed.lines().collect();
    assert!(
        matches(&expected, &actual),
        "{}: $ {command}\nshows\n{}\nand prints\n{printed}",
        page.display(),
        expected.join("\n"),
    );
}

/// Compares lines; `…` matches any number of lines.
fn matches(expected: &[&str], actual: &[&str]) -> bool {
    match expected.split_first() {
        None => actual.is_empty(),
        Some((first, rest)) if *first == "…" => {
            (0..=actual.len()).any(|skip| matches(rest, &actual[skip..]))
        }
        Some((first, rest)) => {
            actual.first().is_some_and(|line| line.trim_end() == first.trim_end())
                && matches(rest, &actual[1..])
        }
    }
}

#[test]
fn the_recorded_review_answers_every_question_and_is_the_same_every_time() {
    let recording = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/persona-review");
    let folder = tempfile::tempdir().unwrap();
    let args = ["review", "--format", "json", "--replay", recording.to_str().unwrap()];
    let [first, second] = [(); 2].map(|()| crate::assay_in(folder.path(), &args, b""));
    assert_eq!(first.stdout, second.stdout);
    let synthesis = first.json();
    let unusable: Vec<&serde_json::Value> = synthesis["reports"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|report| report["unusable"].is_string())
        .collect();
    assert!(unusable.is_empty(), "`cargo xtask record-example` is due: {unusable:#?}");
    assert_eq!(first.code, 1, "{}", first.stderr);
}
