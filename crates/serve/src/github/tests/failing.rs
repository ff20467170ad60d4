//! Refusals and failures of the tools.

use super::*;

#[test]
fn invalid_input_is_refused_with_the_reason_and_nothing_is_sent() {
    let fixture = GithubFixture::new();
    let mut refusals = String::new();
    let long = "x".repeat(60_001);
    let comment = json!({ "path": "src/1.rs", "line": 0, "body": "b" });
    let many = json!(vec![json!({ "path": "src/1.rs", "line": 1, "body": "b" }); 51]);
    for (tool, arguments) in [
        ("github_get_pr", json!({})),
        ("github_get_pr", json!({ "pr_number": "1" })),
        ("github_get_pr", json!({ "pr_number": 0 })),
        ("github_get_pr", json!({ "pr_number": 1, "branch": "x" })),
        ("github_get_pr", json!({ "pr_number": 1, "repo": "x/" })),
        ("github_get_pr_by_branch", json!({ "branch": "" })),
        ("github_get_pr_diff", json!({ "pr_number": 1, "offset": -1 })),
        ("github_get_pr_comments", json!({ "pr_number": 1.5 })),
        ("github_get_check_runs", json!({ "ref": 1 })),
        ("github_add_pr_comment", json!({ "pr_number": 1, "body": "" })),
        ("github_add_pr_comment", json!({ "pr_number": 1, "body": long })),
        ("github_submit_review", json!({ "pr_number": 1, "event": "APPROVED" })),
        ("github_submit_review", json!({ "pr_number": 1, "event": "COMMENT", "body": " " })),
        ("github_submit_review", review(json!([comment]))),
        ("github_submit_review", review(many)),
        ("github_create_branch", json!({ "from": "main" })),
        ("github_create_pr", json!({ "head": "other" })),
        ("github_create_pr", json!({ "head": "other", "title": "t", "draft": "no" })),
        ("github_update_pr", json!({ "pr_number": 1, "state": "merged" })),
        ("github_link_pr_to_jira", json!({ "pr_number": 1, "jira_key": "proj-1" })),
    ] {
        refusals.push_str(&format!("{tool}: {}\n", fixture.refusal(tool, arguments)));
    }
    assert_eq!(fixture.requests_where(|_| true), [""; 0]);
    expect![[r#"
        github_get_pr: missing `pr_number`. Nothing was done; correct the arguments and call `github_get_pr` again.
        github_get_pr: `pr_number` must be of type integer. Nothing was done; correct the arguments and call `github_get_pr` again.
        github_get_pr: `pr_number` must be at least 1. Nothing was done; correct the arguments and call `github_get_pr` again.
        github_get_pr: unknown key "branch"; known keys: repo, pr_number. Nothing was done; correct the arguments and call `github_get_pr` again.
        github_get_pr: `repo` is too short: at least 3 characters. Nothing was done; correct the arguments and call `github_get_pr` again.
        github_get_pr_by_branch: `branch` is empty. Nothing was done; correct the arguments and call `github_get_pr_by_branch` again.
        github_get_pr_diff: `offset` must be at least 0. Nothing was done; correct the arguments and call `github_get_pr_diff` again.
        github_get_pr_comments: `pr_number` must be of type integer. Nothing was done; correct the arguments and call `github_get_pr_comments` again.
        github_get_check_runs: `ref` must be of type string. Nothing was done; correct the arguments and call `github_get_check_runs` again.
        github_add_pr_comment: `body` is empty. Nothing was done; correct the arguments and call `github_add_pr_comment` again.
        github_add_pr_comment: `body` is too long: at most 60000 characters. Nothing was done; correct the arguments and call `github_add_pr_comment` again.
        github_submit_review: `event` must be one of APPROVE, REQUEST_CHANGES, COMMENT. Nothing was done; correct the arguments and call `github_submit_review` again.
        github_submit_review: `body` is empty: write a summary of the review
        github_submit_review: `comments.0.line` must be at least 1. Nothing was done; correct the arguments and call `github_submit_review` again.
        github_submit_review: `comments` has too many items: at most 50. Nothing was done; correct the arguments and call `github_submit_review` again.
        github_create_branch: missing `branch`. Nothing was done; correct the arguments and call `github_create_branch` again.
        github_create_pr: missing `title`. Nothing was done; correct the arguments and call `github_create_pr` again.
        github_create_pr: `draft` must be of type boolean. Nothing was done; correct the arguments and call `github_create_pr` again.
        github_update_pr: `state` must be one of open, closed. Nothing was done; correct the arguments and call `github_update_pr` again.
        github_link_pr_to_jira: invalid ticket key "proj-1": expected a key such as `PROJ-123`
    "#]].assert_eq(&refusals);
}

#[test]
fn a_missing_pull_request_is_reported_as_not_found() {
    let fixture = GithubFixture::new();
    for (tool, mut arguments) in valid_calls() {
        if arguments.get("pr_number").is_none() {
            continue;
        }
        arguments["pr_number"] = json!(9);
        let refusal = fixture.refusal(tool, arguments);
        assert!(refusal.contains("/9"), "{tool}: {refusal}");
        assert!(refusal.contains("with status 404: Not Found"), "{tool}: {refusal}");
    }
}

#[test]
fn every_tool_reports_a_missing_or_wrong_token() {
    let fixture = GithubFixture::new();
    let none = fixture.server(&fixture.served.url(), None);
    let wrong = fixture.server(&fixture.served.url(), Some("t-wrong-secret"));
    for (tool, arguments) in valid_calls() {
        let refusal = call(&none, tool, arguments.clone()).unwrap_err();
        assert!(refusal.starts_with("cannot use GitHub: "), "{tool}: {refusal}");
        assert!(refusal.contains("`GITHUB_TOKEN`"), "{tool}: {refusal}");
        let refusal = call(&wrong, tool, arguments).unwrap_err();
        assert!(refusal.contains("with status 401: Bad credentials"), "{tool}: {refusal}");
        assert!(!refusal.contains("t-wrong-secret"), "{tool}: {refusal}");
    }
}

#[test]
fn every_tool_reports_an_unreachable_server_without_an_unknown_outcome() {
    let fixture = GithubFixture::new();
    let closed_url = GithubFixture::new().served.url();
    let server = fixture.server(&closed_url, Some(TOKEN));
    for (tool, arguments) in valid_calls() {
        let refusal = call(&server, tool, arguments).unwrap_err();
        let expected = format!("GitHub at `{closed_url}/` did not answer");
        assert!(refusal.starts_with(&expected), "{tool}: {refusal}");
        assert!(!refusal.contains("nevertheless"), "{tool}: {refusal}");
    }
}

#[test]
fn a_write_with_an_unknown_outcome_is_sent_once_and_reports_how_to_check() {
    let mut refusals = String::new();
    for (tool, arguments) in valid_writing_calls() {
        for when in [FaultTiming::BeforeEffect, FaultTiming::AfterEffect] {
            let fixture = GithubFixture::new();
            fixture.github.add_branch(REPO, "other", &sha("other"));
            let verb =
                if tool.contains("update") || tool.contains("link") { "PATCH" } else { "POST" };
            fixture.github.fail_next(verb, Fault::BadGateway(when));
            let refusal = fixture.call(tool, arguments.clone()).unwrap_err();
            // The request is sent once, whether it succeeds or fails.
            let writes = fixture.requests_where(|logged| logged.method != "GET");
            assert_eq!(writes.len(), 1, "{tool}: {writes:?}");
            let done = fixture.written_bodies().len();
            assert_eq!(done, usize::from(when == FaultTiming::AfterEffect), "{tool}");
            if when == FaultTiming::AfterEffect {
                refusals.push_str(&format!("{refusal}\n"));
            }
        }
    }
    expect![[r#"
        GitHub refused `POST /repos/octo/demo/issues/1/comments` with status 502: <!DOCTYPE html> <html><body><h1>Unicorn!</h1></body></html>. The request may have taken effect: check with github_get_pr_comments before you retry.
        GitHub refused `POST /repos/octo/demo/pulls/1/reviews` with status 502: <!DOCTYPE html> <html><body><h1>Unicorn!</h1></body></html>. The request may have taken effect: check with github_get_pr_comments before you retry.
        GitHub refused `POST /repos/octo/demo/git/refs` with status 502: <!DOCTYPE html> <html><body><h1>Unicorn!</h1></body></html>. The branch may have been created nevertheless: call github_create_branch again, which creates no branch twice.
        GitHub refused `POST /repos/octo/demo/pulls` with status 502: <!DOCTYPE html> <html><body><h1>Unicorn!</h1></body></html>. The request may have taken effect: check with github_get_pr_by_branch before you retry.
        GitHub refused `PATCH /repos/octo/demo/pulls/1` with status 502: <!DOCTYPE html> <html><body><h1>Unicorn!</h1></body></html>. The request may have taken effect: check with github_get_pr before you retry.
        GitHub refused `PATCH /repos/octo/demo/pulls/1` with status 502: <!DOCTYPE html> <html><body><h1>Unicorn!</h1></body></html>. The request may have taken effect: check with github_get_pr before you retry.
    "#]].assert_eq(&refusals);
}

#[test]
fn a_failed_read_is_retried_and_a_repeated_write_takes_effect_once() {
    let fixture = GithubFixture::new();
    fixture.github.fail_next("GET pulls/1", Fault::Unavailable);
    fixture.github.fail_next("GET pulls/1", Fault::Cut(FaultTiming::BeforeEffect));
    assert_eq!(fixture.call("github_get_pr", json!({ "pr_number": 1 })).unwrap()["number"], 1);

    for tool in ["github_create_branch", "github_create_pr"] {
        let (_, arguments) =
            valid_writing_calls().into_iter().find(|(name, _)| *name == tool).unwrap();
        let fixture = GithubFixture::new();
        fixture.github.add_branch(REPO, "other", &sha("other"));
        fixture.github.fail_next("POST", Fault::Cut(FaultTiming::AfterEffect));
        let refusal = fixture.call(tool, arguments.clone()).unwrap_err();
        assert!(refusal.contains(" may have "), "{refusal}");
        fixture.call(tool, arguments).unwrap();
        assert_eq!(fixture.written_bodies().len(), 1, "{tool}");
    }
}
