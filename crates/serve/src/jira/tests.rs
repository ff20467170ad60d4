//! Tests of the tools, with a fake of JIRA.

use assay_testkit::jira::FakeJira;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;
use crate::test_clients;

/// A fake JIRA, and the server for it.
struct JiraFixture {
    fake: FakeJira,
    server: Server,
}

impl JiraFixture {
    fn of(permit: Permit) -> JiraFixture {
        let fake = FakeJira::cloud();
        let names = StepNames {
            code_review: "Code Review".to_owned(),
            approved: "Approved".to_owned(),
            changes_requested: "Changes Requested".to_owned(),
        };
        let jira = Ok(test_clients::jira(&fake));
        let tools = JiraTools { jira, permit, project: Some("PROJ".to_owned()), names };
        JiraFixture { fake, server: server(tools, "1.0.0") }
    }

    /// Calls a tool. Fails if the result does not match the published schema.
    fn call(&self, tool: &str, arguments: Value) -> Result<Value, String> {
        let tool = self.server.tool(tool).unwrap();
        let answer = tool.call(arguments).map_err(|refusal| refusal.to_string())?.value;
        let published = Value::Object(tool.output().clone());
        if let Err(error) = jsonschema::validate(&published, &answer) {
            panic!("{error}: {answer:#}");
        }
        Ok(answer)
    }

    fn check(&self, tool: &str, arguments: Value, expected: Expect) {
        let outcome = match self.call(tool, arguments) {
            Ok(answer) => answer.to_string(),
            Err(refusal) => format!("refused: {refusal}"),
        };
        expected.assert_eq(&outcome);
    }
}

fn qa() -> Permit {
    Permit::agent("qa", [Capability::WriteInJira], ["Approved".to_owned()])
}

#[test]
fn a_person_may_call_every_jira_tool() {
    let fixture = JiraFixture::of(Permit::Person);
    let parts = json!([{ "summary": "One" }, { "summary": "Two", "issue_type": "Bug" }]);
    fixture.check(
        "jira_create_epic_with_subtasks",
        json!({ "summary": "Login", "description": "See https://a.example", "subtasks": parts }),
        expect![[r#"{"epic":"PROJ-1","subtasks":["PROJ-2","PROJ-3"]}"#]],
    );
    let part = json!({ "parent_key": "PROJ-2", "summary": "A part" });
    fixture.check("jira_create_subtask", part, expect![[r#"{"key":"PROJ-4"}"#]]);
    fixture.check("jira_create_epic", json!({ "summary": "E" }), expect![[r#"{"key":"PROJ-5"}"#]]);
    let bug =
        json!({ "summary": "A\nbug", "issue_type": "Bug", "epic_key": "PROJ-5", "labels": ["x"] });
    fixture.check("jira_create_issue", bug, expect![[r#"{"key":"PROJ-6"}"#]]);
    let comment = json!({ "issue_key": "PROJ-6", "comment": "Look:\n```\ncode\n```" });
    fixture.check("jira_add_comment", comment, expect![[r#"{"comment_id":"10001"}"#]]);
    let review = json!({ "issue_key": "PROJ-6", "transition": "code_review" });
    fixture.check(
        "jira_transition_issue",
        review,
        expect![[r#"{"status":"Code Review","from":"To Do","moved":true}"#]],
    );
    for (field, value) in
        [("Story Points", json!(3)), ("labels", json!(["a"])), ("Notes", json!(null))]
    {
        let update = json!({ "issue_key": "PROJ-6", "field": field, "value": value });
        fixture.call("jira_update_field", update).unwrap();
    }
    fixture.check(
        "jira_get_issue",
        json!({ "issue_key": "PROJ-6" }),
        expect![[r#"{"key":"PROJ-6","summary":"A bug","status":"Code Review","type":"Bug","labels":["a"],"parent":"PROJ-5","description":"","description_cut":false,"comments":[{"author":"Ada","created":"2026-03-01T00:01:00.000+0000","text":"Look:\n```\ncode\n```","cut":false}],"older_comments":0}"#]],
    );
    fixture.check(
        "jira_search_issues",
        json!({ "jql": "status = \"Code Review\"", "limit": 1 }),
        expect![[r#"{"issues":[{"key":"PROJ-6","summary":"A bug","status":"Code Review","type":"Bug","labels":["a"],"parent":"PROJ-5"}],"more":false}"#]],
    );
    assert_eq!(fixture.fake.problems(), [""; 0]);
}

#[test]
fn no_tool_sends_a_credential_to_jira() {
    let fixture = JiraFixture::of(Permit::Person);
    // The text is put together here, so that this file has no credential.
    let token = format!("ghp_{}", "aB3dE5fG7h".repeat(4).get(..36).unwrap());
    let text = format!("It fails with {token}");
    let ticket = fixture.fake.add("Task", "A task");
    let new = json!({ "summary": text, "description": text, "labels": [token] });
    let with_parent = json!({ "parent_key": ticket, "summary": text, "description": text });
    let with_parts =
        json!({ "summary": text, "subtasks": [{ "summary": text, "description": text }] });
    let update =
        |field: &str, value: Value| json!({ "issue_key": ticket, "field": field, "value": value });
    for (tool, arguments) in [
        ("jira_add_comment", json!({ "issue_key": ticket, "comment": text })),
        ("jira_create_issue", new.clone()),
        ("jira_create_epic", new),
        ("jira_create_subtask", with_parent),
        ("jira_create_epic_with_subtasks", with_parts),
        ("jira_update_field", update("summary", json!(text))),
        ("jira_update_field", update("Notes", json!(text))),
        ("jira_update_field", update("labels", json!([token]))),
    ] {
        fixture.call(tool, arguments).unwrap();
    }
    // The type of a ticket and a search are not stored, whether JIRA refuses them or not.
    for (tool, arguments) in [
        ("jira_create_issue", json!({ "summary": "x", "issue_type": token })),
        ("jira_search_issues", json!({ "jql": format!("text ~ {token}") })),
    ] {
        let answer = fixture.call(tool, arguments);
        assert!(!format!("{answer:?}").contains(&token), "{tool}: {answer:?}");
    }
    assert!(!fixture.fake.writes().iter().any(|request| request.contains(&token)));
    for key in fixture.fake.keys() {
        let read = fixture.call("jira_get_issue", json!({ "issue_key": key })).unwrap().to_string();
        assert!(!read.contains(&token), "{key}: {read}");
        assert!(!fixture.fake.field(&key, "Notes").to_string().contains(&token), "{key}");
    }
}

#[test]
fn calls_without_permission_are_refused_before_any_request_is_sent() {
    let fixture = JiraFixture::of(qa());
    let ticket = fixture.fake.add("Task", "A task");
    fixture.fake.set(&ticket, "status", json!("Code Review"));
    fixture.check(
        "jira_create_issue",
        json!({ "summary": "More" }),
        expect![
            "refused: agent `qa` may not create tickets in JIRA: missing permission \
             `create_tickets`; see `config/agents.yaml`. Nothing was sent."
        ],
    );
    fixture.check(
        "jira_transition_issue",
        json!({ "issue_key": ticket, "transition": "changes_requested" }),
        expect![
            "refused: agent `qa` may not make the transition `Changes Requested`: its `jira` \
             transitions are: `approved`; see `config/agents.yaml`. Nothing was sent."
        ],
    );
    for tool in ["jira_create_epic", "jira_create_subtask", "jira_create_epic_with_subtasks"] {
        let arguments = match tool {
            "jira_create_subtask" => json!({ "summary": "x", "parent_key": ticket }),
            "jira_create_epic" => json!({ "summary": "x" }),
            _ => json!({ "summary": "x", "subtasks": [{ "summary": "y" }] }),
        };
        assert!(fixture.call(tool, arguments).unwrap_err().contains("`create_tickets`"), "{tool}");
    }
    assert_eq!(fixture.fake.asked(), [""; 0]);
    fixture
        .call("jira_transition_issue", json!({ "issue_key": ticket, "transition": "approved" }))
        .unwrap();
    assert_eq!(fixture.fake.status(&ticket), "Approved");

    let fixture = JiraFixture::of(Permit::agent("reader", [], []));
    let ticket = fixture.fake.add("Task", "A task");
    for (tool, arguments) in [
        ("jira_add_comment", json!({ "issue_key": ticket, "comment": "x" })),
        ("jira_update_field", json!({ "issue_key": ticket, "field": "summary", "value": "x" })),
        ("jira_transition_issue", json!({ "issue_key": ticket, "transition": "Start" })),
    ] {
        let refusal = fixture.call(tool, arguments).unwrap_err();
        assert!(refusal.contains("missing permission `jira`"), "{refusal}");
    }
    assert_eq!(fixture.fake.asked(), [""; 0]);
    fixture.call("jira_get_issue", json!({ "issue_key": ticket })).unwrap();
}

#[test]
fn invalid_arguments_are_refused_before_any_request_is_sent() {
    let fixture = JiraFixture::of(Permit::Person);
    for (tool, arguments) in [
        ("jira_get_issue", json!({ "issue_key": "../../admin" })),
        ("jira_get_issue", json!({ "issue_key": "PROJ-1", "comments": 51 })),
        ("jira_search_issues", json!({ "jql": "" })),
        ("jira_search_issues", json!({ "jql": "a = b", "limit": 0 })),
        ("jira_create_issue", json!({ "summary": "x", "parent": "PROJ-1" })),
        ("jira_create_issue", json!({ "summary": "x", "labels": ["a b"] })),
        ("jira_create_issue", json!({ "summary": "x", "project": "a\" OR 1 = 1" })),
        ("jira_create_epic", json!({ "summary": "" })),
        ("jira_create_epic_with_subtasks", json!({ "summary": "x", "subtasks": [] })),
        (
            "jira_create_epic_with_subtasks",
            json!({ "summary": "x", "subtasks": [{ "title": "y" }] }),
        ),
        ("jira_add_comment", json!({ "issue_key": "PROJ-1", "comment": " " })),
        (
            "jira_update_field",
            json!({ "issue_key": "PROJ-1", "field": "summary", "value": { "a": 1 } }),
        ),
    ] {
        let refusal = fixture.call(tool, arguments.clone()).unwrap_err();
        assert!(refusal.contains("Nothing was done"), "{tool} {arguments}: {refusal}");
    }
    assert_eq!(fixture.fake.asked(), [""; 0]);
}

#[test]
fn long_descriptions_and_comments_are_truncated_and_marked_as_cut() {
    let fixture = JiraFixture::of(Permit::Person);
    let ticket = fixture.fake.add("Task", "A task");
    let paragraph =
        json!({ "type": "paragraph", "content": [{ "type": "text", "text": "ä".repeat(30_000) }] });
    fixture.fake.set(&ticket, "description", json!({ "type": "doc", "content": [paragraph] }));
    fixture.fake.say(&ticket, &"x".repeat(10_000));
    fixture.fake.say(&ticket, "short");
    let issue =
        fixture.call("jira_get_issue", json!({ "issue_key": ticket, "comments": 2 })).unwrap();
    assert_eq!(issue["description"].as_str().unwrap().chars().count(), 20_000);
    assert_eq!(issue["description_cut"], true);
    assert_eq!(
        (&issue["comments"][0]["cut"], &issue["comments"][1]["cut"]),
        (&json!(false), &json!(true))
    );
    let issue =
        fixture.call("jira_get_issue", json!({ "issue_key": ticket, "comments": 1 })).unwrap();
    assert_eq!(issue["older_comments"], 1);
}
