//! The commands of the user: dismiss, explain, show the last run, review.

use std::io::Write;
use std::path::{Path, PathBuf};

use assay_findings::finding::Finding;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{LspServer, Reply};
use crate::lsp::client::{MessageKind, safe};
use crate::lsp::code_actions::{DISMISS, EXPLAIN, REVIEW, SHOW_RUN};
use crate::lsp::diagnostics::ShownFinding;
use crate::lsp::message::RpcError;
use crate::lsp::settings::LspSettings;
use crate::lsp::worker::{Action, Job};

/// The reasons that a user can choose for a dismissal.
const REASONS: [&str; 4] =
    ["False positive", "Intended behaviour", "Accepted risk", "Not worth a fix"];

/// A request to the client that is not answered yet.
pub(super) enum Question {
    /// The settings of the client.
    Configuration,
    /// The reason of a dismissal, for the request with this id.
    Reason { request: Value, root: PathBuf, finding: Box<Finding> },
}

/// A command that a worker runs.
pub(super) struct RunningCommand {
    /// The id of the client's request.
    request: Value,
    /// The token of the progress; `None` if the client shows none.
    progress: Option<String>,
    /// True if the user sees the answer.
    is_shown: bool,
}

#[derive(Deserialize)]
pub(super) struct CommandParams {
    command: String,
    #[serde(default)]
    arguments: Vec<Value>,
}

/// The argument of a command: a document, and a finding in it.
#[derive(Default, Deserialize)]
struct CommandArgument {
    uri: Option<String>,
    id: Option<String>,
    reason: Option<String>,
}

impl<W: Write> LspServer<W> {
    pub(super) fn execute(&mut self, request: &Value, asked: CommandParams) -> Reply {
        let CommandParams { command, arguments } = asked;
        let argument = match arguments.into_iter().next() {
            Some(value) => serde_json::from_value(value).map_err(|error| {
                RpcError::invalid_params(format!("the argument of `{command}`: {error}"))
            })?,
            None => CommandArgument::default(),
        };
        match command.as_str() {
            DISMISS => self.dismiss(request, argument),
            EXPLAIN => {
                let (root, finding) = self.find(&argument)?;
                let action = Action::Explain(Box::new(finding));
                self.run_action(request, &root, action, None, true)
            }
            SHOW_RUN => {
                let root = self.root_of(&argument)?;
                let text = self.folders[&root].describe_last_run();
                self.client.show(MessageKind::Info, &text);
                Ok(Some(Value::Null))
            }
            REVIEW => {
                let root = self.root_of(&argument)?;
                let title = "assay: reviewing the saved files";
                self.run_action(request, &root, Action::StoreReview, Some(title), true)
            }
            _ => Err(RpcError::invalid_params(format!("there is no command `{command}`"))),
        }
    }

    fn dismiss(&mut self, request: &Value, argument: CommandArgument) -> Reply {
        let (root, finding) = self.find(&argument)?;
        let finding = Box::new(finding);
        if let Some(reason) = argument.reason {
            return self.dismiss_for(request, &root, finding, reason);
        }
        let message = safe(&format!("Dismiss \"{}\", for which reason?", finding.title));
        let actions = REASONS.map(|reason| json!({ "title": reason }));
        let params =
            json!({"type": MessageKind::Info as u8, "message": message, "actions": actions});
        let id = self.client.request("window/showMessageRequest", params);
        let request = request.clone();
        self.questions.insert(id, Question::Reason { request, root, finding });
        Ok(None)
    }

    fn dismiss_for(
        &mut self,
        request: &Value,
        root: &Path,
        finding: Box<Finding>,
        reason: String,
    ) -> Reply {
        let by = (self.context.user_name)(root);
        let unsaved = self.open_texts(root).unsaved;
        let action = Action::Dismiss { finding, by, reason, unsaved };
        self.run_action(request, root, action, Some("assay: dismissing the finding"), false)
    }

    fn run_action(
        &mut self,
        request: &Value,
        root: &Path,
        action: Action,
        title: Option<&str>,
        is_shown: bool,
    ) -> Reply {
        let title = title.filter(|_| self.capabilities.progress);
        let progress = title.map(|title| self.client.begin_progress(title));
        self.next_number += 1;
        let running = RunningCommand { request: request.clone(), progress, is_shown };
        self.running.insert(self.next_number, running);
        if let Some(folder) = self.folders.get(root) {
            folder.worker.send(Job::Run(self.next_number, action));
        }
        Ok(None)
    }

    /// Answers the request of a command, and reviews the repository again.
    pub(super) fn finish_command(
        &mut self,
        root: &Path,
        number: u64,
        answer: Result<String, String>,
    ) {
        let Some(command) = self.running.remove(&number) else { return };
        if let Some(token) = &command.progress {
            self.client.end_progress(token);
        }
        if let Some(text) = answer.as_ref().ok().filter(|_| command.is_shown) {
            self.client.show(MessageKind::Info, text);
        }
        let result = answer.map(|text| json!(safe(&text)));
        let result = result.map_err(|why| RpcError::failed(safe(&why)));
        self.respond(&command.request, result);
        self.reload(Some(root.to_owned()));
    }

    pub(super) fn handle_response(&mut self, id: &Value, result: Result<Value, String>) {
        let question = id.as_i64().and_then(|id| self.questions.remove(&id));
        match question {
            None => tracing::debug!(%id, "a response that nothing waits for"),
            Some(Question::Configuration) => self.take_configuration(result),
            Some(Question::Reason { request, root, finding }) => {
                let chosen =
                    result.ok().and_then(|action| action["title"].as_str().map(str::to_owned));
                let Some(reason) = chosen else { return self.respond(&request, Ok(Value::Null)) };
                if let Err(error) = self.dismiss_for(&request, &root, finding, reason) {
                    self.respond(&request, Err(error));
                }
            }
        }
    }

    fn take_configuration(&mut self, result: Result<Value, String>) {
        let settings = result.unwrap_or_default().get(0).cloned().unwrap_or_default();
        match LspSettings::read(&settings) {
            Ok(settings) => self.configure(settings),
            Err(why) => self.client.show_once(MessageKind::Warning, &why),
        }
    }

    /// Cancels a request that waits for the user. A command that runs is not interrupted.
    pub(super) fn cancel(&mut self, request: &Value) {
        let is_waiting = |question: &Question| matches!(question, Question::Reason { request: id, .. } if id == request);
        let waiting = self.questions.iter().find(|(_, question)| is_waiting(question));
        if let Some(id) = waiting.map(|(id, _)| *id) {
            self.questions.remove(&id);
            self.respond(request, Err(RpcError::cancelled()));
        }
    }

    /// Returns the repository of a command's document, or else the only repository.
    fn root_of(&self, argument: &CommandArgument) -> Result<PathBuf, RpcError> {
        let root = match &argument.uri {
            Some(uri) => self.documents.get(uri).and_then(|document| document.place.clone()),
            None => None,
        };
        let only = || (self.folders.len() == 1).then(|| self.folders.keys().next().cloned());
        let root = root.map(|(root, _)| root).filter(|root| self.folders.contains_key(root));
        root.or_else(|| only().flatten()).ok_or_else(|| {
            RpcError::invalid_params("the command needs `uri`, an open file of a repository")
        })
    }

    /// Returns the finding that a command names.
    fn find(&self, argument: &CommandArgument) -> Result<(PathBuf, Finding), RpcError> {
        let id = argument.id.as_deref().unwrap_or_default();
        let root = self.root_of(argument)?;
        let mut shown = self.folders[&root].files.values().flatten();
        let found = shown.find(|shown| shown.finding().id == id).map(ShownFinding::finding);
        let why = || RpcError::invalid_params(format!("no finding with the id `{id}` is shown"));
        Ok((root.clone(), found.cloned().ok_or_else(why)?))
    }
}
