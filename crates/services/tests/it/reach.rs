//! What listens at a port, and is no browser.

use std::net::TcpListener;

use assay_fakes::pages::{Answer, Pages};
use assay_services::browser::{Endpoint, Page, Patience};
use expect_test::{Expect, expect};

/// Serves answers and writes why there is no page to be had, with the port taken out.
fn check(answers: Vec<(&'static str, Answer)>, expect: Expect) {
    let port = Pages::serve(answers).port();
    expect.assert_eq(&attach(port).replace(&port.to_string(), "PORT"));
}

fn attach(port: u16) -> String {
    match Page::attach(Endpoint::local(port), None, Patience::default()) {
        Ok(_) => "a page".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn list(text: &str) -> Vec<(&'static str, Answer)> {
    vec![("/json/list", Answer::Page(200, text.to_owned()))]
}

#[test]
fn where_nothing_listens_it_says_how_to_start_the_app() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let told = attach(port).replace(&port.to_string(), "PORT");
    expect!["nothing listens at `127.0.0.1:PORT`: start the app with `--remote-debugging-port=PORT`, or say which port it has"]
        .assert_eq(&told);
}

#[test]
fn what_is_no_devtools_is_said_to_be_none() {
    check(
        vec![],
        expect!["what listens at `127.0.0.1:PORT` is no DevTools: it answers with status 404"],
    );
    check(
        list("<p>hello</p>"),
        expect!["what listens at `127.0.0.1:PORT` is no DevTools: it has no list at `/json/list`"],
    );
    check(
        list("{}"),
        expect!["what listens at `127.0.0.1:PORT` is no DevTools: it has no list at `/json/list`"],
    );
    check(
        vec![("/json/list", Answer::Raw(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()))],
        expect![
            "what listens at `127.0.0.1:PORT` is no DevTools: protocol: http parse fail: invalid HTTP version"
        ],
    );
    check(
        vec![("/json/list", Answer::Raw(Vec::new()))],
        expect!["what listens at `127.0.0.1:PORT` is no DevTools: io: Peer disconnected"],
    );
    let endless = format!("[\"{}\"]", "x".repeat(5 << 20));
    check(
        list(&endless),
        expect![
            "what listens at `127.0.0.1:PORT` is no DevTools: the response body is larger than request limit: 4194304"
        ],
    );
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = Pages::serve(list("[]"));
    let to = elsewhere.url("/json/list");
    check(
        vec![("/json/list", Answer::Redirect(to))],
        expect!["what listens at `127.0.0.1:PORT` is no DevTools: it answers with status 302"],
    );
}

#[test]
fn an_app_without_a_window_has_no_page() {
    check(list("[]"), expect!["there is no page open at `127.0.0.1:PORT`"]);
    let tools = r#"[{"id": "1", "type": "page", "url": "devtools://x", "webSocketDebuggerUrl": "ws://localhost/x"},
        {"id": "2", "type": "service_worker", "url": "http://localhost"}]"#;
    check(list(tools), expect!["there is no page open at `127.0.0.1:PORT`"]);
}

#[test]
fn a_window_elsewhere_is_not_called() {
    let window =
        |url: &str| format!(r#"[{{"id": "1", "type": "page", "webSocketDebuggerUrl": "{url}"}}]"#);
    check(
        list(&window("ws://192.0.2.1:9222/devtools/page/1")),
        expect!["`192.0.2.1` is not this machine, and DevTools are only used on this machine"],
    );
    // Only the path is taken: this is asked of the port itself, which is no DevTools.
    check(
        list(&window("ws://localhost:1/devtools/page/1")),
        expect!["what listens at `127.0.0.1:PORT` is no DevTools: HTTP error: 404 Not Found"],
    );
    check(
        list(r#"[{"id": "1\u0007", "type": "page"}]"#),
        expect![[
            r#"what listens at `127.0.0.1:PORT` is no DevTools: it does not let anybody at `1\u{7}`"#
        ]],
    );
}
