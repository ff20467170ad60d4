//! A judgement holds for the judged content: after other files are merged, and when the content is
//! restored.

use assay_testkit::Repository;

use super::gate;
use crate::AssayRun;

const PLAN: &str = "\
# Calc

## Milestone M1: Multiplication

Files: `calc.py`, `test_calc.py`

Tests: `test_mul`

### Acceptance Criteria

- `calc.py` has a function `mul`
";

const CALC: &str = "def add(a, b):\n    return a + b\n\n\ndef mul(a, b):\n    return a * b\n";
const TEST: &str = "import calc\n\n\ndef test_mul():\n    assert calc.mul(2, 3) == 6\n";

fn written() -> Repository {
    let repository = Repository::new();
    repository.write("calc.py", "def add(a, b):\n    return a + b\n");
    repository.write("plan.md", PLAN);
    repository.commit("a plan");
    repository.git(&["checkout", "--quiet", "-b", "work"]);
    repository.write("calc.py", CALC);
    repository.write("test_calc.py", TEST);
    repository.commit("the work");
    repository
}

fn reworded() -> String {
    PLAN.replace("`calc.py` has a function `mul`", "`calc.py` has a function `multiply`")
}

/// Returns the id of the item of `impl-code` that a reader judges.
fn reader_item(repository: &Repository) -> String {
    let list = gate(repository, &["status", "--phase", "impl-code", "--format", "json"]).json();
    let items = list["items"].as_array().unwrap();
    let is_it = |check: &str| check.starts_with("Read the change and judge");
    let item = items.iter().find(|item| is_it(item["check"].as_str().unwrap())).unwrap();
    item["id"].as_str().unwrap().to_owned()
}

fn verified(repository: &Repository) -> AssayRun {
    gate(repository, &["run", "--phase", "impl-code", "--plan", "plan.md", "--base", "main"])
}

fn merge_main(repository: &Repository, path: &str, text: &str) {
    repository.git(&["checkout", "--quiet", "main"]);
    repository.write(path, text);
    repository.commit("elsewhere");
    repository.git(&["checkout", "--quiet", "work"]);
    repository.git(&["merge", "--quiet", "--no-edit", "main"]);
}

#[test]
fn a_judgement_of_code_survives_a_merge_that_does_not_change_the_code() {
    let repository = written();
    assert_ne!(verified(&repository).code, 0);
    let id = reader_item(&repository);
    let pass = ["update-item", &id, "--status", "PASS", "--phase", "impl-code"];
    assert_eq!(gate(&repository, &pass).code, 0);
    let ran = verified(&repository);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    merge_main(&repository, "other/notes.py", "x = 1\n");
    let ran = verified(&repository);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // Other bytes are not judged.
    repository.write("calc.py", CALC.replace("a * b", "a * b  # exact"));
    repository.commit("another version");
    assert_ne!(verified(&repository).code, 0);
    // The judged code counts as judged again.
    repository.write("calc.py", CALC);
    repository.commit("the version before");
    let ran = verified(&repository);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_judgement_of_code_is_void_after_a_file_is_added() {
    let repository = written();
    assert_ne!(verified(&repository).code, 0);
    let id = reader_item(&repository);
    let pass = ["update-item", &id, "--status", "PASS", "--phase", "impl-code"];
    assert_eq!(gate(&repository, &pass).code, 0);
    assert_eq!(verified(&repository).code, 0);
    repository.write("more.py", "def more(a):\n    return a\n");
    repository.commit("more than was judged");
    assert_ne!(verified(&repository).code, 0);
}

#[test]
fn a_restored_plan_passes_again() {
    let repository = written();
    let look = || gate(&repository, &["reconcile", "--plan", "plan.md"]);
    assert_eq!(look().code, 0);
    repository.write("plan.md", reworded());
    assert_eq!(look().code, 1);
    repository.write("plan.md", PLAN);
    let ran = look();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_gate_on_a_restored_plan_passes_again() {
    let repository = written();
    let phase = ["--phase", "reconcile"];
    let step = |args: &[&str]| gate(&repository, &[args, &phase].concat());
    let ran = step(&["run", "--plan", "plan.md"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    repository.write("plan.md", reworded());
    assert_eq!(step(&["verify"]).code, 1);
    repository.write("plan.md", PLAN);
    for args in [&["status"][..], &["verify"], &["status"]] {
        let ran = step(args);
        assert_eq!(ran.code, 0, "{args:?}: {}{}", ran.stdout, ran.stderr);
    }
    // The requirements of a plan that never passed stay.
    repository.write("plan.md", reworded());
    assert_eq!(step(&["verify"]).code, 1);
    repository.write(
        "plan.md",
        PLAN.replace("- `calc.py` has a function `mul`\n", "- `calc.py` exists\n"),
    );
    assert_eq!(step(&["verify"]).code, 1);
}

#[test]
fn a_plan_without_diffs_names_the_next_step_and_passes_once_a_person_accepts() {
    let repository = written();
    let phase = ["--phase", "plan-code"];
    let step = |args: &[&str]| gate(&repository, &[args, &phase].concat());
    let ran = step(&["run", "--plan", "plan.md"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("- plan-code-001: The plan contains no diff"), "{}", ran.stdout);
    assert!(ran.stderr.contains("`assay gate guide --phase plan-code`"), "{}", ran.stderr);
    let guide = step(&["guide"]).stdout;
    assert!(guide.contains("assay gate accept"), "{guide}");
    let reason = "the code is a single line that the criteria spell out";
    let accept = ["accept", "plan-code-001", "--by", "Ada", "--reason", reason];
    assert_eq!(step(&accept).code, 0);
    let ran = step(&["verify"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // A plan with documents alone needs no code.
    repository.write(
        "docs.md",
        PLAN.replace("`calc.py`, `test_calc.py`", "`docs/calc.md`")
            .replace("Tests: `test_mul`\n", ""),
    );
    let ran = step(&["run", "--plan", "docs.md", "--state-dir", "other"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn every_refusal_names_the_next_command() {
    let repository = written();
    let ran = verified(&repository);
    assert!(ran.stderr.contains("`assay gate update-item ID"), "{}", ran.stderr);
    let id = reader_item(&repository);
    let step = |args: &[&str]| gate(&repository, &[args, &["--phase", "impl-code"]].concat());
    for (args, command) in [
        (&["update-item", &id, "--status", "FAIL"][..], "--finding TEXT"),
        (&["update-item", &id, "--status", "TODO"], "assay gate update-item"),
        (&["update-item", "none-001", "--status", "PASS"], "assay gate status"),
        (
            &["accept", &id, "--reason", "it is good as it stands", "--by", "Ada"],
            "assay gate verify",
        ),
    ] {
        let ran = step(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.stdout);
        assert!(ran.stderr.contains(command), "{args:?}: {}", ran.stderr);
    }
    repository.write("empty.md", "# A plan\n\nSome words.\n");
    let ran = gate(&repository, &["reconcile", "--plan", "empty.md"]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(ran.stderr.contains("## Milestone M1: TITLE"), "{}", ran.stderr);
}
