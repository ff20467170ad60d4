//! Tests of parsing a plan: subtasks, risk, and sign-offs of any form.

use std::fs;

use assay_validate::plan::{HistoryEntry, ImplementationPlan, PlanError, Stats};
use expect_test::{Expect, expect};
use tempfile::TempDir;

fn parse(plan: &str) -> Result<ImplementationPlan, PlanError> {
    ImplementationPlan::parse(plan.to_owned())
}

fn check_build(plan: &str, expected: Expect) {
    expected.assert_eq(&match parse(plan) {
        Ok(plan) => {
            let missing = plan.missing();
            let missing = missing.iter().map(|task| format!("{}:{}", task.name, task.status));
            let missing: Vec<String> = missing.collect();
            format!("complete: {}; missing: {}", plan.is_complete(), missing.join(" "))
        }
        Err(error) => format!("error: {error}"),
    });
}

#[test]
fn a_build_is_complete_once_every_subtask_is() {
    let one = r#"{"phases": [{"subtasks": [{"id": "1", "status": "completed"}]}]}"#;
    check_build(one, expect!["complete: true; missing: "]);
    check_build(
        r#"{"phases": [
            {"subtasks": [{"id": "1.1", "status": "completed"}, {"id": "1.2", "status": "in_progress"}]},
            {"chunks": [{"id": 3, "title": "x"}, "do it", {"status": "completed"}]},
            null
        ]}"#,
        expect![
            "complete: false; missing: 1.2:in_progress 3:pending #4:pending phases 3:not understood: it is not a phase with a list of subtasks"
        ],
    );
}

#[test]
fn a_build_without_subtasks_is_not_complete() {
    check_build(r#"{"phases": []}"#, expect!["complete: false; missing: "]);
    check_build(
        r#"{"phases": [{"status": "completed"}]}"#,
        expect!["complete: false; missing: #1:not understood: it has no list of subtasks"],
    );
    check_build("{}", expect!["complete: false; missing: "]);
}

#[test]
fn a_plan_that_cannot_be_read_is_an_error() {
    check_build(
        "{",
        expect![
            "error: cannot parse the plan as JSON: EOF while parsing an object at line 1 column 1"
        ],
    );
    check_build(
        r#"{"phases": [{"subta"#,
        expect![
            "error: cannot parse the plan as JSON: EOF while parsing a string at line 1 column 19"
        ],
    );
    check_build(
        "",
        expect![
            "error: cannot parse the plan as JSON: EOF while parsing a value at line 1 column 0"
        ],
    );
    check_build("[]", expect!["error: invalid plan: expected a JSON object, found a list"]);
    let deep = "[".repeat(100_000);
    assert!(matches!(parse(&deep), Err(PlanError::NotJson { .. })));
}

#[test]
fn an_error_on_a_missing_or_undecodable_plan_names_its_path() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("implementation_plan.json");
    let error = ImplementationPlan::read(&path).unwrap_err();
    assert!(error.to_string().starts_with("missing plan `"), "{error}");
    fs::write(&path, b"{\"a\": \"\xff\"}").unwrap();
    let error = ImplementationPlan::read(&path).unwrap_err();
    assert!(error.to_string().contains("implementation_plan.json"), "{error}");
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(source, "the plan is not valid UTF-8 at byte 7");
}

fn check_risk(plan: &str, expected: Expect) {
    expected.assert_eq(&match parse(plan).unwrap().risk_level() {
        Ok(Some(risk)) => format!("{risk:?}: {:?}", risk.requires()),
        Ok(None) => "nobody says".to_owned(),
        Err(error) => format!("error: {error}"),
    });
}

#[test]
fn a_risk_level_determines_the_required_checks() {
    let at = |level: &str| format!(r#"{{"verification_strategy": {{"risk_level": "{level}"}}}}"#);
    check_risk(&at("trivial"), expect!["Trivial: []"]);
    check_risk(&at("low"), expect!["Low: [Smoke]"]);
    check_risk(&at("medium"), expect!["Medium: [Unit, Integration]"]);
    check_risk(&at("high"), expect!["High: [Unit, Integration, FullSuite, Coverage]"]);
    check_risk(
        &at("Critical"),
        expect!["Critical: [Unit, Integration, FullSuite, Coverage, E2e, Manual]"],
    );
}

#[test]
fn a_missing_risk_level_is_none_and_an_unknown_one_is_an_error() {
    check_risk("{}", expect!["nobody says"]);
    check_risk(
        r#"{"verification_strategy": {"risk_level": null}, "qa_acceptance": {"risk_level": "low"}}"#,
        expect!["Low: [Smoke]"],
    );
    let error = "in the plan: expected `trivial`, `low`, `medium`, `high` or `critical`";
    for (word, shown) in [("\"none\"", "none"), ("0", "0"), ("\"\"", "")] {
        let plan = format!(r#"{{"qa_acceptance": {{"risk_level": {word}}}}}"#);
        let message = parse(&plan).unwrap().risk_level().unwrap_err().to_string();
        assert_eq!(message, format!("invalid value `{shown}` for `risk_level` {error}"));
    }
}

fn check_signoff(signoff: &str, expected: Expect) {
    let plan = parse(&format!(r#"{{"qa_signoff": {signoff}}}"#)).unwrap();
    let read = plan.signoff();
    expected.assert_eq(&read.map_or("none".to_owned(), |it| serde_json::to_string(&it).unwrap()));
}

#[test]
fn a_sign_off_is_read_as_the_seed_writes_it() {
    check_signoff(
        r#"{"status": "rejected", "qa_session": 1, "timestamp": "2026-02-12T10:30:00Z",
            "issues_found": [
              {"title": "Missing error handling", "type": "acceptance_criteria",
               "file": "src/api/client.py", "line": 42, "severity": "high"}]}"#,
        expect![[
            r#"{"status":"rejected","qa_session":1,"timestamp":"2026-02-12T10:30:00Z","issues_found":[{"title":"Missing error handling","type":"acceptance_criteria","file":"src/api/client.py","line":42,"severity":"high"}]}"#
        ]],
    );
}

#[test]
fn a_missing_or_malformed_sign_off_is_read_as_none() {
    check_signoff("null", expect!["none"]);
    check_signoff("\"approved\"", expect!["none"]);
    assert_eq!(parse("{}").unwrap().signoff(), None);
}

#[test]
fn omitted_fields_of_a_sign_off_are_empty() {
    check_signoff(
        r#"{"status": "fixes_applied"}"#,
        expect![[r#"{"status":"fixes_applied","qa_session":0,"timestamp":""}"#]],
    );
    check_signoff(
        r#"{"status": "human_escalation", "qa_session": "3", "escalation_reason": "x"}"#,
        expect![[
            r#"{"status":"human_escalation","qa_session":3,"timestamp":"","escalation_reason":"x"}"#
        ]],
    );
}

#[test]
fn an_unknown_sign_off_status_is_read_as_pending() {
    for status in ["in_review", "done", ""] {
        let plan = format!(r#"{{"qa_signoff": {{"status": "{status}", "qa_session": 1}}}}"#);
        let signoff = parse(&plan).unwrap().signoff().unwrap();
        assert_eq!((signoff.status.name(), signoff.qa_session), ("pending", 1));
    }
}

#[test]
fn passed_tests_are_read_from_counts_and_maps() {
    let cases = [
        (r#""3/4""#, Some([false, false, false])),
        (r#""4/4""#, Some([true, false, false])),
        (r#""0/0""#, Some([false, false, false])),
        (
            r#"{"unit": "3/4", "integration_tests": "2/2", "e2e": "N/A"}"#,
            Some([false, true, false]),
        ),
        (r#"{"unit": true, "integration": false}"#, Some([true, false, false])),
        ("{}", None),
        ("null", None),
        ("7", None),
    ];
    for (tests_passed_json, expected) in cases {
        let plan = format!(r#"{{"qa_signoff": {{"tests_passed": {tests_passed_json}}}}}"#);
        let read = parse(&plan).unwrap().signoff().unwrap().tests_passed;
        let read = read.map(|groups| [groups.unit, groups.integration, groups.e2e]);
        assert_eq!(read, expected, "{tests_passed_json}");
    }
}

#[test]
fn issues_of_other_shapes_are_read() {
    check_signoff(
        r#"{"status": "rejected", "issues_found": [
            "no tests",
            {"type": "critical", "title": "a", "location": "src/a.py:42", "fix_required": "do b"},
            {"description": "b", "location": "lib.rs:3:7", "severity": "minor", "type": "unit_test"},
            {"title": "c", "location": "the login page", "line": "5"},
            {}, 7, null]}"#,
        expect![[
            r#"{"status":"rejected","qa_session":0,"timestamp":"","issues_found":[{"title":"no tests","type":"code_quality","severity":"medium"},{"title":"a","type":"code_quality","file":"src/a.py","line":42,"severity":"critical","fix":"do b"},{"title":"b","type":"unit_test","file":"lib.rs","line":3,"severity":"low","description":"b"},{"title":"c","type":"code_quality","file":"the login page","line":5,"severity":"medium"}]}"#
        ]],
    );
}

#[test]
fn statistics_are_computed_for_a_history_without_issues() {
    let approved = HistoryEntry {
        iteration: 1,
        status: "approved".to_owned(),
        timestamp: String::new(),
        issues: Vec::new(),
    };
    let stats = serde_json::to_string(&Stats::of(&[approved])).unwrap();
    expect![[
        r#"{"total_iterations":1,"last_iteration":1,"last_status":"approved","issues_by_type":{}}"#
    ]]
    .assert_eq(&stats);
    assert_eq!(Stats::of(&[]), Stats::default());
}
