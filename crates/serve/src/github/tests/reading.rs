//! Tools that read, with complete and with truncated results.

use super::*;

#[test]
fn a_pull_request_is_returned_by_number_and_by_branch() {
    let fixture = GithubFixture::with(|pull| NewPull {
        title: "[PROJ-1] Add a".to_owned(),
        body: Some("Adds a.".to_owned()),
        labels: vec!["ready".to_owned()],
        ..pull
    });
    let answer =
        fixture.call("github_get_pr", json!({ "pr_number": 1, "repo": "OCTO/demo" })).unwrap();
    check(
        &answer,
        &expect![[r#"
        {
          "number": 1,
          "title": "[PROJ-1] Add a",
          "body": "Adds a.",
          "state": "open",
          "draft": false,
          "author": "ann",
          "branch": "feature",
          "from_fork": false,
          "head_commit": "0bd3c853b83a9fd6d07e228e276e99e199580b07",
          "base": "main",
          "labels": [
            "ready"
          ],
          "url": "https://github.com/octo/demo/pull/1"
        }"#]],
    );
    let same = fixture.call("github_get_pr_by_branch", json!({ "branch": "feature" })).unwrap();
    assert_eq!(same, answer);
    let refusal = fixture.refusal("github_get_pr_by_branch", json!({ "branch": "fature" }));
    assert_eq!(refusal, "`octo/demo` has no pull request of branch `fature`");
}

#[test]
fn a_merged_pull_request_of_a_fork_is_reported_as_merged_and_from_a_fork() {
    let fixture = GithubFixture::with(|pull| NewPull {
        head_repo: Some("ann/demo".to_owned()),
        draft: true,
        ..pull
    });
    fixture.github.merge(REPO, fixture.number);
    let answer = fixture.call("github_get_pr", json!({ "pr_number": 1 })).unwrap();
    let said = (&answer["state"], &answer["from_fork"], &answer["draft"]);
    assert_eq!(said, (&json!("merged"), &json!(true), &json!(true)));
}

#[test]
fn long_texts_of_a_pull_request_are_truncated_with_a_marker() {
    let fixture = GithubFixture::with(|pull| NewPull {
        title: "t".repeat(1_000),
        body: Some("ä".repeat(60_000)),
        labels: (0..300).map(|number| format!("{number}{}", "l".repeat(1_000))).collect(),
        ..pull
    });
    let answer = fixture.call("github_get_pr", json!({ "pr_number": 1 })).unwrap();
    let body = answer["body"].as_str().unwrap();
    assert!(body.ends_with("ää… (104000 more bytes)"), "{}", &body[body.len() - 60..]);
    assert_eq!(answer["labels"].as_array().unwrap().len(), 100);
    assert!(answer.to_string().len() < 60_000, "{}", answer.to_string().len());
}

#[test]
fn a_diff_is_given_whole_and_a_huge_one_in_parts() {
    let fixture = GithubFixture::new();
    let answer = fixture.call("github_get_pr_diff", json!({ "pr_number": 1 })).unwrap();
    assert_eq!(answer["diff"], diff(2, 10));
    assert_eq!((answer.get("next_offset"), &answer["without_diff"]), (None, &json!([])));

    // GitHub itself does not return a diff with so many files at once.
    let huge = GithubFixture::with(|pull| NewPull { diff: diff(310, 60), ..pull });
    let (mut whole, mut offset, mut parts) = (String::new(), json!(0), 0);
    while !offset.is_null() {
        let arguments = json!({ "pr_number": 1, "offset": offset });
        let answer = huge.call("github_get_pr_diff", arguments).unwrap();
        assert!(answer.to_string().len() < 130_000, "{}", answer.to_string().len());
        whole.push_str(answer["diff"].as_str().unwrap());
        (offset, parts) = (answer["next_offset"].clone(), parts + 1);
    }
    assert_eq!(whole.matches("diff --git").count(), 310);
    assert_eq!(whole.matches("+line 60\n").count(), 310);
    assert!(parts > 1);
}

#[test]
fn a_file_without_a_diff_is_named() {
    let large: String = (0..21_000).map(|line| format!("+{line}\n")).collect();
    let large = format!(
        "diff --git a/large.txt b/large.txt\nnew file mode 100644\n--- /dev/null\n+++ b/large.txt\n\
         @@ -0,0 +1,21000 @@\n{large}"
    );
    let fixture =
        GithubFixture::with(|pull| NewPull { diff: format!("{}{large}", diff(1, 1)), ..pull });
    let answer = fixture.call("github_get_pr_diff", json!({ "pr_number": 1 })).unwrap();
    check(
        &answer,
        &expect![[r#"
            {
              "diff": "diff --git a/src/1.rs b/src/1.rs\n--- /dev/null\n+++ b/src/1.rs\n@@ -0,0 +1,1 @@\n+line 1\n",
              "total_bytes": 86,
              "without_diff": [
                "large.txt"
              ]
            }"#]],
    );
}

#[test]
fn comments_are_returned_with_their_file_and_line() {
    let fixture = GithubFixture::new();
    let arguments = json!({ "pr_number": 1, "body": "Why?", "path": "src/1.rs", "line": 3 });
    let posted = fixture.call("github_add_pr_comment", arguments).unwrap();
    let reply = format!("/repos/{REPO}/pulls/1/comments/{}/replies", posted["id"]);
    fixture.github.ask("t-ann", "POST", &reply, &json!({ "body": "It has to." }));
    fixture.call("github_add_pr_comment", json!({ "pr_number": 1, "body": "Thanks." })).unwrap();
    let said = json!({ "pr_number": 1, "event": "COMMENT", "body": "Almost." });
    fixture.call("github_submit_review", said).unwrap();
    let answer = fixture.call("github_get_pr_comments", json!({ "pr_number": 1 })).unwrap();
    check(
        &answer,
        &expect![[r#"
            {
              "reviews": [
                {
                  "id": 1012,
                  "author": "assay-bot",
                  "state": "COMMENTED",
                  "commit": "0bd3c853b83a9fd6d07e228e276e99e199580b07",
                  "body": "Almost.",
                  "url": "https://github.com/octo/demo/pull/1#pullrequestreview-1012"
                }
              ],
              "on_lines": [
                {
                  "id": 1008,
                  "author": "assay-bot",
                  "path": "src/1.rs",
                  "line": 3,
                  "body": "Why?",
                  "url": "https://github.com/octo/demo/pull/1#discussion_r1008"
                },
                {
                  "id": 1010,
                  "author": "ann",
                  "path": "src/1.rs",
                  "line": 3,
                  "in_reply_to": 1008,
                  "body": "It has to.",
                  "url": "https://github.com/octo/demo/pull/1#discussion_r1010"
                }
              ],
              "below": [
                {
                  "id": 1011,
                  "author": "assay-bot",
                  "body": "Thanks.",
                  "url": "https://github.com/octo/demo/pull/1#issuecomment-1011"
                }
              ],
              "more": false
            }"#]],
    );
}

#[test]
fn many_comments_come_in_parts_and_none_is_lost() {
    let fixture = GithubFixture::new();
    for number in 0..300 {
        fixture.github.clock().advance(Duration::from_secs(10));
        let body = json!({ "body": format!("{number}: {}", "word ".repeat(2_000)) });
        let path = format!("/repos/{REPO}/issues/1/comments");
        assert_eq!(fixture.github.ask("t-ann", "POST", &path, &body).0, 201);
    }
    let (mut seen, mut offset) = (Vec::new(), json!(0));
    while !offset.is_null() {
        let arguments = json!({ "pr_number": 1, "offset": offset });
        let answer = fixture.call("github_get_pr_comments", arguments).unwrap();
        assert!(answer.to_string().len() < 101_000, "{}", answer.to_string().len());
        assert_eq!(answer["more"], false);
        let below = answer["below"].as_array().unwrap();
        seen.extend(below.iter().map(|comment| comment["id"].as_u64().unwrap()));
        offset = answer["next_offset"].clone();
    }
    let there: Vec<u64> =
        fixture.github.comments(REPO, 1).iter().map(|comment| comment.id).collect();
    assert_eq!(seen, there);
    let arguments = json!({ "pr_number": 1, "offset": 9_999 });
    let answer = fixture.call("github_get_pr_comments", arguments).unwrap();
    assert_eq!(answer, json!({ "reviews": [], "on_lines": [], "below": [], "more": false }));
}

#[test]
fn check_runs_are_returned_for_a_pull_request_and_for_a_commit() {
    let fixture = GithubFixture::new();
    let run = json!({
        "name": "n".repeat(2_000), "head_sha": sha("head 1"), "status": "completed",
        "conclusion": "failure", "output": { "title": "t", "summary": "s" },
    });
    let path = format!("/repos/{REPO}/check-runs");
    assert_eq!(fixture.github.ask("t-ci", "POST", &path, &run).0, 201);
    let answer = fixture.call("github_get_check_runs", json!({ "pr_number": 1 })).unwrap();
    let run = &answer["check_runs"][0];
    assert_eq!((&run["status"], &run["conclusion"]), (&json!("completed"), &json!("failure")));
    assert!(run["name"].as_str().unwrap().ends_with("n… (1700 more bytes)"), "{run}");
    let same = fixture.call("github_get_check_runs", json!({ "ref": sha("head 1") })).unwrap();
    assert_eq!(same, answer);
    for arguments in [json!({}), json!({ "pr_number": 1, "ref": "main" })] {
        let refusal = fixture.call("github_get_check_runs", arguments).unwrap_err();
        assert_eq!(refusal, "give either `pr_number` or `ref`");
    }
}
