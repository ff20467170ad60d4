//! Threads of a pull request after its head moves.

use assay_testkit::github::sha;
use expect_test::expect;
use serde_json::json;

use super::{DIFF, REPO, answer_text, ask, github, review};

#[test]
fn a_thread_follows_its_line_or_is_outdated() {
    let github = github();
    let comments = json!([
        { "path": "src/a.rs", "line": 2, "body": "stays" },
        { "path": "src/a.rs", "line": 3, "start_line": 2, "body": "goes" },
        { "path": "src/a.rs", "line": 22, "body": "moves" },
        { "path": "gone.txt", "line": 1, "side": "LEFT", "body": "file goes" },
    ]);
    assert_eq!(ask(&github, "POST", "/pulls/1/reviews", review(comments)).0, 200);
    let diff = "\
--- a/src/a.rs
+++ b/src/a.rs
@@ -1,4 +1,4 @@
 one
-two
+zwei
 three
 four
@@ -20,3 +20,4 @@ fn last() {
 twenty
-twenty-one
+more
+einundzwanzig
 twenty-two
";
    github.move_head(REPO, 1, &sha("next"), diff);
    expect![[r#"
        src/a.rs:2
          rev: stays
        src/a.rs, outdated
          rev: goes
        src/a.rs:22
          rev: moves
        gone.txt, left, outdated
          rev: file goes
        review, commented at 23e3ae7
          rev: Look here.
    "#]]
    .assert_eq(&github.visible(REPO, 1));
    assert_eq!(github.branch(REPO, "topic"), Some(sha("next")));

    let old = json!({ "event": "COMMENT", "body": "x", "commit_id": sha("head") });
    let got = ask(&github, "POST", "/pulls/1/reviews", old.clone());
    let other = "422 Unprocessable Entity /  Commit is not part of the pull request";
    assert_eq!(answer_text(&got), other);
    github.add_ancestor(REPO, 1, &sha("head"), DIFF);
    assert_eq!(ask(&github, "POST", "/pulls/1/reviews", old).0, 200);
}

#[test]
fn a_comment_on_an_older_commit_is_outdated_if_its_line_has_changed() {
    let github = github();
    github.move_head(REPO, 1, &sha("next"), &DIFF.replace("+drei", "+trois"));
    github.add_ancestor(REPO, 1, &sha("head"), DIFF);
    let comment = json!({
        "path": "src/a.rs", "line": 3, "body": "Late.", "commit_id": sha("head"),
    });
    let (status, made) = ask(&github, "POST", "/pulls/1/comments", comment);
    assert_eq!((status, &made["line"], &made["original_line"]), (201, &json!(null), &json!(3)));
    assert_eq!(github.visible(REPO, 1), "src/a.rs, outdated\n  rev: Late.\n");
}
