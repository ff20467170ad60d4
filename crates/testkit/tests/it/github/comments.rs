//! Single comments.

use assay_testkit::github::sha;
use expect_test::expect;
use serde_json::{Value, json};

use super::{REPO, answer_text, ask, github};

#[test]
fn comments_are_posted_on_lines_on_files_and_as_replies() {
    let github = github();
    let comment = |fields: Value| {
        let mut body = json!({ "commit_id": sha("head"), "path": "src/a.rs", "body": "Hm." });
        for (name, value) in fields.as_object().unwrap() {
            body[name] = value.clone();
        }
        ask(&github, "POST", "/pulls/1/comments", body)
    };
    let (status, first) = comment(json!({ "line": 2 }));
    assert_eq!(status, 201);
    assert_eq!(comment(json!({ "subject_type": "file" })).0, 201);
    let (status, reply) = comment(json!({ "in_reply_to": first["id"], "body": "Ah." }));
    assert_eq!((status, &reply["in_reply_to_id"]), (201, &first["id"]));
    let replies = format!("/pulls/1/comments/{}/replies", first["id"]);
    assert_eq!(ask(&github, "POST", &replies, json!({ "body": "Oh." })).0, 201);
    expect![[r#"
        src/a.rs:2
          rev: Hm.
          rev: Ah.
          rev: Oh.
        src/a.rs, file
          rev: Hm.
    "#]]
    .assert_eq(&github.visible(REPO, 1));

    let (_, all) = ask(&github, "GET", "/pulls/1/comments", Value::Null);
    let bodies: Vec<&Value> = all.as_array().unwrap().iter().map(|it| &it["body"]).collect();
    assert_eq!(bodies, ["Hm.", "Hm.", "Ah.", "Oh."]);
    // Each comment is in a review without a text.
    assert_eq!(github.reviews(REPO, 1).len(), 4);

    let refused = [
        (json!({ "line": 9 }), "custom Line could not be resolved"),
        (json!({ "in_reply_to": reply["id"] }), "custom in_reply_to is not the first comment"),
        (json!({ "subject_type": "file", "line": 2 }), "custom line is not permitted"),
        (json!({ "subject_type": "file", "path": "b.rs" }), "custom path is not part of the diff"),
        (json!({ "line": 2, "commit_id": sha("x") }), "custom commit_id is not part of the pull"),
        (json!({ "line": 2, "body": "x".repeat(65_537) }), "custom body is too long"),
    ];
    for (fields, why) in refused {
        let got = comment(fields);
        let answer_text = answer_text(&got);
        assert!(
            answer_text.starts_with(&format!("422 Validation Failed / {why}")),
            "{answer_text}"
        );
    }
}

#[test]
fn an_issue_comment_is_edited_by_its_author_only() {
    let github = github();
    let (status, made) = ask(&github, "POST", "/issues/1/comments", json!({ "body": "Sum." }));
    assert_eq!(status, 201);
    let path = format!("/repos/{REPO}/issues/comments/{}", made["id"]);
    let edit = |token: &str, body: &str| {
        answer_text(&github.ask(token, "PATCH", &path, &json!({ "body": body })))
    };
    assert_eq!(edit("t-ann", "Mine."), "403 Resource not accessible by integration");
    assert_eq!(edit("t-rev", ""), "422 Invalid request. \"body\" cannot be blank.");
    assert_eq!(edit("t-rev", "Better."), "200");
    assert_eq!(github.visible(REPO, 1), "comment\n  rev: Better.\n");
    assert_eq!(github.bodies(REPO, 1), ["Better."]);
    let nowhere = ask(&github, "PATCH", "/issues/comments/7", json!({ "body": "x" }));
    assert_eq!(answer_text(&nowhere), "404 Not Found");
    let nowhere = ask(&github, "POST", "/issues/9/comments", json!({ "body": "x" }));
    assert_eq!(answer_text(&nowhere), "404 Not Found");
}

#[test]
fn comments_come_in_pages() {
    let github = github();
    for number in 0..5 {
        let body = json!({ "body": format!("c{number}") });
        assert_eq!(ask(&github, "POST", "/issues/1/comments", body).0, 201);
    }
    let page = |target: &str| {
        let answer = super::ask_with(&github, target, &[]);
        let items: Value = serde_json::from_slice(&answer.body).unwrap();
        let bodies: Vec<String> = items
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["body"].as_str().unwrap().to_owned())
            .collect();
        (bodies.join(" "), answer.header("link").map(str::to_owned))
    };
    let path = format!("/repos/{REPO}/issues/1/comments?per_page=2");
    let (bodies, link) = page(&path);
    assert_eq!(bodies, "c0 c1");
    expect![[r#"<https://api.github.com/repos/octo/demo/issues/1/comments?per_page=2&page=2>; rel="next", <https://api.github.com/repos/octo/demo/issues/1/comments?per_page=2&page=3>; rel="last""#]]
        .assert_eq(&link.unwrap());
    let (bodies, link) = page(&format!("{path}&page=3"));
    assert_eq!(bodies, "c4");
    assert!(!link.unwrap().contains("next"));
    assert_eq!(page(&format!("{path}&page=9")).0, "");
}

#[test]
fn a_reaction_is_added_once_by_each_user() {
    let github = github();
    let id = github.add_comment(REPO, 1, "ann", "/assay help");
    let path = format!("/issues/comments/{id}/reactions");
    let react = |content: Value| ask(&github, "POST", &path, json!({ "content": content }));
    let (status, first) = react(json!("confused"));
    assert_eq!((status, &first["user"]["login"]), (201, &json!("rev")));
    assert_eq!(react(json!("confused")), (200, first));
    assert_eq!(react(json!("eyes")).0, 201);
    assert_eq!(github.reactions(REPO, 1, id), ["rev: confused", "rev: eyes"]);
    let (_, all) = ask(&github, "GET", &path, Value::Null);
    assert_eq!(all.as_array().unwrap().len(), 2);
    assert_eq!(react(json!("shrug")).0, 422);
    assert_eq!(react(Value::Null).0, 422);
    let nowhere =
        ask(&github, "POST", "/issues/comments/1/reactions", json!({ "content": "eyes" }));
    assert_eq!(nowhere.0, 404);
}

#[test]
fn the_permission_of_a_user_is_the_base_role_and_the_role() {
    let github = github();
    github.add_stranger("mallory");
    github.add_comment(REPO, 1, "mallory", "Hi.");
    for (login, role) in [("cas", "maintain"), ("tim", "triage"), ("eve", "none"), ("ada", "admin")]
    {
        github.set_role(login, role);
    }
    let permission = |login: &str| {
        let path = format!("/collaborators/{login}/permission");
        let (status, answer) = ask(&github, "GET", &path, Value::Null);
        format!("{status} {} {}", answer["permission"], answer["role_name"])
    };
    let logins = ["octo", "ann", "ANN", "mallory", "cas", "tim", "eve", "ada", "nobody"];
    let lines: String = logins.iter().map(|it| format!("{it}: {}\n", permission(it))).collect();
    expect![[r#"
        octo: 200 "admin" "admin"
        ann: 200 "write" "write"
        ANN: 200 "write" "write"
        mallory: 200 "read" "read"
        cas: 200 "write" "maintain"
        tim: 200 "read" "triage"
        eve: 200 "none" "none"
        ada: 200 "admin" "admin"
        nobody: 404 null null
    "#]]
    .assert_eq(&lines);
}
