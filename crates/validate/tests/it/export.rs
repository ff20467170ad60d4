//! Tests of the keys that the loop writes into a plan.

use std::fs;

use assay_store::durable_fs::fault::{self, Fault};
use assay_validate::issue::{Issue, IssueKind, IssueSeverity, Remedy};
use assay_validate::plan::{
    self, HistoryEntry, ImplementationPlan, Signoff, SignoffStatus, Stats, TestsPassed,
};
use expect_test::{Expect, expect};
use tempfile::TempDir;

fn issue(title: &str, kind: IssueKind, severity: IssueSeverity) -> Issue {
    Issue {
        title: title.to_owned(),
        kind,
        file: None,
        line: None,
        severity,
        description: None,
        fix: None,
        key: None,
        remedy: Remedy::Fix,
    }
}

fn signoff(status: SignoffStatus, qa_session: u32) -> Signoff {
    Signoff {
        status,
        qa_session,
        timestamp: "2026-02-12T10:30:00Z".to_owned(),
        tests_passed: None,
        issues_found: Vec::new(),
        recurring_issues: Vec::new(),
        escalation_reason: None,
    }
}

/// Returns the history of the seed's example.
fn history() -> Vec<HistoryEntry> {
    let entry = |iteration, status: &str, timestamp: &str, issues| HistoryEntry {
        iteration,
        status: status.to_owned(),
        timestamp: timestamp.to_owned(),
        issues,
    };
    let missing = issue("Missing test", IssueKind::UnitTest, IssueSeverity::High);
    vec![
        entry(1, "rejected", "2026-02-12T09:00:00Z", vec![missing]),
        entry(2, "approved", "2026-02-12T10:30:00Z", Vec::new()),
    ]
}

fn approved() -> Signoff {
    let tests_passed = Some(TestsPassed { unit: true, integration: true, e2e: false });
    Signoff { tests_passed, ..signoff(SignoffStatus::Approved, 2) }
}

fn exported(plan: &str) -> String {
    let plan = ImplementationPlan::parse(plan.to_owned()).unwrap();
    plan.with_export(&approved(), &history(), &Stats::of(&history()))
}

/// Exports few values, so that the layout is visible.
fn check(plan: &str, expected: Expect) {
    let plan = ImplementationPlan::parse(plan.to_owned()).unwrap();
    let pending = Signoff { timestamp: String::new(), ..signoff(SignoffStatus::Pending, 0) };
    expected.assert_eq(&plan.with_export(&pending, &[], &Stats::default()));
}

#[test]
fn an_approval_is_written_as_the_seed_does() {
    let tests_passed = Some(TestsPassed { unit: true, integration: true, e2e: true });
    let approved = Signoff { tests_passed, ..signoff(SignoffStatus::Approved, 1) };
    expect![[r#"
        {
          "status": "approved",
          "qa_session": 1,
          "timestamp": "2026-02-12T10:30:00Z",
          "tests_passed": {
            "unit": true,
            "integration": true,
            "e2e": true
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&approved).unwrap());
}

#[test]
fn a_rejection_is_written_as_the_seed_does() {
    let network = Issue {
        file: Some("src/api/client.py".to_owned()),
        line: Some(42),
        ..issue(
            "Missing error handling for network failures",
            IssueKind::AcceptanceCriteria,
            IssueSeverity::High,
        )
    };
    let coverage =
        issue("Unit test coverage below 80%", IssueKind::Coverage, IssueSeverity::Medium);
    let rejected =
        Signoff { issues_found: vec![network, coverage], ..signoff(SignoffStatus::Rejected, 1) };
    expect![[r#"
        {
          "status": "rejected",
          "qa_session": 1,
          "timestamp": "2026-02-12T10:30:00Z",
          "issues_found": [
            {
              "title": "Missing error handling for network failures",
              "type": "acceptance_criteria",
              "file": "src/api/client.py",
              "line": 42,
              "severity": "high"
            },
            {
              "title": "Unit test coverage below 80%",
              "type": "coverage",
              "severity": "medium"
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&rejected).unwrap());
}

#[test]
fn the_stored_data_is_that_of_the_seed() {
    expect![[r#"
        {
          "qa_signoff": {
            "status": "approved",
            "qa_session": 2,
            "timestamp": "2026-02-12T10:30:00Z",
            "tests_passed": {
              "unit": true,
              "integration": true,
              "e2e": false
            }
          },
          "qa_iteration_history": [
            {
              "iteration": 1,
              "status": "rejected",
              "timestamp": "2026-02-12T09:00:00Z",
              "issues": [
                {
                  "title": "Missing test",
                  "type": "unit_test"
                }
              ]
            },
            {
              "iteration": 2,
              "status": "approved",
              "timestamp": "2026-02-12T10:30:00Z",
              "issues": []
            }
          ],
          "qa_stats": {
            "total_iterations": 2,
            "last_iteration": 2,
            "last_status": "approved",
            "issues_by_type": {
              "unit_test": 1
            }
          }
        }
    "#]]
    .assert_eq(&exported("{}\n"));
}

#[test]
fn an_export_keeps_every_other_byte_of_the_plan() {
    let plan = "{\n    \"feature\": \"x\\u0041\",\n    \"qa_signoff\": null,\n    \"big\": 12345678901234567890123,\n    \
                \"list\": [1,2,   3.0]\n}\n";
    check(
        plan,
        expect![[r#"
            {
                "feature": "x\u0041",
                "qa_signoff": {
                    "status": "pending",
                    "qa_session": 0,
                    "timestamp": ""
                },
                "big": 12345678901234567890123,
                "list": [1,2,   3.0],
                "qa_iteration_history": [],
                "qa_stats": {
                    "total_iterations": 0,
                    "last_iteration": 0,
                    "last_status": "",
                    "issues_by_type": {}
                }
            }
        "#]],
    );
}

#[test]
fn a_plan_on_one_line_stays_on_one_line() {
    check(
        r#"{"a":"}\"]","qa_stats":[{"b":"]"}],"c":{}}"#,
        expect![[
            r#"{"a":"}\"]","qa_stats":{"total_iterations":0,"last_iteration":0,"last_status":"","issues_by_type":{}},"c":{},"qa_signoff":{"status":"pending","qa_session":0,"timestamp":""},"qa_iteration_history":[]}"#
        ]],
    );
}

#[test]
fn line_endings_tabs_and_a_byte_order_mark_are_kept() {
    let text = exported("\u{feff}{\r\n\t\"a\": 1\r\n}");
    assert!(text.starts_with("\u{feff}{\r\n\t\"a\": 1,\r\n\t\"qa_signoff\": {\r\n\t\t\"status\""));
    assert!(text.ends_with("\r\n\t}\r\n}"), "{text:?}");
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
}

#[test]
fn exporting_twice_changes_nothing() {
    for plan in ["{}", "{\n  \"a\": 1\n}\n", "{\"a\":1}", "\n{ \"a\" :1 }\n"] {
        let once = exported(plan);
        assert_eq!(exported(&once), once);
        let signoff = ImplementationPlan::parse(once).unwrap().signoff().unwrap();
        assert_eq!(signoff, approved());
    }
}

#[test]
fn an_export_into_a_deeply_indented_plan_stays_small() {
    let plan = format!("{{\n{}\"a\": 1}}", " ".repeat(100_000));
    assert!(exported(&plan).len() < 110_000);
}

#[test]
fn an_export_is_written_into_the_current_plan_file() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("implementation_plan.json");
    fs::write(&path, "{\n  \"a\": 1\n}\n").unwrap();
    plan::write_export(&path, &approved(), &[], &Stats::default()).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("{\n  \"a\": 1,\n  \"qa_signoff\": {\n"), "{text}");
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(names.len(), 1);
}

#[test]
fn a_plan_that_cannot_be_read_is_never_written() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("implementation_plan.json");
    let write = || plan::write_export(&path, &approved(), &[], &Stats::default());
    assert!(write().is_err());
    assert!(!path.exists());
    for broken in ["{\"a\": ", "[]", ""] {
        fs::write(&path, broken).unwrap();
        assert!(write().is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), broken);
    }
}

#[test]
fn a_full_disk_leaves_the_plan_as_it_was() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("implementation_plan.json");
    for number in 1..=3 {
        fs::write(&path, "{}").unwrap();
        fault::inject(number, Fault::Full);
        let written = plan::write_export(&path, &approved(), &[], &Stats::default());
        fault::clear();
        assert!(written.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
    }
}
