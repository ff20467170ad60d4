//! Tests of a task's JSON: valid and invalid input, and preserved fields.

use assay_store::task::{AgentId, QueueName, Task, TaskId};
use expect_test::{Expect, expect};
use proptest::prelude::*;

/// The documented example of a task.
const EXAMPLE: &str = r#"{
  "id": "review-qa-1738588800000-a1b2c3",
  "type": "review",
  "status": "pending",
  "priority": 50,
  "created_by": "engineer-1",
  "assigned_to": "qa",
  "created_at": "2026-02-03T10:00:00.000Z",
  "title": "Review PR #456 - Add authentication",
  "description": "Review PR for security and correctness",
  "depends_on": [],
  "blocks": [],
  "acceptance_criteria": [
    "All security checks pass",
    "Code follows style guidelines"
  ],
  "deliverables": [],
  "notes": [],
  "context": {
    "jira_key": "PROJ-123",
    "jira_project": "PROJ",
    "github_repo": "owner/repo",
    "pr_number": 456,
    "branch_name": "feature/authentication",
    "epic_key": "PROJ-100"
  },
  "retry_count": 0,
  "plan": null
}
"#;

#[test]
fn a_task_is_written_as_it_was_read() {
    assert_eq!(Task::parse(EXAMPLE.as_bytes()).unwrap().to_json(), EXAMPLE);
}

#[test]
fn unknown_members_survive_in_their_order() {
    let json = EXAMPLE.replace(
        "\"plan\": null",
        "\"plan\": null,\n  \"zebra\": 1,\n  \"antelope\": {\n    \"b\": null,\n    \"a\": []\n  }",
    );
    assert_eq!(Task::parse(json.as_bytes()).unwrap().to_json(), json);
}

#[track_caller]
fn refused(change: impl FnOnce(&mut serde_json::Value), expected: Expect) {
    let mut json: serde_json::Value = serde_json::from_str(EXAMPLE).unwrap();
    change(&mut json);
    let error = Task::parse(json.to_string().as_bytes()).unwrap_err();
    let message = error.to_string();
    let (message, _) = message.split_once(" at line ").unwrap_or((&message, ""));
    expected.assert_eq(message);
}

#[test]
fn an_invalid_task_is_refused_with_the_reason() {
    refused(
        |task| task["id"] = "../../etc/passwd".into(),
        expect![[
            r#"invalid task id "../../etc/passwd": expected 1 to 128 letters, digits, `.`, `_` or `-`, and no leading dot"#
        ]],
    );
    refused(
        |task| task["priority"] = 101.into(),
        expect!["invalid priority 101: expected 1 (first) to 100 (last), or 0 for escalations"],
    );
    refused(
        |task| task["status"] = "sleeping".into(),
        expect![[
            r#"unknown status "sleeping"; expected one of pending, in_progress, completed, failed, cancelled"#
        ]],
    );
    refused(
        |task| task["title"] = "".into(),
        expect!["the title has 0 characters; expected 1 to 1000"],
    );
    refused(
        |task| task["title"] = "a\u{1b}[31mb".into(),
        expect!["the title has control characters"],
    );
    refused(
        |task| task["depends_on"] = serde_json::json!(["review-qa-1738588800000-a1b2c3"]),
        expect!["task `review-qa-1738588800000-a1b2c3` depends on itself"],
    );
    refused(
        |task| task["created_at"] = "yesterday".into(),
        expect![[r#"invalid time "yesterday": expected one such as "2026-02-03T10:00:00.000Z""#]],
    );
}

#[test]
fn a_time_without_a_zone_is_taken_as_utc() {
    let json = EXAMPLE.replace("2026-02-03T10:00:00.000Z", "2026-02-03T10:00:00");
    let task = Task::parse(json.as_bytes()).unwrap();
    assert_eq!(task.created_at.to_string(), "2026-02-03T10:00:00.000Z");
}

#[test]
fn a_null_member_counts_as_absent() {
    let mut json: serde_json::Value = serde_json::from_str(EXAMPLE).unwrap();
    for key in ["priority", "depends_on", "context", "notes", "started_at", "retry_count"] {
        json[key] = serde_json::Value::Null;
    }
    let task = Task::parse(json.to_string().as_bytes()).unwrap();
    assert_eq!((task.priority.get(), task.retry_count), (50, 0));
}

proptest! {
    #[test]
    fn a_name_is_always_one_part_of_a_path(text in any::<String>()) {
        let names = [
            text.parse::<TaskId>().map(|name| name.to_string()),
            text.parse::<QueueName>().map(|name| name.to_string()),
            text.parse::<AgentId>().map(|name| name.to_string()),
        ];
        for name in names.into_iter().flatten() {
            let path = std::path::Path::new(&name);
            prop_assert_eq!(path.components().count(), 1);
            prop_assert!(!name.starts_with('.') && name.len() <= 128);
        }
    }

    #[test]
    fn no_bytes_make_reading_a_task_panic(bytes in any::<Vec<u8>>()) {
        let _ = Task::parse(&bytes);
    }
}
