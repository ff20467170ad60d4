//! The execution of an agent's own program in a folder: [`Runner`].

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use assay_base::text::first_chars;
use assay_findings::write::escape::chain;
use assay_models::AgentKind;
use assay_rules::redact;
use assay_sandbox::{Command, CommandOutput, RunError};
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::config::mcp::McpServers;
use crate::config::roster::AgentCommand;
use crate::task_handler::{HandlerError, Job};

/// The placeholder for the path of the prompt file.
const PROMPT_FILE: &str = "{prompt_file}";

/// The placeholder for the path of the file with the MCP servers.
const MCP_CONFIG: &str = "{mcp_config}";

/// The maximum length of a stored summary, in characters.
const MAX_SUMMARY_CHARS: usize = 4_000;

/// The environment variable with the task id, for an agent's program and its MCP servers.
pub const TASK_ID_VARIABLE: &str = "AGENT_TASK_ID";

/// The environment variable with the root of the repository whose queue the agent works for:
/// programs run in a work tree.
pub const ROOT_VARIABLE: &str = "ASSAY_ROOT";

/// The environment variable with the agent id, whose permissions hold for a program and its MCP
/// servers.
pub const AGENT_ID_VARIABLE: &str = "ASSAY_AGENT";

/// A runner of agents' own programs.
#[derive(Debug, Clone, Default)]
pub struct Runner {
    /// The path of the repository that the agent works for.
    pub root: PathBuf,
    /// The MCP servers that programs may use.
    pub mcp: McpServers,
    /// Environment variables for the supported agent programs, with their values.
    pub variables: Vec<(String, String)>,
}

impl Runner {
    /// Returns the names of the environment variables that the supported agent programs need.
    pub fn required_variables() -> impl Iterator<Item = &'static str> {
        [AgentKind::Claude, AgentKind::Codex]
            .into_iter()
            .flat_map(|kind| kind.variables().iter())
            .copied()
    }

    /// Runs a program for a task in a folder, and returns its redacted output.
    pub fn run(
        &self,
        command: &AgentCommand,
        folder: &Path,
        job: &Job<'_>,
    ) -> Result<String, HandlerError> {
        let prompt = prompt(job);
        let own = self.own_variables(job);
        let mcp = self.mcp_file(&own)?;
        let mcp = mcp.as_ref().map(|file| file.path().display().to_string());
        let (command, _prompt_file) = prepare(command, &prompt, mcp.as_deref())?;
        let variables = self.variables.iter().chain(&own);
        let command = variables.fold(command, |command, (name, value)| command.env(name, value));
        // A process that the program leaves running could write while the work is committed.
        let command = command.folder(folder).time(job.agent.timeout).kill_leftovers();
        let finished = command.run();
        let finished = finished.map_err(|error| to_handler_error(&error))?;
        let output = parse_output(&finished)?;
        Ok(redact(&output).into_owned())
    }

    /// Returns the environment variables that identify the task, the agent and the repository.
    fn own_variables(&self, job: &Job<'_>) -> [(String, String); 3] {
        let task = (TASK_ID_VARIABLE.to_owned(), job.task.id.to_string());
        let agent = (AGENT_ID_VARIABLE.to_owned(), job.agent.id.to_string());
        [task, agent, (ROOT_VARIABLE.to_owned(), self.root.display().to_string())]
    }

    /// Writes the MCP servers to a file that only this user can read: they may contain keys.
    fn mcp_file(&self, own: &[(String, String)]) -> Result<Option<NamedTempFile>, HandlerError> {
        if self.mcp.servers.is_empty() {
            return Ok(None);
        }
        temporary(self.mcp.with_variables(own).to_json().as_bytes()).map(Some)
    }
}

/// Truncates the output of a program to the length of a summary.
pub(super) fn to_summary(output: &str) -> String {
    first_chars(output, MAX_SUMMARY_CHARS).to_owned()
}

fn temporary(bytes: &[u8]) -> Result<NamedTempFile, HandlerError> {
    let file = NamedTempFile::new().and_then(|mut file| file.write_all(bytes).map(|()| file));
    file.map_err(|error| HandlerError::transient(format!("cannot write a temporary file: {error}")))
}

/// The arguments of Claude Code. It may edit files, on the instructions of the prompt alone: hooks,
/// servers and commands from the branch are disabled.
const CLAUDE: [&str; 10] = [
    "-p", "--output-format", "json", "--permission-mode", "acceptEdits", "--strict-mcp-config",
    "--setting-sources", "user", "--no-session-persistence", "--disable-slash-commands",
];

/// Returns the command for Claude Code.
fn claude(mcp: Option<&str>) -> Command {
    let claude = Command::new("claude")
        .args(CLAUDE)
        .env("DISABLE_AUTOUPDATER", "1")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        // Without this variable, `@` and a path in a finding would attach that file to the prompt.
        .env("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1")
        .env("CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1");
    match mcp {
        Some(mcp) => claude
            .args(["--mcp-config", mcp])
            // Without this variable, the tools of MCP servers are not offered.
            .env("ENABLE_TOOL_SEARCH", "false"),
        // The safe mode would disable the MCP servers as well.
        None => claude.env("CLAUDE_CODE_SAFE_MODE", "1"),
    }
}

/// Returns the command of a program, with its prompt file if it uses one.
fn prepare(
    command: &AgentCommand,
    prompt: &str,
    mcp: Option<&str>,
) -> Result<(Command, Option<NamedTempFile>), HandlerError> {
    let own = match command {
        AgentCommand::Claude => {
            return Ok((claude(mcp).input(prompt.as_bytes().to_vec()), None));
        }
        AgentCommand::Codex => {
            let codex = Command::new("codex").args(["exec", "-s", "workspace-write", "-"]);
            return Ok((codex.input(prompt.as_bytes().to_vec()), None));
        }
        AgentCommand::Own(own) => own,
    };
    let has = |mark: &str| own.iter().any(|arg| arg.contains(mark));
    if has(MCP_CONFIG) && mcp.is_none() {
        return Err(HandlerError::permanent(
            "the agent's `command` has `{mcp_config}`, and `config/mcp-config.json` names no \
             server",
        ));
    }
    let prompt_file = has(PROMPT_FILE).then(|| temporary(prompt.as_bytes())).transpose()?;
    let file =
        prompt_file.as_ref().map(|file| file.path().display().to_string()).unwrap_or_default();
    let mut args = own
        .iter()
        .map(|arg| arg.replace(PROMPT_FILE, &file).replace(MCP_CONFIG, mcp.unwrap_or_default()));
    let program = args.next().expect("a command has a program");
    let command = Command::new(program).args(args);
    Ok(match prompt_file {
        Some(prompt_file) => (command, Some(prompt_file)),
        None => (command.input(prompt.as_bytes().to_vec()), None),
    })
}

fn prompt(job: &Job<'_>) -> String {
    let task = job.task;
    let mut text =
        format!("{}\n\n# {}\n\n{}\n", job.agent.prompt.trim(), task.title, task.description);
    if !task.acceptance_criteria.is_empty() {
        text.push_str("\n## It is done when\n\n");
        for criterion in &task.acceptance_criteria {
            text.push_str(&format!("- {criterion}\n"));
        }
    }
    match &task.plan {
        Value::Null => {}
        Value::String(plan) => text.push_str(&format!("\n## Plan\n\n{plan}\n")),
        plan => text.push_str(&format!("\n## Plan\n\n{plan:#}\n")),
    }
    text
}

/// Returns the result of a program from its stdout. Fails if the program failed.
fn parse_output(finished: &CommandOutput) -> Result<String, HandlerError> {
    let printed = String::from_utf8_lossy(&finished.stdout).trim().to_owned();
    let result = serde_json::from_str::<Value>(&printed).ok();
    let result = result.filter(|value| value["type"] == "result");
    let words = match &result {
        // The result may report an error even if the exit code is 0.
        Some(result) => result["result"].as_str().unwrap_or_default().to_owned(),
        None => printed,
    };
    let says_so = result.is_some_and(|result| result["is_error"] == true);
    if finished.status.success() && !says_so {
        return Ok(words);
    }
    let complaint = String::from_utf8_lossy(&finished.stderr);
    let why = [complaint.trim(), &words].into_iter().find(|text| !text.is_empty());
    let why = redact(why.unwrap_or("it printed nothing"));
    let why = first_chars(&why, MAX_SUMMARY_CHARS);
    let error = format!("the agent's program failed with {}: {why}", finished.status);
    let lasting = ["not logged in", "/login", "unauthorized", "invalid api key"];
    match lasting.iter().any(|words| why.to_lowercase().contains(words)) {
        true => Err(HandlerError::permanent(error)),
        false => Err(HandlerError::transient(error)),
    }
}

fn to_handler_error(error: &RunError) -> HandlerError {
    let text = chain(error);
    match error {
        RunError::Start { source, .. } if is_transient_io(source) => HandlerError::transient(text),
        RunError::Start { .. } => {
            HandlerError::permanent(format!("{text}; check `command` of the agent"))
        }
        RunError::TimedOut { .. }
        | RunError::Stalled { .. }
        | RunError::TooMuchOutput { .. }
        | RunError::StatusUnavailable { .. } => HandlerError::transient(text),
    }
}

/// Returns true if an error of using a file or starting a program may be transient.
pub fn is_transient_io(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, NotADirectory, NotFound, PermissionDenied};
    let lasting = [InvalidData, InvalidInput, NotADirectory, NotFound, PermissionDenied];
    !lasting.contains(&error.kind())
}
