//! Pull requests, their diffs and branches.

use std::fmt::Write as _;
use std::time::Duration;

use assay_testkit::github::{NewPull, sha};
use assay_testkit::web::ServiceRequest;
use serde_json::{Value, json};

use super::{DIFF, REPO, answer_text, ask, ask_with, github};

#[test]
fn a_pull_request_is_returned_in_full() {
    let github = github();
    let (status, pull) = ask(&github, "GET", "/pulls/1", Value::Null);
    assert_eq!(status, 200);
    assert_eq!(pull["head"]["sha"], sha("head"));
    assert_eq!(pull["head"]["repo"]["full_name"], REPO);
    assert_eq!(pull["html_url"], "https://github.com/octo/demo/pull/1");
    assert_eq!((&pull["additions"], &pull["changed_files"]), (&json!(4), &json!(3)));
    assert_eq!(pull, github.pull(REPO, 1));
    assert_eq!(answer_text(&ask(&github, "GET", "/pulls/2", Value::Null)), "404 Not Found");
    assert_eq!(answer_text(&ask(&github, "GET", "/pulls/x", Value::Null)), "404 Not Found");
    assert_eq!(ask(&github, "GET", "", Value::Null).1["default_branch"], "main");
}

#[test]
fn a_list_is_filtered_and_sorted() {
    let github = github();
    let minute = || github.clock().advance(Duration::from_secs(60));
    minute();
    let mut fork = NewPull::new("fox", "topic", &sha("fork"), DIFF);
    fork.head_repo = Some("fox/demo".to_owned());
    github.open_pull(REPO, fork);
    minute();
    github.open_pull(REPO, NewPull::new("ann", "third", &sha("third"), DIFF));
    minute();
    github.set_labels(REPO, 1, &["ready"]);
    github.merge(REPO, 3);
    let list = |query: &str| {
        let (status, pulls) = ask(&github, "GET", &format!("/pulls{query}"), Value::Null);
        assert_eq!(status, 200);
        let numbers = pulls.as_array().unwrap().iter().map(|it| it["number"].to_string());
        numbers.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(list(""), "2 1");
    assert_eq!(list("?state=all"), "3 2 1");
    assert_eq!(list("?state=closed"), "3");
    assert_eq!(list("?state=all&direction=asc"), "1 2 3");
    assert_eq!(list("?sort=updated&direction=desc"), "1 2");
    assert_eq!(list("?head=fox:topic"), "2");
    assert_eq!(list("?head=octo%3Atopic"), "1");
    assert_eq!(list("?base=other"), "");
    assert_eq!(list("?state=all&per_page=2&page=2"), "1");
    assert_eq!(ask(&github, "GET", "/pulls?state=draft", Value::Null).0, 422);
}

#[test]
fn an_unchanged_list_answers_304_and_does_not_count_against_the_rate_limit() {
    let github = github();
    let path = format!("/repos/{REPO}/pulls");
    let first = ask_with(&github, &path, &[]);
    let tag = first.header("etag").unwrap().to_owned();
    let again = ask_with(&github, &path, &[("if-none-match", &tag)]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(first.header("x-ratelimit-remaining"), Some("4999"));
    assert_eq!(again.header("x-ratelimit-remaining"), Some("4999"));
    github.set_labels(REPO, 1, &["new"]);
    assert_eq!(ask_with(&github, &path, &[("if-none-match", &tag)]).status, 200);
}

#[test]
fn a_diff_is_returned_verbatim_unless_it_is_too_large() {
    let github = github();
    let accept = [("Accept", "application/vnd.github.diff")];
    let get = |number: u64| ask_with(&github, &format!("/repos/{REPO}/pulls/{number}"), &accept);
    assert_eq!(get(1).body, DIFF.as_bytes());
    let file = |number: usize, lines: usize, width: usize| {
        let added = format!("+{}\n", "x".repeat(width)).repeat(lines);
        format!("--- /dev/null\n+++ b/f{number}\n@@ -0,0 +1,{lines} @@\n{added}")
    };
    let files = |count: usize| (0..count).map(|it| file(it, 1, 1)).collect::<String>();
    let diffs = [files(300), files(301), file(0, 20_001, 1), file(0, 2, 500_000)];
    let mut answer_text = String::new();
    for (number, diff) in diffs.iter().enumerate() {
        let head = sha(&number.to_string());
        let number = github.open_pull(REPO, NewPull::new("ann", "big", &head, diff));
        let answer = get(number);
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let code = body["errors"][0]["code"].as_str().unwrap_or("-");
        writeln!(answer_text, "{} {code}", answer.status).unwrap();
    }
    assert_eq!(answer_text, "200 -\n406 too_large\n406 too_large\n406 too_large\n");
}

#[test]
fn files_come_in_pages_and_big_ones_without_a_patch() {
    let github = github();
    let (_, files) = ask(&github, "GET", "/pulls/1/files", Value::Null);
    let file = |number: usize| (&files[number]["filename"], &files[number]["status"]);
    assert_eq!(file(0), (&json!("src/a.rs"), &json!("modified")));
    assert_eq!(file(1), (&json!("gone.txt"), &json!("removed")));
    assert_eq!(file(2), (&json!("a name.txt"), &json!("added")));
    assert_eq!(files[1]["patch"], "@@ -1 +0,0 @@\n-gone");

    let lines = "+x\n".repeat(3_001);
    let mut diff = format!("--- /dev/null\n+++ b/big\n@@ -0,0 +1,3001 @@\n{lines}");
    for number in 0..3_050 {
        let name = format!("f{number}");
        write!(diff, "diff --git a/{name} b/{name}\nrename from old\nrename to {name}\n").unwrap();
    }
    github.open_pull(REPO, NewPull::new("ann", "big", &sha("big"), &diff));
    let page = |page: usize| {
        let path = format!("/pulls/2/files?per_page=100&page={page}");
        ask(&github, "GET", &path, Value::Null).1.as_array().unwrap().clone()
    };
    assert!(page(1)[0].get("patch").is_none());
    assert_eq!(page(1)[1]["previous_filename"], "old");
    assert_eq!((page(30).len(), page(31).len()), (100, 0));
}

#[test]
fn a_pull_request_is_opened_once() {
    let github = github();
    github.add_commit(REPO, &sha("new"), DIFF);
    github.add_branch(REPO, "new", &sha("new"));
    github.add_branch(REPO, "same", &sha("main"));
    let open = |head: &str, base: &str| {
        let body = json!({ "title": "New", "head": head, "base": base, "body": "Why." });
        ask(&github, "POST", "/pulls", body)
    };
    let (status, made) = open("octo:new", "main");
    assert_eq!((status, &made["number"], &made["changed_files"]), (201, &json!(2), &json!(3)));
    let refused = [
        ("new", "main", "custom A pull request already exists for octo:new."),
        ("same", "main", "custom No commits between main and same"),
        ("main", "main", "custom No commits between main and main"),
        ("nowhere", "main", "invalid "),
        ("new", "nowhere", "invalid "),
    ];
    for (head, base, why) in refused {
        assert_eq!(answer_text(&open(head, base)), format!("422 Validation Failed / {why}"));
    }
    let untitled = ask(&github, "POST", "/pulls", json!({ "head": "new", "base": "main" }));
    assert_eq!(answer_text(&untitled), "422 Invalid request. \"title\" wasn't supplied.");
    assert_eq!(ask(&github, "PATCH", "/pulls/2", json!({ "state": "closed" })).0, 200);
    assert_eq!(open("new", "main").0, 201);
}

#[test]
fn a_pull_request_is_updated_with_valid_fields_only() {
    let github = github();
    let update = |body: Value| answer_text(&ask(&github, "PATCH", "/pulls/1", body));
    assert_eq!(update(json!({ "title": "Better", "body": "KEY-1" })), "200");
    let pull = github.pull(REPO, 1);
    assert_eq!((&pull["title"], &pull["body"]), (&json!("Better"), &json!("KEY-1")));
    let blank = "422 Invalid request. \"title\" cannot be blank.";
    assert_eq!(update(json!({ "title": "" })), blank);
    assert_eq!(update(json!({ "base": "nowhere" })), "422 Validation Failed / invalid ");
    let key = "422 Invalid request. \"label\" is not a permitted key.";
    assert_eq!(update(json!({ "label": "x" })), key);
    github.merge(REPO, 1);
    assert!(update(json!({ "state": "open" })).starts_with("422"));
}

#[test]
fn a_branch_is_created_only_at_an_existing_commit() {
    let github = github();
    let make = |reference: &str, commit: &str| {
        let body = json!({ "ref": reference, "sha": sha(commit) });
        answer_text(&ask(&github, "POST", "/git/refs", body))
    };
    assert_eq!(make("refs/heads/fix/one", "head"), "201");
    assert_eq!(make("refs/heads/fix/one", "head"), "422 Reference already exists");
    assert_eq!(make("refs/heads/two", "nothing"), "422 Object does not exist");
    assert_eq!(make("refs/heads/fix", "head"), "422 Reference cannot be created");
    assert_eq!(make("two", "head"), "422 two is not a valid ref name.");
    assert_eq!(make("refs/heads/a..b", "head"), "422 refs/heads/a..b is not a valid ref name.");
    for path in ["/git/ref/heads/fix/one", "/git/ref/heads%2Ffix%2Fone"] {
        let (status, made) = ask(&github, "GET", path, Value::Null);
        assert_eq!((status, &made["object"]["sha"]), (200, &json!(sha("head"))));
    }
    assert_eq!(
        answer_text(&ask(&github, "GET", "/git/ref/heads/two", Value::Null)),
        "404 Not Found"
    );
}

#[test]
fn unknown_and_revoked_tokens_are_refused_and_tokens_are_not_logged() {
    let github = github();
    let user = |token: &str| answer_text(&github.ask(token, "GET", "/user", &Value::Null));
    assert_eq!(user("t-rev"), "200");
    assert_eq!(user("wrong"), "401 Bad credentials");
    assert_eq!(user("t-app"), "403 Resource not accessible by integration");
    github.revoke("t-rev");
    assert_eq!(user("t-rev"), "401 Bad credentials");
    let elsewhere = github.ask("t-ann", "GET", "/repos/octo/other", &Value::Null);
    assert_eq!(answer_text(&elsewhere), "404 Not Found");
    let log = github.log();
    assert_eq!(log[0].login.as_deref(), Some("rev"));
    assert_eq!(log[1].login, None);
    let log = format!("{log:?} {github:?}");
    assert!(log.contains("/user") && !log.contains("t-rev"));
}

#[test]
fn a_request_with_invalid_headers_or_body_is_refused() {
    let github = github();
    let send = |fields: &[(&str, &str)], body: &str| {
        let headers = fields.iter().map(|&(name, value)| (name.into(), value.into()));
        let answer = github.answer(&ServiceRequest {
            method: "POST".to_owned(),
            target: format!("/repos/{REPO}/issues/1/comments"),
            headers: headers.collect(),
            body: body.as_bytes().to_vec(),
        });
        let answer = answer.unwrap();
        answer_text(&(answer.status, serde_json::from_slice(&answer.body).unwrap()))
    };
    let agent = ("User-Agent", "test");
    let token = ("authorization", "token t-rev");
    assert_eq!(send(&[agent, token], r#"{"body":"x"}"#), "201");
    assert_eq!(send(&[agent, token], r#"{"body":"#), "400 Problems parsing JSON");
    assert_eq!(send(&[agent, token], "[]"), "422 Invalid request. [] is not an object.");
    assert_eq!(send(&[agent], ""), "401 Requires authentication");
    assert!(send(&[token], "").starts_with("403 Request forbidden by administrative rules."));
    let version = ("X-GitHub-Api-Version", "2020-01-01");
    assert!(send(&[agent, token, version], "").starts_with("400"));
}
