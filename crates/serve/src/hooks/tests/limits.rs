//! Requests that are too large, too slow, or cannot be processed now.

use super::*;
use crate::hooks::limits::MAX_BODY;

#[test]
fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    let server = HookServer::start();
    let large = vec![b' '; MAX_BODY + 1];
    let declared = server.send("/webhooks/github", &[("content-length", "5242881")], b"");
    let chunk = [format!("{:x}\r\n", large.len()).as_bytes(), &large, b"\r\n0\r\n\r\n"].concat();
    let found = server.send("/webhooks/github", &[("transfer-encoding", "chunked")], &chunk);
    check(
        &[("declared", declared), ("found", found)],
        expect![[r#"
        declared -> 413 refused: the body has more than 5242880 bytes
        found -> 413 refused: the body has more than 5242880 bytes
    "#]],
    );
}

#[test]
fn slow_and_excess_deliveries_are_refused() {
    let limited =
        |limit: fn(&mut Limits)| HookServer::within(TempDir::new().unwrap(), |_| {}, limit);
    let slow = limited(|limits| limits.body_within = Duration::from_millis(20));
    let crowded = limited(|limits| limits.deliveries = Semaphore::new(0));
    let slow = slow.send("/webhooks/github", &[("content-length", "100")], b"{");
    let crowded = crowded.deliver_opened(7);
    assert!(crowded.head.contains("retry-after: 10"), "{}", crowded.head);
    check(
        &[("slow", slow), ("one too many", crowded)],
        expect![[r#"
        slow -> 408 refused: timeout while reading the body
        one too many -> 503 come_again: too many concurrent deliveries
    "#]],
    );
}

#[test]
fn a_delivery_to_a_full_queue_is_answered_with_503_until_there_is_room() {
    let server = HookServer::start();
    for number in 1..=5 {
        assert_eq!(server.deliver_opened(number).status, 202);
    }
    let full = server.deliver_opened(6);
    assert!(full.head.contains("retry-after: 10"), "{}", full.head);
    assert_eq!(server.deliver_opened(1).status, 200);
    check(
        &[("full", full)],
        expect![[r#"
        full -> 503 come_again: queue `qa` is full: at most 5 tasks may wait; let agents complete some, cancel some, or raise `safeguards.max_queue_size`
    "#]],
    );
    let first = server.tasks()[0].parse().unwrap();
    server.queue.cancel(&first, "somebody").unwrap();
    assert_eq!(server.deliver_opened(6).status, 202);
}

#[test]
fn an_unwritable_queue_is_answered_with_503_without_its_path() {
    let server = HookServer::start();
    // The folder of the queues is replaced by a file.
    let folder = server.folder.path().join("queue/queues");
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "").unwrap();
    let answer = server.deliver_opened(7);
    assert!(answer.head.contains("retry-after: 10"), "{}", answer.head);
    check(
        &[("broken", answer)],
        expect![[r#"
        broken -> 503 come_again: cannot write to the queue; see the log of the server
    "#]],
    );
    let log = server.log.lock().unwrap().join("\n");
    assert!(log.starts_with("cannot write to the queue: cannot access `/"), "{log}");
}

#[test]
fn an_endpoint_without_configuration_answers_503() {
    let server = HookServer::with(|context| {
        context.github.secret = None;
        context.jira.secret = None;
        context.pulls = None;
    });
    let asks = [("authorization", "Bearer 0123456789abcdef")];
    let github = server.deliver_opened(7);
    let jira = server.send("/webhooks/jira?token=x", &[], b"{}");
    let queue = server.send("/queue", &asks, br#"{"pr":7}"#);
    let nowhere = HookServer::with(|context| context.github.repositories.clear());
    check(
        &[
            ("github", github),
            ("jira", jira),
            ("queue", queue),
            ("no repositories, github", nowhere.deliver_opened(7)),
            ("no repositories, queue", nowhere.send("/queue", &asks, br#"{"pr":7}"#)),
        ],
        expect![[r#"
            github -> 503 refused: not configured: the secret of the GitHub webhook is missing
            jira -> 503 refused: not configured: the token of the JIRA webhook is missing
            queue -> 503 refused: not configured: pull requests cannot be looked up without access to GitHub
            no repositories, github -> 503 refused: not configured: `github.repositories` is empty
            no repositories, queue -> 503 refused: not configured: `github.repositories` is empty
        "#]],
    );
}

#[test]
fn a_stopped_server_keeps_accepted_tasks_and_refuses_connections() {
    let mut server = HookServer::start();
    let mut early = webhook::Connection::open(&server.address).unwrap();
    let body = pull_request("opened", "o/r", 7, &commit(1)).to_string();
    let first = webhook::deliver(&mut early, SECRET, "d", "pull_request", body.as_bytes());
    assert_eq!(first.unwrap().status, 202);
    server.stop();
    assert!(webhook::Connection::open(&server.address).is_err());
    assert_eq!(server.tasks().len(), 1);
}
