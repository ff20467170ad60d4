//! Tools that write: each effect happens once, at the right place.

use assay_services::jira::document;

use super::*;

#[test]
fn a_review_and_its_line_comments_are_sent_in_one_request() {
    let fixture = GithubFixture::new();
    let comments = json!([
        { "path": "src/1.rs", "line": 3, "body": "Wrong." },
        { "path": "src/2.rs", "start_line": 2, "line": 4, "body": "Long." },
        { "path": "src/2.rs", "start_line": 5, "line": 5, "body": "One line is one line." },
    ]);
    let answer = fixture.call("github_submit_review", review(comments)).unwrap();
    assert_eq!(answer["state"], "CHANGES_REQUESTED");
    expect![[r#"
        src/1.rs:3
          assay-bot: Wrong.
        src/2.rs:2-4
          assay-bot: Long.
        src/2.rs:5
          assay-bot: One line is one line.
        review, changes requested at 0bd3c85
          assay-bot: Not yet.
    "#]]
    .assert_eq(&fixture.github.visible(REPO, 1));
    assert_eq!(fixture.written_bodies().len(), 1);
}

#[test]
fn a_review_with_a_line_outside_the_diff_is_refused_with_the_remedy() {
    let fixture = GithubFixture::new();
    let comments = json!([
        { "path": "src/1.rs", "line": 3, "body": "Wrong." },
        { "path": "src/1.rs", "line": 30, "body": "Elsewhere." },
    ]);
    expect![
        "GitHub refused `POST /repos/octo/demo/pulls/1/reviews` with status 422: Unprocessable \
         Entity; Line could not be resolved. Nothing was sent. Each line must be in the diff, \
         which github_get_pr_diff returns; comment on other lines in `body`."
    ]
    .assert_eq(&fixture.refusal("github_submit_review", review(comments)));
    assert_eq!(fixture.github.visible(REPO, 1), "");
}

#[test]
fn an_approval_is_refused_for_every_caller_and_every_form_of_the_call() {
    let mut fixture = GithubFixture::new();
    let head = fixture.github.pull(REPO, 1)["head"]["sha"].as_str().unwrap().to_owned();
    let github = [Capability::WriteOnGithub, Capability::Push];
    for permit in [Permit::Person, Permit::agent("qa", github, [])] {
        fixture.permit = permit;
        for approval in [
            json!({ "pr_number": 1, "event": "APPROVE" }),
            json!({ "pr_number": 1, "event": "APPROVE", "head_commit": head }),
            json!({ "pr_number": 1, "event": "APPROVE", "head_commit": head, "body": "Ready." }),
        ] {
            let refusal = fixture.refusal("github_submit_review", approval);
            expect![
                "this tool cannot approve: an approval follows from a review by assay only. `assay \
                 review --pr octo/demo#1 --post` and tasks of type `review` approve if \
                 `github.when_ready: approve` is set, every required reader answered, a model read \
                 the change, and nothing is open at `should` or above. Nothing was sent; send \
                 COMMENT instead."
            ]
            .assert_eq(&refusal);
        }
    }
}

#[test]
fn a_review_of_another_commit_is_refused() {
    let fixture = GithubFixture::new();
    let mut stale = review(json!([]));
    stale["head_commit"] = json!(sha("another"));
    let stale = fixture.refusal("github_submit_review", stale);
    assert!(stale.contains("; nothing was sent"), "{stale}");
}

#[test]
fn comments_can_be_added_to_a_pull_request_a_file_and_lines() {
    let fixture = GithubFixture::new();
    let comment = |more: Value| {
        let mut arguments = json!({ "pr_number": 1, "body": "Hm." });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fixture.call("github_add_pr_comment", arguments)
    };
    comment(json!({})).unwrap();
    comment(json!({ "path": "src/1.rs" })).unwrap();
    comment(json!({ "path": "src/1.rs", "line": 2 })).unwrap();
    comment(json!({ "path": "src/1.rs", "start_line": 2, "line": 4 })).unwrap();
    expect![[r#"
        src/1.rs, file
          assay-bot: Hm.
        src/1.rs:2
          assay-bot: Hm.
        src/1.rs:2-4
          assay-bot: Hm.
        comment
          assay-bot: Hm.
    "#]]
    .assert_eq(&fixture.github.visible(REPO, 1));
    let refusals = [
        json!({ "line": 2 }),
        json!({ "start_line": 2 }),
        json!({ "path": "src/1.rs", "start_line": 2 }),
        json!({ "path": "src/1.rs", "start_line": 4, "line": 2 }),
        json!({ "path": "src/1.rs", "line": 11 }),
        json!({ "path": "src/9.rs" }),
    ];
    let before = fixture.written_bodies().len();
    let refusals: Vec<String> = refusals.map(|more| comment(more).unwrap_err()).into();
    assert_eq!(fixture.written_bodies().len(), before);
    expect![[r#"
        `line` and `start_line` need the `path` of their file
        `line` and `start_line` need the `path` of their file
        `start_line` requires `line`
        `start_line` must be before `line`
        GitHub refused `POST /repos/octo/demo/pulls/1/comments` with status 422: Validation Failed; Line could not be resolved
        GitHub refused `POST /repos/octo/demo/pulls/1/comments` with status 422: Validation Failed; path is not part of the diff"#]].assert_eq(&refusals.join("\n"));
}

#[test]
fn secrets_are_redacted_from_every_written_text() {
    let fixture = GithubFixture::new();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let body = format!("The key is {secret}.");
    fixture.github.add_branch(REPO, "other", &sha("other"));
    for (tool, arguments) in [
        ("github_add_pr_comment", json!({ "pr_number": 1, "body": body })),
        ("github_add_pr_comment", json!({ "pr_number": 1, "path": "src/1.rs", "body": body })),
        (
            "github_submit_review",
            json!({ "pr_number": 1, "event": "COMMENT", "body": body,
                "comments": [{ "path": "src/1.rs", "line": 1, "body": body }] }),
        ),
        ("github_create_pr", json!({ "title": body, "body": body, "head": "other" })),
        ("github_update_pr", json!({ "pr_number": 1, "title": body, "body": body })),
    ] {
        fixture.call(tool, arguments).unwrap();
    }
    let written = format!("{:?}", fixture.written_bodies());
    assert!(!written.contains(&secret), "{written}");
    assert_eq!(written.matches("The key is ").count(), 8, "{written}");
}

#[test]
fn a_branch_is_made_once_and_never_moved() {
    let fixture = GithubFixture::new();
    let made = fixture.call("github_create_branch", json!({ "branch": "fix/a" })).unwrap();
    assert_eq!(made, json!({ "branch": "fix/a", "commit": sha("main") }));
    assert_eq!(fixture.call("github_create_branch", json!({ "branch": "fix/a" })), Ok(made));
    assert_eq!(fixture.written_bodies().len(), 1);
    let from = json!({ "branch": "fix/b", "from": "feature" });
    let made = fixture.call("github_create_branch", from).unwrap();
    assert_eq!(made["commit"], sha("head 1"));
    let refused = |arguments| fixture.call("github_create_branch", arguments).unwrap_err();
    let refusals = [
        refused(json!({ "branch": "fix/b" })),
        refused(json!({ "branch": "fix/c", "from": "nowhere" })),
        refused(json!({ "branch": "a..b" })),
    ];
    assert_eq!(fixture.written_bodies().len(), 2);
    expect![[r#"
        branch `fix/b` already exists, at 0bd3c853b83a9fd6d07e228e276e99e199580b07: use it, or choose another name
        unknown branch `nowhere` in `octo/demo`
        GitHub refused `POST /repos/octo/demo/git/refs` with status 422: refs/heads/a..b is not a valid ref name."#]].assert_eq(&refusals.join("\n"));
}

#[test]
fn a_pull_request_is_opened_once() {
    let fixture = GithubFixture::new();
    fixture.github.add_branch(REPO, "other", &sha("other"));
    let arguments = json!({ "title": "Other", "body": "It is.", "head": "other", "draft": true });
    let opened = fixture.call("github_create_pr", arguments.clone()).unwrap();
    let fields = (&opened["number"], &opened["base"], &opened["draft"]);
    assert_eq!(fields, (&json!(2), &json!("main"), &json!(true)));
    assert_eq!(fixture.call("github_create_pr", arguments), Ok(opened));
    assert_eq!(fixture.written_bodies().len(), 1);
    let refused = |head: &str| {
        let arguments = json!({ "title": "Other", "head": head });
        fixture.call("github_create_pr", arguments).unwrap_err()
    };
    expect![[r#"
        GitHub refused `POST /repos/octo/demo/pulls` with status 422: Validation Failed;
        GitHub refused `POST /repos/octo/demo/pulls` with status 422: Validation Failed; No commits between main and main"#]].assert_eq(&[refused("nowhere"), refused("main")].join("\n"));
}

#[test]
fn an_update_changes_only_the_given_fields_of_a_pull_request() {
    let fixture = GithubFixture::with(|pull| NewPull { body: Some("Old.".to_owned()), ..pull });
    fixture.github.add_branch(REPO, "next", &sha("next"));
    let change = |arguments: Value| fixture.call("github_update_pr", arguments).unwrap();
    let answer = change(json!({ "pr_number": 1, "title": "New" }));
    assert_eq!((&answer["title"], &answer["body"]), (&json!("New"), &json!("Old.")));
    let answer = change(json!({ "pr_number": 1, "body": "", "base": "next", "state": "closed" }));
    let fields = (&answer["title"], &answer["body"], &answer["base"], &answer["state"]);
    assert_eq!(fields, (&json!("New"), &json!(""), &json!("next"), &json!("closed")));
    assert_eq!(change(json!({ "pr_number": 1, "state": "open" }))["state"], "open");
    let refusal = fixture.call("github_update_pr", json!({ "pr_number": 1 })).unwrap_err();
    assert_eq!(refusal, "nothing to change: give `title`, `body`, `base` or `state`");
}

#[test]
fn a_pull_request_and_its_ticket_are_linked_once() {
    let mut fixture =
        GithubFixture::with(|pull| NewPull { body: Some("Adds a.\r\n".to_owned()), ..pull });
    let link = json!({ "pr_number": 1, "jira_key": "PROJ-1" });
    let answer = fixture.call("github_link_pr_to_jira", link.clone()).unwrap();
    let fields = (&answer["pull_request_changed"], &answer["ticket_told"]);
    assert_eq!(fields, (&json!(true), &json!(false)));
    assert_eq!(fixture.github.pull(REPO, 1)["body"], "Adds a.\n\nJIRA: PROJ-1");
    let answer = fixture.call("github_link_pr_to_jira", link.clone()).unwrap();
    assert_eq!(answer["pull_request_changed"], false);
    assert_eq!(fixture.written_bodies().len(), 1);

    let jira = FakeJira::cloud();
    fixture.tickets = Some(test_clients::jira(&jira));
    let refusal = fixture.call("github_link_pr_to_jira", link.clone()).unwrap_err();
    let expected = "JIRA refused `GET /rest/api/3/issue/PROJ-1/comment` with status 404: ";
    assert!(refusal.starts_with(expected), "{refusal}");
    jira.add("Task", "Add a");
    for _ in 0..2 {
        let answer = fixture.call("github_link_pr_to_jira", link.clone()).unwrap();
        assert_eq!(answer["ticket_told"], true);
    }
    assert_eq!(fixture.written_bodies().len(), 2);
    let pull = fixture.github.pull(REPO, 1);
    let comments = jira.comments("PROJ-1");
    let [comment] = &comments[..] else { panic!("{comments:?}") };
    let (comment, url) = (document::read(comment), pull["html_url"].as_str().unwrap());
    assert!(comment.starts_with(&format!("Pull request: {url}\nassay:")), "{comment}");
    let place = fixture.tickets.as_ref().unwrap().url_of(&"PROJ-1".parse().unwrap());
    let body = pull["body"].as_str().unwrap();
    assert!(body.ends_with(&format!("\n\nJIRA: [PROJ-1]({place})")), "{body}");
}
