//! `assay mcp electron`, as a client of line-based JSON-RPC sees it.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use assay_testkit::pages::{Answer, Pages};
use serde_json::{Value, json};

use super::mcp::{McpSession, answers, call, modern};
use super::{AssayRun, assay_with};

/// Sends lines to the server for a port.
fn talk(folder: &Path, args: &[&str], port: &str, lines: &[Value]) -> AssayRun {
    let said: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let args = [&["mcp", "electron"], args].concat();
    assay_with(folder, &args, said.as_bytes(), &[("ELECTRON_DEBUG_PORT", port)])
}

/// Sends lines and returns the results in their order.
fn results(folder: &Path, args: &[&str], port: u16, lines: &[Value]) -> Vec<Value> {
    let ran = talk(folder, args, &port.to_string(), lines);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    answers(&ran).into_iter().map(|mut answer| answer["result"].take()).collect()
}

/// Returns the text of a tool's error.
fn refusal(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap()
}

fn command(id: u32, name: &str, args: &Value) -> Value {
    call(id, "send_command_to_electron", &json!({ "command": name, "args": args }))
}

/// Returns a port on which no process listens.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn the_electron_tools_are_listed_and_eval_is_offered_only_if_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let list = [modern(1, "tools/list", json!({}))];
    let response = results(folder.path(), &[], free_port(), &list);
    let tools = response[0]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "take_screenshot", "get_electron_window_info", "send_command_to_electron",
            "read_electron_logs",
        ]
    );
    let commands = |response: &[Value]| {
        let schema = &response[0]["tools"][2]["inputSchema"]["properties"]["command"]["enum"];
        schema.as_array().unwrap().clone()
    };
    assert_eq!(commands(&response).len(), 9);
    assert!(!commands(&response).contains(&json!("eval")));
    let response = results(folder.path(), &["--allow-eval"], free_port(), &list);
    assert!(commands(&response).contains(&json!("eval")));
}

#[test]
fn without_an_app_every_tool_says_how_to_start_it() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let lines = [
        call(1, "take_screenshot", &json!({})),
        call(2, "get_electron_window_info", &json!({})),
        command(3, "click_by_text", &json!({ "text": "Save" })),
        call(4, "read_electron_logs", &json!({})),
    ];
    let expected = format!(
        "cannot connect to `127.0.0.1:{port}`: no program listens there; start the app with \
         `--remote-debugging-port={port}`, or set `ELECTRON_DEBUG_PORT` to the debugging port of \
         the app"
    );
    for result in results(folder.path(), &[], port, &lines) {
        assert_eq!(refusal(&result), expected);
    }
}

#[test]
fn an_app_in_a_browser_that_is_too_old_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let version = r#"{"Browser": "Chrome/80.0.3987.165", "User-Agent": "shop/1.0 Electron/8.5.5"}"#;
    let app = Pages::serve(vec![
        ("/json/version", Answer::Page(200, version.to_owned())),
        ("/json/list", Answer::Page(200, "[]".to_owned())),
    ]);
    let lines = [
        call(1, "get_electron_window_info", &json!({})),
        call(2, "take_screenshot", &json!({})),
        command(3, "click_by_text", &json!({ "text": "Save" })),
        call(4, "read_electron_logs", &json!({})),
    ];
    let response = results(folder.path(), &[], app.port(), &lines);
    assert_eq!(response[0]["structuredContent"]["supported"], false, "{}", response[0]);
    let expected = format!(
        "`Electron/8.5.5, Chrome/80.0.3987.165` at `127.0.0.1:{}` is too old: Chrome 83 (Electron 9) \
         is the oldest version that is supported; update the app's Electron, or open its pages in a \
         newer Chromium",
        app.port()
    );
    for result in &response[1..] {
        assert_eq!(refusal(result), expected);
    }
}

#[test]
fn an_invalid_command_is_refused_before_anything_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        command(1, "rm", &json!({})),
        command(2, "eval", &json!({ "code": "1" })),
        command(3, "click_by_text", &json!({ "txt": "Save" })),
        command(4, "fill_input", &json!({ "value": "x" })),
        command(5, "send_keyboard_shortcut", &json!({ "keys": "Hyper+X" })),
        call(6, "send_command_to_electron", &json!({ "command": "click_by_text", "args": "Save" })),
        call(7, "take_screenshot", &json!({ "name": "x".repeat(100) })),
    ];
    let response = results(folder.path(), &[], free_port(), &lines);
    let response: Vec<&str> = response.iter().map(refusal).collect();
    expect_test::expect![[r#"
        `command` must be one of click_by_text, click_by_selector, fill_input, select_option, navigate_to_hash, send_keyboard_shortcut, get_page_structure, debug_elements, verify_form_state. Nothing was done; correct the arguments and call `send_command_to_electron` again.
        `command` must be one of click_by_text, click_by_selector, fill_input, select_option, navigate_to_hash, send_keyboard_shortcut, get_page_structure, debug_elements, verify_form_state. Nothing was done; correct the arguments and call `send_command_to_electron` again.
        invalid `args` of `click_by_text`: unknown field `txt`, expected `text`. Nothing was done.
        invalid `args` of `fill_input`: expected one of `selector`, `placeholder` and `label`. Nothing was done.
        invalid `args` of `send_keyboard_shortcut`: invalid shortcut `Hyper+X`, expected one such as `Enter`, `Ctrl+N` or `Shift+ArrowDown`: only Ctrl, Shift, Alt and Cmd can be held down. Nothing was done.
        `args` must be of type object. Nothing was done; correct the arguments and call `send_command_to_electron` again.
        `name` is too long: at most 60 characters. Nothing was done; correct the arguments and call `take_screenshot` again."#]].assert_eq(&response.join("\n"));
}

#[test]
fn an_invalid_port_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for port in ["http://10.0.0.1", "0", "70000", "-1"] {
        let ran = talk(folder.path(), &[], port, &[]);
        let response =
            format!("error: invalid port `{port}` in the variable `ELECTRON_DEBUG_PORT`\n");
        assert_eq!((ran.code, ran.stderr), (2, response));
    }
    // The option takes precedence over the variable.
    assert_eq!(talk(folder.path(), &["--port", "9333"], "none", &[]).code, 0);
    assert_eq!(talk(folder.path(), &["--port", "0"], "9222", &[]).code, 2);
    let ran = assay_with(folder.path(), &["mcp", "review", "--port", "9222"], b"", &[]);
    let response = "error: `--port` and `--allow-eval` require the server `electron`\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (2, response));
}

#[test]
fn screenshots_are_not_written_into_a_tracked_folder() {
    let repository = assay_testkit::Repository::new();
    repository.write(".assay/e2e/x.png", "");
    repository.commit("pictures");
    let ran = talk(repository.path(), &[], "9222", &[]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains(".assay/e2e"), "{}", ran.stderr);
}

#[cfg(unix)]
mod on_chromium {
    use super::*;
    use assay_testenv::chromium::PrivateChromium;

    const APP: &str = "<title>Shop</title><body style='background: teal'><h1>Shop</h1>\
        <input placeholder='What do you want?'>\
        <button onclick=\"document.title = document.querySelector('input').value; \
        console.error('out of stock')\">Order</button>";

    #[test]
    fn an_agent_operates_an_app_through_the_tools() {
        let folder = tempfile::tempdir().unwrap();
        let pages = Pages::serve(vec![("/", Answer::Page(200, APP.to_owned()))]);
        let chromium = PrivateChromium::start(&pages.url("/"));
        let fill = json!({ "placeholder": "What do you want?", "value": "tea" });
        let mut server = start(folder.path(), chromium.port());
        let mut say = |line: Value| server.say(&line)["result"].take();
        let response = say(command(1, "fill_input", &fill));
        assert_eq!(response["structuredContent"]["result"]["as_asked"], true, "{response}");
        let response = say(command(1, "click_by_text", &json!({ "text": "Order" })));
        assert_eq!(response["isError"], false, "{response}");

        let response = say(call(1, "get_electron_window_info", &json!({})));
        let windows = &response["structuredContent"]["windows"];
        assert_eq!((&windows[0]["title"], &windows[0]["in_use"]), (&json!("tea"), &json!(true)));
        let response = say(call(1, "read_electron_logs", &json!({ "errors_only": true })));
        assert_eq!(
            response["structuredContent"]["entries"][0]["text"], "out of stock",
            "{response}"
        );

        let response = say(call(1, "take_screenshot", &json!({ "name": "Ordered" })));
        assert_eq!(response["content"][1]["type"], "image", "{response}");
        assert_eq!(response["content"][1]["mimeType"], "image/png");
        let data = response["content"][1]["data"].as_str().unwrap();
        assert!(data.starts_with("iVBORw0KGgo"), "{data:.20}");
        let file = response["structuredContent"]["file"].as_str().unwrap();
        assert!(file.ends_with(".assay/e2e/001-ordered.png"), "{file}");
        assert!(file.starts_with('/'), "{file}");
        let png = fs::read(folder.path().join(".assay/e2e/001-ordered.png")).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 1000);
        let ignored = fs::read_to_string(folder.path().join(".assay/.gitignore")).unwrap();
        assert!(ignored.contains("\n/*\n") && !ignored.contains("e2e"), "{ignored}");

        let response = say(command(1, "click_by_text", &json!({ "text": "Ordr" })));
        assert!(refusal(&response).ends_with("; most similar: \"Order\""), "{response}");
        let elsewhere = json!({ "command": "get_page_structure", "window": "nope" });
        let response = say(call(1, "send_command_to_electron", &elsewhere));
        assert!(refusal(&response).starts_with("unknown window `nope`"), "{response}");
    }

    #[test]
    fn a_window_stays_in_use_until_it_is_closed_and_another_replaces_it() {
        let folder = tempfile::tempdir().unwrap();
        let page = "<title>one</title><button>Go</button>".to_owned();
        let pages = Pages::serve(vec![("/", Answer::Page(200, page))]);
        let chromium = PrivateChromium::start(&pages.url("/"));
        let eval = |id, code: &str| command(id, "eval", &json!({ "code": code }));
        let mut server = start(folder.path(), chromium.port());
        // The page may not be loaded yet; a click waits for it.
        server.say(&command(0, "click_by_text", &json!({ "text": "Go" })));
        let response = server.say(&eval(1, "window.left = 'here'; console.log('said')"));
        assert_eq!(response["result"]["isError"], false, "{response}");
        let response = server.say(&eval(2, "window.left"));
        assert_eq!(response["result"]["structuredContent"]["result"]["value"], "here");
        let response = server.say(&call(3, "read_electron_logs", &json!({ "since": 1 })));
        assert_eq!(
            response["result"]["structuredContent"],
            json!({ "entries": [], "left_out": 0, "next": 1 })
        );
        let response = server
            .say(&eval(4, "open('/', 'second'); window.close(); await new Promise(() => {})"));
        assert_eq!(refusal(&response["result"]), "the page is gone: closed");
        // The second window may have to load first, too.
        let response = server.say(&command(5, "click_by_text", &json!({ "text": "Go" })));
        assert_eq!(response["result"]["isError"], false, "{response}");
        let response = server.say(&eval(6, "document.title + name"));
        assert_eq!(response["result"]["structuredContent"]["result"]["value"], "onesecond");
    }

    fn start(folder: &Path, port: u16) -> McpSession {
        let port = port.to_string();
        McpSession::start(folder, &["electron", "--allow-eval", "--port", &port], &[])
    }
}
