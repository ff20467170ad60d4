//! Permissions of agents, and the repositories that a call may name.

use super::*;

#[test]
fn an_agent_without_permission_can_read_and_its_writes_are_refused_before_any_request() {
    let mut fixture = GithubFixture::new();
    fixture.permit = Permit::agent("reader", [], []);
    for (tool, arguments) in valid_writing_calls() {
        let refusal = fixture.call(tool, arguments).unwrap_err();
        let (what, needs) = match tool {
            "github_create_branch" => ("push to GitHub", "push"),
            _ => ("write to GitHub", "github"),
        };
        let expected = format!(
            "agent `reader` may not {what}: missing permission `{needs}`; see `config/agents.yaml`"
        );
        assert_eq!(refusal, expected, "{tool}");
    }
    assert_eq!(fixture.requests_where(|_| true), [""; 0]);
    for (tool, arguments) in &valid_calls()[..5] {
        fixture.call(tool, arguments.clone()).unwrap();
    }
}

#[test]
fn each_permission_allows_only_its_own_tools() {
    let mut fixture = GithubFixture::new();
    fixture.github.add_branch(REPO, "other", &sha("other"));
    fixture.permit = Permit::agent("qa", [Capability::WriteOnGithub], []);
    for (tool, arguments) in valid_writing_calls() {
        let is_push = tool == "github_create_branch";
        assert_eq!(fixture.call(tool, arguments).is_err(), is_push, "{tool}");
    }
    let mut fixture = GithubFixture::new();
    fixture.permit = Permit::agent("pusher", [Capability::Push], []);
    for (tool, arguments) in valid_writing_calls() {
        let is_push = tool == "github_create_branch";
        assert_eq!(fixture.call(tool, arguments).is_ok(), is_push, "{tool}");
    }
    // A comment on a ticket needs the permission to write in JIRA.
    let mut fixture = GithubFixture::new();
    fixture.permit = Permit::agent("qa", [Capability::WriteOnGithub], []);
    let jira = FakeJira::cloud();
    fixture.tickets = Some(test_clients::jira(&jira));
    let (tool, arguments) = valid_writing_calls().pop().unwrap();
    let refusal = fixture.refusal(tool, arguments);
    assert!(refusal.contains("may not write to JIRA"), "{refusal}");
    assert_eq!(jira.asked(), [""; 0]);
    assert_eq!(fixture.requests_where(|_| true), [""; 0]);
}

#[test]
fn calls_for_repositories_outside_the_configuration_are_refused() {
    let mut fixture = GithubFixture::new();
    fixture.github.add_repository("octo/secret");
    for (tool, mut arguments) in valid_calls() {
        arguments["repo"] = json!("octo/secret");
        let refusal = fixture.call(tool, arguments.clone()).unwrap_err();
        assert_eq!(
            refusal,
            "`octo/secret` is not among `github.repositories` of the configuration: octo/demo"
        );
        arguments["repo"] = json!("../../user");
        let refusal = fixture.call(tool, arguments).unwrap_err();
        assert_eq!(refusal, "invalid repository \"../../user\": expected `owner/name`");
    }
    let get = json!({ "pr_number": 1 });
    fixture.repositories = vec![REPO, "octo/other"];
    let refusal = fixture.refusal("github_get_pr", get.clone());
    assert_eq!(refusal, "missing `repo`: expected one of octo/demo, octo/other");
    fixture.repositories = Vec::new();
    let refusal = fixture.refusal("github_get_pr", get);
    assert_eq!(refusal, "missing `repo`: expected `owner/name`");
    assert_eq!(fixture.requests_where(|_| true), [""; 0]);
    // If no repository is configured, a call may name any.
    let named = json!({ "pr_number": 1, "repo": REPO });
    assert_eq!(fixture.call("github_get_pr", named).unwrap()["number"], 1);
}
