//! Refused commands, and gates whose state cannot be read.

use std::fs;

use expect_test::expect;
use serde_json::Value;

use super::{PLAN, faulty, gate, with_plan};

#[test]
fn invalid_arguments_are_refused_and_change_nothing() {
    let repository = with_plan(PLAN);
    repository.write("items.json", r#"[{"id": "qa-001", "scope": "*", "check": "c"}]"#);
    let step = |args: &[&str]| gate(&repository, &[args, &["--phase", "plan-structure"]].concat());
    assert_eq!(
        step(&["decompose", "--plan", "plan.md", "--items", "items.json", "--only-items"]).code,
        0
    );
    let list = || fs::read(repository.file(".assay/gates/qr-plan-structure.json")).unwrap();
    let before = list();
    let refused = |args: &[&str]| {
        let ran = step(args);
        assert_eq!(ran.code, 2, "{args:?}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(list(), before, "{args:?}");
        ran.stderr
    };
    expect![[r#"
        error: invalid status `DONE`: expected PASS or FAIL
    "#]]
    .assert_eq(&refused(&["update-item", "qa-001", "--status", "DONE"]));
    expect![[r#"
        error: `--status PASS` takes no `--finding`; use `--status FAIL` to report a finding
    "#]]
    .assert_eq(&refused(&["update-item", "qa-001", "--status", "PASS", "--finding", "ok"]));
    expect![[r#"
        error: a FAIL needs a finding that describes the defect: add `--finding TEXT`
    "#]]
    .assert_eq(&refused(&["update-item", "qa-001", "--status", "FAIL"]));
    expect![[r#"
        error: unknown item `qa-009`; `assay gate status` shows the items of the list
    "#]]
    .assert_eq(&refused(&["update-item", "qa-009", "--status", "PASS"]));
    expect![[r#"
        error: reason required: explain why `qa-001` is accepted; words such as `because` or `n/a` alone are no reason
    "#]]
    .assert_eq(&refused(&["accept", "qa-001", "--reason", " "]));
    refused(&["accept", "qa-001"]);
    refused(&["update-item", "../../etc", "--status", "PASS"]);
    refused(&["assign-group", "qa-001", "--group-id", "misc-1"]);
    refused(&["decompose", "--again", "--items", "none.json"]);
    repository.write(
        "twice.json",
        r#"[{"id": "a", "scope": "*", "check": "c"}, {"id": "a", "scope": "*", "check": "c"}]"#,
    );
    refused(&["decompose", "--again", "--items", "twice.json"]);
    let no_phase = gate(&repository, &["verify"]);
    assert_eq!(no_phase.code, 2);
    expect![[r#"
        error: missing `--phase`: name a gate, such as `--phase plan-structure`
    "#]]
    .assert_eq(&no_phase.stderr);
}

#[test]
fn results_of_built_in_checks_cannot_be_set_by_hand() {
    let repository = with_plan(&faulty());
    let step = |args: &[&str]| gate(&repository, &[args, &["--phase", "plan-structure"]].concat());
    assert_eq!(step(&["decompose", "--plan", "plan.md"]).code, 0);
    let claimed = step(&["update-item", "plan-structure-001", "--status", "PASS"]);
    assert_eq!(claimed.code, 2);
    assert!(
        claimed.stderr.contains("a built-in check or a command verifies the item"),
        "{}",
        claimed.stderr
    );
    // An edit of the file is refused as well.
    assert_eq!(step(&["verify"]).code, 1);
    let path = repository.file(".assay/gates/qr-plan-structure.json");
    let mut list: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for item in list["items"].as_array_mut().unwrap() {
        item["status"] = "PASS".into();
        item["finding"] = Value::Null;
    }
    fs::write(&path, list.to_string()).unwrap();
    assert_eq!(step(&["status"]).code, 1, "nobody saw that");
    assert_eq!(step(&["verify"]).code, 1);
}

#[test]
fn a_missing_or_damaged_state_exits_with_3_and_is_not_overwritten() {
    let repository = with_plan(PLAN);
    let step = |args: &[&str]| gate(&repository, &[args, &["--phase", "plan-structure"]].concat());
    for args in [&["verify"][..], &["guide"], &["status"], &["accept", "a", "--reason", "x"]] {
        let ran = step(args);
        assert_eq!(ran.code, 3, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("missing list for phase plan-structure"), "{}", ran.stderr);
    }
    assert_eq!(step(&["run", "--plan", "plan.md"]).code, 0);
    let path = repository.file(".assay/gates/qr-plan-structure.json");
    let whole = fs::read(&path).unwrap();
    let spoiled = [
        whole[..whole.len() / 2].to_vec(),
        String::from_utf8(whole.clone()).unwrap().replace("\"1.0\"", "\"2.0\"").into_bytes(),
        String::from_utf8(whole.clone()).unwrap().replace("\"PASS\"", "\"MAYBE\"").into_bytes(),
        br#"{"schema_version": "1.0", "phase": "impl-code", "items": []}"#.to_vec(),
    ];
    for bytes in spoiled {
        fs::write(&path, &bytes).unwrap();
        for args in [&["verify"][..], &["run"], &["status"], &["decompose"]] {
            let ran = step(args);
            assert_eq!(ran.code, 3, "{args:?}: {}{}", ran.stdout, ran.stderr);
            assert_eq!(fs::read(&path).unwrap(), bytes, "it is not written over");
        }
    }
    fs::write(&path, r#"{"schema_version": "1.0", "phase": "plan-structure", "items": []}"#)
        .unwrap();
    assert_eq!(step(&["status"]).code, 3, "an empty list is no pass");
    fs::write(&path, &whole).unwrap();
    // Only assay may write results.
    let beside = repository.file(".assay/gates/qr-plan-structure.state.json");
    let verified = fs::read(&beside).unwrap();
    fs::write(&beside, empty_beside()).unwrap();
    for args in [&["verify"][..], &["run"], &["status"], &["decompose", "--again"]] {
        let ran = step(args);
        assert_eq!(ran.code, 3, "{args:?}: {}{}", ran.stdout, ran.stderr);
        let expected = "`.assay/gates/qr-plan-structure.state.json` is not used: another program";
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
    }
    fs::write(&beside, verified).unwrap();
    repository.remove("plan.md");
    let ran = step(&["verify"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot read `plan.md`"), "{}", ran.stderr);
}

/// Returns the sidecar of a submitted list.
fn empty_beside() -> String {
    r#"{"schema_version": "1.0", "phase": "plan-structure", "iteration": 1, "last": null, "items": {},
        "made_from": {"plan": "plan.md", "base": null, "checklist": "handed-in"}}"#
        .to_owned()
}

#[test]
fn a_state_tracked_in_git_is_refused() {
    let repository = with_plan(PLAN);
    assert_eq!(
        gate(&repository, &["run", "--phase", "plan-structure", "--plan", "plan.md"]).code,
        0
    );
    repository.git(&["add", "--force", "."]);
    repository.commit("with its own verdict");
    let ran = gate(&repository, &["status", "--phase", "plan-structure"]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(ran.stderr.contains("is tracked in git"), "{}", ran.stderr);
}
