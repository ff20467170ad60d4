//! The requirements of a gate on an implementation: all criteria that its plan ever had.

use assay_testkit::Repository;

use super::gate;
use crate::AssayRun;

const CALC: &str = "\
# Calc

## Milestone M1: Multiplication

Files: `calc.py`, `test_calc.py`

Tests: `test_mul`

### Acceptance Criteria

- `calc.py` has a function `mul`
- `calc.py` has a function `add`
- `calc.py` has a function `div`

## Milestone M2: Roots

Files: `calc.py`

### Acceptance Criteria

- `calc.py` has a function `add`
";

fn with_calc() -> Repository {
    let repository = Repository::new();
    repository.write("calc.py", "def add(a, b):\n    return a + b\n");
    repository.write("plan.md", CALC);
    repository.commit("a plan");
    repository.git(&["checkout", "--quiet", "-b", "work"]);
    let more = "def add(a, b):\n    return a + b\n\n\ndef div(a, b):\n    return a / b\n";
    repository.write("calc.py", more);
    let test = "import calc\n\n\ndef test_mul():\n    assert calc.div(4, 2) == 2\n";
    repository.write("test_calc.py", test);
    repository
}

fn step(repository: &Repository, args: &[&str]) -> AssayRun {
    gate(repository, &[args, &["--phase", "reconcile"]].concat())
}

/// Returns a repository with a gate that failed, since there is no `mul`.
fn failed() -> Repository {
    let repository = with_calc();
    let ran = step(&repository, &["run", "--plan", "plan.md"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    repository
}

/// A change of a plan's text.
type Edit = fn(&str) -> String;

/// Edits of the plan after the failure, each with text that the output must contain.
const EDITS: &[(&str, Edit, &str)] = &[
    (
        "the criterion is deleted",
        |plan| plan.replace("- `calc.py` has a function `mul`\n", ""),
        "the criterion `'calc.py' has a function 'mul'`",
    ),
    (
        "the criterion is weakened",
        |plan| plan.replace("- `calc.py` has a function `mul`\n", "- `calc.py` exists\n"),
        "the criterion `'calc.py' has a function 'mul'`",
    ),
    (
        "the criterion is commented out",
        |plan| plan.replace("- `calc.py` has a function `mul`", "<!-- `calc.py` has `mul` -->"),
        "the criterion `'calc.py' has a function 'mul'`",
    ),
    (
        "the milestone is deleted",
        |plan| {
            format!("# Calc\n\n## Milestone M2{}", plan.split_once("## Milestone M2").unwrap().1)
        },
        "M1` is no longer in the plan",
    ),
    (
        "the milestone is renamed and loses the criterion",
        |plan| plan.replace("M1", "M7").replace("- `calc.py` has a function `mul`\n", ""),
        "M1` is no longer in the plan",
    ),
    (
        "a file is taken off, too",
        |plan| {
            plan.replace("- `calc.py` has a function `mul`\n", "").replace(", `test_calc.py`", "")
        },
        "the file `test_calc.py`",
    ),
    (
        "a test is taken off, too",
        |plan| {
            plan.replace("- `calc.py` has a function `mul`\n", "")
                .replace("Tests: `test_mul`\n", "")
        },
        "the test `'test_mul'`",
    ),
];

#[test]
fn no_edit_of_the_plan_after_a_failure_lowers_the_requirements() {
    let mut passed = Vec::new();
    for (name, edit, expected) in EDITS {
        let repository = failed();
        repository.write("plan.md", edit(CALC));
        let mut said = String::new();
        for args in [
            &["status"][..],
            &["verify"],
            &["decompose", "--again"],
            &["verify"],
            &["decompose", "--plan", "plan.md", "--state-dir", "elsewhere"],
            &["verify", "--state-dir", "elsewhere"],
            &["run", "--plan", "plan.md", "--state-dir", "third"],
        ] {
            let ran = step(&repository, args);
            said += &format!("{args:?}: {}\n{}{}\n", ran.code, ran.stdout, ran.stderr);
            if args[0] != "decompose" && ran.code == 0 {
                passed.push(format!("{name}: {said}"));
            }
        }
        if !said.contains(expected) {
            passed.push(format!("{name}: no `{expected}` in {said}"));
        }
    }
    assert!(passed.is_empty(), "{}", passed.join("\n"));
}

#[test]
fn reconcile_keeps_the_requirements_of_the_plan_until_they_pass() {
    let repository = with_calc();
    let look = |plan: &str| gate(&repository, &["reconcile", "--plan", plan]);
    assert_eq!(look("plan.md").code, 1);
    let lowered = CALC.replace("- `calc.py` has a function `mul`\n", "");
    repository.write("plan.md", &lowered);
    let ran = look("plan.md");
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("- REMOVED: the plan no longer asks for the criterion"));
    // A copy under another name is the same plan.
    repository.write("copy.md", &lowered);
    assert_eq!(look("copy.md").code, 1);
    repository.write("plan.md", CALC);
    let text = "def add(a, b):\n    return a + b\n\n\ndef mul(a, b):\n    return a * b\n\n\n\
                def div(a, b):\n    return a / b\n";
    repository.write("calc.py", text);
    let ran = look("plan.md");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // Criteria that are added after a pass are new work.
    repository.write("plan.md", &lowered);
    let ran = look("plan.md");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_person_can_accept_a_criterion_that_was_removed_from_the_plan() {
    let repository = failed();
    repository.write("plan.md", CALC.replace("- `calc.py` has a function `mul`\n", ""));
    let failed = step(&repository, &["verify", "--format", "json"]).json();
    let items = failed["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["status"] == "FAIL").unwrap();
    let id = item["id"].as_str().unwrap();
    assert!(item["check"].as_str().unwrap().contains("still asks for the criterion"), "{item}");
    let pass = step(&repository, &["update-item", id, "--status", "PASS"]);
    assert_eq!(pass.code, 2, "{}", pass.stdout);
    let accept = ["accept", id, "--reason", "moved to the next release", "--by", "Ada"];
    assert_eq!(step(&repository, &accept).code, 0);
    // Further work does not invalidate the decision on the plan.
    repository.write("notes.py", "x = 1\n");
    let ran = step(&repository, &["verify"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("accepted by Ada: moved to the next release"), "{}", ran.stdout);
    let status = step(&repository, &["status"]).stdout;
    assert!(status.contains("accepted by Ada: moved to the next release"), "{status}");
}

#[test]
fn a_plan_with_added_or_reordered_criteria_passes() {
    let repository = failed();
    let text = "def add(a, b):\n    return a + b\n\n\ndef mul(a, b):\n    return a * b\n\n\n\
                def div(a, b):\n    return a / b\n";
    repository.write("calc.py", text);
    let moved = CALC
        .replace("- `calc.py` has a function `div`\n", "")
        .replace("Roots\n", "Roots and more\n")
        + "- `calc.py`   has a function `div`.\n- `test_calc.py` exists\n";
    repository.write("plan.md", moved);
    let ran = step(&repository, &["verify"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}
