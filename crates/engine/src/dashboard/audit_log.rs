//! The record of actions: [`AuditLog`], a file in the state home to which lines are only added.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use assay_store::durable_fs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The size of the end of the file that is read, in bytes.
const MAX_READ: u64 = 256 << 10;

/// The way in which an action was requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActionOrigin {
    /// A form of the dashboard.
    Page,
    /// A request to the HTTP API.
    Api,
}

/// An action with its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditEntry {
    /// The time of the action.
    pub at: String,
    /// The user of the server.
    pub by: String,
    /// The way in which the action was requested.
    pub via: ActionOrigin,
    /// The action, such as `task.cancel`.
    pub action: String,
    /// The id of the task, the finding, the agent, the loop or the gate.
    pub target: String,
    /// The issue of the loop, or the item of the gate, that was decided; absent for other actions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The name under which a person decided; absent for the user of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer: Option<String>,
    /// The reason that was given; null if none was.
    pub reason: Option<String>,
    /// The result: `ok`, or the error.
    pub result: String,
}

/// The file of actions, one JSON object on each line.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
}

impl AuditLog {
    /// Creates a log in a file, which is created with the first entry.
    pub fn new(path: PathBuf) -> AuditLog {
        AuditLog { path }
    }

    /// Adds an entry, and returns after it is on the disk.
    pub(super) fn add(&self, entry: &AuditEntry) -> anyhow::Result<()> {
        let line = serde_json::to_string(entry)? + "\n";
        Ok(durable_fs::append(&self.path, assay_rules::redact(&line).as_bytes())?)
    }

    /// Returns the newest entries, the newest first. Lines that cannot be parsed are skipped.
    pub(super) fn newest(&self, limit: usize) -> anyhow::Result<Vec<AuditEntry>> {
        let text = self.read_end()?;
        let entries = text.lines().rev().filter_map(|line| serde_json::from_str(line).ok());
        Ok(entries.take(limit).collect())
    }

    fn read_end(&self) -> io::Result<String> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            Err(error) => return Err(error),
        };
        let start = file.metadata()?.len().saturating_sub(MAX_READ);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(MAX_READ).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
