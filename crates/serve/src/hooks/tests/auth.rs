//! Host names, and the readiness of the server.

use super::*;

#[test]
fn only_requests_for_allowed_host_names_are_accepted() {
    let server = HookServer::start();
    let under = |host: &str| {
        let body = pull_request("opened", "o/r", 7, &commit(1)).to_string();
        let signature = signature(SECRET, body.as_bytes());
        let headers = [
            ("host", host),
            ("content-type", "application/json"),
            ("x-github-event", "pull_request"),
            ("x-hub-signature-256", &signature),
        ];
        server.send("/webhooks/github", &headers, body.as_bytes()).status
    };
    assert_eq!(under("evil.example"), 421);
    assert_eq!(under("box.example.evil.example:80"), 421);
    assert_eq!(under("Box.example:8787"), 202);
    assert_eq!(under("[::1]:8787"), 200);
    assert_eq!(under("localhost"), 200);
}

#[test]
fn the_readiness_endpoint_fails_while_the_queue_is_unreadable_and_health_does_not() {
    let server = HookServer::start();
    let get = |path: &str| {
        let answer = webhook::send(&server.address, "GET", path, &[("host", "10.0.0.1")], b"");
        let answer = answer.unwrap();
        (answer.status, answer.body)
    };
    assert_eq!(get("/healthz"), (200, "ok\n".into()));
    assert_eq!(get("/readyz"), (200, "ready\n".into()));
    // Only these two answer to any host name.
    assert_eq!(get("/nowhere").0, 421);
    let queues = server.folder.path().join("queue/queues");
    std::fs::rename(&queues, queues.with_extension("away")).unwrap();
    std::fs::write(&queues, "").unwrap();
    assert_eq!(get("/readyz"), (503, "cannot read the queue\n".into()));
    assert_eq!(get("/healthz").0, 200);
    let wrong = webhook::send(&server.address, "GET", "/webhooks/github", &[], b"").unwrap();
    assert_eq!(wrong.status, 405);
}
