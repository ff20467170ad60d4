//! The logs of agents: [`Log`] writes each line to the file of its agent and to one file for all
//! agents.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use assay_base::clock::Clock;
use assay_findings::write::escape;
use assay_rules::redact;
use assay_store::task::{Moment, Task};
use serde_json::json;

/// The file with the lines of all agents.
pub const ALL_AGENTS_FILE: &str = "agent.log";

/// The size in bytes above which a log file is rotated when agents are started.
const MAX_LOG_SIZE: u64 = 10 << 20;

/// Returns the folder of a repository's logs.
pub fn folder(root: &Path) -> PathBuf {
    root.join("logs")
}

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// `16:17:23 INFO [qa] …`, the time in UTC.
    Plain,
    /// A JSON object per line.
    Json,
}

/// The level of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// A detail that helps with debugging.
    Trace,
    /// A step, such as a request or its result.
    Debug,
    /// A normal event.
    Info,
    /// A condition that a user may want to check.
    Warning,
    /// A failure.
    Error,
}

impl Level {
    fn as_str(self) -> &'static str {
        match self {
            Level::Trace => "TRACE",
            Level::Debug => "DEBUG",
            Level::Info => "INFO",
            Level::Warning => "WARNING",
            Level::Error => "ERROR",
        }
    }
}

/// A second destination of log lines, besides the files.
type Echo = Mutex<Box<dyn Write + Send>>;

/// The log of one agent. Credentials are redacted.
pub struct Log {
    agent: String,
    clock: Clock,
    files: [File; 2],
    format: LogFormat,
    echo: Option<Echo>,
}

impl Log {
    /// Opens the log of an agent in a folder.
    pub fn open(folder: &Path, agent: &str, format: LogFormat, clock: &Clock) -> io::Result<Log> {
        fs::create_dir_all(folder)?;
        let ignore = folder.join(".gitignore");
        if !ignore.exists() {
            fs::write(ignore, "# Written by assay: what is not meant for git.\n*\n")?;
        }
        let open = |name: &str| File::options().append(true).create(true).open(folder.join(name));
        let files = [open(&format!("{agent}.log"))?, open(ALL_AGENTS_FILE)?];
        let (agent, clock) = (agent.to_owned(), clock.clone());
        Ok(Log { agent, clock, files, format, echo: None })
    }

    /// Also writes every line to `to`.
    pub fn with_echo(mut self, to: impl Write + Send + 'static) -> Log {
        self.echo = Some(Mutex::new(Box::new(to)));
        self
    }

    /// Writes a line that does not concern a task.
    pub fn record(&self, level: Level, text: &str) {
        self.write(level, None, text);
    }

    /// Returns the log of a task.
    pub fn for_task(&self, task: &Task) -> TaskLog<'_> {
        TaskLog { log: self, label: label(task) }
    }

    fn write(&self, level: Level, label: Option<&str>, text: &str) {
        let text = escape::one_line(&redact(text));
        let at = Moment::now(&self.clock);
        let line = match self.format {
            LogFormat::Plain => {
                let (time, level) = (at.0.strftime("%H:%M:%S"), level.as_str());
                let label = label.map(|label| format!("[{label}] ")).unwrap_or_default();
                format!("{time} {level} [{}] {label}{text}\n", self.agent)
            }
            LogFormat::Json => {
                let (at, level, agent) = (at.to_string(), level.as_str(), &self.agent);
                let about = label.map(|label| json!(label));
                let line = json!({ "at": at, "level": level, "agent": agent, "about": about, "message": text });
                format!("{line}\n")
            }
        };
        for mut file in &self.files {
            // A full disk must not stop the agent.
            let _ = file.write_all(line.as_bytes());
        }
        if let Some(echo) = &self.echo {
            let _ = echo.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
        }
    }
}

/// The log of an agent for one task.
pub struct TaskLog<'a> {
    log: &'a Log,
    label: String,
}

impl TaskLog<'_> {
    /// Writes a line of any level.
    pub fn record(&self, level: Level, text: &str) {
        self.log.write(level, Some(&self.label), text);
    }

    /// Writes a line of level INFO.
    pub fn info(&self, text: &str) {
        self.log.write(Level::Info, Some(&self.label), text);
    }

    /// Writes a line of level WARNING.
    pub fn warning(&self, text: &str) {
        self.log.write(Level::Warning, Some(&self.label), text);
    }

    /// Writes a line of level ERROR.
    pub fn error(&self, text: &str) {
        self.log.write(Level::Error, Some(&self.label), text);
    }
}

/// Returns the label of a task in a log: its ticket, or else its id.
fn label(task: &Task) -> String {
    let ticket = task.context.get("jira_key").and_then(|key| key.as_str());
    let ticket = ticket.filter(|key| !key.is_empty() && key.len() <= 64);
    escape::one_line(ticket.unwrap_or(task.id.as_str()))
}

/// Rotates files that have become too large to `.log.1`.
pub fn rotate(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        let is_log = path.extension().is_some_and(|extension| extension == "log");
        if is_log && entry.metadata()?.len() > MAX_LOG_SIZE {
            fs::rename(&path, path.with_extension("log.1"))?;
        }
    }
    Ok(())
}
