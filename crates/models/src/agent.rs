//! An agent's command line as a model: [`AgentModel`].
//!
//! It runs in an empty folder of its own, never in the repository, whose files could give it
//! orders. It gets the prompt to read, and nothing of the environment but what was named. What it
//! printed is judged by who knows the agent.

mod claude;
mod codex;
mod custom;

use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use assay_sandbox::{Command, Finished, Key, RunError, ScratchFolder};

pub use self::custom::{Custom, Form};
use crate::complaint::shown;
use crate::{Class, Description, Failure, Model, ModelId, Nonce, Prompt, Reply};

/// How much an agent may print.
const MAX_OUTPUT: usize = 16 << 20;

/// What an agent reads beside a prompt, at the most: its own orders and tools, more than once.
const OVERHEAD: u64 = 50_000;

/// Variables that hold no secret.
const PLAIN: [&str; 3] = ["PATH", "HOME", "LANG"];

/// A shorter value is no secret, unless its name says so.
const SHORTEST_SECRET: usize = 8;

/// An agent's command line, and how to understand it.
#[derive(Debug, Clone)]
pub struct Agent {
    /// Which it is.
    pub kind: AgentKind,
    /// The program, where it is not found by its own name. A custom agent has its own.
    pub program: Option<String>,
    /// Further arguments, such as those that name a provider.
    pub args: Vec<String>,
    /// Variables that it gets, read by the caller. None of their values is ever shown.
    pub variables: Vec<(String, Key)>,
}

/// Which agent it is.
#[derive(Debug, Clone)]
pub enum AgentKind {
    /// Claude Code, `claude -p`.
    Claude,
    /// Codex, `codex exec`.
    Codex,
    /// Any other.
    Custom(Custom),
}

impl AgentKind {
    /// Gives the variables that it needs from the environment, where they are set.
    pub fn variables(&self) -> &'static [&'static str] {
        match self {
            AgentKind::Claude => &claude::VARIABLES,
            AgentKind::Codex => &codex::VARIABLES,
            AgentKind::Custom(_) => &[],
        }
    }

    /// Describes the model behind it. An empty name is whichever the agent takes by itself.
    pub fn describe(&self, id: ModelId) -> Description {
        let is_named = !id.model().is_empty();
        let mut about = Description::of(id);
        about.overhead_tokens = OVERHEAD;
        match self {
            AgentKind::Claude | AgentKind::Codex if !is_named => {
                (about.context_tokens, about.max_output_tokens) = (200_000, 32_000);
            }
            AgentKind::Claude | AgentKind::Codex | AgentKind::Custom(_) => {}
        }
        about
    }
}

/// A model behind an agent's command line.
#[derive(Debug)]
pub struct AgentModel {
    agent: Agent,
    about: Description,
    /// How long it may print nothing.
    stall: Option<Duration>,
}

/// What a run of an agent came to.
struct Run<'a> {
    id: &'a ModelId,
    finished: Finished,
    variables: &'a [(String, Key)],
}

impl AgentModel {
    /// Makes a model of an agent; it is told to take `about.id.model()`, if that is not empty.
    pub fn new(agent: Agent, about: Description) -> AgentModel {
        let Agent { kind, program, args, variables } = &agent;
        let names: Vec<&String> = variables.iter().map(|(name, _)| name).collect();
        let about = about.reached_by(&(kind, program, args, names));
        AgentModel { agent, about, stall: None }
    }

    /// Limits how long the agent may print nothing.
    pub fn stalls_after(mut self, time: Duration) -> AgentModel {
        self.stall = Some(time);
        self
    }
}

impl Model for AgentModel {
    fn about(&self) -> &Description {
        &self.about
    }

    fn ask(
        &self,
        prompt: &Prompt,
        nonce: &Nonce,
        time: Duration,
        heard: &dyn Fn(usize),
    ) -> Result<Reply, Failure> {
        // Only this user can look into it: a prompt holds code that others need not see.
        let folder = ScratchFolder::new("assay-agent-").map_err(|error| {
            self.failed(Class::Program, &format!("no folder could be made for it ({error})"))
        })?;
        let asked = Asked { agent: self, prompt, nonce, folder: folder.path(), time };
        let command = match &self.agent.kind {
            AgentKind::Claude => claude::command(&asked),
            AgentKind::Codex => codex::command(&asked),
            AgentKind::Custom(custom) => custom.command(&asked),
        };
        let run = self.run(command?, &asked)?;
        let reply = match &self.agent.kind {
            AgentKind::Claude => claude::reply(&run),
            AgentKind::Codex => codex::reply(&run),
            AgentKind::Custom(custom) => custom.reply(&run),
        };
        let mut reply = reply?;
        if reply.text.trim().is_empty() {
            return Err(run.empty());
        }
        (reply.text, reply.aside) = (run.scrub(&reply.text), run.scrub(&reply.aside));
        if reply.usage.total() == 0 {
            // It does not say what it took, and no token is shorter than a byte.
            (reply.usage.input, reply.usage.output) =
                (prompt.bytes() as u64, reply.text.len() as u64);
        }
        heard(reply.text.chars().count());
        Ok(reply)
    }
}

/// A question to an agent.
struct Asked<'a> {
    agent: &'a AgentModel,
    prompt: &'a Prompt,
    nonce: &'a Nonce,
    folder: &'a Path,
    time: Duration,
}

impl Asked<'_> {
    /// Gives the blocks as one text.
    fn text(&self) -> String {
        let blocks = self.prompt.blocks.iter().map(|block| block.text(self.nonce));
        blocks.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// Gives all there is to say as one text, the schema too unless it goes another way.
    fn whole(&self, schema: Schema) -> String {
        let mut text = format!("{}\n\n{}", self.prompt.system, self.text());
        if let (Schema::InWords, Some(schema)) = (schema, &self.prompt.schema) {
            text.push_str(&format!(
                "\n\nAnswer with one JSON value that this JSON Schema accepts, and with nothing \
                 else:\n{schema}"
            ));
        }
        text
    }

    /// Writes a file into the agent's folder.
    fn write(&self, name: &str, text: &str) -> Result<String, Failure> {
        let file = self.folder.join(name);
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file);
        opened.and_then(|mut opened| opened.write_all(text.as_bytes())).map_err(|error| {
            self.agent.failed(Class::Program, &format!("its prompt could not be written ({error})"))
        })?;
        Ok(file.display().to_string())
    }

    /// Gives the program under its own name, or under the one that was configured.
    fn program(&self, name: &str) -> Command {
        Command::new(self.agent.agent.program.as_deref().unwrap_or(name))
    }

    /// Gives the arguments that were configured.
    fn extra(&self) -> &[String] {
        &self.agent.agent.args
    }

    /// Gives the model's name, if one is to be taken.
    fn model(&self) -> Option<&str> {
        Some(self.agent.about.id.model()).filter(|model| !model.is_empty())
    }
}

/// How a schema gets to an agent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Schema {
    InWords,
    Apart,
}

impl AgentModel {
    fn run(&self, command: Command, asked: &Asked<'_>) -> Result<Run<'_>, Failure> {
        let mut command = command.folder(asked.folder);
        for (name, value) in &self.agent.variables {
            command = command.env(name, value.reveal());
        }
        if let Some(stall) = self.stall.filter(|stall| *stall < asked.time) {
            command = command.silence(stall);
        }
        let finished = command.time(asked.time).output(MAX_OUTPUT).interruptible().run();
        let finished = finished.map_err(|error| self.not_run(&error))?;
        Ok(Run { id: &self.about.id, finished, variables: &self.agent.variables })
    }

    fn not_run(&self, error: &RunError) -> Failure {
        match error {
            RunError::Start { program, source } => Failure::free(
                Class::Program,
                format!(
                    "`{}`: could not start `{program}` ({source}); install it, or say under \
                     `run` where it is",
                    self.about.id
                ),
            ),
            RunError::TimedOut { seconds, .. } => self.failed(
                Class::TimedOut,
                &format!("no answer within {seconds} s; give it more time, or review less at once"),
            ),
            RunError::Stalled { seconds, .. } => self.failed(
                Class::Stalled,
                &format!(
                    "the agent printed nothing for {seconds} s; try again later, choose another \
                     model, or raise `models.stall_seconds`"
                ),
            ),
            RunError::TooMuchOutput { .. } => {
                self.failed(Class::Garbage, "it printed without end; try again")
            }
            RunError::Lost { .. } => {
                let cause = error.source().map(ToString::to_string).unwrap_or_default();
                self.failed(Class::Program, &format!("{error} ({cause}); try again"))
            }
        }
    }

    fn failed(&self, class: Class, why: &str) -> Failure {
        Failure::new(class, format!("`{}`: {why}", self.about.id))
    }
}

/// Says whether a variable holds a secret by its name, which no answer may have in it.
fn is_secret(name: &str) -> bool {
    ["KEY", "TOKEN", "SECRET", "PASSWORD"].iter().any(|word| name.to_uppercase().contains(word))
}

/// Says whether a variable may hold a secret, whatever its name. Of an answer, whose words may be
/// the same by chance, that would take too much; what an agent complains about can spare them.
fn may_be_secret(name: &str, value: &Key) -> bool {
    !PLAIN.contains(&name) && value.reveal().len() >= SHORTEST_SECRET
}

impl Run<'_> {
    fn printed(&self) -> String {
        String::from_utf8_lossy(&self.finished.stdout).into_owned()
    }

    /// Takes secrets out of an answer.
    fn scrub(&self, text: &str) -> String {
        let secrets = self.variables.iter().filter(|(name, _)| is_secret(name));
        secrets.fold(text.to_owned(), |text, (_, key)| key.scrub(&text))
    }

    /// Makes somebody else's words fit to be shown.
    fn shown(&self, words: &str) -> String {
        let values = self.variables.iter().filter(|(name, value)| may_be_secret(name, value));
        shown(&values.fold(self.scrub(words), |text, (_, value)| value.scrub(&text)))
    }

    /// Makes a failure of what an agent says went wrong.
    fn failed(&self, class: Class, words: &str) -> Failure {
        let what_to_do = match class {
            Class::Authentication => "log in with it, or check its key",
            Class::Budget => "top up its account, or choose another model",
            Class::NotFound => "check the model's name and the agent's address",
            Class::TooLong => "review less at once, or choose a model that takes more",
            Class::CutOff => "allow a longer answer, or review less at once",
            Class::Refusal => "choose another model",
            // Some agents swallow a refusal, and print nothing.
            Class::Empty => "try again later, or choose another model",
            Class::Rejected | Class::Program => "run it by hand to see why",
            Class::RateLimit
            | Class::Overload
            | Class::Server
            | Class::Network
            | Class::TimedOut
            | Class::Stalled
            | Class::Garbage
            | Class::NotRecorded => "try again later",
        };
        let words = match self.shown(words).trim_end_matches('.') {
            "" => "it failed without a word".to_owned(),
            words => words.to_owned(),
        };
        Failure::new(class, format!("`{}`: {words}; {what_to_do}", self.id))
    }

    /// Makes a failure of an agent that ended without saying what was wrong where it should.
    fn ended_badly(&self) -> Failure {
        let complained = String::from_utf8_lossy(&self.finished.stderr);
        let words = match complained.trim() {
            "" => self.printed(),
            complained => complained.to_owned(),
        };
        let (status, words) = (self.finished.status, self.shown(&words));
        self.failed(class_of(&words), &format!("the agent ended with {status}: {words}"))
    }

    fn garbage(&self) -> Failure {
        let head = self.shown(&self.printed());
        self.failed(
            Class::Garbage,
            &format!("what it printed is no answer of this agent (`{head}`)"),
        )
    }

    fn empty(&self) -> Failure {
        self.failed(Class::Empty, "the answer is empty")
    }
}

/// Tells the class by what an agent says that is not known any better.
fn class_of(words: &str) -> Class {
    if is_about_login(words) { Class::Authentication } else { Class::Program }
}

/// Says whether an agent complains that nobody is logged in.
fn is_about_login(words: &str) -> bool {
    let words = words.to_lowercase();
    let known = [
        "not logged in", "/login", "401 unauthorized", "invalid api key", "invalid_api_key",
        "incorrect api key", "invalid x-api-key",
    ];
    known.iter().any(|known| words.contains(known))
}
