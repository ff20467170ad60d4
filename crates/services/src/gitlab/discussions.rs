//! The discussions of a merge request, and the notes in them.

use serde::Deserialize;
use serde_json::{Value, json};

use super::merge_requests::User;
use super::{GitLab, PAGE_SIZE, ProjectPath};
use crate::http::{Call, ServiceError};

/// The maximum number of discussions that are read.
const MAX_DISCUSSIONS: usize = 4_000;

/// A discussion, or a single note.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Discussion {
    /// The id of the discussion.
    pub id: String,
    /// The notes, the oldest first.
    pub notes: Vec<Note>,
}

/// A note. Its text is untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Note {
    /// The id of the note.
    pub id: u64,
    /// The kind, such as `DiffNote`; `None` for a single note.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The text.
    pub body: String,
    pub(super) author: User,
    /// True if GitLab wrote the note, on an event.
    #[serde(default)]
    pub system: bool,
    /// True if the discussion is resolved.
    #[serde(default)]
    pub resolved: bool,
    #[serde(default)]
    pub(super) resolved_by: Option<User>,
    #[serde(default)]
    pub(super) position: Option<NotePosition>,
}

/// The place of a note in the diff.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct NotePosition {
    pub(super) new_path: Option<String>,
    pub(super) old_path: Option<String>,
}

impl Note {
    /// Returns true if the note is on a line or a file of the diff.
    pub(super) fn is_on_diff(&self) -> bool {
        self.kind.as_deref() == Some("DiffNote")
    }
}

impl GitLab {
    /// Lists the discussions of a merge request. Fails if there are more than are read, since a
    /// missing comment could not be recognised then.
    pub fn discussions(
        &self,
        project: &ProjectPath,
        number: u64,
    ) -> Result<Vec<Discussion>, ServiceError> {
        let call = Call::get(self.merge_request_path(project, number, "/discussions"));
        match self.api.pages(&call, PAGE_SIZE, MAX_DISCUSSIONS)? {
            (all, false) => Ok(all),
            (_, true) => Err(self.unreadable(
                &call,
                &format!("the merge request has more than {MAX_DISCUSSIONS} discussions"),
            )),
        }
    }

    pub(super) fn unreadable(&self, call: &Call, why: &str) -> ServiceError {
        ServiceError::InvalidResponse {
            service: self.api.service(),
            what: call.description(),
            why: why.to_owned(),
            is_outcome_unknown: false,
        }
    }

    /// Starts a discussion at a position of the diff.
    pub(super) fn start_discussion(
        &self,
        project: &ProjectPath,
        number: u64,
        body: &str,
        position: &Value,
    ) -> Result<Discussion, ServiceError> {
        let path = self.merge_request_path(project, number, "/discussions");
        self.api.json(&Call::post(path, json!({ "body": body, "position": position })))
    }

    /// Creates a single note.
    pub(super) fn note(
        &self,
        project: &ProjectPath,
        number: u64,
        body: &str,
    ) -> Result<Note, ServiceError> {
        let path = self.merge_request_path(project, number, "/notes");
        self.api.json(&Call::post(path, json!({ "body": body })))
    }

    /// Replaces the text of a note.
    pub(super) fn update_note(
        &self,
        project: &ProjectPath,
        number: u64,
        note: u64,
        body: &str,
    ) -> Result<Note, ServiceError> {
        let path = self.merge_request_path(project, number, &format!("/notes/{note}"));
        self.api.json(&Call::put(path, json!({ "body": body })))
    }

    /// Resolves or reopens a discussion.
    pub(super) fn set_resolved(
        &self,
        project: &ProjectPath,
        number: u64,
        discussion: &str,
        resolved: bool,
    ) -> Result<(), ServiceError> {
        let id = crate::http::encode_path_segment(discussion);
        let path = self.merge_request_path(project, number, &format!("/discussions/{id}"));
        self.api.send(&Call::put(path, json!({ "resolved": resolved }))).map(drop)
    }
}
