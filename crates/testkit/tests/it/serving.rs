//! The requests that the server stores, and the end of its connections and threads.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay_testkit::model::{
    Answer, FakeModel, Fault, FixedAnswer, Options, Pause, PromptRequest, Script,
};

use crate::{ALL, CHAT, MESSAGES, ask, body, connect, read, request};

#[test]
fn a_received_request_is_recorded_byte_for_byte() {
    let server = FakeModel::start(FixedAnswer("x".to_owned()));
    let sent = request(CHAT, &body(CHAT, "ünï \" secret", false).to_string())
        .replace("host: x", "X-Odd:  Kept As It Is");
    read(connect(&server, &sent));
    ask(&server, "/v1/unknown", &serde_json::json!({}));
    let requests = server.wait_for(2);
    assert_eq!([&requests[0].head[..], &requests[0].body].concat(), sent.as_bytes());
    assert_eq!((requests[0].status, requests[0].refused.as_deref()), (200, None));
    assert_eq!(requests[1].status, 404);
}

#[test]
fn a_connection_serves_several_requests_in_sequence() {
    let server = FakeModel::start(FixedAnswer("x".to_owned()));
    let last = request(CHAT, &body(CHAT, "two", true).to_string());
    let first = request(CHAT, &body(CHAT, "one", false).to_string());
    let mut stream = connect(&server, &first.replace("connection: close\r\n", ""));
    server.wait_for(1);
    stream.write_all(last.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 2);
    assert!(text.ends_with("0\r\n\r\n"));
}

#[test]
fn a_configured_api_key_is_required() {
    let options = Options { key: Some("k1".to_owned()), ..Options::default() };
    let server = FakeModel::start_with(options, FixedAnswer("x".to_owned())).unwrap();
    for path in ALL {
        let sent = request(path, &body(path, "hello", false).to_string());
        let with = |field: &str| {
            read(connect(&server, &sent.replace("host: x", &format!("host: x\r\n{field}")))).status
        };
        assert_eq!(with("x-other: k1"), 401);
        assert_eq!(with("Authorization: Bearer k2"), 401);
        assert_eq!(with("Authorization: Bearer k1"), 200);
        assert_eq!(with("X-Api-Key: k1"), if path == MESSAGES { 200 } else { 401 });
    }
}

#[test]
fn dropping_the_server_ends_a_delay() {
    let server = FakeModel::start(|_: &PromptRequest| Answer {
        delay: Duration::from_secs(3600),
        ..Answer::text("x")
    });
    let client = connect(&server, &request(CHAT, &body(CHAT, "hello", false).to_string()));
    server.wait_for(1);
    drop(server);
    assert_eq!(read(client).status, 0);
}

#[test]
fn a_client_disconnect_ends_a_hang() {
    let script_data = Arc::new(Mutex::new(()));
    let held = Arc::clone(&script_data);
    let hang = Fault::Hang(Pause::BeforeHead);
    let script = move |_: &PromptRequest| {
        let _held = &held;
        Answer::fault(hang.clone())
    };
    let server = FakeModel::start(script.with_fault(.., Fault::Hang(Pause::AfterHead)));
    let client = connect(&server, &request(CHAT, &body(CHAT, "hello", false).to_string()));
    server.wait_for(1);
    drop(client);
    server.wait_until_idle();
    drop(server);
    assert_eq!(Arc::strong_count(&script_data), 1, "a thread still holds the script");
}

#[test]
#[should_panic(expected = "the fake model's script panicked")]
fn a_panic_of_the_script_fails_the_test() {
    let server = FakeModel::start(|_: &PromptRequest| -> Answer { panic!("on purpose") });
    let got = ask(&server, CHAT, &body(CHAT, "hello", false));
    assert_eq!(got.status, 0);
}

#[test]
fn malformed_http_requests_are_refused_and_not_recorded() {
    let server = FakeModel::start(FixedAnswer("x".to_owned()));
    for (sent, status) in [
        ("hello\r\n\r\n", 400),
        ("POST / HTTP/1.0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", 411),
    ] {
        assert_eq!(read(connect(&server, sent)).status, status, "{sent}");
    }
    assert!(server.requests().is_empty());
}
