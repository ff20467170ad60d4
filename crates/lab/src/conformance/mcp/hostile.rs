//! Every tool with invalid arguments: the call is refused with a message, and nothing is written.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use anyhow::{Context, ensure};
use serde_json::{Map, Value, json};

use super::fixture::{McpFixture, McpServer, assay};
use crate::conformance::{Check, Outcome};

pub(super) fn run() -> Vec<Check> {
    let over_stdio = Outcome::of(check(false));
    let over_http = Outcome::of(check(true));
    vec![
        ("hostile input over stdio".to_owned(), over_stdio),
        ("hostile input over HTTP".to_owned(), over_http),
    ]
}

fn check(over_http: bool) -> anyhow::Result<()> {
    let fixture = McpFixture::new("hostile")?;
    let mut line = match over_http {
        true => McpConnection::Http(McpServer::start(&fixture)?),
        false => McpConnection::start(&fixture)?,
    };
    let task = json!({
        "agent_id": "qa", "task_type": "review", "title": "Review PR #456", "description": "d",
    });
    let queued = line.call("queue_task_for_agent", &task)?;
    ensure!(queued["isError"] == false, "{queued}");
    let id = queued["structuredContent"]["task_id"].clone();
    let before = fixture.stored_files()?;
    let listed = line.ask("tools/list", json!({}))?;
    let tools = listed["tools"].as_array().context("no tools are listed")?.clone();
    let mut tried = 0;
    for tool in &tools {
        let name = tool["name"].as_str().context("a tool has a name")?;
        for (what, arguments) in bad_arguments(tool, &id) {
            let answer = line.call(name, &arguments)?;
            let told = answer["content"][0]["text"].as_str().unwrap_or_default();
            ensure!(answer["isError"] == true, "{name}: {what} is taken: {answer}");
            ensure!(
                (10..2_000).contains(&told.len()) && !told.chars().any(char::is_control),
                "{name}: {what}: it is not said what is wrong: {told:?}"
            );
            ensure!(fixture.stored_files()? == before, "{name}: {what} left something behind");
            tried += 1;
        }
    }
    println!("  {tried} bad calls of {} tools refused", tools.len());
    ensure!(tried > 100, "only {tried} were tried");
    Ok(())
}

/// Returns arguments that are each wrong in one way, with a description.
fn bad_arguments(tool: &Value, id: &Value) -> Vec<(String, Value)> {
    let nothing = Map::new();
    let properties = tool["inputSchema"]["properties"].as_object().unwrap_or(&nothing);
    let required = tool["inputSchema"]["required"].as_array().map(Vec::as_slice).unwrap_or(&[]);
    let good = good_arguments(properties, required, id);
    let with = |key: &str, value: Value| {
        let mut arguments = good.clone();
        arguments[key] = value;
        arguments
    };
    let mut bad = vec![
        ("an unknown key".to_owned(), with("unknown", json!(1))),
        ("a key of control characters".to_owned(), with("\u{1b}[2J\u{0}", json!(1))),
    ];
    for key in required.iter().filter_map(Value::as_str) {
        let mut without = good.clone();
        without.as_object_mut().expect("they are an object").remove(key);
        bad.push((format!("no {key}"), without));
    }
    for (key, schema) in properties {
        let wrong = bad_values(schema).into_iter();
        bad.extend(wrong.map(|(what, value)| (format!("{what} as {key}"), with(key, value))));
    }
    bad
}

/// Returns valid arguments of a tool.
fn good_arguments(properties: &Map<String, Value>, required: &[Value], id: &Value) -> Value {
    let needed = properties.iter().filter(|(key, _)| required.iter().any(|name| name == *key));
    let value = |key: &str, schema: &Value| match key {
        "task_id" => id.clone(),
        _ => schema["enum"][0].as_str().map_or_else(|| json!("review"), |word| json!(word)),
    };
    Value::Object(needed.map(|(key, schema)| (key.clone(), value(key, schema))).collect())
}

fn bad_values(schema: &Value) -> Vec<(&'static str, Value)> {
    let kind = schema["type"].as_str().unwrap_or_default();
    let mut bad = vec![("null", Value::Null), ("a wrong type", wrong_type(kind))];
    let is_name = schema["pattern"].is_string() || schema["enum"].is_array();
    match kind {
        "string" => {
            bad.push(("control characters", json!("a\u{0}b\u{1b}[2J\u{7f}")));
            bad.push(("nothing", json!("")));
            let longest = schema["maxLength"].as_u64().unwrap_or(200);
            bad.push(("too much", json!("x".repeat(longest as usize + 1))));
            if is_name {
                bad.push(("a path", json!("../../etc/passwd")));
                bad.push(("an absolute path", json!("/etc/passwd")));
                bad.push(("a hidden name", json!(".hidden")));
                bad.push(("a name with a line break", json!("qa\n")));
                bad.push(("a name that looks like another", json!("q\u{430}")));
            }
        }
        "integer" => {
            bad.push(("too little", json!(-1)));
            bad.push(("too much", json!(1_000_000)));
            bad.push(("a fraction", json!(1.5)));
        }
        "array" => {
            let many = schema["maxItems"].as_u64().unwrap_or(1_000) as usize + 1;
            bad.push(("too many", json!(vec!["x"; many])));
            bad.push(("control characters", json!(["a\u{0}"])));
            if schema["items"]["pattern"].is_string() {
                bad.push(("paths", json!(["../../etc"])));
            }
        }
        "object" => {
            bad.push(("control characters", json!({ "a": [{ "b": "\u{1b}]0;x\u{7}" }] })));
            bad.push(("control characters in a key", json!({ "\u{0}": 1 })));
            bad.push(("too much", json!({ "x": "x".repeat(5 << 20) })));
        }
        _ => {}
    }
    bad
}

fn wrong_type(kind: &str) -> Value {
    if kind == "array" { json!("x") } else { json!(["x"]) }
}

/// A connection to the server, in the current revision of the protocol.
enum McpConnection {
    Stdio { child: Child, answers: Box<dyn Iterator<Item = std::io::Result<String>>> },
    Http(McpServer),
}

impl McpConnection {
    fn start(fixture: &McpFixture) -> anyhow::Result<McpConnection> {
        let mut child = fixture
            .command(&assay())?
            .args(["mcp", "task-queue"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().context("its output is piped")?;
        Ok(McpConnection::Stdio { child, answers: Box::new(BufReader::new(stdout).lines()) })
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Sends a request and returns the response.
    fn ask(&mut self, method: &str, mut params: Value) -> anyhow::Result<Value> {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "hostile", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = match self {
            McpConnection::Stdio { child, answers } => {
                let mut input = child.stdin.as_ref().context("its input is piped")?;
                writeln!(input, "{request}")?;
                answers.next().context("the server has left")??
            }
            McpConnection::Http(served) => post(served, method, &name, &request.to_string())?,
        };
        let mut answer: Value = serde_json::from_str(&answer).with_context(|| answer.clone())?;
        ensure!(answer["error"].is_null(), "an error of the protocol: {answer}");
        Ok(answer["result"].take())
    }
}

impl Drop for McpConnection {
    fn drop(&mut self) {
        if let McpConnection::Stdio { child, .. } = self {
            // The server ends when its stdin is closed.
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}

/// Posts a request and returns the message in the response, which is JSON or an event.
fn post(served: &McpServer, method: &str, name: &str, body: &str) -> anyhow::Result<String> {
    let address = served.url.trim_start_matches("http://").trim_end_matches("/mcp");
    let mut request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         authorization: {}\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n",
        body.len(),
        served.authorization(),
    );
    if !name.is_empty() {
        request.push_str(&format!("mcp-name: {name}\r\n"));
    }
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(format!("{request}\r\n{body}").as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let mut lines = answer.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
    let message = lines.rfind(|line| line.starts_with("{\"jsonrpc\""));
    Ok(message.with_context(|| format!("no message in {answer}"))?.to_owned())
}
