//! The MCP servers of a repository, opened by its configuration: [`ServerContext`].

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use assay_agents::config::roster::{self, AgentConfig};
use assay_agents::workflow::{AGENT_ID_VARIABLE, ROOT_VARIABLE, TASK_ID_VARIABLE};
use assay_engine::config::agents::AgentSettings;
use assay_engine::config::service::SHORT_WAIT;
use assay_engine::delegated_review::RepositoryReviews;
use assay_engine::environment::Environment;
use assay_engine::queues;
use assay_engine::reporter::Reporter;
use assay_review::external_reports::ExternalReports;
use assay_services::browser::Endpoint;
use assay_services::permit::Permit;

use crate::electron::{self, ElectronTools};
use crate::github;
use crate::jira::{self, JiraTools};
use crate::mcp::Server;
use crate::review;
use crate::task_queue::{self, TaskTools};

/// The variable with the debugging port of the app that agents test.
const DEBUG_PORT_VARIABLE: &str = "ELECTRON_DEBUG_PORT";

/// The conventional debugging port.
const DEFAULT_DEBUG_PORT: u16 = 9222;

/// The inputs for opening the servers of a repository.
pub struct ServerContext<'a> {
    /// The environment of the front end.
    pub environment: &'a Environment,
    /// The root of the repository.
    pub root: PathBuf,
    /// Receives the reasons of waits for a service.
    pub reporter: Arc<dyn Reporter>,
    /// The version that the servers publish.
    pub version: &'static str,
}

impl ServerContext<'_> {
    /// Opens the server for tasks. The program of an agent runs in a work tree: its reports are
    /// compared with that tree, and the queue is that of the repository that the agent works for.
    pub fn task_queue(&self) -> anyhow::Result<Server> {
        let root = self.agent_repository();
        let parent = self.environment.variable(TASK_ID_VARIABLE).map(|id| id.parse());
        let parent = parent.transpose().context(TASK_ID_VARIABLE)?;
        let settings = AgentSettings::on_disk(self.environment, &root)?;
        let agents = settings.roster.agents();
        let configured = &settings.configuration.github;
        let github = match configured.is_configured() {
            true => configured.open(SHORT_WAIT, self.log_waits())?,
            false => None,
        };
        let tools = TaskTools {
            queue: queues::open(&root, &settings)?.into(),
            agents: agents.iter().map(|it| (it.id.clone(), it.queue.clone())).collect(),
            parent,
            reports: ExternalReports::open(&self.environment.state_of(&root))?,
            root: self.root.clone(),
            github,
            clock: self.environment.clock().clone(),
            repositories: configured.repositories.clone(),
        };
        Ok(task_queue::server(tools, self.version))
    }

    /// Opens the server for reviews that the model of an agent reads.
    pub fn review(&self) -> Server {
        let repository = RepositoryReviews::new(self.environment, self.root.clone());
        review::server(Arc::new(repository), self.version)
    }

    /// Opens the server for an app on this machine. Its screenshots are stored below the
    /// repository.
    pub fn electron(&self, port: Option<u16>, allow_eval: bool) -> anyhow::Result<Server> {
        let port = match (port, self.environment.variable(DEBUG_PORT_VARIABLE)) {
            (Some(port), _) => port,
            (None, Some(text)) => match text.trim().parse() {
                Ok(port) if port != 0 => port,
                _ => bail!("invalid port `{text}` in the variable `{DEBUG_PORT_VARIABLE}`"),
            },
            (None, None) => DEFAULT_DEBUG_PORT,
        };
        // The path is absolute, since an agent may run in another folder than the server.
        let pictures = self.environment.state_of(&self.root).open("e2e")?;
        pictures.create()?;
        let folder = pictures.path();
        let folder = folder.canonicalize().with_context(|| format!("`{}`", folder.display()))?;
        let tools = ElectronTools::new(Endpoint::local(port), folder);
        let tools = if allow_eval { tools.allow_eval() } else { tools };
        Ok(electron::server(tools, self.version))
    }

    /// Opens the server for pull requests, with the permissions of an agent or of a person.
    pub fn github(&self, agent: Option<&str>) -> anyhow::Result<Server> {
        let settings = AgentSettings::on_disk(self.environment, &self.agent_repository())?;
        let configured = &settings.configuration.github;
        let tickets = settings.configuration.jira.open(SHORT_WAIT, self.log_waits())?;
        let tools = github::GithubTools {
            github: configured.required(SHORT_WAIT, self.log_waits())?,
            repositories: configured.repositories.clone(),
            permit: permit(self.agent(agent, &settings)?),
            tickets,
        };
        Ok(github::server(tools, self.version))
    }

    /// Opens the server for tickets. The program of an agent runs in a work tree, which it can
    /// change: its permissions are read from the repository that it works for. Without a configured
    /// JIRA the server starts too, and its tools answer with the missing setting: an agent that
    /// uses several servers must not fail because of one.
    pub fn jira(&self, agent: Option<&str>) -> anyhow::Result<Server> {
        let settings = AgentSettings::on_disk(self.environment, &self.agent_repository())?;
        let agent = self.agent(agent, &settings)?;
        let stored = &settings.configuration.jira;
        let tools = JiraTools {
            // An invalid configuration was refused when it was read.
            jira: stored
                .required(SHORT_WAIT, self.log_waits())
                .map_err(|error| format!("{error:#}")),
            permit: permit(agent),
            project: stored.project.clone(),
            names: stored.step_names(agent),
        };
        Ok(jira::server(tools, self.version))
    }

    /// Returns the repository that an agent works for, or else the one that is served.
    fn agent_repository(&self) -> PathBuf {
        self.environment.variable(ROOT_VARIABLE).map_or_else(|| self.root.clone(), PathBuf::from)
    }

    fn log_waits(&self) -> impl Fn(&str) + Send + Sync + 'static {
        let reporter = Arc::clone(&self.reporter);
        move |text: &str| reporter.note(text)
    }

    /// Returns the agent whose permissions apply. Fails if a process of one agent names another
    /// agent.
    fn agent<'s>(
        &self,
        asked: Option<&str>,
        settings: &'s AgentSettings,
    ) -> anyhow::Result<Option<&'s AgentConfig>> {
        let id = match (asked, self.environment.variable(AGENT_ID_VARIABLE)) {
            (Some(asked), Some(own)) if *asked != own => {
                bail!(
                    "`--agent {asked}` contradicts the variable `{AGENT_ID_VARIABLE}`, which is \
                     `{own}`"
                )
            }
            (asked, own) => own.or_else(|| asked.map(str::to_owned)),
        };
        let Some(id) = id else { return Ok(None) };
        let known = settings.roster.find_by_worker(&id);
        known.map(Some).with_context(|| format!("unknown agent `{id}`; see `{}`", roster::PATH))
    }
}

/// Returns the permissions of an agent, or those of a person.
fn permit(agent: Option<&AgentConfig>) -> Permit {
    agent.map_or(Permit::Person, AgentConfig::permit)
}
