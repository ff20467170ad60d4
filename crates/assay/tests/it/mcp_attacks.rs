//! `assay mcp`, with bytes that no client should send: every request with an id is answered once,
//! whatever it contains, and the connection continues.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::assay_with;
use super::mcp::{McpServer, call, handshake, modern};

const SERVERS: [&str; 5] = ["task-queue", "review", "github", "jira", "electron"];

const PARSE: i64 = -32700;
const REQUEST: i64 = -32600;
const METHOD: i64 = -32601;
const PARAMS: i64 = -32602;

/// A line, and the expected answers: ids and codes.
struct Attack {
    name: &'static str,
    line: Vec<u8>,
    answers: Vec<(Value, i64)>,
}

/// Returns an attack; `ID` in the line is replaced by a number of its own.
fn attack(name: &'static str, id: usize, line: &[u8], answers: &[(Value, i64)]) -> Attack {
    let mut made = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.windows(2).position(|bytes| bytes == b"ID") {
        made.extend_from_slice(&rest[..at]);
        made.extend_from_slice(id.to_string().as_bytes());
        rest = &rest[at + 2..];
    }
    made.extend_from_slice(rest);
    Attack { name, line: made, answers: answers.to_vec() }
}

/// Returns lines that do not parse, but have a recognisable id.
fn damaged() -> Vec<(&'static str, Vec<u8>)> {
    let long = "x".repeat(8 << 20);
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        ("a lone surrogate", text(r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"a","arguments":{"t":"\ud83d"}}}"#)),
        ("a lone surrogate before the id", text(r#"{"method":"tools/call","params":{"name":"a","arguments":{"id":1,"t":"\ud83d cut"}},"jsonrpc":"2.0","id":ID}"#)),
        ("the other half of an emoji", text(r#"{"jsonrpc":"2.0","id":ID,"method":"tools/list","params":{"t":"\ude00"}}"#)),
        ("a half emoji as a key", text(r#"{"jsonrpc":"2.0","id":ID,"method":"tools/list","\ud83d":1}"#)),
        ("bytes that are no UTF-8", b"{\"jsonrpc\":\"2.0\",\"id\":ID,\"method\":\"tools/list\",\"params\":{\"t\":\"\xff\xc3\"}}".to_vec()),
        ("bytes that are no UTF-8 before the id", b"{\"method\":\"\xf0\x9f\x98\",\"jsonrpc\":\"2.0\",\"id\":ID}".to_vec()),
        ("a control character in a string", b"{\"jsonrpc\":\"2.0\",\"id\":ID,\"method\":\"a\x01b\"}".to_vec()),
        ("a NUL", b"{\"jsonrpc\":\"2.0\",\"id\":ID,\"method\":\"a\"}\0".to_vec()),
        ("a message that is cut", text(r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"x"#)),
        ("a quote too many", text(r#"{"method":"tools/call","params":{"name":"a"b"},"jsonrpc":"2.0","id":ID}"#)),
        ("a comma too many", text(r#"{"jsonrpc":"2.0","id":ID,"method":"tools/list",}"#)),
        ("a bracket too many", text(r#"{"jsonrpc":"2.0","id":ID,"method":"tools/list"}}"#)),
        ("single quotes", text(r#"{"jsonrpc":"2.0","id":ID,'method':'tools/list'}"#)),
        ("NaN", text(r#"{"jsonrpc":"2.0","id":ID,"method":"tools/list","params":{"n":NaN}}"#)),
        ("nesting without end", text(&format!(r#"{{"jsonrpc":"2.0","id":ID,"method":"tools/list","params":{{"n":{}"#, "[".repeat(100_000)))),
        ("a number beyond numbers", text(r#"{"jsonrpc":"2.0","id":ID,"method":"tools/list","params":{"n":1e999}}"#)),
        ("too much", text(&format!(r#"{{"jsonrpc":"2.0","id":ID,"method":"tools/list","params":{{"x":"{long}"}}}}"#))),
        ("too much before the id", text(&format!(r#"{{"method":"tools/list","params":{{"id":7,"x":"{long}"}},"jsonrpc":"2.0","id":ID}}"#))),
        ("too much without a method", text(&format!(r#"{{"jsonrpc":"2.0","x":"{long}","id":ID}}"#))),
    ]
}

/// Returns lines without a recognisable id.
fn nameless() -> Vec<(&'static str, Vec<u8>, i64)> {
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        ("words", text("hello"), PARSE),
        ("HTTP", text("GET / HTTP/1.1"), PARSE),
        ("a frame of LSP", text("Content-Length: 20\r"), PARSE),
        ("an id that is cut", text(r#"{"jsonrpc":"2.0","id":12"#), PARSE),
        (
            "an id that is damaged",
            text(r#"{"jsonrpc":"2.0","id":"\ud83d","method":"tools/list"}"#),
            PARSE,
        ),
        ("an id of something else", text(r#"{"params":{"a":"b"c","id":5}}"#), PARSE),
        ("two ids", text(r#"{"id":1,"id":2,"method":"tools/list","x"}"#), PARSE),
        ("NULs", vec![0; 64], PARSE),
        ("noise", (0..=255).filter(|byte| *byte != b'\n').collect(), PARSE),
        ("a number", text("42"), REQUEST),
        ("a string", text(r#""tools/list""#), REQUEST),
        ("null", text("null"), REQUEST),
        ("an empty object", text("{}"), REQUEST),
        ("an empty batch", text("[]"), REQUEST),
        ("a batch of nothing", text(r#"[1,"x",null,{"jsonrpc":"2.0","method":"ping"}]"#), REQUEST),
        ("an id of null", text(r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#), REQUEST),
        ("an id of true", text(r#"{"jsonrpc":"2.0","id":true,"method":"tools/list"}"#), REQUEST),
        (
            "an id that is a list",
            text(r#"{"jsonrpc":"2.0","id":[1],"method":"tools/list"}"#),
            REQUEST,
        ),
        (
            "an id that is an object",
            text(r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#),
            REQUEST,
        ),
    ]
}

/// Returns JSON values with an id that are not requests.
fn no_request() -> Vec<(&'static str, String)> {
    let line = |text: &str| text.to_owned();
    vec![
        ("no version", line(r#"{"id":ID,"method":"tools/list"}"#)),
        ("an old version", line(r#"{"jsonrpc":"1.0","id":ID,"method":"tools/list"}"#)),
        ("a version that is a number", line(r#"{"jsonrpc":2.0,"id":ID,"method":"tools/list"}"#)),
        ("no method", line(r#"{"jsonrpc":"2.0","id":ID}"#)),
        ("a method that is a number", line(r#"{"jsonrpc":"2.0","id":ID,"method":7}"#)),
        ("a method that is null", line(r#"{"jsonrpc":"2.0","id":ID,"method":null}"#)),
        (
            "a request that is a response",
            line(r#"{"jsonrpc":"2.0","id":ID,"method":"tools/list","result":{}}"#),
        ),
        ("a batch of one", line(r#"[{"jsonrpc":"2.0","id":ID,"method":"tools/list"}]"#)),
    ]
}

/// Returns requests that are refused for their content.
fn refused() -> Vec<(&'static str, Value, i64)> {
    let params = |params: Value| modern(0, "tools/call", params);
    let mut odd = modern(0, "tools/call", json!({}));
    odd["params"] = json!(["x"]);
    let mut text = odd.clone();
    text["params"] = json!("x");
    let mut nothing = odd.clone();
    nothing["params"] = Value::Null;
    let mut without = odd.clone();
    without.as_object_mut().unwrap().remove("params");
    vec![
        ("params that are a list", odd, PARAMS),
        ("params that are a string", text, PARAMS),
        ("params that are null", nothing, PARAMS),
        ("no params", without, PARAMS),
        ("no name", params(json!({})), PARAMS),
        ("a name that is a number", params(json!({ "name": 5 })), PARAMS),
        ("a name that is null", params(json!({ "name": null })), PARAMS),
        ("arguments that are a list", params(json!({ "name": "x", "arguments": [1] })), PARAMS),
        ("arguments that are a string", params(json!({ "name": "x", "arguments": "{}" })), PARAMS),
        ("a tool that is not there", params(json!({ "name": "no_such_tool" })), PARAMS),
        ("a method that is not there", modern(0, "no/such", json!({})), METHOD),
        ("a method without a name", modern(0, "", json!({})), METHOD),
        ("prompts", modern(0, "prompts/list", json!({})), METHOD),
        ("a prompt", modern(0, "prompts/get", json!({ "name": "x" })), METHOD),
        ("a prompt with odd params", modern(0, "prompts/get", json!({ "name": 5 })), METHOD),
        ("resources", modern(0, "resources/list", json!({})), METHOD),
        ("templates", modern(0, "resources/templates/list", json!({})), METHOD),
        ("a resource", modern(0, "resources/read", json!({ "uri": "file:///x" })), METHOD),
        (
            "a completion",
            modern(
                0,
                "completion/complete",
                json!({ "ref": { "type": "ref/prompt", "name": "x" },
                        "argument": { "name": "a", "value": "b" } }),
            ),
            METHOD,
        ),
        ("a level", modern(0, "logging/setLevel", json!({ "level": "info" })), METHOD),
    ]
}

/// Lines that request nothing.
const SILENT: [(&str, &str); 8] = [
    ("a blank line", ""),
    ("blanks", " \t \r"),
    (
        "a notification that comes too early",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    ),
    (
        "a notification that is not known",
        r#"{"jsonrpc":"2.0","method":"notifications/whatever","params":[]}"#,
    ),
    (
        "a notification with odd params",
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":"x"}"#,
    ),
    (
        "a cancellation of nothing",
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}"#,
    ),
    ("a response that nobody waits for", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
    (
        "an error that nobody waits for",
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#,
    ),
];

fn attacks() -> Vec<Attack> {
    let mut attacks = Vec::new();
    let mut id = 1000;
    let mut next = || {
        id += 1;
        id
    };
    for (name, line) in damaged() {
        let (id, code) = (next(), if line.len() > 8 << 20 { REQUEST } else { PARSE });
        attacks.push(attack(name, id, &line, &[(json!(id), code)]));
    }
    for (name, line, code) in nameless() {
        attacks.push(attack(name, 0, &line, &[(Value::Null, code)]));
    }
    for (name, line) in no_request() {
        let id = next();
        attacks.push(attack(name, id, line.as_bytes(), &[(json!(id), REQUEST)]));
    }
    for (name, mut request, code) in refused() {
        let id = next();
        request["id"] = json!(id);
        attacks.push(attack(name, id, request.to_string().as_bytes(), &[(json!(id), code)]));
    }
    for (name, line) in SILENT {
        attacks.push(attack(name, 0, line.as_bytes(), &[]));
    }
    let batch =
        br#"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":2,"method":"x"}]"#;
    let both = [(json!("a"), REQUEST), (json!(2), REQUEST)];
    attacks.push(attack("a batch of two", 0, batch, &both));
    let large = br#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"tools/list"}"#;
    attacks.push(attack("a large id", 0, large, &[(json!(u64::MAX), REQUEST)]));
    let fraction = br#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#;
    attacks.push(attack("an id that is a fraction", 0, fraction, &[(json!(1.5), REQUEST)]));
    attacks
}

/// Sends lines to a server. Returns the number of errors by id and code, and the results by id.
fn say(server: &str, lines: &[Vec<u8>]) -> (BTreeMap<(String, i64), usize>, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let variables = [("XDG_STATE_HOME", state.to_str().unwrap())];
    let ran = assay_with(folder.path(), &["mcp", server], &lines.join(&b'\n'), &variables);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{server}");
    let (mut errors, mut results) = (BTreeMap::new(), Vec::new());
    for line in ran.stdout.lines() {
        let answer: Value = serde_json::from_str(line).unwrap();
        assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
        match answer["error"]["code"].as_i64() {
            Some(code) => *errors.entry((answer["id"].to_string(), code)).or_default() += 1,
            None => results.push(answer["id"].clone()),
        }
    }
    (errors, results)
}

fn expected(attacks: &[Attack]) -> BTreeMap<(String, i64), usize> {
    let mut expected = BTreeMap::new();
    for (id, code) in attacks.iter().flat_map(|attack| &attack.answers) {
        *expected.entry((id.to_string(), *code)).or_default() += 1;
    }
    expected
}

#[test]
fn each_attack_gets_its_expected_errors_and_the_session_continues() {
    let attacks = attacks();
    let lines: Vec<Vec<u8>> = attacks.iter().map(|attack| attack.line.clone()).collect();
    let bytes = |line: &Value| line.to_string().into_bytes();
    for server in SERVERS {
        // As the first lines; the last line has no line break.
        let last = [bytes(&modern(1, "tools/list", json!({})))];
        let (errors, results) = say(server, &[&lines[..], &last].concat());
        assert_eq!(errors, expected(&attacks), "{server}");
        assert_eq!(results, [json!(1)], "{server}");
        // After the handshake of an earlier revision.
        let hello: Vec<Vec<u8>> = handshake("2025-11-25").iter().map(bytes).collect();
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        let (errors, results) = say(server, &[hello, lines.clone(), vec![bytes(&list)]].concat());
        assert_eq!(errors, expected(&attacks), "{server}, after a handshake");
        assert_eq!(results, [json!(0), json!(1)], "{server}, after a handshake");
    }
}

#[test]
fn each_attack_alone_is_answered_before_the_next_request() {
    for attack in attacks() {
        let good = modern(1, "tools/list", json!({})).to_string().into_bytes();
        let (errors, results) = say("task-queue", &[attack.line.clone(), good]);
        assert_eq!(errors, expected(std::slice::from_ref(&attack)), "{}", attack.name);
        assert_eq!(results, [json!(1)], "{}", attack.name);
    }
}

// ---- over HTTP

/// Posts a raw body, in a revision with self-contained requests.
fn post(served: &McpServer, token: &str, method: &str, body: &[u8]) -> (u16, String) {
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-length: {}\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n\
         authorization: Bearer {token}\r\n\r\n",
        served.address,
        body.len(),
    );
    served.exchange(&[head.as_bytes(), body].concat())
}

fn token(folder: &std::path::Path) -> String {
    let token = std::fs::read_to_string(folder.join(".assay/mcp/task-queue.token")).unwrap();
    token.trim().to_owned()
}

#[test]
fn over_http_the_same_bodies_get_the_same_answers() {
    let folder = tempfile::tempdir().unwrap();
    let served = McpServer::start(folder.path());
    let token = token(folder.path());
    let unread = |attack: &Attack| {
        let codes: Vec<i64> = attack.answers.iter().map(|(_, code)| *code).collect();
        !codes.is_empty() && codes.iter().all(|code| [PARSE, REQUEST].contains(code))
    };
    let attacks: Vec<Attack> = attacks().into_iter().filter(unread).collect();
    assert!(attacks.len() > 40, "{}", attacks.len());
    for attack in attacks {
        let (status, answer) = post(&served, &token, "tools/list", &attack.line);
        let too_long = attack.line.len() > 8 << 20;
        assert_eq!(status, if too_long { 413 } else { 400 }, "{}: {answer}", attack.name);
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        let body: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"));
        let list = body.as_array().cloned().unwrap_or_else(|| vec![body]);
        let reported: Vec<(Value, i64)> = list
            .iter()
            .map(|error| (error["id"].clone(), error["error"]["code"].as_i64().unwrap()))
            .collect();
        assert_eq!(reported, attack.answers, "{}", attack.name);
    }
    for (name, request, code) in refused().into_iter().filter(|(_, _, code)| *code == METHOD) {
        let method = request["method"].as_str().unwrap().to_owned();
        // A request that needs another header is refused for the missing header.
        let has_name = ["name", "uri"].iter().any(|key| !request["params"][*key].is_null());
        if method.is_empty() || has_name {
            continue;
        }
        let (status, answer) = post(&served, &token, &method, request.to_string().as_bytes());
        assert!([400, 404].contains(&status), "{name}: {answer}");
        assert!(answer.contains(&format!("\"code\":{code}")), "{name}: {answer}");
    }
    let (status, _) = post(&served, &token, "tools/list", b" \n");
    assert_eq!(status, 400);
    let good = modern(1, "tools/list", json!({})).to_string();
    assert_eq!(post(&served, &token, "tools/list", good.as_bytes()).0, 200);
    assert_eq!(served.stop(), Some(0));
}

#[test]
fn over_http_a_deleted_session_gets_an_empty_204_and_then_404() {
    let folder = tempfile::tempdir().unwrap();
    let served = McpServer::start(folder.path());
    let token = token(folder.path());
    let head = |method: &str, more: &str, length: usize| {
        format!(
            "{method} /mcp HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-length: {length}\r\n\
             content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             authorization: Bearer {token}\r\n{more}\r\n",
            served.address,
        )
    };
    let hello = handshake("2025-11-25")[0].to_string();
    let initialize = [head("POST", "", hello.len()).as_bytes(), hello.as_bytes()].concat();
    let (status, answer) = served.exchange(&initialize);
    assert_eq!(status, 200, "{answer}");
    let session = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
    let session = format!("mcp-session-id: {}\r\n", session.unwrap().trim());
    let (status, answer) = served.exchange(head("DELETE", &session, 0).as_bytes());
    assert_eq!(status, 204, "{answer}");
    assert_eq!(answer.split_once("\r\n\r\n").unwrap().1, "", "{answer}");
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let after = [head("POST", &session, list.len()).as_bytes(), list.as_bytes()].concat();
    assert_eq!(served.exchange(&after).0, 404, "the session is over");
    assert_eq!(served.stop(), Some(0));
}

// ---- published schemas, and titles

/// Collects the places in a schema where a subschema is `true` or `false`.
fn boolean_schemas(schema: &Value, at: &str, found: &mut Vec<String>) {
    let Value::Object(fields) = schema else { return };
    for (key, value) in fields {
        let at = format!("{at}/{key}");
        let below: Vec<&Value> = match key.as_str() {
            "properties" | "$defs" | "patternProperties" => {
                value.as_object().into_iter().flat_map(|all| all.values()).collect()
            }
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                value.as_array().into_iter().flatten().collect()
            }
            // Every client supports this case.
            "additionalProperties" if *value == json!(false) => continue,
            "items" | "additionalProperties" | "not" | "contains" | "if" | "then" | "else" => {
                vec![value]
            }
            _ => continue,
        };
        for schema in below {
            if schema.is_boolean() {
                found.push(at.clone());
            }
            boolean_schemas(schema, &at, found);
        }
    }
}

#[test]
fn no_schema_of_a_tool_is_a_boolean() {
    for server in SERVERS {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let variables = [("XDG_STATE_HOME", state.to_str().unwrap())];
        let said = format!("{}\n", modern(1, "tools/list", json!({})));
        let ran = assay_with(folder.path(), &["mcp", server], said.as_bytes(), &variables);
        let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
        let mut found = Vec::new();
        for tool in answer["result"]["tools"].as_array().unwrap() {
            for schema in ["inputSchema", "outputSchema"] {
                let at = format!("{} {schema}", tool["name"]);
                boolean_schemas(&tool[schema], &at, &mut found);
            }
        }
        assert_eq!(found, [""; 0], "{server}");
    }
}

#[test]
fn a_title_with_invisible_characters_is_refused() {
    let hidden = ['\u{202e}', '\u{2066}', '\u{200f}', '\u{61c}', '\u{200b}', '\u{ad}', '\u{e0041}'];
    for hidden in hidden {
        let title = format!("Review{hidden}fdp.exe");
        let calls = [
            (
                "task-queue",
                "queue_task_for_agent",
                json!({ "agent_id": "qa", "task_type": "review", "title": title, "description": "d" }),
            ),
            ("github", "github_create_pr", json!({ "repo": "o/r", "title": title, "head": "b" })),
            (
                "github",
                "github_update_pr",
                json!({ "repo": "o/r", "pr_number": 1, "title": title }),
            ),
            ("jira", "jira_create_issue", json!({ "summary": title })),
            ("jira", "jira_create_epic", json!({ "summary": title })),
            ("jira", "jira_create_subtask", json!({ "summary": title, "parent_key": "PROJ-1" })),
            (
                "jira",
                "jira_create_epic_with_subtasks",
                json!({ "summary": "An epic", "subtasks": [{ "summary": title }] }),
            ),
            (
                "jira",
                "jira_update_field",
                json!({ "issue_key": "PROJ-1", "field": "Summary", "value": title }),
            ),
        ];
        for (server, tool, arguments) in calls {
            let folder = tempfile::tempdir().unwrap();
            let state = folder.path().join("state");
            let variables = [("XDG_STATE_HOME", state.to_str().unwrap())];
            let said = format!("{}\n", call(1, tool, &arguments));
            let ran = assay_with(folder.path(), &["mcp", server], said.as_bytes(), &variables);
            let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
            let reported = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
            let code = format!("U+{:04X}", u32::from(hidden));
            assert!(reported.contains(&code), "{tool}: {answer}");
            assert!(answer["result"]["isError"] == true, "{tool}: {answer}");
        }
    }
}
