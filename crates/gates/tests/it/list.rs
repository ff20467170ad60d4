//! Tests of parsing and formatting the list.

use assay_gates::item::Severity;
use assay_gates::list::List;
use assay_gates::phase::Phase;
use expect_test::{Expect, expect};

fn check(items: &str, expected: Expect) {
    let text =
        format!(r#"{{"schema_version": "1.0", "phase": "plan-structure", "items": [{items}]}}"#);
    whole(&text, expected);
}

fn whole(text: &str, expected: Expect) {
    let outcome = match List::read(Phase::PlanStructure, text) {
        Ok(list) => {
            let items = list.items().map(|item| format!("{} {:?}\n", item.id, item.result));
            items.collect::<String>()
        }
        Err(error) => format!("{error}\n"),
    };
    expected.assert_eq(&outcome);
}

#[test]
fn short_and_long_item_ids_are_read() {
    check(
        r#"{"id": "plan-001", "scope": "*", "check": "c", "status": "TODO", "finding": null},
           {"id": "plan-structure-002", "scope": "*", "check": "c", "status": "PASS", "finding": null},
           {"id": "qa-002a", "scope": "*", "check": "c", "status": "FAIL", "finding": "x"}"#,
        expect![[r#"
            plan-001 Todo
            plan-structure-002 Pass
            qa-002a Fail("x")
        "#]],
    );
}

#[test]
fn an_item_without_a_status_is_todo() {
    check(
        r#"{"id": "a-1", "scope": "*", "check": "c", "finding": null}"#,
        expect![[r#"
            a-1 Todo
        "#]],
    );
}

#[test]
fn an_invalid_status_is_refused() {
    for status in [r#""MAYBE""#, r#""pass""#, r#"" PASS""#, "null", "true", r#""""#] {
        check(
            &format!(r#"{{"id": "a-1", "scope": "*", "check": "c", "status": {status}}}"#),
            expect![[r#"
                item 1: invalid status: expected TODO, PASS or FAIL
            "#]],
        );
    }
}

#[test]
fn a_finding_is_required_for_a_fail_and_refused_otherwise() {
    let item = |status: &str, finding: &str| {
        format!(
            r#"{{"id": "a", "scope": "*", "check": "c", "status": "{status}", "finding": {finding}}}"#
        )
    };
    check(
        &item("FAIL", "null"),
        expect![[r#"
        item 1: the status is FAIL, and the finding is missing
    "#]],
    );
    check(
        &item("FAIL", r#""  ""#),
        expect![[r#"
        item 1: the status is FAIL, and the finding is missing
    "#]],
    );
    check(
        &item("PASS", r#""ok""#),
        expect![[r#"
        item 1: the status is PASS, which must not have a finding
    "#]],
    );
    check(
        &item("TODO", r#""later""#),
        expect![[r#"
        item 1: the status is TODO, which must not have a finding
    "#]],
    );
}

#[test]
fn two_items_with_the_same_id_are_refused() {
    check(
        r#"{"id": "a-1", "scope": "*", "check": "c"}, {"id": "a-1", "scope": "*", "check": "d"}"#,
        expect![[r#"
            duplicate id: `a-1`
        "#]],
    );
}

#[test]
fn a_child_item_keeps_its_parent_and_severity() {
    let text = r#"{"schema_version": "1.0", "phase": "plan-structure", "items": [
        {"id": "qa-002", "scope": "*", "check": "c", "status": "TODO", "severity": "SHOULD"},
        {"id": "qa-002a", "scope": "decision:DL-001", "check": "c", "parent_id": "qa-002",
         "severity": "MUST"}]}"#;
    let list = List::read(Phase::PlanStructure, text).unwrap();
    let id = "qa-002a".parse().unwrap();
    assert_eq!(list.parent_of(&id).unwrap().as_str(), "qa-002");
    assert_eq!(list.severity_of(&id), Some(Severity::Must));
    assert_eq!(list.severity_of(&"qa-002".parse().unwrap()), Some(Severity::Should));
    let again = List::read(Phase::PlanStructure, &list.to_json()).unwrap();
    assert_eq!(again, list, "what else is written there stays");
}

#[test]
fn a_child_item_without_its_parent_is_refused() {
    check(
        r#"{"id": "qa-002a", "scope": "*", "check": "c", "parent_id": "qa-002"}"#,
        expect![[r#"
            orphan parent_id: `qa-002a` is a part of `qa-002`, which is not on the list
        "#]],
    );
}

#[test]
fn a_list_with_another_schema_or_phase_is_refused() {
    whole(
        r#"{"schema_version": "2.0", "phase": "plan-structure", "items": []}"#,
        expect![[r#"
            schema_version is "2.0": expected "1.0"
        "#]],
    );
    whole(
        r#"{"phase": "plan-structure", "iteration": 3, "items": []}"#,
        expect![[r#"
            schema_version is missing: expected "1.0"
        "#]],
    );
    whole(
        r#"{"schema_version": "1.0", "phase": "impl-code", "items": []}"#,
        expect![[r#"
            phase is "impl-code": expected plan-structure
        "#]],
    );
    whole(
        r#"{"schema_version": "1.0", "phase": "plan-structure"}"#,
        expect![[r#"
            missing array `items`
        "#]],
    );
    whole(
        "[]",
        expect![[r#"
            missing array `items`
        "#]],
    );
}

#[test]
fn a_list_that_is_cut_off_anywhere_is_refused() {
    let text = r#"{"schema_version": "1.0", "phase": "plan-structure", "items": [{"id": "a", "scope": "*", "check": "c", "status": "PASS", "finding": null}]}"#;
    assert!(List::read(Phase::PlanStructure, text).is_ok());
    for length in 0..text.len() {
        assert!(List::read(Phase::PlanStructure, &text[..length]).is_err(), "{length}");
    }
}

#[test]
fn an_item_with_an_invalid_id_or_a_missing_field_is_refused() {
    check(
        r#"{"id": "../../etc", "scope": "*", "check": "c"}"#,
        expect![[r#"
            item 1: invalid item id `../../etc`: expected at most 64 letters, digits, `-`, `_` and `.`
        "#]],
    );
    check(
        r#"{"id": "a", "scope": "*", "check": " "}"#,
        expect![[r#"
            item 1: missing `check`
        "#]],
    );
    check(
        r#"{"id": "a", "check": "c"}, 7"#,
        expect![[r#"
            item 1: missing `scope`
        "#]],
    );
}
