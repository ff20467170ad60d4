//! Ways to a false pass of a gate, each refused with its reason, and the honest ways that pass.

use std::fs;
use std::path::PathBuf;

use assay_testkit::Repository;
use serde_json::{Value, json};

use super::{PLAN, faulty, gate, with_plan};
use crate::AssayRun;

const PHASE: [&str; 2] = ["--phase", "plan-structure"];

/// An attack on a gate on which `person-001` failed and all built-in checks pass.
struct Attack {
    name: &'static str,
    act: fn(&Repository),
    /// Text that the output must contain.
    expected: &'static str,
}

fn step(repository: &Repository, args: &[&str]) -> AssayRun {
    gate(repository, &[args, &PHASE].concat())
}

fn list_path(repository: &Repository) -> PathBuf {
    repository.file(".assay/gates/qr-plan-structure.json")
}

fn record_path(repository: &Repository) -> PathBuf {
    repository.file(".assay/gates/qr-plan-structure.state.json")
}

fn read(path: &PathBuf) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Edits the list as any program can.
fn edit(repository: &Repository, change: impl FnOnce(&mut Value)) {
    let path = list_path(repository);
    let mut list = read(&path);
    change(&mut list);
    fs::write(path, list.to_string()).unwrap();
}

/// Edits the item that failed.
fn edit_item(repository: &Repository, change: impl Fn(&mut Value)) {
    edit(repository, |list| {
        let items = list["items"].as_array_mut().unwrap().iter_mut();
        items.filter(|item| item["id"] == "person-001").for_each(change);
    });
}

fn edit_record(repository: &Repository, change: impl FnOnce(&mut Value)) {
    let path = record_path(repository);
    let mut record = read(&path);
    change(&mut record);
    fs::write(path, record.to_string()).unwrap();
}

fn keep_only(repository: &Repository, keeps: impl Fn(&Value) -> bool) {
    edit(repository, |list| list["items"].as_array_mut().unwrap().retain(|item| keeps(item)));
}

/// Returns a repository with a gate on which an item of a person failed.
fn failed_gate() -> Repository {
    let repository = with_plan(PLAN);
    repository.write(
        "items.json",
        r#"[{"id": "person-001", "scope": "*", "check": "The plan names an owner"}]"#,
    );
    let made = step(&repository, &["decompose", "--plan", "plan.md", "--items", "items.json"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let failed =
        ["update-item", "person-001", "--status", "FAIL", "--finding", "There is no owner."];
    assert_eq!(step(&repository, &failed).code, 0);
    let verified = step(&repository, &["verify"]);
    assert_eq!(verified.code, 1, "{}{}", verified.stdout, verified.stderr);
    assert!(verified.stdout.contains("1 FAIL"), "{}", verified.stdout);
    repository
}

const ATTACKS: &[Attack] = &[
    Attack {
        name: "the failed item is deleted from the list",
        act: |repository| keep_only(repository, |item| item["id"] != "person-001"),
        expected: "person-001 is missing from the list",
    },
    Attack {
        name: "all items are deleted",
        act: |repository| keep_only(repository, |_| false),
        expected: "person-001 is missing from the list",
    },
    Attack {
        name: "all items but one that passed are deleted",
        act: |repository| keep_only(repository, |item| item["id"] == "plan-structure-001"),
        expected: "person-001 is missing from the list",
    },
    Attack {
        name: "the status is edited to PASS",
        act: |repository| {
            edit_item(repository, |item| {
                item["status"] = json!("PASS");
                item["finding"] = Value::Null;
            });
        },
        expected: "person-001 has another status or finding",
    },
    Attack {
        name: "the status is edited to TODO",
        act: |repository| {
            edit_item(repository, |item| {
                item["status"] = json!("TODO");
                item["finding"] = Value::Null;
            });
        },
        expected: "person-001 has another status or finding",
    },
    Attack {
        name: "the finding is edited",
        act: |repository| edit_item(repository, |item| item["finding"] = json!("All is well.")),
        expected: "person-001 has another status or finding",
    },
    Attack {
        name: "the check is reworded",
        act: |repository| edit_item(repository, |item| item["check"] = json!("The plan is text")),
        expected: "person-001 has another check or scope",
    },
    Attack {
        name: "the scope is moved to a file that there is not",
        act: |repository| edit_item(repository, |item| item["scope"] = json!("file:none.md")),
        expected: "person-001 has another check or scope",
    },
    Attack {
        name: "the item is renamed",
        act: |repository| edit_item(repository, |item| item["id"] = json!("person-002")),
        expected: "person-001 is missing from the list",
    },
    Attack {
        name: "the item is renamed and passes under its new name",
        act: |repository| {
            edit_item(repository, |item| {
                item["id"] = json!("person-002");
                item["status"] = json!("TODO");
                item["finding"] = Value::Null;
            });
            step(repository, &["update-item", "person-002", "--status", "PASS"]);
        },
        expected: "There is no owner",
    },
    Attack {
        name: "the item is graded MAY",
        act: |repository| edit_item(repository, |item| item["severity"] = json!("MAY")),
        expected: "person-001 has a lower severity",
    },
    Attack {
        name: "the item is graded SHOULD",
        act: |repository| edit_item(repository, |item| item["severity"] = json!("SHOULD")),
        expected: "person-001 has a lower severity",
    },
    Attack {
        name: "the item is graded with a word that there is not",
        act: |repository| edit_item(repository, |item| item["severity"] = json!("COULD")),
        expected: "There is no owner",
    },
    Attack {
        name: "an iteration is written into the list",
        act: |repository| edit(repository, |list| list["iteration"] = json!(9)),
        expected: "There is no owner",
    },
    Attack {
        name: "two items share the id",
        act: |repository| {
            edit(repository, |list| {
                let item = json!({"id": "person-001", "scope": "*", "check": "c"});
                list["items"].as_array_mut().unwrap().push(item);
            });
        },
        expected: "duplicate id: `person-001`",
    },
    Attack {
        name: "the list is that of another phase",
        act: |repository| {
            let made = ["decompose", "--phase", "plan-docs", "--plan", "plan.md"];
            assert_eq!(gate(repository, &made).code, 0);
            let other = repository.file(".assay/gates/qr-plan-docs.json");
            fs::copy(other, list_path(repository)).unwrap();
        },
        expected: "phase is \"plan-docs\"",
    },
    Attack {
        name: "the list claims another form",
        act: |repository| edit(repository, |list| list["schema_version"] = json!("9.0")),
        expected: "expected \"1.0\"",
    },
    Attack {
        name: "the list is replaced by another one by hand",
        act: |repository| {
            let list = json!({"schema_version": "1.0", "phase": "plan-structure", "items": [
                {"id": "a", "scope": "*", "check": "c", "status": "PASS", "finding": null}]});
            fs::write(list_path(repository), list.to_string()).unwrap();
        },
        expected: "person-001 is missing from the list",
    },
    Attack {
        name: "the list is a link to another one",
        act: |repository| {
            let list = json!({"schema_version": "1.0", "phase": "plan-structure", "items": []});
            repository.write("mine.json", list.to_string());
            fs::remove_file(list_path(repository)).unwrap();
            std::os::unix::fs::symlink(repository.file("mine.json"), list_path(repository))
                .unwrap();
        },
        expected: "person-001",
    },
    Attack {
        name: "the list is deleted",
        act: |repository| fs::remove_file(list_path(repository)).unwrap(),
        expected: "missing list for phase plan-structure",
    },
    Attack {
        name: "the list is deleted and made again",
        act: |repository| {
            fs::remove_file(list_path(repository)).unwrap();
            let made = step(repository, &["decompose"]);
            assert!(made.stdout.contains("person-001"), "{}{}", made.stdout, made.stderr);
        },
        expected: "There is no owner",
    },
    Attack {
        name: "the record is deleted",
        act: |repository| fs::remove_file(record_path(repository)).unwrap(),
        expected: "was deleted before its gate passed",
    },
    Attack {
        name: "the record is deleted and the list reset",
        act: |repository| {
            fs::remove_file(record_path(repository)).unwrap();
            edit(repository, |list| {
                for item in list["items"].as_array_mut().unwrap() {
                    item["status"] = json!("TODO");
                    item["finding"] = Value::Null;
                }
            });
        },
        expected: "was deleted before its gate passed",
    },
    Attack {
        name: "both files are deleted",
        act: |repository| {
            fs::remove_file(list_path(repository)).unwrap();
            fs::remove_file(record_path(repository)).unwrap();
        },
        expected: "was deleted before its gate passed",
    },
    Attack {
        name: "the whole folder is deleted and the gate begun anew",
        act: |repository| {
            fs::remove_dir_all(repository.file(".assay/gates")).unwrap();
            assert_eq!(step(repository, &["decompose", "--plan", "plan.md"]).code, 3);
            assert_eq!(step(repository, &["decompose", "--again", "--plan", "plan.md"]).code, 3);
        },
        expected: "was deleted before its gate passed",
    },
    Attack {
        name: "the iteration of the record is edited",
        act: |repository| edit_record(repository, |record| record["iteration"] = json!(9)),
        expected: "another program changed the state",
    },
    Attack {
        name: "the severity in the record is edited",
        act: |repository| {
            edit_record(repository, |record| {
                record["items"]["person-001"]["severity"] = json!("MAY");
            });
        },
        expected: "another program changed the state",
    },
    Attack {
        name: "the checklist of the record is edited",
        act: |repository| {
            edit_record(repository, |record| record["made_from"]["checklist"] = json!("handed-in"));
        },
        expected: "another program changed the state",
    },
    Attack {
        name: "the record is that of another phase",
        act: |repository| {
            let made = ["decompose", "--phase", "plan-docs", "--plan", "plan.md"];
            assert_eq!(gate(repository, &made).code, 0);
            let other = repository.file(".assay/gates/qr-plan-docs.state.json");
            fs::copy(other, record_path(repository)).unwrap();
        },
        expected: "another program changed the state",
    },
    Attack {
        name: "both files come from another repository that passed",
        act: |repository| {
            let other = with_plan(PLAN);
            assert_eq!(step(&other, &["run", "--plan", "plan.md"]).code, 0);
            fs::copy(list_path(&other), list_path(repository)).unwrap();
            fs::copy(record_path(&other), record_path(repository)).unwrap();
        },
        expected: "another program changed the state",
    },
    Attack {
        name: "both files are copied into a folder for state",
        act: |repository| {
            fs::create_dir(repository.file("copied")).unwrap();
            for path in [list_path(repository), record_path(repository)] {
                fs::copy(&path, repository.file("copied").join(path.file_name().unwrap())).unwrap();
            }
            let verified = step(repository, &["verify", "--state-dir", "copied"]);
            assert_eq!(verified.code, 3, "{}", verified.stdout);
            assert!(verified.stderr.contains("did not write the state"), "{}", verified.stderr);
        },
        expected: "There is no owner",
    },
    Attack {
        name: "both files are committed",
        act: |repository| {
            repository.git(&["add", "--force", ".assay/gates"]);
            repository.commit("with its own verdict");
        },
        expected: "is tracked in git",
    },
    Attack {
        name: "a new list without the item takes the place of the list",
        act: |repository| {
            let again = step(repository, &["decompose", "--again"]);
            assert_eq!(again.code, 0, "{}", again.stderr);
            assert!(
                again.stderr.contains("person-001 of the previous list stays"),
                "{}",
                again.stderr
            );
        },
        expected: "There is no owner",
    },
    Attack {
        name: "a new list of other items alone takes the place of the list, and they pass",
        act: |repository| {
            repository
                .write("mine.json", r#"[{"id": "mine", "scope": "*", "check": "It is text"}]"#);
            let again = ["decompose", "--again", "--only-items", "--items", "mine.json"];
            assert_eq!(step(repository, &again).code, 0);
            assert_eq!(step(repository, &["update-item", "mine", "--status", "PASS"]).code, 0);
        },
        expected: "There is no owner",
    },
    Attack {
        name: "a new list uses the name for another check",
        act: |repository| {
            repository.write(
                "mine.json",
                r#"[{"id": "person-001", "scope": "*", "check": "It is text"}]"#,
            );
            let again = step(repository, &["decompose", "--again", "--items", "mine.json"]);
            assert_eq!(again.code, 2);
            let expected = "`person-001` is the id of another item";
            assert!(again.stderr.contains(expected), "{}", again.stderr);
        },
        expected: "There is no owner",
    },
    Attack {
        name: "a new list grades the item lower",
        act: |repository| {
            let items = r#"[{"id": "person-001", "scope": "*", "check": "The plan names an owner",
                             "severity": "MAY"}]"#;
            repository.write("mine.json", items);
            let again = ["decompose", "--again", "--items", "mine.json", "--format", "json"];
            let list = step(repository, &again).json();
            let items = list["items"].as_array().unwrap();
            let item = items.iter().find(|item| item["id"] == "person-001").unwrap();
            assert_eq!((&item["severity"], &item["status"]), (&json!("MUST"), &json!("FAIL")));
        },
        expected: "There is no owner",
    },
    Attack {
        name: "a new list is about a copy of the plan",
        act: |repository| {
            repository.write("other.md", PLAN);
            assert_eq!(step(repository, &["decompose", "--again", "--plan", "other.md"]).code, 0);
        },
        expected: "There is no owner",
    },
    Attack {
        name: "a person lets go of the item for no reason",
        act: |repository| {
            for reason in ["because", "n/a", "", "because because."] {
                let again = step(repository, &["decompose", "--again", "--reason", reason]);
                assert_eq!(again.code, 2, "`{reason}`");
                assert!(again.stderr.contains("`--reason` must state why"), "{}", again.stderr);
            }
        },
        expected: "There is no owner",
    },
    Attack {
        name: "the item is accepted for no reason",
        act: |repository| {
            for reason in ["because", "TBD", " ", "since"] {
                let accept = step(repository, &["accept", "person-001", "--reason", reason]);
                assert_eq!(accept.code, 2, "`{reason}`");
                assert!(accept.stderr.contains("reason required"), "{}", accept.stderr);
            }
        },
        expected: "There is no owner",
    },
    Attack {
        name: "the item is accepted without a name",
        act: |repository| {
            let accept =
                step(repository, &["accept", "person-001", "--reason", "the team owns it"]);
            assert_eq!(accept.code, 2);
            assert!(accept.stderr.contains("name required"), "{}", accept.stderr);
        },
        expected: "There is no owner",
    },
    Attack {
        name: "the item is accepted with its own words for a reason",
        act: |repository| {
            let reason = "there is no owner the plan names";
            let accept = ["accept", "person-001", "--reason", reason, "--by", "Ada"];
            assert_eq!(step(repository, &accept).code, 2);
        },
        expected: "There is no owner",
    },
    Attack {
        name: "the item is accepted by the party that handed it in",
        act: |repository| {
            let name = repository.git(&["config", "user.name"]);
            let accept =
                ["accept", "person-001", "--reason", "the team owns it", "--by", name.trim()];
            let accept = step(repository, &accept);
            assert_eq!(accept.code, 2);
            assert!(accept.stderr.contains("is recorded as an author"), "{}", accept.stderr);
        },
        expected: "There is no owner",
    },
    Attack {
        name: "a gate of the same plan is begun in another folder",
        act: |repository| {
            let ran = step(repository, &["run", "--plan", "plan.md", "--state-dir", "elsewhere"]);
            assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
            assert!(ran.stdout.contains("There is no owner"), "{}", ran.stdout);
        },
        expected: "There is no owner",
    },
    Attack {
        name: "a gate of the same plan is begun in another folder outside of the tree, step by step",
        act: |repository| {
            let other = tempfile::tempdir().unwrap();
            let other = other.path().to_str().unwrap();
            let made = ["decompose", "--plan", "plan.md", "--state-dir", other];
            let made = step(repository, &made);
            assert!(made.stderr.contains("has not passed; this gate requires"), "{}", made.stderr);
            for args in [["verify", "--state-dir", other], ["status", "--state-dir", other]] {
                let ran = step(repository, &args);
                assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
            }
        },
        expected: "There is no owner",
    },
    Attack {
        name: "a copy of the plan has a gate in another folder",
        act: |repository| {
            repository.write("copy.md", PLAN.replace("Greet by name", "Something else"));
            let ran = step(repository, &["run", "--plan", "copy.md", "--state-dir", "elsewhere"]);
            assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
            assert!(ran.stdout.contains("There is no owner"), "{}", ran.stdout);
        },
        expected: "There is no owner",
    },
    Attack {
        name: "the configuration of the work tree allows more",
        act: |repository| {
            let config =
                "gates:\n  allow_only_items: true\n  fails_per_item: 1\n  should_until: 0\n";
            repository.write("config/agent-framework.yaml", config);
        },
        expected: "There is no owner",
    },
];

#[test]
fn no_attack_on_a_failed_gate_passes_it_and_each_is_named() {
    let mut passed = Vec::new();
    for Attack { name, act, expected } in ATTACKS {
        let repository = failed_gate();
        act(&repository);
        let mut said = String::new();
        for args in [&["status"][..], &["guide"], &["verify"], &["run", "--plan", "plan.md"]] {
            let ran = step(&repository, args);
            said += &format!("{args:?}: {}\n{}{}\n", ran.code, ran.stdout, ran.stderr);
            if ran.code == 0 && args != ["guide"] {
                passed.push(format!("{name}: {said}"));
            }
        }
        let all = gate(&repository, &["status"]);
        said += &format!("all: {}\n{}{}\n", all.code, all.stdout, all.stderr);
        if all.code == 0 || !said.contains(expected) {
            passed.push(format!("{name}: no `{expected}` in {said}"));
        }
    }
    assert!(passed.is_empty(), "{} of {}:\n{}", passed.len(), ATTACKS.len(), passed.join("\n"));
}

/// An item of severity SHOULD fails on two contents in turn.
#[test]
fn alternating_content_does_not_count_as_new_attempts() {
    let repository = with_plan(PLAN);
    repository.write(
        "items.json",
        r#"[{"id": "s", "scope": "*", "check": "It is short", "severity": "SHOULD"}]"#,
    );
    let made = ["decompose", "--plan", "plan.md", "--items", "items.json"];
    assert_eq!(step(&repository, &made).code, 0);
    let long = format!("{PLAN}\nOne more sentence.\n");
    for round in 0..12 {
        repository.write("plan.md", if round % 2 == 0 { PLAN } else { &long });
        let failed = ["update-item", "s", "--status", "FAIL", "--finding", "It is long."];
        assert_eq!(step(&repository, &failed).code, 0);
        let ran = step(&repository, &["verify"]);
        assert_eq!(ran.code, 1, "round {round}: {}", ran.stdout);
    }
    let status = step(&repository, &["status", "--format", "json"]).json();
    assert_eq!(status["iteration"], 2);
    let items = status["items"].as_array().unwrap();
    assert_eq!(items.iter().find(|item| item["id"] == "s").unwrap()["fails"], 2);
}

#[test]
fn a_failed_milestone_cannot_be_removed_from_the_plan_without_a_reason() {
    let repository = with_plan(&faulty());
    assert_eq!(step(&repository, &["run", "--plan", "plan.md"]).code, 1);
    let (first, _) = PLAN.split_once("## Milestone M2").unwrap();
    repository.write("plan.md", first);
    for args in [&["verify"][..], &["decompose", "--again"], &["verify"], &["status"]] {
        let ran = step(&repository, args);
        assert!(args[0] == "decompose" || ran.code == 1, "{args:?}: {}", ran.stdout);
    }
    let verified = step(&repository, &["verify"]).stdout;
    assert!(verified.contains("`milestone:M2` is no longer in the plan"), "{verified}");
    let again = ["decompose", "--again", "--reason", "M2 moved to the next release", "--by", "Ada"];
    assert_eq!(step(&repository, &again).code, 0);
    let passed = step(&repository, &["verify"]);
    assert_eq!(passed.code, 0, "{}", passed.stdout);
    assert!(passed.stdout.contains("(released by Ada: M2 moved to the next release)"));
    let status = gate(&repository, &["status"]).stdout;
    assert!(status.contains("released"), "{status}");
}

#[test]
fn an_undelivered_milestone_cannot_be_removed_from_the_plan() {
    for (phase, code) in [("reconcile", 1), ("impl-code", 1)] {
        let repository = with_plan(PLAN);
        repository.write("plan.md", PLAN.replace("`README`\n", "`README`, `more.py`\n"));
        repository.commit("the plan");
        repository.write("greet.py", "def greet(name):\n    return f\"hello {name}\"\n");
        repository.write("test_greet.py", "import greet\n\n\ndef test_empty_name():\n    pass\n");
        let step = |args: &[&str]| gate(&repository, &[args, &["--phase", phase]].concat());
        let ran = step(&["run", "--plan", "plan.md"]);
        assert_eq!(ran.code, code, "{phase}: {}{}", ran.stdout, ran.stderr);
        let (first, _) = PLAN.split_once("## Milestone M2").unwrap();
        repository.write("plan.md", first);
        for args in [&["verify"][..], &["decompose", "--again"], &["verify"]] {
            let ran = step(args);
            let is_refused = ran.code == 1 && ran.stdout.contains("M2` is no longer in the plan");
            assert!(args[0] == "decompose" || is_refused, "{phase} {args:?}: {}", ran.stdout);
        }
    }
}

#[test]
fn a_list_without_the_built_in_checklist_passes_only_if_configured() {
    let repository = with_plan(&faulty());
    repository.write("mine.json", r#"[{"id": "mine", "scope": "*", "check": "It is text"}]"#);
    let made = ["decompose", "--plan", "plan.md", "--only-items", "--items", "mine.json"];
    let made = step(&repository, &made);
    assert!(made.stderr.contains("does not contain the built-in checklist"), "{}", made.stderr);
    assert_eq!(step(&repository, &["update-item", "mine", "--status", "PASS"]).code, 0);
    for args in [&["verify"][..], &["status"], &["run"]] {
        let ran = step(&repository, args);
        assert_eq!(ran.code, 3, "{args:?}: {}", ran.stdout);
        assert!(ran.stdout.contains("the built-in checklist was left out"), "{}", ran.stdout);
        let json = step(&repository, &[args, &["--format", "json"]].concat()).json();
        assert_eq!((&json["status"], &json["outcome"]), (&json!("FAIL"), &json!("incomplete")));
        assert_eq!(json["checklist"], "handed-in");
    }
    let all = gate(&repository, &["status"]);
    assert_eq!(all.code, 3);
    assert!(all.stdout.contains("the built-in checklist was left out"), "{}", all.stdout);
    // The committed configuration allows it, so the gate passes and still warns.
    repository.write("config/agent-framework.yaml", "gates:\n  allow_only_items: true\n");
    repository.commit("lists of our own are enough");
    let passed = step(&repository, &["verify"]);
    assert_eq!(passed.code, 0, "{}{}", passed.stdout, passed.stderr);
    assert!(passed.stdout.contains("Status: PASS"), "{}", passed.stdout);
    assert!(passed.stdout.contains("Built-in checklist: left out"), "{}", passed.stdout);
    assert!(step(&repository, &["status"]).stdout.contains("built-in checklist was left out"));
}

/// Parts of a plan that contain a milestone, which is read or named as not read.
#[test]
fn no_part_of_a_plan_is_skipped_silently() {
    let parts = [
        ("## Phase 2: More\n\nFiles: `more.py` (new)\n", "Acceptance criteria missing for P2"),
        ("## Step 2\n\nFiles: `more.py` (new)\n", "Acceptance criteria missing for S2"),
        ("## Phase two: More\n\nText.\n", "Acceptance criteria missing for P2"),
        ("## Milestone IV: More\n\nText.\n", "Acceptance criteria missing for M4"),
        ("**Milestone M3: More**\n\nText.\n", "Acceptance criteria missing for M3"),
        ("**Phase 3: More** comes later.\n", "looks like a milestone, phase or step"),
        ("## Sprint 2: More\n\nAcceptance Criteria:\n\n- it is faster\n", "`Sprint 2: More`"),
        ("## 3. More\n\nAcceptance Criteria:\n\n- it is faster\n", "M3"),
        ("### Step 2: More\n\nText.\n", "`Step 2: More`"),
    ];
    for (part, expected) in parts {
        let repository = with_plan(&format!("{PLAN}\n{part}"));
        let ran = step(&repository, &["run", "--plan", "plan.md"]);
        assert_eq!(ran.code, 1, "{part}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(expected), "{part}: {}", ran.stdout);
    }
    // In phases without an item for this, the gate is incomplete and names the line.
    let part = "## Sprint 2: More\n\nAcceptance Criteria:\n\n- it is faster\n";
    let repository = with_plan(&format!("{PLAN}\n{part}"));
    let ran = gate(&repository, &["run", "--phase", "plan-docs", "--plan", "plan.md"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("`Sprint 2: More` (line "), "{}", ran.stdout);
    let reconciled = gate(&repository, &["reconcile", "--plan", "plan.md"]);
    assert_ne!(reconciled.code, 0);
    assert!(reconciled.stdout.contains("- NOT_READ: `Sprint 2: More`"), "{}", reconciled.stdout);
}

/// An honest way from a failed gate to a passed one.
struct Honest {
    name: &'static str,
    act: fn(&Repository),
}

const HONEST: &[Honest] = &[
    Honest {
        name: "the plan is mended and a person looks again",
        act: |repository| {
            repository.write("plan.md", format!("{PLAN}\nOwner: Ada.\n"));
            let pass = ["update-item", "person-001", "--status", "PASS"];
            assert_eq!(step(repository, &pass).code, 0);
        },
    },
    Honest {
        name: "the item is accepted for a reason",
        act: |repository| {
            let accept = ["accept", "person-001", "--reason", "the team owns it", "--by", "Ada"];
            assert_eq!(step(repository, &accept).code, 0);
        },
    },
    Honest {
        name: "the item passes in another folder, and then in this one",
        act: |repository| {
            let other = ["--state-dir", "elsewhere"];
            let there = |args: &[&str]| step(repository, &[args, &other[..]].concat());
            assert_eq!(there(&["decompose", "--plan", "plan.md"]).code, 0);
            assert_eq!(there(&["update-item", "person-001", "--status", "PASS"]).code, 0);
            let ran = there(&["verify"]);
            assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
            let pass = ["update-item", "person-001", "--status", "PASS"];
            assert_eq!(step(repository, &pass).code, 0);
        },
    },
    Honest {
        name: "another plan has its gate in another folder",
        act: |repository| {
            let other = "# Part\n\n## Milestone M1: Part\n\nFiles: `greet.py`, `test_greet.py`\n\n\
                         Acceptance Criteria:\n\n- `greet.py` has a function `part`\n";
            repository.write("other.md", other);
            let ran = step(repository, &["run", "--plan", "other.md", "--state-dir", "elsewhere"]);
            assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
            let pass = ["update-item", "person-001", "--status", "PASS"];
            assert_eq!(step(repository, &pass).code, 0);
        },
    },
    Honest {
        name: "a person lets go of the item for a reason",
        act: |repository| {
            let again = ["decompose", "--again", "--reason", "owners are kept elsewhere"];
            assert_eq!(step(repository, &again).code, 0);
        },
    },
    Honest {
        name: "a new list asks for the item again, and it passes",
        act: |repository| {
            assert_eq!(
                step(repository, &["decompose", "--again", "--items", "items.json"]).code,
                0
            );
            let pass = ["update-item", "person-001", "--status", "PASS"];
            assert_eq!(step(repository, &pass).code, 0);
        },
    },
    Honest {
        name: "an item is added by hand, and both pass",
        act: |repository| {
            edit(repository, |list| {
                let item = json!({"id": "mine", "scope": "*", "check": "It is text"});
                list["items"].as_array_mut().unwrap().push(item);
            });
            for id in ["person-001", "mine"] {
                let pass = ["update-item", id, "--status", "PASS"];
                assert_eq!(step(repository, &pass).code, 0, "{id}");
            }
        },
    },
    Honest {
        name: "the list is put in another order",
        act: |repository| {
            edit(repository, |list| list["items"].as_array_mut().unwrap().reverse());
            let pass = ["update-item", "person-001", "--status", "PASS"];
            assert_eq!(step(repository, &pass).code, 0);
        },
    },
    Honest {
        name: "the files are deleted and a person begins anew for a reason",
        act: |repository| {
            fs::remove_dir_all(repository.file(".assay/gates")).unwrap();
            let again =
                ["decompose", "--again", "--plan", "plan.md", "--reason", "the disk was cleaned"];
            let again = step(repository, &again);
            assert_eq!(again.code, 0, "{}", again.stderr);
            let status = step(repository, &["status"]).stdout;
            assert!(status.contains("whose files were deleted (released by "), "{status}");
        },
    },
    Honest {
        name: "the files of a gate that passed are deleted",
        act: |repository| {
            let pass = ["update-item", "person-001", "--status", "PASS"];
            assert_eq!(step(repository, &pass).code, 0);
            assert_eq!(step(repository, &["verify"]).code, 0);
            fs::remove_dir_all(repository.file(".assay/gates")).unwrap();
        },
    },
];

#[test]
fn legitimate_fixes_of_a_failed_gate_pass() {
    for Honest { name, act } in HONEST {
        let repository = failed_gate();
        act(&repository);
        let ran = step(&repository, &["run", "--plan", "plan.md"]);
        assert_eq!(ran.code, 0, "{name}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(step(&repository, &["status"]).code, 0, "{name}");
        assert_eq!(gate(&repository, &["status"]).code, 0, "{name}");
    }
}

#[test]
fn steps_of_a_milestone_and_phases_around_milestones_are_no_milestones() {
    let (before, after) = PLAN.split_once("## Milestone M2").unwrap();
    let with_steps = format!(
        "{before}**Step 1: write it**\n\nText.\n\n**Step 2: test it**\n\nText.\n\n## Milestone M2{after}"
    );
    let with_phases = PLAN
        .replace("## Milestone M1", "## Phase 1: First\n\n### Milestone M1")
        .replace("## Milestone M2", "## Phase 2: Then\n\n### Milestone M2");
    for plan in [with_steps, with_phases] {
        let repository = with_plan(&plan);
        let ran = step(&repository, &["run", "--plan", "plan.md"]);
        assert_eq!(ran.code, 0, "{plan}\n{}{}", ran.stdout, ran.stderr);
    }
}
