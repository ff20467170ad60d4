//! Gates from the command line: plans and changes, through all steps.

mod attacks;
mod evasion;
mod honest;
mod inert;
mod judged;
mod plan_criteria;

mod models;
mod plans;
mod refused;
mod runs;
mod writers;
mod written_code;

use std::fs;

use assay_testkit::Repository;
use expect_test::{Expect, expect};

use crate::{AssayRun, assay_in};

const PLAN: &str = "\
# Greet by name

## Decision Log

| ID | Decision | Reasoning |
|----|----------|-----------|
| DL-001 | The name is an argument | Nothing has to be configured |

## Milestone M1: A greeting

Files: `greet.py`, `test_greet.py`

Acceptance Criteria:

- `greet.py` has a function `greet`
- `test_greet.py` has a test `test_empty_name` for the empty name

## Milestone M2: The manual tells of it

Files: `README`

Acceptance Criteria:

- `README` mentions `greet`
- `test_greet.py` still passes
";

/// Returns the same plan with two faults: a decision without its reason, a milestone without
/// criteria.
fn faulty() -> String {
    let without_reason = PLAN.replace("Nothing has to be configured", "");
    let (before, _) = without_reason.split_once("- `README` mentions").unwrap();
    before.replace(
        "## Milestone M2: The manual tells of it\n\nFiles: `README`\n\nAcceptance Criteria:\n",
        "## Milestone M2: The manual tells of it\n\nFiles: `README`, `test_greet.py`\n",
    )
}

fn gate(repository: &Repository, args: &[&str]) -> AssayRun {
    assay_in(repository.path(), &[&["gate"], args].concat(), b"")
}

fn with_plan(plan: &str) -> Repository {
    let repository = Repository::new();
    repository.write("greet.py", "def greet(name):\n    return f\"hi {name}\"\n");
    repository.write(
        "test_greet.py",
        "import greet\n\n\ndef test_empty_name():\n    assert greet.greet(\"\")\n",
    );
    repository.commit("before");
    repository.write("plan.md", plan);
    repository
}

fn check(ran: &AssayRun, code: i32, expected: Expect) {
    assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
    expected.assert_eq(&ran.stdout);
}

#[test]
fn a_gate_goes_from_decompose_to_fail_guide_and_pass() {
    let repository = with_plan(&faulty());
    let phase = ["--phase", "plan-structure"];
    let made = gate(&repository, &[&["decompose", "--plan", "plan.md"], &phase[..]].concat());
    assert_eq!(made.code, 0, "{}", made.stderr);
    assert!(made.stdout.starts_with("DECOMPOSE COMPLETE\n\nItems created: "), "{}", made.stdout);
    assert!(made.stdout.ends_with("\nNEXT: Invoke verifiers for each item.\n"));
    let failed = gate(&repository, &[&["verify"], &phase[..]].concat());
    assert_eq!(failed.code, 1);
    assert!(failed.stdout.contains(": Acceptance criteria missing for M2\n"), "{}", failed.stdout);
    let guide = gate(&repository, &[&["guide"], &phase[..]].concat());
    assert!(guide.stdout.contains("Scope: milestone:M2\nFix: "), "{}", guide.stdout);
    let as_flag = gate(&repository, &[&["--qr-fail"], &phase[..]].concat());
    assert_eq!(as_flag.stdout, guide.stdout);
    repository.write("plan.md", PLAN);
    let passed = gate(&repository, &[&["verify"], &phase[..]].concat());
    assert_eq!(passed.code, 0, "{}{}", passed.stdout, passed.stderr);
    assert!(
        passed.stdout.starts_with("VERIFICATION COMPLETE\n\nStatus: PASS\n"),
        "{}",
        passed.stdout
    );
    assert!(passed.stdout.ends_with("\nNEXT: Continue to next phase.\n"));
    let status = gate(&repository, &["status"]);
    assert!(
        status.stdout.contains("plan-structure  passed (COMPLETE, iteration 2;"),
        "{}",
        status.stdout
    );
}

/// Results that are recorded by hand, item by item, produce exactly this file.
#[test]
fn a_list_of_own_items_is_stored_byte_for_byte() {
    let repository = with_plan(PLAN);
    let items = r#"[
        {"id": "plan-001", "scope": "*", "check": "Verify milestone definitions are complete with acceptance criteria"},
        {"id": "plan-002", "scope": "milestone:M1", "check": "Validate acceptance criteria for milestone M1"},
        {"id": "plan-003", "scope": "file:planner/qa/verify.py", "check": "Check diff syntax and formatting"}]"#;
    repository.write("config/agent-framework.yaml", "gates:\n  allow_only_items: true\n");
    repository.commit("lists of our own are enough");
    repository.write("items.json", items);
    let phase = ["--phase", "plan-structure", "--state-dir", "state"];
    let step = |args: &[&str]| gate(&repository, &[args, &phase[..]].concat());
    let made = step(&["decompose", "--plan", "plan.md", "--items", "items.json", "--only-items"]);
    check(
        &made,
        0,
        expect![[r#"
        DECOMPOSE COMPLETE

        Items created: 3
        - plan-001: Verify milestone definitions are complete with acceptance criteria (scope: *)
        - plan-002: Validate acceptance criteria for milestone M1 (scope: milestone:M1)
        - plan-003: Check diff syntax and formatting (scope: file:planner/qa/verify.py)

        NEXT: Invoke verifiers for each item.
    "#]],
    );
    assert_eq!(step(&["update-item", "plan-001", "--status", "pass"]).code, 0);
    let finding = "Acceptance criteria missing. Need success conditions and verification steps.";
    assert_eq!(
        step(&["update-item", "plan-002", "--status", "FAIL", "--finding", finding]).code,
        0
    );
    let list = fs::read_to_string(repository.file("state/qr-plan-structure.json")).unwrap();
    expect![[r#"
        {
          "schema_version": "1.0",
          "phase": "plan-structure",
          "items": [
            {
              "id": "plan-001",
              "scope": "*",
              "check": "Verify milestone definitions are complete with acceptance criteria",
              "status": "PASS",
              "finding": null
            },
            {
              "id": "plan-002",
              "scope": "milestone:M1",
              "check": "Validate acceptance criteria for milestone M1",
              "status": "FAIL",
              "finding": "Acceptance criteria missing. Need success conditions and verification steps."
            },
            {
              "id": "plan-003",
              "scope": "file:planner/qa/verify.py",
              "check": "Check diff syntax and formatting",
              "status": "TODO",
              "finding": null
            }
          ]
        }
    "#]]
    .assert_eq(&list);
    check(
        &step(&["verify"]),
        1,
        expect![[r#"
        VERIFICATION COMPLETE

        Status: FAIL
        Items: 3 total, 1 PASS, 1 FAIL, 1 TODO
        Failed items:
        - plan-002: Acceptance criteria missing for M1
        Open items:
        - plan-003: Check diff syntax and formatting
        Built-in checklist: left out

        NEXT: Invoke fixer with failed items.
    "#]],
    );
    check(
        &step(&["guide"]),
        0,
        expect![[r#"
        FIX GUIDANCE

        Item plan-002: Acceptance criteria missing for M1
        Scope: milestone:M1
        Fix: Acceptance criteria missing. Need success conditions and verification steps.
    "#]],
    );
    assert_eq!(step(&["update-item", "plan-002", "--status", "PASS"]).code, 0);
    check(
        &step(&["verify"]),
        3,
        expect![[r#"
        VERIFICATION COMPLETE

        Status: FAIL
        Items: 3 total, 2 PASS, 0 FAIL, 1 TODO
        Open items:
        - plan-003: Check diff syntax and formatting
        Built-in checklist: left out

        NEXT: Invoke verifiers for open items.
    "#]],
    );
    let accept = ["accept", "plan-003", "--reason", "there is no such file", "--by", "Ada"];
    assert_eq!(step(&accept).code, 2, "nobody saw what is to be accepted");
    let found = ["update-item", "plan-003", "--status", "FAIL", "--finding", "No such file."];
    assert_eq!(step(&found).code, 0);
    assert_eq!(step(&accept).code, 0);
    check(
        &step(&["verify"]),
        0,
        expect![[r#"
            VERIFICATION COMPLETE

            Status: PASS
            Items: 3 total, 2 PASS, 1 FAIL (1 accepted)
            Accepted items:
            - plan-003: No such file (accepted by Ada: there is no such file)
            Decisions on record:
            - plan-003: accepted by Ada: there is no such file
            Built-in checklist: left out

            NEXT: Continue to next phase.
        "#]],
    );
}

#[test]
fn written_code_is_checked_against_its_plan() {
    let repository = with_plan(PLAN);
    repository.write("config/agent-framework.yaml", "gates:\n  allow_not_judged: true\n");
    repository.commit("the plan");
    repository
        .write("clean.py", "import os\n\n\ndef clean(name):\n    os.system(f\"rm -r {name}\")\n");
    let step = |args: &[&str]| gate(&repository, &[args, &["--phase", "impl-code"]].concat());
    let ran = step(&["run", "--plan", "plan.md"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let items = step(&["status", "--format", "json"]).json();
    let failed = items["items"].as_array().unwrap().iter().filter(|item| item["status"] == "FAIL");
    let findings: String = failed.map(|item| item["finding"].as_str().unwrap()).collect();
    assert!(findings.contains("python/shell-injection"), "{findings}");
    assert_eq!(items["loop_state"], "RETRY");
    repository.remove("clean.py");
    repository.write("greet.py", "def greet(name):\n    return f\"hello {name}\"\n");
    repository.write(
        "test_greet.py",
        "import greet\n\n\ndef test_empty_name():\n    assert greet.greet(\"\") == \"hello \"\n",
    );
    repository.write("README", "Call `greet`.\n");
    let status = step(&["status"]).stdout;
    assert!(!status.contains("clean.py"), "what is written no more is looked at no more: {status}");
    let ran = step(&["verify", "--format", "json"]);
    let answer = ran.json();
    assert!(!answer["retired"].as_array().unwrap().is_empty());
    assert_eq!(answer["iteration"], 2);
    let left = answer["items"].as_array().unwrap().iter();
    assert!(left.clone().all(|item| item["scope"] != "file:clean.py"), "{answer}");
}

#[test]
fn json_output_conforms_to_the_schemas() {
    let repository = with_plan(&faulty());
    let step = |args: &[&str]| {
        gate(&repository, &[args, &["--phase", "plan-structure", "--format", "json"]].concat())
            .json()
    };
    let answers = [
        ("gate-list", step(&["decompose", "--plan", "plan.md"])),
        ("gate", step(&["verify"])),
        ("gate", step(&["accept", "plan-structure-003", "--reason", "later", "--by", "Ada"])),
        ("gate-guide", step(&["guide"])),
    ];
    for (name, answer) in answers {
        let schema = assay_in(repository.path(), &["schema", name], b"").json();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator.iter_errors(&answer).map(|e| e.to_string()).collect();
        assert_eq!(errors, [""; 0], "{name}: {answer}");
    }
}

#[test]
fn reconcile_reports_each_criterion_with_file_and_line() {
    let repository = with_plan(PLAN);
    repository.commit("the plan");
    repository.write("greet.py", "def greet(name):\n    return f\"hello {name}\"\n");
    let ran = gate(&repository, &["reconcile", "--plan", "plan.md"]);
    check(
        &ran,
        1,
        expect![[r#"
            RECONCILIATION COMPLETE

            - M1 A greeting: PARTLY (1 of 2 met; do the rest)
              - MET: `greet.py` has a function `greet` (greet.py:1: `greet` is defined: `def greet(name):`)
              - CANNOT_TELL: `test_greet.py` has a test `test_empty_name` for the empty name (code cannot decide this criterion; test_greet.py:1; test_greet.py:4)
            - M2 The manual tells of it: NOT_SATISFIED (0 of 2 met; do all)
              - NOT_MET: `README` mentions `greet` (`README` does not mention `greet`)
              - CANNOT_TELL: `test_greet.py` still passes (code cannot decide this criterion; test_greet.py:1)

            RESULT: FAIL
        "#]],
    );
    let step = |args: &[&str]| gate(&repository, &[args, &["--phase", "reconcile"]].concat());
    assert_eq!(step(&["run", "--plan", "plan.md"]).code, 1);
    repository.write("README", "Call `greet`.\n");
    let open = step(&["verify"]);
    assert_eq!(open.code, 3, "whether tests pass is nothing that code sees: {}", open.stdout);
    // A person may record results for this very tree.
    for id in ["reconcile-001", "reconcile-002"] {
        assert_eq!(step(&["update-item", id, "--status", "PASS"]).code, 0);
    }
    assert_eq!(step(&["verify"]).code, 0);
    repository.write("greet.py", "def greet(name):\n    return f\"hey {name}\"\n");
    assert_eq!(step(&["verify"]).code, 3);
}
