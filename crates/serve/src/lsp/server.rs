//! The dispatcher of messages: [`LspServer`], on one thread.

mod commands;
mod documents;
mod folders;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use assay_findings::path::RepoPath;
use serde::Deserialize;
use serde_json::{Value, json};

use self::commands::{Question, RunningCommand};
use super::client::{Capabilities, Client, MessageKind};
use super::code_actions::{ActionRequest, COMMANDS, FIX_ALL};
use super::document::Document;
use super::folder::Folder;
use super::framing::Frame;
use super::hover::{self, HoverFormat};
use super::message::{self, Incoming, RpcError, params};
use super::position::{Position, Range};
use super::settings::{LspSettings, SECTION};
use super::worker::{Job, Urgency, WorkerReport};
use super::{LspContext, LspEnd};

/// The time between two checks that the process of the client exists.
const CLIENT_CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The files whose changes the client reports: those that decide on a review, and those of git that
/// change with commits and checkouts.
const WATCHED_FILES: [&str; 8] = [
    "**/config/agent-framework.yaml",
    "**/assay.yaml",
    "**/.assay.yaml",
    "**/.assay/config.yaml",
    "**/.assay/baseline.json",
    "**/.assay/rules/**",
    "**/.git/HEAD",
    "**/.git/index",
];

/// An input of the server.
pub(super) enum Event {
    /// A part of the stream of the client.
    Frame(Frame),
    /// A result of the worker of a repository.
    Report(PathBuf, WorkerReport),
    /// A request of the process to end.
    Stop,
}

/// The phase of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    BeforeInitialize,
    Running,
    AfterShutdown,
}

/// The result of a request: an answer, or `None` if the answer follows later.
type Reply = Result<Option<Value>, RpcError>;

/// The server of one client.
pub(super) struct LspServer<W> {
    context: LspContext,
    client: Client<W>,
    events: Sender<Event>,
    phase: Phase,
    end: Option<LspEnd>,
    capabilities: Capabilities,
    settings: LspSettings,
    /// The process of the client; `None` if it is unknown.
    client_process: Option<u32>,
    /// The folders of the workspace that are not opened yet.
    new_folders: Vec<PathBuf>,
    /// True if the client named folders, so that files outside of them are not reviewed.
    has_workspace: bool,
    /// The repositories, by root.
    folders: BTreeMap<PathBuf, Folder>,
    /// The open documents, by address.
    documents: BTreeMap<String, Document>,
    /// The requests to the client that are not answered, by id.
    questions: HashMap<i64, Question>,
    /// The commands that workers run, by number.
    running: HashMap<u64, RunningCommand>,
    next_number: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InitializeParams {
    process_id: Option<i64>,
    root_uri: Option<String>,
    root_path: Option<PathBuf>,
    workspace_folders: Option<Vec<WorkspaceFolder>>,
    #[serde(default)]
    capabilities: Value,
    #[serde(default)]
    initialization_options: Value,
}

#[derive(Deserialize)]
struct WorkspaceFolder {
    uri: String,
}

#[derive(Deserialize)]
struct DocumentId {
    uri: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PositionParams {
    text_document: DocumentId,
    position: Position,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CodeActionParams {
    text_document: DocumentId,
    range: Range,
    #[serde(default)]
    context: CodeActionContext,
}

#[derive(Default, Deserialize)]
struct CodeActionContext {
    only: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CodeLensParams {
    text_document: DocumentId,
}

#[derive(Deserialize)]
struct ConfigurationParams {
    #[serde(default)]
    settings: Value,
}

impl<W: Write> LspServer<W> {
    pub(super) fn new(context: LspContext, output: W, events: Sender<Event>) -> LspServer<W> {
        LspServer {
            context,
            client: Client::new(output),
            events,
            phase: Phase::BeforeInitialize,
            end: None,
            capabilities: Capabilities::default(),
            settings: LspSettings::default(),
            client_process: None,
            new_folders: Vec::new(),
            has_workspace: false,
            folders: BTreeMap::new(),
            documents: BTreeMap::new(),
            questions: HashMap::new(),
            running: HashMap::new(),
            next_number: 0,
        }
    }

    /// Handles events until the end of the conversation.
    pub(super) fn run(mut self, events: &Receiver<Event>) -> io::Result<LspEnd> {
        loop {
            if let Some(end) = self.end {
                return Ok(end);
            }
            if let Some(error) = self.client.take_error() {
                return match error.kind() {
                    io::ErrorKind::BrokenPipe => Ok(self.end_of_input()),
                    _ => Err(error),
                };
            }
            match events.recv_timeout(CLIENT_CHECK_INTERVAL) {
                Ok(Event::Frame(frame)) => self.handle_frame(frame),
                Ok(Event::Report(root, report)) => self.handle_report(&root, report),
                Ok(Event::Stop) => self.end = Some(self.end_of_input()),
                Err(RecvTimeoutError::Timeout) => self.check_client(),
                Err(RecvTimeoutError::Disconnected) => return Ok(self.end_of_input()),
            }
        }
    }

    fn end_of_input(&self) -> LspEnd {
        match self.phase {
            Phase::AfterShutdown => LspEnd::AfterShutdown,
            Phase::BeforeInitialize | Phase::Running => LspEnd::WithoutShutdown,
        }
    }

    /// Ends the server if the process of the client is gone.
    fn check_client(&mut self) {
        if self.client_process.is_some_and(|process| !assay_sandbox::is_running(process)) {
            tracing::warn!("the process of the client is gone");
            self.end = Some(self.end_of_input());
        }
    }

    fn handle_frame(&mut self, frame: Frame) {
        match frame {
            Frame::End => self.end = Some(self.end_of_input()),
            Frame::Malformed(why) => self.respond(&Value::Null, Err(RpcError::parse(why))),
            Frame::Body(body) => match message::parse(&body) {
                Incoming::Request { id, method, params } => {
                    tracing::debug!(method, "request");
                    match self.handle_request(&id, &method, params) {
                        Ok(Some(result)) => self.respond(&id, Ok(result)),
                        Ok(None) => {}
                        Err(error) => self.respond(&id, Err(error)),
                    }
                }
                Incoming::Notification { method, params } => {
                    tracing::debug!(method, "notification");
                    if let Err(error) = self.handle_notification(&method, params) {
                        self.client.log_once(&error.message);
                    }
                }
                Incoming::Response { id, result } => self.handle_response(&id, result),
                Incoming::Invalid { id, error } => self.respond(&id, Err(error)),
            },
        }
    }

    fn respond(&mut self, id: &Value, result: Result<Value, RpcError>) {
        self.client.send(&message::response(id, result));
    }

    fn handle_request(&mut self, id: &Value, method: &str, value: Value) -> Reply {
        match (self.phase, method) {
            (Phase::BeforeInitialize, "initialize") => {
                self.initialize(params(method, value)?).map(Some)
            }
            (Phase::BeforeInitialize, _) => Err(RpcError::not_initialized()),
            (Phase::AfterShutdown, _) => Err(RpcError::invalid_request("the server is shut down")),
            (Phase::Running, "initialize") => {
                Err(RpcError::invalid_request("the server is initialized already"))
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::AfterShutdown;
                Ok(Some(Value::Null))
            }
            (Phase::Running, "textDocument/hover") => Ok(Some(self.hover(&params(method, value)?))),
            (Phase::Running, "textDocument/codeAction") => {
                Ok(Some(self.code_actions(params(method, value)?)))
            }
            (Phase::Running, "textDocument/codeLens") => {
                Ok(Some(self.code_lenses(&params(method, value)?)))
            }
            (Phase::Running, "workspace/executeCommand") => {
                self.execute(id, params(method, value)?)
            }
            (Phase::Running, _) => Err(RpcError::method_not_found(method)),
        }
    }

    fn handle_notification(&mut self, method: &str, value: Value) -> Result<(), RpcError> {
        if method == "exit" {
            self.end = Some(self.end_of_input());
            return Ok(());
        }
        if self.phase != Phase::Running {
            return Ok(());
        }
        match method {
            "initialized" => self.start(),
            "textDocument/didOpen" => self.open_document(params(method, value)?),
            "textDocument/didChange" => return self.change_document(params(method, value)?),
            "textDocument/didSave" => self.save_document(&params(method, value)?),
            "textDocument/didClose" => self.close_document(&params(method, value)?),
            "workspace/didChangeConfiguration" => {
                let ConfigurationParams { settings } = params(method, value)?;
                self.change_configuration(&settings);
            }
            "workspace/didChangeWatchedFiles" => self.reload_all(),
            "workspace/didChangeWorkspaceFolders" => self.change_folders(params(method, value)?),
            "$/cancelRequest" => self.cancel(&value["id"]),
            _ => tracing::debug!(method, "the notification is not known"),
        }
        Ok(())
    }

    fn initialize(&mut self, asked: InitializeParams) -> Result<Value, RpcError> {
        self.capabilities = Capabilities::read(&asked.capabilities);
        self.client_process = asked.process_id.and_then(|id| u32::try_from(id).ok());
        self.check_client();
        self.phase = Phase::Running;
        match LspSettings::read(&asked.initialization_options) {
            Ok(settings) => self.settings = settings,
            Err(why) => self.client.show_once(MessageKind::Warning, &why),
        }
        self.name_folders(&asked);
        Ok(json!({
            "capabilities": {
                "positionEncoding": self.capabilities.encoding.name(),
                "textDocumentSync": {"openClose": true, "change": 2, "save": true},
                "hoverProvider": true,
                "codeActionProvider": {"codeActionKinds": ["quickfix", FIX_ALL]},
                "codeLensProvider": {"resolveProvider": false},
                "executeCommandProvider": {"commands": COMMANDS},
                "workspace": {
                    "workspaceFolders": {"supported": true, "changeNotifications": true},
                },
            },
            "serverInfo": {"name": "assay", "version": self.context.version},
        }))
    }

    /// Starts the reviews, once the client accepts requests.
    fn start(&mut self) {
        if self.capabilities.watches_files {
            let watchers = WATCHED_FILES.map(|glob| json!({ "globPattern": glob }));
            let registration = json!({
                "id": "assay-watched-files",
                "method": "workspace/didChangeWatchedFiles",
                "registerOptions": {"watchers": watchers},
            });
            self.client
                .request("client/registerCapability", json!({"registrations": [registration]}));
        }
        self.open_new_folders();
    }

    fn change_configuration(&mut self, settings: &Value) {
        if settings.is_null() && self.capabilities.configuration {
            let id = self
                .client
                .request("workspace/configuration", json!({"items": [{"section": SECTION}]}));
            self.questions.insert(id, Question::Configuration);
            return;
        }
        match LspSettings::read(settings) {
            Ok(settings) => self.configure(settings),
            Err(why) => self.client.show_once(MessageKind::Warning, &why),
        }
    }

    fn configure(&mut self, settings: LspSettings) {
        if settings == self.settings {
            return;
        }
        self.settings = settings;
        for folder in self.folders.values() {
            folder.worker.send(Job::Configure(self.settings.clone()));
        }
        self.review_all(Urgency::Now);
    }

    fn reload_all(&mut self) {
        for folder in self.folders.values() {
            folder.worker.send(Job::Reload);
        }
        self.review_all(Urgency::Now);
    }

    /// Returns the repository and the path of an open document; `None` if it has none.
    fn place(&self, uri: &str) -> Option<(&Document, &Folder, &RepoPath)> {
        let document = self.documents.get(uri)?;
        let (root, path) = document.place.as_ref()?;
        Some((document, self.folders.get(root)?, path))
    }

    fn hover(&self, asked: &PositionParams) -> Value {
        let Some((_, folder, path)) = self.place(&asked.text_document.uri) else {
            return Value::Null;
        };
        let format = match self.capabilities.markdown_hover {
            true => HoverFormat::Markdown,
            false => HoverFormat::PlainText,
        };
        hover::hover(folder.findings(path), asked.position, format)
    }

    fn code_actions(&self, asked: CodeActionParams) -> Value {
        let uri = &asked.text_document.uri;
        let Some((document, folder, path)) = self.place(uri) else { return json!([]) };
        let request = ActionRequest {
            uri,
            path,
            document,
            shown: folder.findings(path),
            range: asked.range,
            only: asked.context.only,
            client: &self.capabilities,
        };
        Value::from(request.actions())
    }

    fn code_lenses(&self, asked: &CodeLensParams) -> Value {
        let uri = &asked.text_document.uri;
        match self.place(uri) {
            Some((_, folder, path)) => Value::from(folder.code_lenses(uri, path)),
            None => json!([]),
        }
    }
}
