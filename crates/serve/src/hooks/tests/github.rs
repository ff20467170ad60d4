//! Webhooks of GitHub: authentication, and the tasks that they create.

use super::*;

#[test]
fn an_opened_pull_request_creates_a_review_task_with_its_ticket_commit_and_url() {
    let server = HookServer::start();
    let answer = server.deliver_opened(7);
    assert_eq!(answer.status, 202, "{}", answer.body);
    let id = format!("review-o.r-7-main-{}", commit(1));
    assert_eq!(answer.json(), json!({ "task": id, "state": "queued", "reason": null }));
    let task = server.queue.get(&id.parse().unwrap()).unwrap().task;
    assert_eq!(
        (task.title.as_str(), task.created_by.as_str()),
        ("Review PR #7 - Add a login", "github webhook")
    );
    assert_eq!(task.context["jira_key"], "PROJ-123");
    assert_eq!(task.context["head_commit"], commit(1));
    assert_eq!(task.context["pr_url"], "https://github.com/o/r/pull/7");
    let log = server.log.lock().unwrap().join("\n");
    assert_eq!(log, format!("github: 202 queued: {id} (delivery d-7)"));
}

#[test]
fn a_delivery_without_a_valid_github_signature_is_refused() {
    let server = HookServer::start();
    let body = pull_request("opened", "o/r", 7, &commit(1)).to_string();
    let good = signature(SECRET, body.as_bytes());
    let sha1 = format!("sha1={}", &good[7..47]);
    let (upper, cut) = (good.replace("sha", "SHA"), &good[..60]);
    let other = signature("another secret of theirs", body.as_bytes());
    let send = |headers: &[(&str, &str)]| {
        let rest = [("content-type", "application/json"), ("x-github-event", "pull_request")];
        let headers: Vec<_> = headers.iter().chain(&rest).copied().collect();
        server.send("/webhooks/github", &headers, body.as_bytes())
    };
    let new = "x-hub-signature-256";
    check(
        &[
            ("nothing", send(&[])),
            ("the old one alone", send(&[("x-hub-signature", &sha1)])),
            ("the old one as the new one", send(&[(new, &sha1)])),
            ("upper case", send(&[(new, &upper)])),
            ("cut off", send(&[(new, cut)])),
            ("twice", send(&[(new, &good), (new, &good)])),
            ("another secret", send(&[(new, &other)])),
            ("the token of the server", send(&[("authorization", "Bearer 0123456789abcdef")])),
        ],
        expect![[r#"
            nothing -> 401 refused: invalid signature in `X-Hub-Signature-256`: it is missing
            the old one alone -> 401 refused: invalid signature in `X-Hub-Signature-256`: it is missing
            the old one as the new one -> 401 refused: invalid signature in `X-Hub-Signature-256`: expected `sha256=` and 64 hexadecimal digits
            upper case -> 401 refused: invalid signature in `X-Hub-Signature-256`: expected `sha256=` and 64 hexadecimal digits
            cut off -> 401 refused: invalid signature in `X-Hub-Signature-256`: expected `sha256=` and 64 hexadecimal digits
            twice -> 401 refused: invalid signature in `X-Hub-Signature-256`: it is present more than once
            another secret -> 401 refused: invalid signature in `X-Hub-Signature-256`: it is of another secret or another body
            the token of the server -> 401 refused: invalid signature in `X-Hub-Signature-256`: it is missing
        "#]],
    );
    assert_eq!(server.tasks(), [""; 0]);
    assert_eq!(send(&[(new, &good)]).status, 202);
}

#[test]
fn events_that_start_no_review_create_no_task() {
    let server = HookServer::start();
    let deliver = |event: &str, body: Value| server.deliver("d", event, &body);
    let with = |action: &str, key: &str, value: Value| {
        let mut body = pull_request(action, "o/r", 7, &commit(1));
        body["pull_request"][key] = value;
        body
    };
    let plain = |action: &str| pull_request(action, "o/r", 7, &commit(1));
    check(
        &[
            ("ping", deliver("ping", json!({ "zen": "Keep it logically awesome." }))),
            ("push", deliver("push", json!({}))),
            ("closed", deliver("pull_request", plain("closed"))),
            ("edited", deliver("pull_request", plain("edited"))),
            ("labeled", deliver("pull_request", plain("labeled"))),
            ("a draft", deliver("pull_request", with("opened", "draft", json!(true)))),
            (
                "closed and pushed to",
                deliver("pull_request", with("synchronize", "state", json!("closed"))),
            ),
            (
                "elsewhere",
                deliver("pull_request", pull_request("opened", "o/other", 7, &commit(1))),
            ),
        ],
        expect![[r#"
            ping -> 200 ignored: pong: the webhook is set up
            push -> 200 ignored: only `pull_request` and `issue_comment` events create tasks
            closed -> 200 ignored: the action `closed` starts no review
            edited -> 200 ignored: the action `edited` starts no review
            labeled -> 200 ignored: the action `labeled` starts no review
            a draft -> 200 ignored: the pull request is a draft
            closed and pushed to -> 200 ignored: the pull request is closed
            elsewhere -> 200 ignored: `o/other` is not among `github.repositories`
        "#]],
    );
    assert_eq!(server.tasks(), [""; 0]);
    let mut heads = 1..;
    for action in ["opened", "reopened", "synchronize", "ready_for_review"] {
        // The case of a repository's name does not matter.
        let body = pull_request(action, "O/R", 7, &commit(heads.next().unwrap()));
        assert_eq!(deliver("pull_request", body).status, 202, "{action}");
    }
    assert_eq!(server.tasks().len(), 4);
}

#[test]
fn a_pull_request_with_a_changed_base_branch_is_reviewed_again() {
    let server = HookServer::start();
    assert_eq!(server.deliver_opened(7).status, 202);
    let mut body = pull_request("edited", "o/r", 7, &commit(1));
    body["changes"] = json!({ "title": { "from": "Add a lock" } });
    assert_eq!(server.deliver("d-8", "pull_request", &body).json()["state"], "ignored");
    body["changes"] = json!({ "base": { "ref": { "from": "main" } } });
    body["pull_request"]["base"]["ref"] = json!("release");
    let answer = server.deliver("d-9", "pull_request", &body);
    let id = format!("review-o.r-7-release-{}", commit(1));
    assert_eq!(answer.json(), json!({ "task": id, "state": "queued", "reason": null }));
}

#[test]
fn a_pull_request_retargeted_back_to_its_first_base_branch_is_reviewed_again() {
    let server = HookServer::start();
    let first = server.deliver_opened(7).json()["task"].as_str().unwrap().to_owned();
    let mut body = pull_request("edited", "o/r", 7, &commit(1));
    body["changes"] = json!({ "base": { "ref": { "from": "release" } } });
    body["pull_request"]["updated_at"] = json!("2026-02-03T10:00:00Z");
    let waits = server.deliver("d-8", "pull_request", &body).json();
    assert_eq!((&waits["task"], &waits["state"]), (&json!(first), &json!("already_there")));
    server.complete(&first);
    let again = server.deliver("d-9", "pull_request", &body).json();
    assert_eq!(again["state"], "queued");
    assert_ne!(again["task"], json!(first));
    let redelivered = server.deliver("d-9", "pull_request", &body).json();
    assert_eq!(redelivered["state"], "already_there");
    body["pull_request"]["updated_at"] = json!("2026-02-03T11:00:00Z");
    assert_eq!(server.deliver("d-10", "pull_request", &body).json()["state"], "queued");
    // Opening the pull request again, or pushing the same commit, is not a new event.
    body["action"] = json!("synchronize");
    assert_eq!(server.deliver("d-11", "pull_request", &body).json()["state"], "already_there");
}

#[test]
fn a_ticket_is_taken_only_from_own_branches_and_forks_of_members() {
    let server = HookServer::start();
    let ticket = |number: u64, fork: Value, association: &str| {
        let mut body = pull_request("opened", "o/r", number, &commit(1));
        body["pull_request"]["head"]["repo"] = fork;
        body["pull_request"]["author_association"] = json!(association);
        let answer = server.deliver(&format!("d-{number}"), "pull_request", &body).json();
        let task = server.queue.get(&answer["task"].as_str().unwrap().parse().unwrap()).unwrap();
        task.task.context.get("jira_key").cloned()
    };
    let fork = json!({ "full_name": "somebody/r" });
    let own = json!({ "full_name": "O/R" });
    assert_eq!(ticket(1, own, "NONE"), Some(json!("PROJ-123")), "its branch names it");
    assert_eq!(ticket(2, fork.clone(), "MEMBER"), Some(json!("PROJ-123")));
    assert_eq!(ticket(3, fork.clone(), "CONTRIBUTOR"), None);
    assert_eq!(ticket(4, fork, "SOMETHING_NEW"), None);
    assert_eq!(ticket(5, Value::Null, "FIRST_TIMER"), None);
}

#[test]
fn with_required_labels_only_a_labelled_pull_request_creates_a_task() {
    let server =
        HookServer::with(|context| context.github.labels = vec!["Ready".into(), "now".into()]);
    let deliver = |action: &str, labels: Value, label: Value| {
        let mut body = pull_request(action, "o/r", 7, &commit(1));
        body["pull_request"]["labels"] = labels;
        body["label"] = label;
        server.deliver("d", "pull_request", &body)
    };
    let (ready, bug) = (json!({ "name": "ready" }), json!({ "name": "bug" }));
    check(
        &[
            ("opened without", deliver("opened", json!([bug]), Value::Null)),
            ("another label", deliver("labeled", json!([bug, ready]), bug.clone())),
            ("the label", deliver("labeled", json!([bug, ready]), ready.clone())),
            ("pushed to with it", deliver("synchronize", json!([bug, ready]), Value::Null)),
        ],
        expect![[r#"
            opened without -> 200 ignored: the pull request has no label `Ready`, `now`
            another label -> 200 ignored: the action `labeled` starts no review
            the label -> 202 queued
            pushed to with it -> 200 already_there: this delivery was already received
        "#]],
    );
}

#[test]
fn a_redelivery_creates_no_second_task_even_after_the_task_was_deleted() {
    let mut server = HookServer::start();
    let first = server.deliver_opened(7).json()["task"].as_str().unwrap().to_owned();
    let again = server.deliver_opened(7);
    let body = pull_request("opened", "o/r", 7, &commit(1));
    let other_name = server.deliver("other", "pull_request", &body);
    check(
        &[("again", again), ("under another name", other_name)],
        expect![[r#"
        again -> 200 already_there: this delivery was already received
        under another name -> 200 already_there: task `review-o.r-7-main-0000000000000000000000000000000000000001` already exists (pending, in `qa`)
    "#]],
    );
    server.stop();
    // A person removed the task.
    let file = server.folder.path().join(format!("queue/queues/qa/{first}.json"));
    std::fs::remove_file(file).unwrap();
    let folder = std::mem::replace(&mut server.folder, TempDir::new().unwrap());
    let server = HookServer::within(folder, |_| {}, |_| {});
    assert_eq!(
        line(&server.deliver_opened(7)),
        "200 already_there: this delivery was already received"
    );
    assert_eq!(server.tasks(), [""; 0]);
    // The id of a delivery suppresses no other task, since it is not signed.
    let body = pull_request("synchronize", "o/r", 7, &commit(2));
    assert_eq!(server.deliver("d-7", "pull_request", &body).status, 202);
}
