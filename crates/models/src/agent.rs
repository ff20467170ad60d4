//! Agent command lines as models: [`AgentModel`].
//!
//! The agent runs in an empty folder of its own, never in the repository, since files there could
//! contain instructions to it. The prompt goes to the agent's stdin, and of the environment the
//! agent gets only the named variables. One submodule for each kind of agent builds the command and
//! parses the output.

mod claude;
mod codex;
mod custom;

use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use assay_sandbox::{Command, CommandOutput, Key, RunError, ScratchFolder};

pub use self::custom::{AgentOutputFormat, Custom};
use crate::api_error::display_line;
use crate::{Failure, FailureClass, Model, ModelDescription, ModelId, Nonce, Prompt, Reply};

/// The most bytes that an agent may print.
const MAX_OUTPUT: usize = 16 << 20;

/// The most tokens that an agent reads in addition to a prompt: its own instructions and tools,
/// possibly more than once.
const OVERHEAD_TOKENS: u64 = 50_000;

/// Variables that hold no secret.
const PUBLIC_VARIABLES: [&str; 3] = ["PATH", "HOME", "LANG"];

/// The minimum length of a secret in bytes. A shorter value is only a secret if its variable is
/// named like one.
const MIN_SECRET_BYTES: usize = 8;

/// The command line of an agent, and the format of its output.
#[derive(Debug, Clone)]
pub struct Agent {
    /// The kind of agent.
    pub kind: AgentKind,
    /// The program to run; `None` for the default program of the kind, or the one in a custom
    /// command.
    pub program: Option<String>,
    /// Additional arguments, such as those that name a provider.
    pub args: Vec<String>,
    /// Variables that the agent gets, read by the caller. None of their values is ever shown.
    pub variables: Vec<(String, Key)>,
}

/// The kind of an agent.
#[derive(Debug, Clone)]
pub enum AgentKind {
    /// Claude Code, `claude -p`.
    Claude,
    /// Codex, `codex exec`.
    Codex,
    /// Any other agent.
    Custom(Custom),
}

impl AgentKind {
    /// Returns the names of the variables that the agent needs from the environment, where they are
    /// set.
    pub fn variables(&self) -> &'static [&'static str] {
        match self {
            AgentKind::Claude => &claude::VARIABLES,
            AgentKind::Codex => &codex::VARIABLES,
            AgentKind::Custom(_) => &[],
        }
    }

    /// Describes the model behind the agent. With an empty model name, the agent uses its own
    /// default model.
    pub fn describe(&self, id: ModelId) -> ModelDescription {
        let is_named = !id.model().is_empty();
        let mut about = ModelDescription::of(id);
        about.overhead_tokens = OVERHEAD_TOKENS;
        match self {
            AgentKind::Claude | AgentKind::Codex if !is_named => {
                (about.context_tokens, about.max_output_tokens) = (200_000, 32_000);
            }
            AgentKind::Claude | AgentKind::Codex | AgentKind::Custom(_) => {}
        }
        about
    }
}

/// A model behind the command line of an agent.
#[derive(Debug)]
pub struct AgentModel {
    agent: Agent,
    about: ModelDescription,
    /// The longest time without output; `None` for no limit.
    stall: Option<Duration>,
}

/// A finished run of an agent: its output and exit status.
struct AgentRun<'a> {
    id: &'a ModelId,
    finished: CommandOutput,
    variables: &'a [(String, Key)],
}

impl AgentModel {
    /// Creates a model from an agent. The agent is asked for the model `about.id.model()`, unless
    /// that is empty.
    pub fn new(agent: Agent, about: ModelDescription) -> AgentModel {
        let Agent { kind, program, args, variables } = &agent;
        let names: Vec<&String> = variables.iter().map(|(name, _)| name).collect();
        let about = about.with_endpoint(&(kind, program, args, names));
        AgentModel { agent, about, stall: None }
    }

    /// Limits the time for which the agent may print nothing.
    pub fn with_stall_timeout(mut self, time: Duration) -> AgentModel {
        self.stall = Some(time);
        self
    }
}

impl Model for AgentModel {
    fn about(&self) -> &ModelDescription {
        &self.about
    }

    fn ask(
        &self,
        prompt: &Prompt,
        nonce: &Nonce,
        time: Duration,
        heard: &dyn Fn(usize),
    ) -> Result<Reply, Failure> {
        // Only this user can read the folder: a prompt contains code that other users must not see.
        let folder = ScratchFolder::new("assay-agent-").map_err(|error| {
            self.failure(FailureClass::Program, &format!("cannot create a scratch folder: {error}"))
        })?;
        let request = AgentRequest { agent: self, prompt, nonce, folder: folder.path(), time };
        let command = match &self.agent.kind {
            AgentKind::Claude => claude::command(&request),
            AgentKind::Codex => codex::command(&request),
            AgentKind::Custom(custom) => custom.command(&request),
        };
        let run = self.run(command?, &request)?;
        let reply = match &self.agent.kind {
            AgentKind::Claude => claude::reply(&run),
            AgentKind::Codex => codex::reply(&run),
            AgentKind::Custom(custom) => custom.reply(&run),
        };
        let mut reply = reply?;
        if reply.text.trim().is_empty() {
            return Err(run.empty_failure());
        }
        (reply.text, reply.aside) = (run.scrub(&reply.text), run.scrub(&reply.aside));
        if reply.usage.total() == 0 {
            // The agent does not report its usage. No token is shorter than a byte.
            (reply.usage.input, reply.usage.output) =
                (prompt.bytes() as u64, reply.text.len() as u64);
        }
        heard(reply.text.chars().count());
        Ok(reply)
    }
}

/// A request to an agent.
struct AgentRequest<'a> {
    agent: &'a AgentModel,
    prompt: &'a Prompt,
    nonce: &'a Nonce,
    folder: &'a Path,
    time: Duration,
}

impl AgentRequest<'_> {
    /// Returns the blocks as one text.
    fn text(&self) -> String {
        let blocks = self.prompt.blocks.iter().map(|block| block.text(self.nonce));
        blocks.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the system prompt and the blocks as one text, with the schema if it is passed in
    /// words.
    fn full_prompt(&self, schema: SchemaPlacement) -> String {
        let mut text = format!("{}\n\n{}", self.prompt.system, self.text());
        if let (SchemaPlacement::InPrompt, Some(schema)) = (schema, &self.prompt.schema) {
            text.push_str(&format!(
                "\n\nAnswer with one JSON value that this JSON Schema accepts, and with nothing \
                 else:\n{schema}"
            ));
        }
        text
    }

    /// Writes a file into the folder of the agent, and returns its path.
    fn write_file(&self, name: &str, text: &str) -> Result<String, Failure> {
        let file = self.folder.join(name);
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file);
        opened.and_then(|mut opened| opened.write_all(text.as_bytes())).map_err(|error| {
            self.agent
                .failure(FailureClass::Program, &format!("cannot write the prompt file: {error}"))
        })?;
        Ok(file.display().to_string())
    }

    /// Returns a command with the configured program, or with `name` if none is configured.
    fn program(&self, name: &str) -> Command {
        Command::new(self.agent.agent.program.as_deref().unwrap_or(name))
    }

    /// Returns the configured additional arguments.
    fn extra_args(&self) -> &[String] {
        &self.agent.agent.args
    }

    /// Returns the name of the model; `None` if the agent chooses the model.
    fn model(&self) -> Option<&str> {
        Some(self.agent.about.id.model()).filter(|model| !model.is_empty())
    }
}

/// The way in which a schema is passed to an agent: as part of the prompt, or as an option.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaPlacement {
    InPrompt,
    AsOption,
}

impl AgentModel {
    fn run(&self, command: Command, request: &AgentRequest<'_>) -> Result<AgentRun<'_>, Failure> {
        let mut command = command.folder(request.folder);
        for (name, value) in &self.agent.variables {
            command = command.env(name, value.reveal());
        }
        if let Some(stall) = self.stall.filter(|stall| *stall < request.time) {
            command = command.silence(stall);
        }
        let finished = command.time(request.time).output(MAX_OUTPUT).interruptible().run();
        let finished = finished.map_err(|error| self.run_failure(&error))?;
        Ok(AgentRun { id: &self.about.id, finished, variables: &self.agent.variables })
    }

    fn run_failure(&self, error: &RunError) -> Failure {
        match error {
            RunError::Start { program, source } => Failure::free(
                FailureClass::Program,
                format!(
                    "`{}`: cannot start `{program}`: {source}; install the program, or set its \
                     path in `run`",
                    self.about.id
                ),
            ),
            RunError::TimedOut { seconds, .. } => self.failure(
                FailureClass::TimedOut,
                &format!(
                    "no answer within {seconds} s; raise `models.seconds` or the run's time limit, \
                     or review a smaller change"
                ),
            ),
            RunError::Stalled { seconds, .. } => self.failure(
                FailureClass::Stalled,
                &format!(
                    "the agent printed nothing for {seconds} s; try again later, choose another \
                     model, or raise `models.stall_seconds`"
                ),
            ),
            RunError::TooMuchOutput { .. } => self.failure(
                FailureClass::Garbage,
                "the agent's output exceeds the size limit; try again",
            ),
            RunError::StatusUnavailable { .. } => {
                let cause = error.source().map(ToString::to_string).unwrap_or_default();
                self.failure(FailureClass::Program, &format!("{error} ({cause}); try again"))
            }
        }
    }

    fn failure(&self, class: FailureClass, why: &str) -> Failure {
        Failure::new(class, format!("`{}`: {why}", self.about.id))
    }
}

/// Returns true if a variable holds a secret by its name. Such a value is redacted from answers.
fn is_secret(name: &str) -> bool {
    ["KEY", "TOKEN", "SECRET", "PASSWORD"].iter().any(|word| name.to_uppercase().contains(word))
}

/// Returns true if a variable may hold a secret, whatever its name. This is used for error messages
/// only: in an answer, the same words may occur by chance, and too much would be redacted.
fn may_be_secret(name: &str, value: &Key) -> bool {
    !PUBLIC_VARIABLES.contains(&name) && value.reveal().len() >= MIN_SECRET_BYTES
}

impl AgentRun<'_> {
    fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.finished.stdout).into_owned()
    }

    /// Redacts secrets from an answer.
    fn scrub(&self, text: &str) -> String {
        let secrets = self.variables.iter().filter(|(name, _)| is_secret(name));
        secrets.fold(text.to_owned(), |text, (_, key)| key.scrub(&text))
    }

    /// Formats text of an agent for display, with secrets redacted.
    fn display_line(&self, words: &str) -> String {
        let values = self.variables.iter().filter(|(name, value)| may_be_secret(name, value));
        display_line(&values.fold(self.scrub(words), |text, (_, value)| value.scrub(&text)))
    }

    /// Creates a failure from an error message of an agent.
    fn failure(&self, class: FailureClass, words: &str) -> Failure {
        let remedy = match class {
            FailureClass::Authentication => "log in to the agent, or check its API key",
            FailureClass::Budget => "top up the agent's account, or choose another model",
            FailureClass::NotFound => "check the model's name and the agent's address",
            FailureClass::TooLong => {
                "review a smaller change, or choose a model with a larger context window"
            }
            FailureClass::CutOff => "allow a longer answer, or review a smaller change",
            FailureClass::Refusal => "choose another model",
            // Some agents hide a refusal, and print nothing.
            FailureClass::Empty => "try again later, or choose another model",
            FailureClass::Rejected | FailureClass::Program => {
                "run the agent by hand to see the reason"
            }
            FailureClass::RateLimit
            | FailureClass::Overload
            | FailureClass::Server
            | FailureClass::Network
            | FailureClass::TimedOut
            | FailureClass::Stalled
            | FailureClass::Garbage
            | FailureClass::NotRecorded => "try again later",
        };
        let words = match self.display_line(words).trim_end_matches('.') {
            "" => "the agent failed without an error message".to_owned(),
            words => words.to_owned(),
        };
        Failure::new(class, format!("`{}`: {words}; {remedy}", self.id))
    }

    /// Creates a failure for an agent that exited without a structured error.
    fn exit_failure(&self) -> Failure {
        let stderr = String::from_utf8_lossy(&self.finished.stderr);
        let words = match stderr.trim() {
            "" => self.stdout(),
            stderr => stderr.to_owned(),
        };
        let (status, words) = (self.finished.status, self.display_line(&words));
        self.failure(class_of(&words), &format!("the agent exited with {status}: {words}"))
    }

    fn garbage_failure(&self) -> Failure {
        let head = self.display_line(&self.stdout());
        self.failure(
            FailureClass::Garbage,
            &format!("the agent's output has an unknown format (`{head}`)"),
        )
    }

    fn empty_failure(&self) -> Failure {
        self.failure(FailureClass::Empty, "the answer is empty")
    }
}

/// Returns the class of an error message whose format is not known.
fn class_of(words: &str) -> FailureClass {
    if is_login_error(words) { FailureClass::Authentication } else { FailureClass::Program }
}

/// Returns true if an error message of an agent says that the user is not logged in.
fn is_login_error(words: &str) -> bool {
    let words = words.to_lowercase();
    let known = [
        "not logged in", "/login", "401 unauthorized", "invalid api key", "invalid_api_key",
        "incorrect api key", "invalid x-api-key",
    ];
    known.iter().any(|known| words.contains(known))
}
