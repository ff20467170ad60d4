//! The configured agents: [`Roster`], from `config/agents.yaml` and the built-in agents.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;
use std::time::Duration;

use assay_review::persona::Tier;
use assay_services::permit::{Capability, Permit};
use assay_store::task::{AgentId, QueueName};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::framework::TaskSettings;
use super::{ConfigError, read_yaml};

/// The path of the file with the agents, relative to the repository.
pub const PATH: &str = "config/agents.yaml";

/// The built-in agents, as `assay init` writes them.
pub const BUILT_IN: &str = include_str!("../../assets/agents.yaml");

/// The configuration of an agent: its name, its queue and its limits.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentConfig {
    /// The id of the agent, and the prefix of its replicas' names.
    pub id: AgentId,
    /// The name for people.
    pub name: String,
    /// The queue of the agent's tasks.
    pub queue: QueueName,
    /// True if the agent is started without being named.
    pub enabled: bool,
    /// The number of processes of the agent.
    pub replicas: Replicas,
    /// The maximum wait for a wake-up of the queue before the agent polls.
    pub poll_interval: Duration,
    /// The maximum number of retries of a task that the agent failed.
    pub max_retries: u32,
    /// The timeout of a task.
    pub timeout: Duration,
    /// The instructions at the beginning of the agent's prompts.
    pub prompt: String,
    /// The tier of the model.
    pub tier: Tier,
    /// The permissions of the agent.
    pub permissions: Vec<Permission>,
    /// The transitions of a ticket, by event.
    pub jira: BTreeMap<TransitionTrigger, String>,
    /// Further ticket transitions that the agent may make.
    pub transitions: Vec<String>,
    /// The program that does the work; `None` if a model does it alone.
    pub command: Option<AgentCommand>,
}

impl AgentConfig {
    /// Returns true if the agent has a permission.
    pub fn may(&self, permission: Permission) -> bool {
        self.permissions.contains(&permission)
    }

    /// Returns the permit of the agent for services.
    pub fn permit(&self) -> Permit {
        let deeds = self.permissions.iter().filter_map(|permission| permission.capability());
        let transitions = self.jira.values().chain(&self.transitions).cloned();
        Permit::agent(self.id.as_str(), deeds, transitions)
    }
}

/// A permission of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Read the repository.
    Read,
    /// Change files and commit them.
    Edit,
    /// Push branches to GitHub.
    Push,
    /// Write on GitHub.
    Github,
    /// Write in JIRA.
    Jira,
    /// Create tickets in JIRA.
    CreateTickets,
}

impl Permission {
    /// Returns the permission as it is written in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Permission::Read => "read",
            Permission::Edit => "edit",
            Permission::Push => "push",
            Permission::Github => "github",
            Permission::Jira => "jira",
            Permission::CreateTickets => "create_tickets",
        }
    }

    /// Returns the corresponding capability for services; `None` if there is none.
    fn capability(self) -> Option<Capability> {
        match self {
            Permission::Read | Permission::Edit => None,
            Permission::Push => Some(Capability::Push),
            Permission::Github => Some(Capability::WriteOnGithub),
            Permission::Jira => Some(Capability::WriteInJira),
            Permission::CreateTickets => Some(Capability::CreateTickets),
        }
    }
}

/// An event of a change that moves its ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransitionTrigger {
    /// The change is ready for review.
    CodeReview,
    /// The change is approved.
    Approved,
    /// The change needs more work.
    ChangesRequested,
}

/// The program that does an agent's work, in its own work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentCommand {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Any other program with its arguments. `{prompt_file}` is replaced by the path of a file with
    /// the prompt, which is otherwise passed on stdin; `{mcp_config}` by the path of the file with
    /// the MCP servers.
    Own(Vec<String>),
}

impl<'de> Deserialize<'de> for AgentCommand {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<AgentCommand, D::Error> {
        from.deserialize_any(CommandVisitor)
    }
}

struct CommandVisitor;

impl<'de> Visitor<'de> for CommandVisitor {
    type Value = AgentCommand;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`claude`, `codex`, or a list: a program and its arguments")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<AgentCommand, E> {
        match text {
            "claude" => Ok(AgentCommand::Claude),
            "codex" => Ok(AgentCommand::Codex),
            _ => Err(E::custom(format!(
                "unknown command `{text}`: expected `claude`, `codex`, or a list of a program and \
                 its arguments"
            ))),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<AgentCommand, A::Error> {
        let mut command: Vec<String> = Vec::new();
        while let Some(part) = parts.next_element()? {
            command.push(part);
        }
        match command.first().is_some_and(|program| !program.is_empty()) {
            true => Ok(AgentCommand::Own(command)),
            false => Err(serde::de::Error::custom("the command is empty")),
        }
    }
}

/// The number of processes of an agent, from 1 to [`Replicas::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replicas(u32);

impl Replicas {
    /// The maximum number of processes, more than a machine has work for.
    pub const MAX: u32 = 64;

    /// Returns the number of processes.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl Default for Replicas {
    fn default() -> Replicas {
        Replicas(1)
    }
}

impl TryFrom<u32> for Replicas {
    type Error = String;

    fn try_from(number: u32) -> Result<Replicas, String> {
        match number {
            1..=Replicas::MAX => Ok(Replicas(number)),
            _ => {
                Err(format!("invalid number of replicas {number}: expected 1 to {}", Replicas::MAX))
            }
        }
    }
}

impl FromStr for Replicas {
    type Err = String;

    fn from_str(text: &str) -> Result<Replicas, String> {
        let number: u32 = text.parse().map_err(|_| format!("invalid number {text:?}"))?;
        number.try_into()
    }
}

impl<'de> Deserialize<'de> for Replicas {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Replicas, D::Error> {
        u32::deserialize(from)?.try_into().map_err(serde::de::Error::custom)
    }
}

/// An agent as it is written in the file; missing fields are taken from the built-in agent.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentEntry {
    id: AgentId,
    name: Option<String>,
    queue: Option<QueueName>,
    enabled: Option<bool>,
    replicas: Option<Replicas>,
    poll_interval: Option<NonZeroU64>,
    max_retries: Option<u32>,
    timeout: Option<NonZeroU64>,
    prompt: Option<String>,
    model: Option<Tier>,
    permissions: Option<Vec<Permission>>,
    jira: Option<BTreeMap<TransitionTrigger, String>>,
    transitions: Option<Vec<String>>,
    command: Option<AgentCommand>,
}

impl AgentEntry {
    /// Fills missing fields from `other`.
    fn or(self, other: AgentEntry) -> AgentEntry {
        AgentEntry {
            id: self.id,
            name: self.name.or(other.name),
            queue: self.queue.or(other.queue),
            enabled: self.enabled.or(other.enabled),
            replicas: self.replicas.or(other.replicas),
            poll_interval: self.poll_interval.or(other.poll_interval),
            max_retries: self.max_retries.or(other.max_retries),
            timeout: self.timeout.or(other.timeout),
            prompt: self.prompt.or(other.prompt),
            model: self.model.or(other.model),
            permissions: self.permissions.or(other.permissions),
            jira: self.jira.or(other.jira),
            transitions: self.transitions.or(other.transitions),
            command: self.command.or(other.command),
        }
    }

    fn resolve(self, usual: &TaskSettings) -> AgentConfig {
        let seconds = |given: Option<NonZeroU64>, usual: NonZeroU64| {
            Duration::from_secs(given.unwrap_or(usual).get())
        };
        let own_queue = || self.id.as_str().parse().expect("an agent's name is a queue's too");
        AgentConfig {
            name: self.name.unwrap_or_else(|| self.id.to_string()),
            queue: self.queue.unwrap_or_else(own_queue),
            enabled: self.enabled.unwrap_or(true),
            replicas: self.replicas.unwrap_or_default(),
            poll_interval: seconds(self.poll_interval, usual.poll_interval),
            max_retries: self.max_retries.unwrap_or(usual.max_retries),
            timeout: seconds(self.timeout, usual.timeout),
            prompt: self.prompt.unwrap_or_default(),
            tier: self.model.unwrap_or(Tier::Default),
            permissions: self.permissions.unwrap_or_else(|| vec![Permission::Read]),
            jira: self.jira.unwrap_or_default(),
            transitions: self.transitions.unwrap_or_default(),
            command: self.command,
            id: self.id,
        }
    }
}

/// The file: a list of agents, at the top level or under `agents:`.
struct RosterFile(Vec<AgentEntry>);

impl<'de> Deserialize<'de> for RosterFile {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<RosterFile, D::Error> {
        from.deserialize_any(FileVisitor)
    }
}

struct FileVisitor;

impl<'de> Visitor<'de> for FileVisitor {
    type Value = RosterFile;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of agents, each with an `id`, at the top or under `agents`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<RosterFile, A::Error> {
        let mut agents = Vec::new();
        while let Some(agent) = items.next_element()? {
            agents.push(agent);
        }
        Ok(RosterFile(agents))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<RosterFile, A::Error> {
        let mut agents = None;
        while let Some(key) = entries.next_key::<String>()? {
            if key != "agents" {
                return Err(serde::de::Error::unknown_field(&key, &["agents"]));
            }
            agents = entries.next_value()?;
        }
        Ok(RosterFile(agents.unwrap_or_default()))
    }
}

/// All agents, in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Roster(Vec<AgentConfig>);

impl Roster {
    /// Parses the file on top of the built-in agents. A built-in agent that the file does not name
    /// is unchanged.
    pub fn parse(text: Option<&str>, usual: &TaskSettings) -> Result<Roster, ConfigError> {
        let built_in = read_yaml::<RosterFile>(PATH, BUILT_IN)?.map(|file| file.0);
        // Limits of the built-in agents do not override the settings for all tasks.
        let without_limits =
            |agent| AgentEntry { poll_interval: None, max_retries: None, timeout: None, ..agent };
        let mut known: Vec<AgentEntry> =
            built_in.unwrap_or_default().into_iter().map(without_limits).collect();
        let own = read_yaml::<RosterFile>(PATH, text.unwrap_or_default())?.map(|file| file.0);
        let mut agents: Vec<AgentEntry> = Vec::new();
        for agent in own.unwrap_or_default() {
            if agents.iter().any(|other| other.id == agent.id) {
                let message = format!("duplicate agent `{}`", agent.id);
                return Err(ConfigError::new(PATH, message));
            }
            let other = known.iter().position(|other| other.id == agent.id);
            agents.push(match other.map(|at| known.remove(at)) {
                Some(other) => agent.or(other),
                None => agent,
            });
        }
        agents.extend(known);
        Ok(Roster(agents.into_iter().map(|agent| agent.resolve(usual)).collect()))
    }

    /// Returns all agents.
    pub fn agents(&self) -> &[AgentConfig] {
        &self.0
    }

    /// Returns the agent with an id.
    pub fn find(&self, id: &str) -> Option<&AgentConfig> {
        self.0.iter().find(|agent| agent.id.as_str() == id)
    }

    /// Returns the agent of a worker, whose name may have a number and a machine:
    /// `engineer-2.host`.
    pub fn find_by_worker(&self, name: &str) -> Option<&AgentConfig> {
        let numbered = || name.rsplit_once('-').filter(|(_, number)| is_number(number));
        let on_a_machine = || name.rsplit_once('.').map(|(name, _)| name);
        self.find(name)
            .or_else(|| self.find(numbered()?.0))
            .or_else(|| self.find_by_worker(on_a_machine()?))
    }

    /// Returns true if an enabled agent works on a queue.
    pub fn has_agent_for(&self, queue: &QueueName) -> bool {
        self.0.iter().any(|agent| agent.enabled && agent.queue == *queue)
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
