//! A fake Graphiti server: [`FakeGraphiti`] serves MCP over HTTP, and records the tool calls.
//!
//! The fake is stricter than the real server: it refuses and records a session that is not
//! initialized, a missing header, and an unknown argument.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Map, Value, json};

use crate::http::{Request, head};

/// The path of the endpoint.
const PATH: &str = "/mcp";

/// The supported version of the protocol.
const VERSION: &str = "2025-06-18";

/// The data of a server, and its behaviour.
#[derive(Debug, Clone)]
pub struct Memory {
    /// The group of the data; other groups are empty.
    pub group: String,
    /// The facts, as JSON of the answer.
    pub facts: Vec<Value>,
    /// The entities, as JSON of the answer.
    pub nodes: Vec<Value>,
    /// The behaviour of the server.
    pub manner: Behaviour,
}

/// The behaviour of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// Answers are JSON objects.
    Json,
    /// Answers are streams, with an unrelated event first.
    Stream,
    /// Tool calls fail.
    Failing,
    /// Searches for entities fail, as on servers without that tool.
    NoNodes,
    /// No answer is sent until the client disconnects.
    Silent,
    /// The answer is a stream without an end and without a result.
    Endless,
}

/// A valid tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The name of the tool.
    pub tool: String,
    /// The arguments of the call.
    pub arguments: Value,
}

/// A server on this machine, which runs until the process ends.
#[derive(Debug, Clone)]
pub struct FakeGraphiti {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    sessions: u32,
    /// The sessions that are initialized, and those that are confirmed by the client.
    greeted: BTreeSet<String>,
    ready: BTreeSet<String>,
    calls: Vec<ToolCall>,
    problems: Vec<String>,
}

/// The answer to a message.
enum Answer {
    /// A result, with the id of a new session.
    Result { id: Value, result: Value, session: Option<String> },
    /// An error of the protocol.
    Error { id: Value, message: String },
    /// An acknowledgement with a status.
    Heard(u16),
}

/// An invalid request: the status and the reason.
struct RequestError(u16, String);

impl Memory {
    /// Creates a memory with facts about a group.
    pub fn of(group: &str, facts: &[&str]) -> Memory {
        let fact = |text: &&str| {
            json!({
                "uuid": "f", "name": "RAISED", "fact": text, "group_id": group,
                "valid_at": "2026-06-01T00:00:00Z", "invalid_at": null, "expired_at": null,
            })
        };
        Memory {
            group: group.to_owned(),
            facts: facts.iter().map(fact).collect(),
            nodes: Vec::new(),
            manner: Behaviour::Json,
        }
    }
}

impl FakeGraphiti {
    /// Starts a server on any free port.
    pub fn start(memory: Memory) -> FakeGraphiti {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let state: Arc<Mutex<State>> = Arc::default();
        let server = FakeGraphiti { address, state };
        let memory = Arc::new(memory);
        let serving = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (server, memory) = (serving.clone(), Arc::clone(&memory));
                // The client may have disconnected.
                thread::spawn(move || drop(server.converse(&stream, &memory)));
            }
        });
        server
    }

    /// Returns the address of the endpoint.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Returns all tool calls so far.
    pub fn calls(&self) -> Vec<ToolCall> {
        self.state.lock().unwrap().calls.clone()
    }

    /// Returns the reasons of all invalid requests so far.
    pub fn problems(&self) -> Vec<String> {
        self.state.lock().unwrap().problems.clone()
    }

    /// Returns the number of sessions that are not ended.
    pub fn open_sessions(&self) -> usize {
        self.state.lock().unwrap().greeted.len()
    }

    fn converse(&self, stream: &TcpStream, memory: &Memory) -> io::Result<()> {
        while let Some(request) = Request::read(stream)? {
            request.finish(stream)?;
            match memory.manner {
                Behaviour::Silent => return wait_for_the_end(stream),
                Behaviour::Endless => return endless(stream),
                Behaviour::Json | Behaviour::Stream | Behaviour::Failing | Behaviour::NoNodes => {}
            }
            let answer = self.answer(&request, memory);
            match &answer {
                Ok(answer) => send(stream, answer, memory.manner)?,
                Err(wrong) => self.refuse(stream, wrong)?,
            }
        }
        Ok(())
    }

    /// Records an invalid request, and sends the error.
    fn refuse(
        &self,
        mut stream: &TcpStream,
        RequestError(status, why): &RequestError,
    ) -> io::Result<()> {
        self.state.lock().unwrap().problems.push(why.clone());
        stream.write_all(&head(*status, &[], Some(why.len())))?;
        stream.write_all(why.as_bytes())
    }

    fn answer(&self, request: &Request, memory: &Memory) -> Result<Answer, RequestError> {
        if request.path() != PATH {
            return Err(RequestError(404, format!("there is no {}", request.path())));
        }
        match request.method.as_str() {
            "POST" => self.handle_post(request, memory),
            "DELETE" => self.end_session(request),
            other => Err(RequestError(405, format!("{other} is not allowed"))),
        }
    }

    fn handle_post(&self, request: &Request, memory: &Memory) -> Result<Answer, RequestError> {
        let header = |name: &str| request.header(name).unwrap_or_default();
        let takes = |kind: &str| header("accept").contains(kind);
        if header("content-type") != "application/json" {
            return Err(RequestError(400, "the content-type is not JSON".to_owned()));
        }
        if !takes("application/json") || !takes("text/event-stream") {
            return Err(RequestError(406, "both kinds of answers have to be taken".to_owned()));
        }
        let body: Value = serde_json::from_slice(&request.body)
            .map_err(|error| RequestError(400, error.to_string()))?;
        if body["jsonrpc"] != "2.0" {
            return Err(RequestError(400, "this is not JSON-RPC 2.0".to_owned()));
        }
        match (body["method"].as_str().unwrap_or_default(), body.get("id")) {
            ("initialize", Some(id)) => self.initialize(request, id, &body["params"]),
            ("notifications/initialized", None) => {
                let session = self.session(request)?;
                self.state.lock().unwrap().ready.insert(session);
                Ok(Answer::Heard(202))
            }
            ("tools/call", Some(id)) => {
                let session = self.session(request)?;
                if !self.state.lock().unwrap().ready.contains(&session) {
                    return Err(RequestError(400, "the session is not begun".to_owned()));
                }
                Ok(self.call_tool(id, &body["params"], memory))
            }
            (method, _) => Err(RequestError(400, format!("nobody sends `{method}` like this"))),
        }
    }

    fn initialize(
        &self,
        request: &Request,
        id: &Value,
        params: &Value,
    ) -> Result<Answer, RequestError> {
        let is_whole = params["protocolVersion"].is_string()
            && params["capabilities"].is_object()
            && params["clientInfo"]["name"].is_string()
            && params["clientInfo"]["version"].is_string();
        if !is_whole || request.header("mcp-session-id").is_some() {
            return Err(RequestError(400, "this is no greeting".to_owned()));
        }
        let mut state = self.state.lock().unwrap();
        state.sessions += 1;
        let session = format!("session-{}", state.sessions);
        state.greeted.insert(session.clone());
        let result = json!({
            "protocolVersion": VERSION,
            "capabilities": { "tools": { "listChanged": false } },
            "serverInfo": { "name": "Graphiti Agent Memory", "version": "1.0" },
        });
        Ok(Answer::Result { id: id.clone(), result, session: Some(session) })
    }

    fn end_session(&self, request: &Request) -> Result<Answer, RequestError> {
        let session = self.session(request)?;
        self.state.lock().unwrap().greeted.remove(&session);
        Ok(Answer::Heard(200))
    }

    /// Returns the session of a request. Fails if the request does not name it and its version.
    fn session(&self, request: &Request) -> Result<String, RequestError> {
        let wrong = |status, why: &str| RequestError(status, why.to_owned());
        let session = request.header("mcp-session-id");
        let session = session.ok_or_else(|| wrong(400, "there is no session id"))?;
        if !self.state.lock().unwrap().greeted.contains(session) {
            return Err(wrong(404, "there is no such session"));
        }
        match request.header("mcp-protocol-version") == Some(VERSION) {
            true => Ok(session.to_owned()),
            false => Err(wrong(400, "the version is not the one agreed on")),
        }
    }

    fn call_tool(&self, id: &Value, params: &Value, memory: &Memory) -> Answer {
        let (tool, arguments) = (params["name"].as_str().unwrap_or_default(), &params["arguments"]);
        let result = |value: Value, is_error: bool| Answer::Result {
            id: id.clone(),
            result: json!({
                "content": [{ "type": "text", "text": value.to_string() }],
                "structuredContent": { "result": value },
                "isError": is_error,
            }),
            session: None,
        };
        let no_nodes = memory.manner == Behaviour::NoNodes && tool == "search_nodes";
        let Some(fields) = fields(tool).filter(|_| !no_nodes) else {
            let message = format!("Unknown tool: {tool}");
            return Answer::Error { id: id.clone(), message };
        };
        if let Err(why) = check(fields, arguments) {
            self.state.lock().unwrap().problems.push(format!("{tool}: {why}"));
            return result(json!(why), true);
        }
        let call = ToolCall { tool: tool.to_owned(), arguments: arguments.clone() };
        self.state.lock().unwrap().calls.push(call);
        if memory.manner == Behaviour::Failing {
            return result(json!({ "error": "the graph is away" }), false);
        }
        let is_known = arguments["group_ids"] == json!([memory.group]);
        let some = |all: &[Value], most: &Value| -> Value {
            let most = most.as_u64().unwrap_or(10) as usize;
            all.iter().filter(|_| is_known).take(most).cloned().collect()
        };
        match tool {
            "search_memory_facts" => {
                let facts = some(&memory.facts, &arguments["max_facts"]);
                result(json!({ "message": "Facts retrieved", "facts": facts }), false)
            }
            "search_nodes" => {
                let nodes = some(&memory.nodes, &arguments["max_nodes"]);
                result(json!({ "message": "Nodes retrieved", "nodes": nodes }), false)
            }
            _ => result(json!({ "message": "Episode queued" }), false),
        }
    }
}

/// An argument: its name, the check of its value, and true if it is required.
type Field = (&'static str, fn(&Value) -> bool, bool);

/// Returns the arguments of a tool; `None` for an unknown tool.
fn fields(tool: &str) -> Option<&'static [Field]> {
    const TEXT: fn(&Value) -> bool = |it| it.as_str().is_some_and(|text| !text.is_empty());
    const GROUP: fn(&Value) -> bool = |it| it.as_str().is_some_and(is_group);
    const GROUPS: fn(&Value) -> bool = |it| {
        let groups = it.as_array().filter(|groups| !groups.is_empty());
        groups.is_some_and(|groups| groups.iter().all(GROUP))
    };
    const COUNT: fn(&Value) -> bool = |it| it.as_u64().is_some_and(|count| count > 0);
    match tool {
        "search_memory_facts" => Some(&[
            ("query", TEXT, true),
            ("group_ids", GROUPS, false),
            ("max_facts", COUNT, false),
        ]),
        "search_nodes" => Some(&[
            ("query", TEXT, true),
            ("group_ids", GROUPS, false),
            ("max_nodes", COUNT, false),
        ]),
        "add_memory" => Some(&[
            ("name", TEXT, true),
            ("episode_body", TEXT, true),
            ("group_id", GROUP, false),
            ("source", |it| it == "text", false),
            ("source_description", TEXT, false),
        ]),
        _ => None,
    }
}

fn is_group(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !text.is_empty() && text.chars().all(fits)
}

fn check(fields: &[Field], arguments: &Value) -> Result<(), String> {
    let none = Map::new();
    let given = arguments.as_object().unwrap_or(&none);
    if let Some(unknown) = given.keys().find(|key| !fields.iter().any(|(name, ..)| name == key)) {
        return Err(format!("nobody knows `{unknown}`"));
    }
    for (name, fits, is_required) in fields {
        match given.get(*name) {
            Some(value) if !fits(value) => return Err(format!("`{name}` is {value}")),
            None if *is_required => return Err(format!("`{name}` is missing")),
            _ => {}
        }
    }
    Ok(())
}

fn send(mut stream: &TcpStream, answer: &Answer, manner: Behaviour) -> io::Result<()> {
    let message = match answer {
        Answer::Heard(status) => return stream.write_all(&head(*status, &[], Some(0))),
        Answer::Result { id, result, .. } => {
            json!({ "jsonrpc": "2.0", "id": id, "result": result })
        }
        Answer::Error { id, message } => {
            let error = json!({ "code": -32602, "message": message });
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        }
    };
    let (kind, body) = match manner {
        Behaviour::Stream => {
            let news = json!({
                "jsonrpc": "2.0", "method": "notifications/message",
                "params": { "level": "info", "data": "looking" },
            });
            let events = format!(
                ": hello\n\nevent: message\ndata: {news}\n\nevent: message\r\ndata: {message}\r\n\r\n"
            );
            ("text/event-stream", events)
        }
        _ => ("application/json", message.to_string()),
    };
    let mut fields = vec![("content-type", kind.to_owned())];
    if let Answer::Result { session: Some(session), .. } = answer {
        fields.push(("mcp-session-id", session.clone()));
    }
    stream.write_all(&head(200, &fields, Some(body.len())))?;
    stream.write_all(body.as_bytes())
}

/// Waits until the client disconnects.
fn wait_for_the_end(mut stream: &TcpStream) -> io::Result<()> {
    io::copy(&mut stream, &mut io::sink()).map(|_| ())
}

/// Streams until the client disconnects.
fn endless(mut stream: &TcpStream) -> io::Result<()> {
    let fields = [("content-type", "text/event-stream".to_owned())];
    stream.write_all(&head(200, &fields, None))?;
    let event = format!("data: {{\"note\": \"{}\"}}\n\n", "x".repeat(60_000));
    let chunk = format!("{:x}\r\n{event}\r\n", event.len());
    loop {
        stream.write_all(chunk.as_bytes())?;
    }
}
