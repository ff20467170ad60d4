//! `assay mcp jira`, with a fake JIRA.

use std::path::Path;

use assay_testkit::Repository;
use assay_testkit::jira::{FakeJira, TOKEN, USER};
use serde_json::{Value, json};

use super::mcp::{answers, call};
use super::{AssayRun, assay_with};

const CONFIG: &str = "config/agent-framework.yaml";

fn configured(fake: &FakeJira, flavour: &str) -> Repository {
    let repository = Repository::new();
    let url = fake.serve().url();
    let text = format!("jira:\n  url: '{url}'\n  flavour: {flavour}\n  project: PROJ\n");
    repository.write(CONFIG, text);
    repository
}

fn run(folder: &Path, args: &[&str], lines: &[Value], more: &[(&str, &str)]) -> AssayRun {
    let said: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut variables = vec![("JIRA_USER", USER), ("JIRA_API_TOKEN", TOKEN)];
    variables.extend(more);
    let args = [&["mcp", "jira"], args].concat();
    let ran = assay_with(folder, &args, said.as_bytes(), &variables);
    assert!(!ran.stdout.contains(TOKEN) && !ran.stderr.contains(TOKEN));
    ran
}

/// Returns the result of a tool call, or its error.
fn tool(ran: &AssayRun) -> Result<Value, String> {
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let result = &answers(ran)[0]["result"];
    match result["isError"] == true {
        true => Err(result["content"][0]["text"].as_str().unwrap().to_owned()),
        false => Ok(result["structuredContent"].clone()),
    }
}

#[test]
fn a_person_has_all_permissions_and_each_agent_has_its_own() {
    for (fake, flavour) in [(FakeJira::cloud(), "cloud"), (FakeJira::server(), "server")] {
        let repository = configured(&fake, flavour);
        let create = [call(1, "jira_create_issue", &json!({ "summary": "A task" }))];
        let made = tool(&run(repository.path(), &[], &create, &[])).unwrap();
        assert_eq!(made, json!({ "key": "PROJ-1" }));
        let before = fake.asked().len();
        let refused = tool(&run(repository.path(), &["--agent", "qa"], &create, &[])).unwrap_err();
        assert!(refused.contains("agent `qa` may not create tickets"), "{refused}");
        let own = [("ASSAY_AGENT", "engineer-2")];
        let refused = tool(&run(repository.path(), &[], &create, &own)).unwrap_err();
        assert!(refused.contains("agent `engineer` may not create tickets"), "{refused}");
        assert_eq!(fake.asked().len(), before);
        let review = json!({ "issue_key": "PROJ-1", "transition": "code_review" });
        let moved =
            tool(&run(repository.path(), &[], &[call(1, "jira_transition_issue", &review)], &own));
        assert_eq!(moved.unwrap()["status"], "Code Review");
        assert_eq!(fake.problems(), [""; 0]);
    }
}

#[test]
fn permissions_come_from_the_repository_of_the_agent_and_not_from_its_work_tree() {
    let fake = FakeJira::cloud();
    let repository = configured(&fake, "cloud");
    let work_tree = configured(&fake, "cloud");
    work_tree.write("config/agents.yaml", "- id: qa\n  permissions: [jira, create_tickets]\n");
    let create = [call(1, "jira_create_issue", &json!({ "summary": "A task" }))];
    let root = repository.path().to_str().unwrap();
    let own = [("ASSAY_AGENT", "qa"), ("ASSAY_ROOT", root)];
    tool(&run(work_tree.path(), &[], &create, &own)).unwrap_err();
    assert_eq!(fake.asked(), [""; 0]);
}

#[test]
fn invalid_options_and_configuration_are_refused_at_start() {
    let fake = FakeJira::cloud();
    let repository = configured(&fake, "cloud");
    let check = |args: &[&str], more: &[(&str, &str)], why: &str| {
        let ran = run(repository.path(), args, &[], more);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    };
    check(&["--agent", "nobody"], &[], "unknown agent `nobody`");
    check(&["--agent", "architect"], &[("ASSAY_AGENT", "qa")], "`ASSAY_AGENT`, which is `qa`");
    repository.write(CONFIG, "jira: { url: 'https://ada:pw@jira.example' }\n");
    check(&[], &[], "invalid `jira.url` in the configuration");
    repository
        .write(CONFIG, "jira: { url: 'https://j.example', token_env: A, token_command: [b] }\n");
    check(&[], &[], "both `token_env` and `token_command` are set");
    let ran = assay_with(repository.path(), &["mcp", "review", "--agent", "qa"], b"", &[]);
    assert!(
        ran.stderr.contains("`--agent` requires the server `github` or `jira`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn without_jira_settings_the_server_starts_and_every_tool_reports_the_missing_one() {
    let repository = Repository::new();
    let check = |more: &[(&str, &str)], why: &str| {
        let key = json!({ "issue_key": "PROJ-1" });
        let with = |name: &str, value: &str| json!({ "issue_key": "PROJ-1", name: value });
        let tools = [
            ("jira_search_issues", json!({ "jql": "project = PROJ" })),
            ("jira_get_issue", key),
            ("jira_create_issue", json!({ "summary": "A task" })),
            ("jira_create_epic", json!({ "summary": "An epic" })),
            ("jira_create_subtask", json!({ "summary": "A part", "parent_key": "PROJ-1" })),
            (
                "jira_create_epic_with_subtasks",
                json!({ "summary": "An epic", "subtasks": [{ "summary": "A part" }] }),
            ),
            ("jira_add_comment", with("comment", "Done.")),
            ("jira_transition_issue", with("transition", "approved")),
            ("jira_update_field", json!({ "issue_key": "PROJ-1", "field": "x", "value": 1 })),
        ];
        for (name, arguments) in tools {
            let ran = run(repository.path(), &[], &[call(1, name, &arguments)], more);
            let refused = tool(&ran).unwrap_err();
            assert_eq!(refused, format!("{why}. Nothing was done."), "{name}");
        }
    };
    let url = "JIRA is not configured: set `jira.url` in the configuration";
    check(&[], url);
    repository.write(CONFIG, "jira: { url: 'https://j.example' }\n");
    let user = "missing JIRA user: set the variable `JIRA_USER`, or `jira.user`";
    check(&[("JIRA_USER", "")], user);
}

#[test]
fn without_a_token_a_tool_names_the_variable_to_set() {
    let fake = FakeJira::cloud();
    let repository = configured(&fake, "cloud");
    let get = [call(1, "jira_get_issue", &json!({ "issue_key": "PROJ-1" }))];
    let refused = tool(&run(repository.path(), &[], &get, &[("JIRA_API_TOKEN", "")])).unwrap_err();
    assert_eq!(refused, "cannot use JIRA: missing key: set the variable `JIRA_API_TOKEN`");
    assert_eq!(fake.asked(), [""; 0]);
}
