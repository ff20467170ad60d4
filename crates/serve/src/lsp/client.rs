//! The client of the server: [`Client`] sends messages to it, and [`Capabilities`] says which it
//! understands.

use std::collections::BTreeSet;
use std::io::{self, Write};

use assay_findings::write::escape::escape_hidden;
use assay_rules::redact;
use serde_json::{Value, json};

use super::framing::write_frame;
use super::position::PositionEncoding;

/// The kind of a message to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageKind {
    Error = 1,
    Warning = 2,
    Info = 3,
}

/// The parts of the protocol that a client understands.
#[derive(Debug, Clone, Default)]
pub(super) struct Capabilities {
    pub(super) encoding: PositionEncoding,
    pub(super) progress: bool,
    pub(super) watches_files: bool,
    pub(super) configuration: bool,
    pub(super) code_lens_refresh: bool,
    pub(super) document_changes: bool,
    pub(super) code_action_literals: bool,
    pub(super) markdown_hover: bool,
}

impl Capabilities {
    /// Reads the capabilities of `initialize`. A capability of another form counts as absent.
    pub(super) fn read(value: &Value) -> Capabilities {
        let has = |path: &str| value.pointer(path).and_then(Value::as_bool).unwrap_or(false);
        let list = |path: &str| value.pointer(path).and_then(Value::as_array);
        let words = |path: &str| list(path).into_iter().flatten().filter_map(Value::as_str);
        let formats = "/textDocument/hover/contentFormat";
        Capabilities {
            encoding: PositionEncoding::negotiate(words("/general/positionEncodings")),
            progress: has("/window/workDoneProgress"),
            watches_files: has("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            configuration: has("/workspace/configuration"),
            code_lens_refresh: has("/workspace/codeLens/refreshSupport"),
            document_changes: has("/workspace/workspaceEdit/documentChanges"),
            code_action_literals: value
                .pointer("/textDocument/codeAction/codeActionLiteralSupport")
                .is_some(),
            markdown_hover: list(formats).is_none()
                || words(formats).any(|word| word == "markdown"),
        }
    }
}

/// The stream to the client.
pub(super) struct Client<W> {
    output: W,
    next_id: i64,
    /// The first error of a write. A client that does not read any more gets nothing.
    error: Option<io::Error>,
    /// The messages that the user has seen.
    shown: BTreeSet<String>,
}

impl<W: Write> Client<W> {
    pub(super) fn new(output: W) -> Client<W> {
        Client { output, next_id: 1, error: None, shown: BTreeSet::new() }
    }

    /// Returns the first error of a write.
    pub(super) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    pub(super) fn send(&mut self, message: &Value) {
        if self.error.is_none() {
            let body = message.to_string();
            self.error = write_frame(&mut self.output, body.as_bytes()).err();
        }
    }

    pub(super) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request, and returns its id.
    pub(super) fn request(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Shows a message to the user.
    pub(super) fn show(&mut self, kind: MessageKind, text: &str) {
        let text = safe(text);
        self.notify("window/showMessage", json!({"type": kind as u8, "message": text}));
    }

    /// Shows a message to the user, unless the same message was shown before.
    pub(super) fn show_once(&mut self, kind: MessageKind, text: &str) {
        if self.shown.insert(text.to_owned()) {
            self.show(kind, text);
        }
    }

    /// Adds a message to the log of the client, unless the same message was added before.
    pub(super) fn log_once(&mut self, text: &str) {
        if self.shown.insert(text.to_owned()) {
            let params = json!({"type": MessageKind::Info as u8, "message": safe(text)});
            self.notify("window/logMessage", params);
        }
    }

    /// Begins the progress of a long operation. Returns its token.
    pub(super) fn begin_progress(&mut self, title: &str) -> String {
        let token = format!("assay-{}", self.next_id);
        self.request("window/workDoneProgress/create", json!({ "token": token }));
        let value = json!({"kind": "begin", "title": safe(title)});
        self.notify("$/progress", json!({"token": token, "value": value}));
        token
    }

    pub(super) fn end_progress(&mut self, token: &str) {
        self.notify("$/progress", json!({"token": token, "value": {"kind": "end"}}));
    }
}

/// Returns a text without credentials and invisible characters.
pub(super) fn safe(text: &str) -> String {
    escape_hidden(&redact(text)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_of_another_form_counts_as_absent() {
        let odd = json!({"window": 7, "general": {"positionEncodings": "utf-8"}, "workspace": []});
        let read = Capabilities::read(&odd);
        assert!(!read.progress && !read.watches_files && !read.configuration);
        assert_eq!(read.encoding, PositionEncoding::Utf16);
    }

    #[test]
    fn a_message_is_shown_once_and_without_invisible_characters() {
        let mut output = Vec::new();
        let mut client = Client::new(&mut output);
        client.show_once(MessageKind::Warning, "no\u{202e}thing");
        client.show_once(MessageKind::Warning, "no\u{202e}thing");
        let text = String::from_utf8(output).unwrap();
        assert_eq!(text.matches("showMessage").count(), 1, "{text}");
        assert!(text.contains(r"no\\u{202e}thing"), "{text}");
    }
}
