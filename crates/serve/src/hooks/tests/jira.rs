//! Webhooks of JIRA.

use assay_services::jira::document;

use super::*;

#[test]
fn a_ticket_in_the_review_status_queues_a_review_of_its_pull_request() {
    let server = HookServer::start();
    let token = [("x-assay-token", JIRA_TOKEN)];
    let send = |body: Value| server.send("/webhooks/jira", &token, body.to_string().as_bytes());
    let issue = |key: &str, status: &str| {
        json!({
            "webhookEvent": "jira:issue_updated", "timestamp": 1,
            "issue": { "id": "1", "key": key, "fields": { "status": { "name": status, "id": "3" } } },
        })
    };
    check(
        &[
            ("another status", send(issue("PROJ-1", "In Progress"))),
            ("the status", send(issue("PROJ-1", "code review"))),
            ("a rule's own words", send(json!({ "issue": { "key": "PROJ-1" } }))),
            ("fewer words", send(json!({ "key": "PROJ-1", "status": "Code Review" }))),
            ("fewer words, another status", send(json!({ "key": "PROJ-1", "status": "Done" }))),
            ("none", send(issue("PROJ-9", "Code Review"))),
            ("none again", send(issue("PROJ-9", "Code Review"))),
            ("no ticket", send(issue("../x", "Code Review"))),
            ("nothing", send(json!({}))),
            ("a list", send(json!([]))),
        ],
        expect![[r#"
            another status -> 200 ignored: the status of `PROJ-1` is not `Code Review`
            the status -> 202 queued
            a rule's own words -> 200 already_there: task `review-o.r-7-main-0000000000000000000000000000000000000007` already exists (pending, in `qa`)
            fewer words -> 200 already_there: task `review-o.r-7-main-0000000000000000000000000000000000000007` already exists (pending, in `qa`)
            fewer words, another status -> 200 ignored: the status of `PROJ-1` is not `Code Review`
            none -> 200 ignored: No review was queued: no open pull request names PROJ-9 in its branch or its title; forks of outside authors do not count.
            none again -> 200 ignored: No review was queued: no open pull request names PROJ-9 in its branch or its title; forks of outside authors do not count.
            no ticket -> 400 refused: invalid ticket key "../x": expected a key such as `PROJ-123`
            nothing -> 400 refused: the body has no `issue.key` and no `key`
            a list -> 400 refused: the body has no `issue.key` and no `key`
        "#]],
    );
    let both =
        HookServer::with(|context| context.github.repositories.push("o/second".parse().unwrap()));
    let body = issue("PROJ-2", "Code Review").to_string();
    let several = both.send("/webhooks/jira", &token, body.as_bytes());
    check(
        &[("several", several)],
        expect![[r#"
        several -> 200 ignored: No review was queued: 2 open pull requests name PROJ-2 (o/r#8, o/second#9). Queue the intended one.
    "#]],
    );
    let comments = |server: &HookServer| {
        let of =
            |key: String| server.jira.comments(&key).into_iter().map(move |it| (key.clone(), it));
        let all = server.jira.keys().into_iter().flat_map(of);
        all.map(|(key, comment)| format!("{key}: {}", document::read(&comment))).collect::<String>()
    };
    expect![[r#"
        PROJ-9: No review was queued: no open pull request names PROJ-9 in its branch or its title; forks of outside authors do not count.
        assay:assay-no-pull-request"#]]
    .assert_eq(&comments(&server));
    expect![[r#"
        PROJ-2: No review was queued: 2 open pull requests name PROJ-2 (o/r#8, o/second#9). Queue the intended one.
        assay:26db39c0668cb8049aa247fd26062d8c"#]].assert_eq(&comments(&both));
    assert_eq!(server.requested_paths(), BTreeSet::from(["/repos/o/r/pulls".to_owned()]));
    assert_eq!(server.tasks().len(), 1);
    assert_eq!(both.tasks().len(), 0);
}

#[test]
fn a_jira_webhook_is_authenticated_by_a_token_or_a_signature() {
    let server = HookServer::start();
    let body = br#"{"key":"PROJ-1"}"#;
    let signed = signature(JIRA_TOKEN, body);
    let other = signature(SECRET, body);
    let bearer = format!("Bearer {JIRA_TOKEN}");
    let send = |path: &str, headers: &[(&str, &str)]| server.send(path, headers, body).status;
    let jira = "/webhooks/jira";
    assert_eq!(send(jira, &[]), 401);
    assert_eq!(send(jira, &[("x-assay-token", "a+word/for=jira-0124")]), 401);
    assert_eq!(send("/webhooks/jira?token=a%2Bword%2Ffor%3Djira-012", &[]), 401);
    assert_eq!(send("/webhooks/jira?token=%zz%", &[("x-hub-signature", &signed)]), 401);
    assert_eq!(send(jira, &[("x-hub-signature", &other)]), 401);
    assert_eq!(send(jira, &[("authorization", "Bearer 0123456789abcdef")]), 401);
    assert_eq!(server.tasks(), [""; 0]);
    assert_eq!(send(jira, &[("x-assay-token", JIRA_TOKEN)]), 202);
    assert_eq!(send(jira, &[("authorization", &bearer)]), 200);
    assert_eq!(send(jira, &[("x-hub-signature", &signed)]), 200);
    assert_eq!(send("/webhooks/jira?a=b&token=a%2Bword%2ffor=jira-0123", &[]), 200);
    let log = server.log.lock().unwrap().join("\n");
    assert!(!log.contains("jira-012"), "{log}");
}
