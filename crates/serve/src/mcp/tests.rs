//! Tests of a server with two tools, over lines and over HTTP.

use assay_base::shutdown::Shutdown;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::mpsc;

use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::http::McpListener;
use super::{Effect, Png, Refusal, Server, Tool, stdio};
use crate::auth::{AccessPolicy, ListenError};
use crate::token::{Token, TokenError};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sum {
    /// The numbers to add.
    #[schemars(length(max = 3))]
    numbers: Vec<i64>,
    /// The purpose of the sum.
    #[serde(default)]
    #[schemars(length(max = 10))]
    reason: String,
    /// Any values.
    #[serde(default)]
    context: serde_json::Map<String, Value>,
}

#[derive(Serialize, JsonSchema)]
struct Total {
    total: i64,
}

fn server() -> Server {
    let sum = Tool::new("sum", "Adds up numbers.", Effect::Reads, |input: Sum| {
        let (reason, context) = (input.reason, input.context);
        match input.numbers.iter().try_fold(0_i64, |so_far, number| so_far.checked_add(*number)) {
            Some(total) => Ok(Total { total }),
            None => Err(Refusal::new(format!("too much{reason}{}", context.len()))),
        }
    });
    let broken = Tool::new("broken", "Breaks.", Effect::Changes, |_: Sum| -> Result<Total, _> {
        Err(Refusal::of(&std::io::Error::other("no luck")))
    });
    let draw = Tool::with_picture("draw", "Draws.", Effect::Reads, |input: Sum| {
        let dots = u8::try_from(input.numbers.len()).unwrap_or(u8::MAX);
        Ok((Total { total: dots.into() }, (dots > 0).then(|| Png(vec![dots]))))
    });
    let tools = vec![sum, broken.with_choices("reason", &["x"]), draw];
    Server::new("calculator", "1.2.3", "Adds.", tools)
}

/// Sends lines to a server and returns its answers, sorted by id.
fn converse(lines: &[Value]) -> Vec<Value> {
    let sent: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let received = runtime.block_on(async {
        let (mut ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let serving = tokio::spawn(async move {
            stdio::serve_client(&server(), input, output, &Shutdown::default()).await.unwrap();
        });
        ours.write_all(sent.as_bytes()).await.unwrap();
        ours.shutdown().await.unwrap();
        let mut received = String::new();
        ours.read_to_string(&mut received).await.unwrap();
        serving.await.unwrap();
        received
    });
    let mut answers: Vec<Value> =
        received.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    answers.sort_by_key(|answer| answer["id"].as_i64());
    answers
}

/// Builds a call of a tool without a handshake, in the revision of 2026-07-28.
fn call(id: i64, tool: &str, arguments: Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

fn check(tool: &str, arguments: Value, expected: Expect) {
    let answers = converse(&[call(1, tool, arguments)]);
    let [answer] = answers.as_slice() else { panic!("not one answer: {answers:?}") };
    let outcome = match &answer["result"] {
        Value::Null => format!("error {}: {}", answer["error"]["code"], answer["error"]["message"]),
        result => {
            let text = result["content"][0]["text"].as_str().unwrap();
            format!("{} {text}", if result["isError"] == true { "refused:" } else { "ok:" })
        }
    };
    expected.assert_eq(&outcome);
}

#[test]
fn a_tool_answers_in_text_and_in_structure() {
    let answers = converse(&[call(1, "sum", json!({ "numbers": [1, 2] }))]);
    assert_eq!(answers[0]["result"]["structuredContent"], json!({ "total": 3 }));
    check("sum", json!({ "numbers": [1, 2] }), expect![[r#"ok: {"total":3}"#]]);
}

#[test]
fn a_picture_comes_beside_the_answer() {
    let answers = converse(&[call(1, "draw", json!({ "numbers": [1] }))]);
    let result = &answers[0]["result"];
    assert_eq!(result["structuredContent"], json!({ "total": 1 }));
    let picture = json!({ "type": "image", "data": "AQ==", "mimeType": "image/png" });
    assert_eq!(result["content"][1], picture);
    let answers = converse(&[call(1, "draw", json!({ "numbers": [] }))]);
    assert_eq!(answers[0]["result"]["content"].as_array().unwrap().len(), 1);
}

#[test]
fn a_refusal_is_returned_to_the_model_as_text() {
    check("sum", json!({ "numbers": [i64::MAX, 1] }), expect!["refused: too much0"]);
    let broken = json!({ "numbers": [], "reason": "x" });
    check("broken", broken, expect!["refused: no luck"]);
}

#[test]
fn invalid_arguments_are_refused_with_the_expected_form() {
    check(
        "sum",
        json!({}),
        expect![
            "refused: missing `numbers`. Nothing was done; correct the arguments and call `sum` \
             again."
        ],
    );
    check(
        "sum",
        json!({ "numbers": ["a"], "more": 1 }),
        expect![[
            r#"refused: `numbers.0` must be of type integer; unknown key "more"; known keys: numbers, reason, context. Nothing was done; correct the arguments and call `sum` again."#
        ]],
    );
    check(
        "sum",
        json!({ "numbers": [1, 2, 3, 4], "reason": "for no good reason" }),
        expect![
            "refused: `numbers` has too many items: at most 3; `reason` is too long: at most 10 \
             characters. Nothing was done; correct the arguments and call `sum` again."
        ],
    );
    check(
        "broken",
        json!({ "numbers": [], "reason": "../../etc" }),
        expect![
            "refused: `reason` must be one of x. Nothing was done; correct the arguments and \
             call `broken` again."
        ],
    );
}

#[test]
fn control_characters_are_refused_in_nested_values_and_keys() {
    check(
        "sum",
        json!({ "numbers": [], "context": { "a": [{ "b": "\u{1b}[2J" }] } }),
        expect![
            "refused: `context.a.0.b` has control characters. Nothing was done; correct the \
             arguments and call `sum` again."
        ],
    );
    check(
        "sum",
        json!({ "numbers": [], "context": { "\u{0}": 1 } }),
        expect![
            "refused: `context.�` has control characters in its name. Nothing was done; correct \
             the arguments and call `sum` again."
        ],
    );
    check("sum", json!({ "numbers": [], "reason": "a\n\tb\r\n" }), expect![[r#"ok: {"total":0}"#]]);
}

#[test]
fn an_unknown_tool_is_a_protocol_error() {
    check(
        "subtract",
        json!({}),
        expect![[r#"error -32602: "unknown tool \"subtract\"; known tools: sum, broken, draw""#]],
    );
}

#[test]
fn both_protocol_revisions_are_supported() {
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        },
    });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let sum = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "sum", "arguments": { "numbers": [4] } },
    });
    let answers = converse(&[hello, ready, sum]);
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "calculator");
    assert_eq!(answers[1]["result"]["structuredContent"]["total"], 4);

    let mut discover = call(1, "", Value::Null);
    discover["method"] = json!("server/discover");
    let params = discover["params"].as_object_mut().unwrap();
    params.retain(|key, _| key == "_meta");
    let answers = converse(&[discover]);
    let versions = answers[0]["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{}", answers[0]);
    assert!(versions.contains(&json!("2025-11-25")), "{}", answers[0]);
}

#[test]
fn the_revision_without_a_handshake_rejects_initialize() {
    let mut request = call(1, "sum", json!({}));
    request["method"] = json!("initialize");
    let answers = converse(&[request]);
    assert_eq!(answers[0]["error"]["code"], -32601, "{answers:?}");
}

#[test]
fn the_server_ends_when_the_client_sends_nothing() {
    assert!(converse(&[]).is_empty());
}

// ---- over HTTP

/// Sends a request to a new server over HTTP and returns the status and the body.
fn post(access: AccessPolicy, headers: &[(&str, &str)], body: &str) -> (u16, String) {
    let listener = McpListener::bind("127.0.0.1:0".parse().unwrap(), access).unwrap();
    let address = listener.url().replace("http://", "").replace("/mcp", "");
    let shutdown = Shutdown::default();
    let (ended, end) = mpsc::channel();
    let answer = std::thread::scope(|scope| {
        scope.spawn(|| ended.send(listener.serve(&server(), &shutdown)).unwrap());
        let answer = exchange(&address, headers, body);
        shutdown.request();
        answer
    });
    end.recv().unwrap().unwrap();
    answer
}

fn exchange(address: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
    let mut request = format!("POST /mcp HTTP/1.1\r\ncontent-length: {}\r\n", body.len());
    request.push_str("connection: close\r\ncontent-type: application/json\r\n");
    request.push_str("accept: application/json, text/event-stream\r\n");
    if !headers.iter().any(|(name, _)| *name == "host") {
        request.push_str(&format!("host: {address}\r\n"));
    }
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(format!("{request}\r\n{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

const SECRET: &str = "0123456789abcdef";

fn access() -> AccessPolicy {
    AccessPolicy { token: Some(Token::new(SECRET, "a test").unwrap()), hosts: Vec::new() }
}

fn modern() -> Vec<(&'static str, &'static str)> {
    vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "sum")]
}

fn status_with(header: (&'static str, &str)) -> u16 {
    let body = call(1, "sum", json!({ "numbers": [1, 2] })).to_string();
    let headers: Vec<(&str, &str)> = modern().into_iter().chain([header]).collect();
    post(access(), &headers, &body).0
}

#[test]
fn only_requests_with_the_token_are_accepted() {
    assert_eq!(status_with(("authorization", "Bearer 0123456789abcdef")), 200);
    assert_eq!(status_with(("authorization", "bearer 0123456789abcdef")), 200);
    assert_eq!(status_with(("authorization", "Bearer 0123456789abcdeX")), 401);
    assert_eq!(status_with(("authorization", "Bearer 0123456789abcde")), 401);
    assert_eq!(status_with(("authorization", "Bearer 0123456789abcdef0")), 401);
    assert_eq!(status_with(("authorization", "Basic 0123456789abcdef")), 401);
    assert_eq!(status_with(("x-nothing", "")), 401);
}

#[test]
fn requests_with_a_foreign_host_or_origin_are_refused() {
    let mut headers = modern();
    headers.push(("authorization", "Bearer 0123456789abcdef"));
    let body = call(1, "sum", json!({ "numbers": [1, 2] })).to_string();
    let with = |name, value| {
        let headers: Vec<(&str, &str)> = headers.iter().copied().chain([(name, value)]).collect();
        post(access(), &headers, &body).0
    };
    assert_eq!(with("host", "evil.example"), 403);
    assert_eq!(with("origin", "http://evil.example"), 403);
    assert_eq!(with("origin", "http://localhost:1234"), 200);
}

#[test]
fn an_oversized_body_is_refused() {
    let headers = [("authorization", "Bearer 0123456789abcdef")];
    let body = format!(r#"{{"jsonrpc": "2.0", "x": "{}"}}"#, "x".repeat(super::MAX_MESSAGE));
    assert_eq!(post(access(), &headers, &body).0, 413);
}

#[test]
fn a_non_loopback_address_requires_configured_hosts_and_a_token() {
    let bind = |address: &str, access| McpListener::bind(address.parse().unwrap(), access).err();
    let refused = bind("0.0.0.0:0", access());
    assert!(matches!(refused, Some(ListenError::NotLoopback(_))), "{refused:?}");
    let hosts = vec!["box.example".to_owned()];
    let refused = bind("0.0.0.0:0", AccessPolicy { token: None, hosts: hosts.clone() });
    assert!(matches!(refused, Some(ListenError::NoToken(_))), "{refused:?}");
    assert!(bind("0.0.0.0:0", AccessPolicy { hosts, ..access() }).is_none());
}

// ---- the token

#[test]
fn a_token_is_created_once_and_redacted_in_debug_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/task-queue.token");
    let token = Token::read_or_create(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(token.matches(text.trim()) && text.trim().len() == 64, "{text}");
    assert!(Token::read_or_create(&path).unwrap().matches(text.trim()));
    assert!(!format!("{token:?}").contains(text.trim()));
}

#[cfg(unix)]
#[test]
fn a_token_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    Token::read_or_create(&path).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let refused = Token::read_or_create(&path).unwrap_err();
    assert!(matches!(refused, TokenError::Open { .. }), "{refused}");
}

#[test]
fn short_and_malformed_tokens_are_refused() {
    for text in ["", "secret", "0123456789abcde\u{e4}", "with a blank in it"] {
        assert!(Token::new(text, "a test").is_err(), "{text}");
    }
}
