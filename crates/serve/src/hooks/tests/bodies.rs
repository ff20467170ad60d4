//! Malformed bodies.

use super::*;

#[test]
fn a_malformed_body_is_refused_with_the_reason() {
    let server = HookServer::start();
    let signed = |kind: &str, event: Option<&str>, body: &str| {
        let signature = signature(SECRET, body.as_bytes());
        let mut headers = vec![("content-type", kind), ("x-hub-signature-256", signature.as_str())];
        headers.extend(event.map(|event| ("x-github-event", event)));
        server.send("/webhooks/github", &headers, body.as_bytes())
    };
    let (json, pulls) = ("application/json; charset=utf-8", Some("pull_request"));
    let without = |key: &str| {
        let mut body = pull_request("opened", "o/r", 7, &commit(1));
        body["pull_request"].as_object_mut().unwrap().remove(key);
        body.to_string()
    };
    let head = pull_request("opened", "o/r", 7, "HEAD").to_string();
    let form = "payload=%7B%7D";
    check(
        &[
            ("a form", signed("application/x-www-form-urlencoded", pulls, form)),
            ("no event", signed(json, None, &without("body"))),
            ("nothing", signed(json, pulls, "")),
            ("a list", signed(json, pulls, "[]")),
            ("no head", signed(json, pulls, &without("head"))),
            ("no commit", signed(json, pulls, &head)),
            ("no repository", signed(json, pulls, &head.replace("o/r", "o/../r"))),
            ("deep", signed(json, pulls, &"[".repeat(100_000))),
        ],
        expect![[r#"
            a form -> 415 refused: unsupported content type: set the webhook to `application/json`
            no event -> 400 refused: missing header `X-GitHub-Event`
            nothing -> 400 refused: the body is not a `pull_request` event: EOF while parsing a value at line 1 column 0
            a list -> 400 refused: the body is not a `pull_request` event: invalid length 0, expected an object at line 1 column 2
            no head -> 400 refused: the body is not a `pull_request` event: missing field `head` at line 1 column 3756
            no commit -> 400 refused: invalid commit "HEAD": expected 40 or 64 hexadecimal digits
            no repository -> 400 refused: invalid repository "o/../r": expected `owner/name`
            deep -> 400 refused: the body is not a `pull_request` event: invalid type: sequence, expected a string at line 1 column 1
        "#]],
    );
    let log = server.log.lock().unwrap().join("\n");
    assert!(!log.contains("HEAD") && log.ends_with("github: 400 refused"), "{log}");
    let fine = signed(json, pulls, &without("title").replace("feature/PROJ-123", "x"));
    assert_eq!(fine.status, 202, "{}", fine.body);
}

/// Generates bodies of all kinds: random bytes, and real bodies with some bytes changed or cut off.
fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let real = [
        pull_request("opened", "o/r", 7, &commit(1)).to_string(),
        json!({ "issue": { "key": "PROJ-1", "fields": { "status": { "name": "Code Review" } } } })
            .to_string(),
        json!({ "agent_id": "qa", "pr": "7", "repo": "o/r", "head": commit(7) }).to_string(),
    ];
    let changed = (select(real.to_vec()), vec((any::<Index>(), any::<u8>()), 0..8), any::<Index>());
    let changed = changed.prop_map(|(real, changes, end)| {
        let mut bytes = real.into_bytes();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let end = end.index(4 * bytes.len());
        bytes.truncate(end);
        bytes
    });
    prop_oneof![vec(any::<u8>(), 0..400), changed]
}

#[test]
fn no_authenticated_body_crashes_the_server() {
    let (folder, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let queue = Arc::new(queue_with_room_for(100_000, &other));
    let server = HookServer::within(folder, |context| context.queue = queue, |_| {});
    let connection = RefCell::new(webhook::Connection::open(&server.address).unwrap());
    let mut runner = TestRunner::new(Config { cases: 300, ..Config::default() });
    let checked = runner.run(&bodies(), |body| {
        let mut connection = connection.borrow_mut();
        let github = webhook::deliver(&mut connection, SECRET, "d", "pull_request", &body);
        let jira =
            connection.send("POST", "/webhooks/jira", &[("x-assay-token", JIRA_TOKEN)], &body);
        let token = ("authorization", "Bearer 0123456789abcdef");
        let queue = connection.send("POST", "/queue", &[token], &body);
        for answer in [github, jira, queue] {
            let status = answer.map_err(|error| TestCaseError::fail(error.to_string()))?.status;
            prop_assert!([200, 202, 400, 404, 409, 422].contains(&status), "{status}");
        }
        Ok(())
    });
    checked.unwrap();
}
