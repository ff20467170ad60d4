//! Reviews: posted completely or not at all.

use assay_testkit::github::{Access, sha};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{REPO, answer_text, ask, github, review};

/// Posts a review as `rev`, and compares the visible text of the pull request.
#[track_caller]
fn check(body: Value, expected: Expect) {
    let github = github();
    let got = ask(&github, "POST", "/pulls/1/reviews", body);
    expected.assert_eq(&format!("{}\n{}", answer_text(&got), github.visible(REPO, 1)));
}

/// Posts a review with one comment, whose fields are given.
#[track_caller]
fn check_comment(fields: Value, expected: &str) {
    let github = github();
    let mut comment = json!({ "path": "src/a.rs", "body": "Why?" });
    for (name, value) in fields.as_object().unwrap() {
        comment[name] = value.clone();
    }
    let good = json!({ "path": "src/a.rs", "line": 2, "body": "This one is good." });
    let got = ask(&github, "POST", "/pulls/1/reviews", review(json!([good, comment])));
    let threads = github.threads(REPO, 1);
    assert_eq!(threads.len(), if got.0 == 200 { 2 } else { 0 });
    assert_eq!(answer_text(&got), expected);
}

#[test]
fn a_review_is_posted_with_its_comments() {
    check(
        json!({
            "commit_id": sha("head"), "body": "Two things.\nSee below.", "event": "REQUEST_CHANGES",
            "comments": [
                { "path": "src/a.rs", "line": 3, "side": "RIGHT", "start_line": 2,
                  "start_side": "RIGHT", "body": "```suggestion\nx\n```" },
                { "path": "gone.txt", "line": 1, "side": "LEFT", "body": "Why is it gone?" },
            ],
        }),
        expect![[r#"
            200
            src/a.rs:2-3
              rev: ```suggestion
                x
                ```
            gone.txt:1, left
              rev: Why is it gone?
            review, changes requested at 23e3ae7
              rev: Two things.
                See below.
        "#]],
    );
}

#[test]
fn a_comment_on_a_line_outside_of_the_hunks_is_refused() {
    let unresolved = "422 Unprocessable Entity /  Line could not be resolved";
    check_comment(json!({ "line": 6 }), unresolved);
    check_comment(json!({ "line": 0 }), unresolved);
    check_comment(json!({}), unresolved);
    check_comment(json!({ "line": 5 }), "200");
    check_comment(json!({ "line": 23 }), "200");
    check_comment(json!({ "path": "a name.txt", "line": 1 }), "200");
    let path = "422 Unprocessable Entity /  Path could not be resolved";
    check_comment(json!({ "path": "src/b.rs", "line": 1 }), path);
}

#[test]
fn comments_on_removed_lines_use_the_left_side_and_others_the_right() {
    let unresolved = "422 Unprocessable Entity /  Line could not be resolved";
    check_comment(json!({ "line": 2, "side": "LEFT" }), "200");
    check_comment(json!({ "line": 1, "side": "LEFT" }), unresolved);
    check_comment(json!({ "line": 4, "side": "RIGHT" }), "200");
    check_comment(json!({ "path": "gone.txt", "line": 1 }), unresolved);
    let side = "For 'properties/side', \"right\" is not a member of [\"LEFT\",\"RIGHT\"].";
    let github = github();
    let comment = json!([{ "path": "src/a.rs", "body": "x", "line": 2, "side": "right" }]);
    let got = ask(&github, "POST", "/pulls/1/reviews", review(comment));
    assert_eq!(answer_text(&got), format!("422 Invalid request. {side}"));
}

#[test]
fn a_comment_on_several_lines_must_be_in_one_hunk_and_in_order() {
    check_comment(json!({ "start_line": 1, "line": 5 }), "200");
    let order = "422 Unprocessable Entity /  Start line must precede the end line";
    check_comment(json!({ "start_line": 5, "line": 5 }), order);
    check_comment(json!({ "start_line": 5, "line": 4 }), order);
    let hunk = "422 Unprocessable Entity /  Start line must be part of the same hunk as the line";
    check_comment(json!({ "start_line": 5, "line": 21 }), hunk);
    let unresolved = "422 Unprocessable Entity /  Start line could not be resolved";
    check_comment(json!({ "start_line": 6, "line": 21 }), unresolved);
    check_comment(json!({ "start_side": "RIGHT", "line": 2 }), unresolved);
}

#[test]
fn a_suggestion_on_the_left_side_is_refused() {
    let wrong =
        "422 Unprocessable Entity /  Suggestions can only be made on the right side of the diff";
    let body = "````suggestion\nx\n````";
    check_comment(json!({ "line": 2, "side": "LEFT", "body": body }), wrong);
    let mixed = json!({ "line": 3, "start_line": 2, "start_side": "LEFT", "body": body });
    check_comment(mixed, wrong);
    check_comment(json!({ "line": 2, "body": body }), "200");
    check_comment(json!({ "line": 2, "side": "LEFT", "body": "A suggestion: `x`" }), "200");
}

#[test]
fn a_comment_with_unknown_or_invalid_fields_is_refused() {
    let key = |name: &str| format!("422 Invalid request. \"{name}\" is not a permitted key.");
    for (name, value) in [("subject_type", json!("file")), ("position", json!(1))] {
        let github = github();
        let mut comment = json!({ "path": "src/a.rs", "body": "x", "line": 2 });
        comment[name] = value;
        let got = ask(&github, "POST", "/pulls/1/reviews", review(json!([comment])));
        assert_eq!(answer_text(&got), key(name));
    }
    check_comment(
        json!({ "line": "2" }),
        r#"422 Invalid request. For 'properties/line', "2" is not an integer."#,
    );
    check_comment(
        json!({ "line": 2, "body": " " }),
        r#"422 Invalid request. "body" cannot be blank."#,
    );
}

#[test]
fn a_review_needs_a_body_unless_it_approves() {
    for event in ["COMMENT", "REQUEST_CHANGES"] {
        let blank = expect![[r#"
            422 Unprocessable Entity /  Body cannot be blank
        "#]];
        check(json!({ "event": event, "body": " " }), blank);
    }
    check(
        json!({ "event": "APPROVE" }),
        expect![[r#"
            200
            review, approved at 23e3ae7
              rev:
        "#]],
    );
}

#[test]
fn an_author_cannot_approve_or_request_changes_on_their_own_pull_request() {
    let github = github();
    let judge = |event: &str| {
        let body = json!({ "event": event, "body": "x" });
        answer_text(&github.ask("t-ann", "POST", &format!("/repos/{REPO}/pulls/1/reviews"), &body))
    };
    let own = "422 Unprocessable Entity /  Can not";
    assert_eq!(judge("APPROVE"), format!("{own} approve your own pull request"));
    assert_eq!(judge("REQUEST_CHANGES"), format!("{own} request changes on your own pull request"));
    assert_eq!(judge("COMMENT"), "200");
}

#[test]
fn a_body_has_at_most_65536_characters() {
    let post = |body: Value| answer_text(&ask(&github(), "POST", "/pulls/1/reviews", body));
    let long = |count: usize| json!({ "event": "COMMENT", "body": "ü".repeat(count) });
    assert_eq!(post(long(65_536)), "200");
    assert!(post(long(65_537)).contains("Body is too long (maximum is 65536 characters)"));
    let comment = json!([{ "path": "src/a.rs", "line": 2, "body": "x".repeat(65_537) }]);
    assert!(post(review(comment)).contains("Body is too long (maximum is 65536 characters)"));
}

#[test]
fn a_review_has_at_most_a_hundred_comments() {
    let post = |count: usize| {
        let comment = json!({ "path": "src/a.rs", "line": 2, "body": "x" });
        ask(&github(), "POST", "/pulls/1/reviews", review(json!(vec![comment; count]))).0
    };
    assert_eq!(post(100), 200);
    assert_eq!(post(101), 422);
}

#[test]
fn a_review_of_a_commit_outside_of_the_pull_request_is_refused() {
    let github = github();
    let post = |commit: &str| {
        let body = json!({ "event": "COMMENT", "body": "x", "commit_id": commit });
        answer_text(&ask(&github, "POST", "/pulls/1/reviews", body))
    };
    let other = "422 Unprocessable Entity /  Commit is not part of the pull request";
    assert_eq!(post(&sha("older")), other);
    github.add_ancestor(REPO, 1, &sha("older"), super::DIFF);
    assert_eq!(post(&sha("older")), "200");
    assert_eq!(post(&sha("head")), "200");
}

#[test]
fn a_pending_review_is_visible_to_its_author_only_and_blocks_a_second_one() {
    let github = github();
    let comment = json!([{ "path": "src/a.rs", "line": 2, "body": "x" }]);
    let pending = json!({ "body": "x", "comments": comment });
    let (status, made) = ask(&github, "POST", "/pulls/1/reviews", pending.clone());
    assert_eq!((status, &made["state"]), (200, &json!("PENDING")));
    assert_eq!(github.visible(REPO, 1), "");
    let again =
        "422 Unprocessable Entity /  User can only have one pending review per pull request";
    assert_eq!(answer_text(&ask(&github, "POST", "/pulls/1/reviews", pending)), again);
    let list = |token: &str| {
        let reviews =
            github.ask(token, "GET", &format!("/repos/{REPO}/pulls/1/reviews"), &Value::Null);
        reviews.1.as_array().unwrap().len()
    };
    assert_eq!((list("t-rev"), list("t-ann")), (1, 0));
}

#[test]
fn a_read_only_token_cannot_post_a_review() {
    let github = github();
    github.add_token("fork", "t-fork", Access::Read);
    let path = format!("/repos/{REPO}/pulls/1/reviews");
    let got = github.ask("t-fork", "POST", &path, &json!({ "event": "APPROVE" }));
    assert_eq!(answer_text(&got), "403 Resource not accessible by integration");
    assert_eq!(github.ask("t-fork", "GET", &path, &Value::Null), (200, json!([])));
}
