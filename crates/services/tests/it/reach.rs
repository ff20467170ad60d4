//! Tests with ports at which something other than a browser listens.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use assay_services::browser::{Endpoint, Page, Timeouts};
use assay_testkit::pages::{Answer, Pages};
use expect_test::{Expect, expect};

/// The end of the message about a port where something other than a browser listens.
const REMEDY: &str = "; `ELECTRON_DEBUG_PORT` must be the port of `--remote-debugging-port`, not \
     the port of the app's pages, and no other program may use the port";

/// Serves answers and compares the error of attaching, with the port replaced.
fn check(answers: Vec<(&'static str, Answer)>, expect: Expect) {
    let port = Pages::serve(answers).port();
    let error_message = attach(port).replace(&port.to_string(), "PORT");
    assert!(
        error_message.ends_with(REMEDY) || !error_message.contains("is not DevTools"),
        "{error_message}"
    );
    expect.assert_eq(error_message.trim_end_matches(REMEDY));
}

fn attach(port: u16) -> String {
    attach_within(port, Timeouts::default())
}

fn attach_within(port: u16, timeouts: Timeouts) -> String {
    match Page::attach(Endpoint::local(port), None, timeouts) {
        Ok(_) => "a page".to_owned(),
        Err(error) => error.to_string(),
    }
}

const VERSION: &str = r#"{"Browser": "Chrome/83.0.4103.122"}"#;

fn version(text: &str) -> (&'static str, Answer) {
    ("/json/version", Answer::Page(200, text.to_owned()))
}

fn list(text: &str) -> Vec<(&'static str, Answer)> {
    vec![version(VERSION), ("/json/list", Answer::Page(200, text.to_owned()))]
}

#[test]
fn a_refused_connection_is_reported_with_how_to_start_the_app() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error_message = attach(port).replace(&port.to_string(), "PORT");
    expect![
        "cannot connect to `127.0.0.1:PORT`: no program listens there; start the app with \
         `--remote-debugging-port=PORT`, or set `ELECTRON_DEBUG_PORT` to the debugging port of the \
         app"
    ]
    .assert_eq(&error_message);
}

#[test]
fn a_server_that_is_not_devtools_is_rejected_with_the_reason() {
    check(
        vec![],
        expect!["the server at `127.0.0.1:PORT` is not DevTools: the server returned status 404"],
    );
    check(
        list("<p>hello</p>"),
        expect![
            "the server at `127.0.0.1:PORT` is not DevTools: unexpected answer to `/json/list`"
        ],
    );
    check(
        list("{}"),
        expect![
            "the server at `127.0.0.1:PORT` is not DevTools: unexpected answer to `/json/list`"
        ],
    );
    check(
        vec![("/json/version", Answer::Raw(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()))],
        expect![
            "the server at `127.0.0.1:PORT` is not DevTools: protocol: http parse fail: invalid \
             HTTP version"
        ],
    );
    check(
        vec![version(VERSION), ("/json/list", Answer::Raw(Vec::new()))],
        expect!["the server at `127.0.0.1:PORT` is not DevTools: io: Peer disconnected"],
    );
    let endless = format!("[\"{}\"]", "x".repeat(5 << 20));
    check(
        list(&endless),
        expect![
            "the server at `127.0.0.1:PORT` is not DevTools: the response body is larger than \
             request limit: 4194304"
        ],
    );
}

#[test]
fn a_browser_that_is_too_old_or_unknown_is_refused_with_the_oldest_that_is_supported() {
    let product = |text: &str| vec![version(text), ("/json/list", Answer::Page(200, "[]".into()))];
    check(
        product(r#"{"Browser": "Chrome/82.0.4085.28"}"#),
        expect![
            "`Chrome/82.0.4085.28` at `127.0.0.1:PORT` is too old: Chrome 83 (Electron 9) is the oldest version that is supported; update the app's Electron, or open its pages in a newer Chromium"
        ],
    );
    check(
        product(
            r#"{"Browser": "Chrome/80.0.3987.165", "User-Agent": "Mozilla/5.0 shop/1.0 Chrome/80.0.3987.165 Electron/8.5.5 Safari/537.36"}"#,
        ),
        expect![
            "`Electron/8.5.5, Chrome/80.0.3987.165` at `127.0.0.1:PORT` is too old: Chrome 83 (Electron 9) is the oldest version that is supported; update the app's Electron, or open its pages in a newer Chromium"
        ],
    );
    check(
        product(r#"{"Browser": "node.js/v20.1.0"}"#),
        expect![
            "`node.js/v20.1.0` at `127.0.0.1:PORT` is not Chrome, Chromium or Electron: start the \
             app in one of these browsers, Chrome 83 (Electron 9) or newer"
        ],
    );
    check(
        product(r#"{"Browser": "Chrome/new"}"#),
        expect![
            "`Chrome/new` at `127.0.0.1:PORT` is not Chrome, Chromium or Electron: start the app \
             in one of these browsers, Chrome 83 (Electron 9) or newer"
        ],
    );
    // These versions are new enough, so the next request is sent.
    let no_page = "no page is open at `127.0.0.1:PORT`: open a window of the app";
    for browser in [
        r#"{"Browser": "Chrome/83.0.4103.122"}"#,
        r#"{"Browser": "HeadlessChrome/156.0.8078.79"}"#,
        r#"{"Browser": "Edg/120.0", "User-Agent": "Mozilla/5.0 Chrome/120.0.0.0 Edg/120.0"}"#,
        // An app can choose its user agent freely.
        r#"{"Browser": "Chrome/120.0", "User-Agent": "Chrome/1.0"}"#,
    ] {
        let port = Pages::serve(product(browser)).port();
        assert_eq!(attach(port).replace(&port.to_string(), "PORT"), no_page, "{browser}");
    }
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = Pages::serve(list("[]"));
    let to = elsewhere.url("/json/list");
    check(
        vec![version(VERSION), ("/json/list", Answer::Redirect(to))],
        expect!["the server at `127.0.0.1:PORT` is not DevTools: the server returned status 302"],
    );
}

#[test]
fn an_app_without_a_window_has_no_page() {
    check(list("[]"), expect!["no page is open at `127.0.0.1:PORT`: open a window of the app"]);
    let tools = r#"[{"id": "1", "type": "page", "url": "devtools://x", "webSocketDebuggerUrl": "ws://localhost/x"},
        {"id": "2", "type": "service_worker", "url": "http://localhost"}]"#;
    check(list(tools), expect!["no page is open at `127.0.0.1:PORT`: open a window of the app"]);
}

#[test]
fn a_window_on_another_host_is_not_connected_to() {
    let window =
        |url: &str| format!(r#"[{{"id": "1", "type": "page", "webSocketDebuggerUrl": "{url}"}}]"#);
    check(
        list(&window("ws://192.0.2.1:9222/devtools/page/1")),
        expect!["cannot connect to `192.0.2.1`: DevTools is used on this machine only"],
    );
    // Only the path is used: the request goes to the port itself, which is no DevTools.
    check(
        list(&window("ws://localhost:1/devtools/page/1")),
        expect!["the server at `127.0.0.1:PORT` is not DevTools: HTTP error: 404 Not Found"],
    );
    check(
        list(r#"[{"id": "1\u0007", "type": "page"}]"#),
        expect![[
            r#"the window `1\u{7}` at `127.0.0.1:PORT` is in use by another debugger: close its developer tools"#
        ]],
    );
}

/// Listens as DevTools do, and then sends unexpected messages. Returns the error of the client.
fn say(time: Duration, messages: Vec<tungstenite::Message>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let windows = format!(
            r#"[{{"id": "1", "type": "page", "webSocketDebuggerUrl": "ws://127.0.0.1:{port}/1"}}]"#
        );
        for text in [VERSION, &windows] {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let length = text.len();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close");
            write!(stream, "{head}\r\n\r\n{text}").unwrap();
        }
        let mut socket = tungstenite::accept(listener.accept().unwrap().0).unwrap();
        // A message before the request is no answer to it.
        let _ = socket.read();
        for message in messages {
            // A client that ended the connection does not read the rest.
            let _ = socket.send(message);
        }
        while socket.read().is_ok() {}
    });
    attach_within(port, Timeouts { answer: time, load: time, ..Timeouts::default() })
}

#[test]
fn malformed_devtools_messages_end_in_an_error_or_a_timeout() {
    let (soon, long) = (Duration::from_millis(300), Duration::from_secs(60));
    let late = "the page did not answer within 0.3 s while attaching to it";
    assert_eq!(say(soon, vec![]), late);
    assert_eq!(say(soon, vec![r#"{"id": 1}"#.into(), r#"{"id": 77}"#.into()]), late);
    assert_eq!(
        say(soon, vec![r#"[1, {"method": 7}]"#.into(), tungstenite::Message::binary("x")]),
        late
    );
    let refused = r#"{"id": 1, "error": {"message": "no\u0007"}}"#;
    assert_eq!(say(long, vec![refused.into()]), "DevTools refused `Inspector.enable`: no\\u{7}");
    let broken = "the page is gone: the connection was lost: the message is not JSON";
    assert_eq!(say(long, vec!["nonsense".into()]), broken);
    assert_eq!(say(long, vec!["[".repeat(1_000_000).into()]), broken);
    let flooded = "the page is gone: more than 64 MB in one message";
    assert_eq!(say(long, vec![" ".repeat(70 << 20).into()]), flooded);
    let crashed = r#"{"method": "Inspector.targetCrashed", "params": null}"#;
    assert_eq!(say(long, vec![crashed.into()]), "the page is gone: crashed");
    assert_eq!(say(long, vec![tungstenite::Message::Close(None)]), "the page is gone: closed");
}
