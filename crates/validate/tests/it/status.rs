//! Tests of the rendered status of a spec.

use assay_validate::artifacts::StatusReport;
use assay_validate::issue::{IssueKind, IssueSeverity};
use assay_validate::plan::{HistoryEntry, Signoff, SignoffStatus};
use expect_test::expect;

use crate::artifacts::bare;

fn round(iteration: u32, status: &str, timestamp: &str, issues: usize) -> HistoryEntry {
    let issue = bare("a", IssueKind::UnitTest, IssueSeverity::Low);
    let (status, timestamp) = (status.to_owned(), timestamp.to_owned());
    HistoryEntry { iteration, status, timestamp, issues: vec![issue; issues] }
}

fn signoff(status: SignoffStatus) -> Signoff {
    Signoff {
        status,
        qa_session: 2,
        timestamp: "2026-02-12T10:30:00Z".to_owned(),
        tests_passed: None,
        issues_found: Vec::new(),
        recurring_issues: Vec::new(),
        escalation_reason: None,
    }
}

/// Returns the status of the seed's example.
fn rejected() -> StatusReport {
    let signoff = Signoff {
        issues_found: vec![
            bare("Missing error handling", IssueKind::AcceptanceCriteria, IssueSeverity::High),
            bare("Test coverage 65%", IssueKind::Coverage, IssueSeverity::Medium),
        ],
        ..signoff(SignoffStatus::Rejected)
    };
    let history = [
        round(1, "rejected", "2026-02-12T09:00:00Z", 2),
        round(2, "rejected", "2026-02-12T10:30:00Z", 1),
    ];
    StatusReport::of("001-feature", &signoff, &history)
}

#[test]
fn the_summary_is_that_of_the_seed() {
    expect![[r#"
        Spec: 001-feature

        QA Status: REJECTED
        QA Sessions: 2
        Last Check: 2026-02-12T10:30:00Z

        Issues Found:
        - Missing error handling (acceptance_criteria, high)
        - Test coverage 65% (coverage, medium)

        Iteration History:
          Iteration 1 (09:00): Rejected - 2 issues
          Iteration 2 (10:30): Rejected - 1 issue
    "#]]
    .assert_eq(&rejected().text());
}

#[test]
fn the_summary_is_available_as_json() {
    expect![[r#"
        {
          "spec": "001-feature",
          "status": "rejected",
          "qa_sessions": 2,
          "last_check": "2026-02-12T10:30:00Z",
          "issues_found": [
            {
              "title": "Missing error handling",
              "type": "acceptance_criteria",
              "severity": "high"
            },
            {
              "title": "Test coverage 65%",
              "type": "coverage",
              "severity": "medium"
            }
          ],
          "iteration_history": [
            {
              "iteration": 1,
              "status": "rejected",
              "timestamp": "2026-02-12T09:00:00Z",
              "issues": 2
            },
            {
              "iteration": 2,
              "status": "rejected",
              "timestamp": "2026-02-12T10:30:00Z",
              "issues": 1
            }
          ]
        }
    "#]]
    .assert_eq(&rejected().json());
}

#[test]
fn the_status_before_any_review_is_pending() {
    let mut pending = signoff(SignoffStatus::Pending);
    (pending.qa_session, pending.timestamp) = (0, String::new());
    expect![[r#"
        Spec: 001-feature

        QA Status: PENDING
        QA Sessions: 0
        Last Check: never
    "#]]
    .assert_eq(&StatusReport::of("001-feature", &pending, &[]).text());
}

#[test]
fn the_status_of_an_escalation_shows_its_reason() {
    let signoff = Signoff {
        escalation_reason: Some("no progress in 3 rounds".to_owned()),
        ..signoff(SignoffStatus::HumanEscalation)
    };
    let history = [
        round(1, "error", "yesterday", 0),
        round(2, "fixes_applied", "2026-02-12T1x:30:00Z", 1),
        round(3, "approved", "2026-02-12T10:30:00+01:00", 0),
    ];
    expect![[r#"
        Spec: 001-feature

        QA Status: HUMAN_ESCALATION
        QA Sessions: 2
        Last Check: 2026-02-12T10:30:00Z
        Reason: no progress in 3 rounds

        Iteration History:
          Iteration 1 (yesterday): Error
          Iteration 2 (2026-02-12T1x:30:00Z): Fixes applied - 1 issue
          Iteration 3 (10:30): Approved
    "#]]
    .assert_eq(&StatusReport::of("001-feature", &signoff, &history).text());
}
