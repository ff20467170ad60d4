//! Webhooks of GitHub about comments: which comments create a task, and which task.

use assay_testkit::webhook::issue_comment;

use super::*;

fn comment(number: u64, id: u64, body: &str) -> Value {
    issue_comment("created", "o/r", number, (id, "ann", body))
}

#[test]
fn a_comment_with_a_command_creates_one_task_without_a_request_to_github() {
    let server = HookServer::start();
    let body = comment(7, 4711, "Fine, but:\r\n\r\n/assay dismiss adac2644 only operators run it");
    let answer = server.deliver("d-1", "issue_comment", &body);
    assert_eq!(line(&answer), "202 queued");
    let task = server.queue.get(&"command-o.r-7-4711".parse().unwrap()).unwrap().task;
    assert_eq!(
        (task.kind.as_str(), task.created_by.as_str(), task.priority.get()),
        ("comment_command", "github webhook", 10)
    );
    assert_eq!(
        task.context["comment"],
        json!({ "id": 4711, "author": "ann", "commands": [{
            "command": "dismiss", "finding": "adac2644", "reason": "only operators run it",
        }] })
    );
    assert_eq!(server.requested_paths(), BTreeSet::new());
    check(
        &[
            ("again", server.deliver("d-1", "issue_comment", &body)),
            ("under another name", server.deliver("d-2", "issue_comment", &body)),
        ],
        expect![[r#"
            again -> 200 already_there: this delivery was already received
            under another name -> 200 already_there: task `command-o.r-7-4711` already exists (pending, in `qa`)
        "#]],
    );
    assert_eq!(server.tasks(), ["command-o.r-7-4711"]);
}

#[test]
fn comments_without_commands_to_carry_out_create_no_task() {
    let server = HookServer::start();
    let deliver = |body: Value| server.deliver("d", "issue_comment", &body);
    let by = |author: &str| issue_comment("created", "o/r", 7, (1, author, "/assay review"));
    let mut issue = comment(7, 1, "/assay review");
    issue["issue"].as_object_mut().unwrap().remove("pull_request");
    check(
        &[
            ("talk", deliver(comment(7, 1, "Looks good"))),
            ("a quote", deliver(comment(7, 1, "> /assay review\n\nWhy?"))),
            ("an issue", deliver(issue)),
            ("a bot", deliver(by("dependabot[bot]"))),
            ("edited", deliver(issue_comment("edited", "o/r", 7, (1, "ann", "/assay review")))),
            (
                "elsewhere",
                deliver(issue_comment("created", "o/other", 7, (1, "ann", "/assay review"))),
            ),
            ("an answer", deliver(comment(7, 1, "/assay review\n\n<!-- assay:answer 3 -->"))),
            ("no comment", deliver(json!({ "action": "created" }))),
        ],
        expect![[r#"
            talk -> 200 ignored: the comment has no command
            a quote -> 200 ignored: the comment has no command
            an issue -> 200 ignored: the comment is not on a pull request
            a bot -> 200 ignored: the comment is not by a person
            edited -> 200 ignored: only new comments are read
            elsewhere -> 200 ignored: `o/other` is not among `github.repositories`
            an answer -> 200 ignored: the comment is one of assay
            no comment -> 400 refused: the body is not an `issue_comment` event: missing field `issue` at line 1 column 20
        "#]],
    );
    assert_eq!(server.tasks(), [""; 0]);
    let unsigned = server.send(
        "/webhooks/github",
        &[("content-type", "application/json"), ("x-github-event", "issue_comment")],
        comment(7, 1, "/assay review").to_string().as_bytes(),
    );
    assert_eq!(unsigned.status, 401);
}
