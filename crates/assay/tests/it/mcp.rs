//! `assay mcp`, as raw lines and raw requests.

use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::{AssayRun, assay_in, assay_with};

/// Returns a request of the revision 2026-07-28, in which every request is self-contained.
pub(super) fn modern(id: u32, method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub(super) fn call(id: u32, tool: &str, arguments: &Value) -> Value {
    modern(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

/// Returns the handshake of earlier revisions.
pub(super) fn handshake(version: &str) -> Vec<Value> {
    let params = json!({
        "protocolVersion": version, "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    vec![
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    ]
}

/// Sends lines to the server and returns the answers in the order of their ids.
fn talk(folder: &Path, lines: &[Value], variables: &[(&str, &str)]) -> Vec<Value> {
    let said: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let ran = assay_with(folder, &["mcp", "task-queue"], said.as_bytes(), variables);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    answers(&ran)
}

pub(super) fn answers(ran: &AssayRun) -> Vec<Value> {
    let mut answers: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    answers
}

/// Calls one tool and returns its result, or its error.
fn tool(folder: &Path, name: &str, arguments: &Value) -> Result<Value, String> {
    tool_with(folder, name, arguments, &[])
}

pub(super) fn tool_with(
    folder: &Path,
    name: &str,
    arguments: &Value,
    variables: &[(&str, &str)],
) -> Result<Value, String> {
    let answers = talk(folder, &[call(1, name, arguments)], variables);
    let result = &answers[0]["result"];
    match result["isError"] == true {
        true => Err(result["content"][0]["text"].as_str().unwrap().to_owned()),
        false => Ok(result["structuredContent"].clone()),
    }
}

/// A server with a dialogue, as agents use it: each answer is awaited.
pub(super) struct McpSession {
    pub(super) child: Child,
    answers: Lines<BufReader<ChildStdout>>,
}

impl McpSession {
    pub(super) fn start(folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> McpSession {
        let mut child = Command::new(env!("CARGO_BIN_EXE_assay"))
            .arg("mcp")
            .args(args)
            .current_dir(folder)
            .env("XDG_STATE_HOME", crate::state_home())
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        McpSession { child, answers }
    }

    pub(super) fn say(&mut self, line: &Value) -> Value {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
        serde_json::from_str(&self.answers.next().unwrap().unwrap()).unwrap()
    }
}

impl Drop for McpSession {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

fn review() -> Value {
    json!({
        "agent_id": "qa", "task_type": "review", "title": "Review PR #456 - Add authentication",
        "description": "PR ready for review. Check security and correctness.",
        "context": { "jira_key": "PROJ-123", "github_repo": "owner/repo", "pr_number": 456 },
    })
}

#[test]
fn a_task_that_an_agent_queues_is_a_file_in_its_queue() {
    let folder = tempfile::tempdir().unwrap();
    let answer = tool(folder.path(), "queue_task_for_agent", &review()).unwrap();
    let id = answer["task_id"].as_str().unwrap();
    assert!(id.starts_with("review-qa-"), "{id}");
    let file = folder.path().join(format!(".agent-communication/queues/qa/{id}.json"));
    let task: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    assert_eq!(task["status"], "pending");
    assert_eq!(task["context"], review()["context"]);
    assert_eq!(task["assigned_to"], "qa");
}

#[test]
fn the_previous_and_the_current_protocol_revision_are_supported() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = handshake("2025-11-25");
    lines.push(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
    let arguments = json!({ "name": "get_queue_status", "arguments": {} });
    lines.push(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": arguments }));
    lines.push(json!({ "jsonrpc": "2.0", "id": 3, "method": "ping" }));
    let answers = talk(folder.path(), &lines, &[]);
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "task-queue");
    let before = names(&answers[1]);
    assert_eq!(
        before,
        [
            "queue_task_for_agent", "get_queue_status", "list_pending_tasks", "get_task_details",
            "get_epic_progress", "cancel_task", "get_findings", "report_findings",
        ]
    );
    let queues = answers[2]["result"]["structuredContent"]["queues"].as_array().unwrap();
    let found: Vec<&str> = queues.iter().map(|queue| queue["queue"].as_str().unwrap()).collect();
    assert_eq!(found, ["architect", "engineer", "qa"]);
    assert_eq!(answers[3]["result"], json!({}));

    let lines = [modern(1, "server/discover", json!({})), modern(2, "tools/list", json!({}))];
    let answers = talk(folder.path(), &lines, &[]);
    let versions = answers[0]["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{}", answers[0]);
    assert_eq!(names(&answers[1]), before);
    assert_eq!(answers[1]["result"]["resultType"], "complete");
}

fn names(answer: &Value) -> Vec<String> {
    let tools = answer["result"]["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_child_task_inherits_the_context_of_its_parent_task() {
    let folder = tempfile::tempdir().unwrap();
    let mut parent = review();
    parent["context"] = json!({ "github_repo": "real/repo", "workflow": "default" });
    let parent = tool(folder.path(), "queue_task_for_agent", &parent).unwrap();
    let mut child = review();
    child["agent_id"] = json!("engineer");
    child["context"] = json!({ "github_repo": "invented/repo", "pr_number": 1 });
    let own_task = [("AGENT_TASK_ID", parent["task_id"].as_str().unwrap())];
    let answer = tool_with(folder.path(), "queue_task_for_agent", &child, &own_task).unwrap();
    let expected = json!({ "github_repo": "real/repo", "pr_number": 1, "workflow": "default" });
    assert_eq!(answer["context"], expected);
}

#[test]
fn an_unknown_task_id_is_answered_and_a_path_as_id_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("secret.json"), "{}").unwrap();
    let details = |id: &str| tool(folder.path(), "get_task_details", &json!({ "task_id": id }));
    assert_eq!(details("nope"), Ok(json!({ "error": "Task nope not found" })));
    let refusal = details("../../../secret").unwrap_err();
    assert!(refusal.starts_with("`task_id` must match"), "{refusal}");
    let mut elsewhere = review();
    elsewhere["agent_id"] = json!("../../x");
    let refusal = tool(folder.path(), "queue_task_for_agent", &elsewhere).unwrap_err();
    assert!(refusal.starts_with("`agent_id` must be one of architect, engineer, qa"), "{refusal}");
}

#[test]
fn a_malformed_message_does_not_end_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let status = call(2, "get_queue_status", &json!({}));
    let said = format!("\n{{]\n{}\n{status}\n", call(1, "get_queue_status", &json!({})));
    let ran = assay_in(folder.path(), &["mcp", "task-queue"], said.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let answers = answers(&ran);
    assert_eq!(answers.len(), 3, "{}", ran.stdout);
    assert_eq!((&answers[0]["id"], &answers[0]["error"]["code"]), (&json!(null), &json!(-32700)));
}

#[test]
fn invalid_options_and_variables_are_refused_at_start() {
    let folder = tempfile::tempdir().unwrap();
    let check = |args: &[&str], variables: &[(&str, &str)], expected: &str| {
        let args: Vec<&str> = ["mcp", "task-queue"].iter().chain(args).copied().collect();
        let ran = assay_with(folder.path(), &args, b"", variables);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
    };
    check(&[], &[("AGENT_TASK_ID", "../x")], "AGENT_TASK_ID");
    check(&["--no-token"], &[], "--http");
    check(&["--http", "0.0.0.0:0"], &[], "--allow-host");
    check(&["--http", "127.0.0.1:0", "--token-env", "NOT_SET"], &[], "`NOT_SET` is not set");
    let short = [("SHORT", "secret")];
    check(&["--http", "127.0.0.1:0", "--token-env", "SHORT"], &short, "invalid token in `SHORT`");
    let all = ["--http", "0.0.0.0:0", "--no-token", "--allow-host", "box.example"];
    check(&all, &[], "it needs a token");
}

// ---- over HTTP

/// A server at an address, which is stopped as a service manager does.
pub(super) struct McpServer {
    child: Child,
    pub(super) address: String,
}

impl McpServer {
    pub(super) fn start(folder: &Path) -> McpServer {
        let mut child = Command::new(env!("CARGO_BIN_EXE_assay"))
            .args(["mcp", "task-queue", "--http", "127.0.0.1:0"])
            .current_dir(folder)
            .env("XDG_STATE_HOME", crate::state_home())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let address = stderr.lines().map_while(Result::ok).find_map(|line| {
            let url = line.strip_prefix("listening on http://")?;
            Some(url.strip_suffix("/mcp")?.to_owned())
        });
        McpServer { child, address: address.unwrap() }
    }

    /// Sends a raw request and returns the status and the whole response.
    pub(super) fn exchange(&self, request: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        // The server may answer before it has read the whole request.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
    }

    /// Posts a message and returns the status and the whole response.
    fn post(&self, token: Option<&str>, message: &Value) -> (u16, String) {
        let body = message.to_string();
        let (method, name) = (&message["method"], &message["params"]["name"]);
        let mut request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-length: {}\r\n\
             content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             mcp-protocol-version: 2026-07-28\r\nmcp-method: {}\r\nmcp-name: {}\r\n",
            self.address,
            body.len(),
            method.as_str().unwrap(),
            name.as_str().unwrap(),
        );
        if let Some(token) = token {
            request.push_str(&format!("authorization: Bearer {token}\r\n"));
        }
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(format!("{request}\r\n{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
    }

    pub(super) fn stop(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

#[test]
fn over_http_queueing_a_task_requires_the_token() {
    let folder = tempfile::tempdir().unwrap();
    let served = McpServer::start(folder.path());
    let message = call(1, "queue_task_for_agent", &review());
    for wrong in [None, Some("0000000000000000")] {
        let (status, answer) = served.post(wrong, &message);
        assert_eq!(status, 401, "{answer}");
        assert!(answer.contains("www-authenticate: Bearer"), "{answer}");
    }
    let queue = folder.path().join(".agent-communication/queues/qa");
    assert_eq!(fs::read_dir(queue).unwrap().count(), 0);
    let token = folder.path().join(".assay/mcp/task-queue.token");
    let token = fs::read_to_string(token).unwrap();
    let (status, answer) = served.post(Some(token.trim()), &message);
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains("review-qa-"), "{answer}");
    assert_eq!(served.stop(), Some(0));
    let tasks = fs::read_dir(folder.path().join(".agent-communication/queues/qa")).unwrap();
    assert_eq!(tasks.count(), 1);
}

#[test]
fn the_http_token_persists_and_a_modified_token_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join(".assay/mcp/task-queue.token");
    assert_eq!(McpServer::start(folder.path()).stop(), Some(0));
    let first = fs::read_to_string(&token).unwrap();
    assert_eq!(McpServer::start(folder.path()).stop(), Some(0));
    assert_eq!(fs::read_to_string(&token).unwrap(), first);
    let ignored = fs::read_to_string(folder.path().join(".assay/.gitignore")).unwrap();
    assert!(ignored.lines().any(|line| line == "/*"), "{ignored}");
    fs::write(&token, "a-token-that-others-know\n").unwrap();
    let ran = assay_with(folder.path(), &["mcp", "task-queue", "--http", "127.0.0.1:0"], b"", &[]);
    let expected_error =
        "`.assay/mcp/task-queue.token` is not used: another program changed the state";
    assert!(ran.code == 2 && ran.stderr.contains(expected_error), "{}", ran.stderr);
}
