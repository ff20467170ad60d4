//! A client of a language server over stdin and stdout: [`LspClient`].
//!
//! The client is strict: it fails on a message that is no JSON-RPC, on a response that nothing
//! waits for, and on bytes between messages.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A conversation with a server.
pub struct LspClient {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next_id: i64,
    /// Messages of the server that no call has taken yet.
    waiting: VecDeque<Value>,
    /// The choice of the user in a dialogue of the server; `None` closes the dialogue.
    pub choice: Option<String>,
    /// The settings that the server can ask for.
    pub settings: Value,
    /// The methods of all requests of the server.
    pub requested: Vec<String>,
}

/// Returns the capabilities of a client that understands every part of the protocol.
pub fn all_capabilities() -> Value {
    json!({
        "general": {"positionEncodings": ["utf-16"]},
        "window": {"workDoneProgress": true},
        "workspace": {
            "didChangeWatchedFiles": {"dynamicRegistration": true},
            "configuration": true,
            "codeLens": {"refreshSupport": true},
            "workspaceEdit": {"documentChanges": true},
        },
        "textDocument": {
            "codeAction": {"codeActionLiteralSupport": {}},
            "hover": {"contentFormat": ["markdown", "plaintext"]},
        },
    })
}

/// The requests of a server that are answered with null.
const KNOWN_REQUESTS: [&str; 3] =
    ["client/registerCapability", "window/workDoneProgress/create", "workspace/codeLens/refresh"];

/// Returns the address of a file.
pub fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

impl LspClient {
    /// Starts a server and sends nothing.
    pub fn spawn(mut command: Command) -> LspClient {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        LspClient {
            child,
            input,
            output,
            next_id: 1,
            waiting: VecDeque::new(),
            choice: None,
            settings: Value::Null,
            requested: Vec::new(),
        }
    }

    /// Starts a server for folders, with the options of its initialization.
    pub fn start(command: Command, folders: &[&Path], options: Value) -> LspClient {
        let mut client = LspClient::spawn(command);
        client.initialize(folders, options, all_capabilities());
        client
    }

    /// Initializes the server, and returns the response.
    pub fn initialize(&mut self, folders: &[&Path], options: Value, client: Value) -> Value {
        let folders: Vec<Value> =
            folders.iter().map(|folder| json!({"uri": uri(folder), "name": "folder"})).collect();
        let params = json!({
            "processId": std::process::id(), "rootUri": null, "workspaceFolders": folders,
            "capabilities": client, "initializationOptions": options,
        });
        let response = self.request("initialize", params);
        self.notify("initialized", json!({}));
        response
    }

    /// Sends bytes as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and returns the whole response.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.take(|message| message["id"] == id && message.get("method").is_none())
    }

    /// Returns the first message of the server that matches, and waits for it. Messages before it
    /// are kept. Requests of the server are answered meanwhile.
    pub fn take(&mut self, matches: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.waiting.iter().position(&matches) {
            return self.waiting.remove(at).unwrap();
        }
        loop {
            let message = self.read().expect("the server ended before the awaited message");
            if matches(&message) {
                return message;
            }
            self.waiting.push_back(message);
        }
    }

    /// Returns the first notification of a method, and waits for it.
    pub fn notification(&mut self, method: &str) -> Value {
        self.take(|message| message["method"] == method)["params"].clone()
    }

    /// Returns the notifications of a method that have arrived and that no call has taken.
    pub fn arrived(&mut self, method: &str) -> Vec<Value> {
        let (found, others): (VecDeque<Value>, VecDeque<Value>) =
            self.waiting.drain(..).partition(|message: &Value| message["method"] == method);
        self.waiting = others;
        Vec::from(found)
    }

    /// Returns the next message; `None` at the end. A request is answered and returned, too.
    fn read(&mut self) -> Option<Value> {
        let mut length = None;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", number)) => length = Some(number.parse().unwrap()),
                other => break assert_eq!((other, line.as_str()), (None, "\r\n"), "a header"),
            }
        }
        let mut body = vec![0; length.unwrap()];
        self.output.read_exact(&mut body).unwrap();
        let message: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
            self.requested.push(method.to_owned());
            let result = self.answer(method);
            let response = json!({"jsonrpc": "2.0", "id": id, "result": result});
            self.send(&response);
        }
        Some(message)
    }

    fn answer(&self, method: &str) -> Value {
        match method {
            "window/showMessageRequest" => {
                self.choice.as_ref().map_or(Value::Null, |title| json!({ "title": title }))
            }
            "workspace/configuration" => json!([self.settings]),
            other => {
                assert!(KNOWN_REQUESTS.contains(&other), "an unknown request: {other}");
                Value::Null
            }
        }
    }

    /// Opens a document with a text.
    pub fn open(&mut self, path: &Path, text: &str) {
        let document = json!({"uri": uri(path), "languageId": "text", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces the whole text of a document.
    pub fn replace(&mut self, path: &Path, version: i32, text: &str) {
        self.change(path, version, json!([{ "text": text }]));
    }

    /// Changes a document.
    pub fn change(&mut self, path: &Path, version: i32, changes: Value) {
        let document = json!({"uri": uri(path), "version": version});
        let params = json!({"textDocument": document, "contentChanges": changes});
        self.notify("textDocument/didChange", params);
    }

    /// Notifies the server that a document was saved.
    pub fn save(&mut self, path: &Path) {
        self.notify("textDocument/didSave", json!({"textDocument": {"uri": uri(path)}}));
    }

    /// Returns the diagnostics of a document for a version, and waits for them.
    pub fn diagnostics(&mut self, path: &Path, version: i32) -> Vec<Value> {
        let uri = uri(path);
        let found = self.take(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri
                && message["params"]["version"] == version
        });
        found["params"]["diagnostics"].as_array().unwrap().clone()
    }

    /// Runs a command of the server, and returns the whole response.
    pub fn execute(&mut self, command: &str, argument: Value) -> Value {
        let params = json!({"command": command, "arguments": [argument]});
        self.request("workspace/executeCommand", params)
    }

    /// Ends the conversation as the protocol says, and returns the exit code.
    pub fn finish(mut self) -> i32 {
        assert_eq!(self.request("shutdown", Value::Null)["result"], Value::Null);
        self.notify("exit", Value::Null);
        self.exit_code()
    }

    /// Closes the input of the server.
    pub fn hang_up(mut self) -> i32 {
        drop(self.input.take());
        self.exit_code()
    }

    /// Waits for the end of the server, and returns the exit code.
    pub fn exit_code(&mut self) -> i32 {
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest).unwrap();
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for LspClient {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// Returns a diagnostic on one line: range, severity, code and message.
pub fn describe(diagnostic: &Value) -> String {
    let at = |end: &str| {
        let position = &diagnostic["range"][end];
        format!("{}:{}", position["line"], position["character"])
    };
    let text = |key: &str| diagnostic[key].as_str().unwrap_or("").to_owned();
    let severity = &diagnostic["severity"];
    format!("{}-{} {severity} {} {}", at("start"), at("end"), text("code"), text("message"))
}
