//! `assay mcp`: servers for agents and editors, over stdin and stdout or over HTTP.

use std::fs::File;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use assay_agents::config::roster::{self, AgentConfig};
use assay_agents::workflow::{OWN_AGENT, OWN_TASK, ROOT};
use assay_engine::config::agents::AgentSettings;
use assay_engine::config::service::A_MOMENT;
use assay_engine::delegated_review::Repository;
use assay_engine::queues;
use assay_review::handed_in::HandedIn;
use assay_serve::door::Door;
use assay_serve::electron::{self, App};
use assay_serve::github;
use assay_serve::jira::{self, Board};
use assay_serve::mcp::http::Listener;
use assay_serve::mcp::{Server, stdio};
use assay_serve::review;
use assay_serve::stop::Stop;
use assay_serve::task_queue::{self, Desk};
use assay_services::browser::Endpoint;
use assay_services::permit::Permit;
use clap::ValueEnum;

use crate::doors::{self, TokenPlace};
use crate::exit::Exit;
use crate::output;
use crate::process::{environment, state_of, variable};
use crate::signals;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The variable with the debugging port of the app that agents try out.
const DEBUG_PORT: &str = "ELECTRON_DEBUG_PORT";

/// The port that apps have by habit.
const USUAL_DEBUG_PORT: u16 = 9222;

/// Which server, and how it is reached.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The server
    #[arg(value_enum)]
    server: Name,
    /// Serve streamable HTTP at an address, such as 127.0.0.1:0, instead of stdin and stdout
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,
    /// The file with the token that requests need; made with a random one where it is missing
    /// [default: .assay/mcp/SERVER.token]
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// The variable that holds the token, instead of a file
    #[arg(long, value_name = "NAME", requires = "http", conflicts_with = "token_file")]
    token_env: Option<String>,
    /// Need no token; only where other machines cannot reach the server
    #[arg(long, requires = "http", conflicts_with_all = ["token_file", "token_env"])]
    no_token: bool,
    /// A name under which other machines reach the server; without one, none does
    #[arg(long, value_name = "NAME", requires = "http")]
    allow_host: Vec<String>,
    /// The debugging port of the app, for `electron` [default: ELECTRON_DEBUG_PORT, or 9222]
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Offer `eval`, which runs code in the app, for `electron`
    #[arg(long)]
    allow_eval: bool,
    /// The agent whose permissions hold, for `github` and `jira` [default: ASSAY_AGENT, or those of
    /// a person]
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// The servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Tasks for agents, and the findings that go with them
    TaskQueue,
    /// Reviews in which the agent's own model does the reading
    Review,
    /// An app in Electron or Chromium, to be tried out
    Electron,
    /// Pull requests on GitHub
    Github,
    /// Tickets in JIRA
    Jira,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let root = queues::root(&args.folder)?;
    if args.server != Name::Electron && (args.port.is_some() || args.allow_eval) {
        bail!("`--port` and `--allow-eval` are for the server `electron` only");
    }
    if !matches!(args.server, Name::Github | Name::Jira) && args.agent.is_some() {
        bail!("`--agent` is for the servers `github` and `jira` only");
    }
    let server = match args.server {
        Name::TaskQueue => task_queue(root.clone())?,
        Name::Review => {
            review::server(Arc::new(Repository::new(environment(), root.clone())), VERSION)
        }
        Name::Electron => electron(args, &root)?,
        Name::Github => github(args, root.clone())?,
        Name::Jira => jira(args, &root)?,
    };
    match args.http {
        None => serve_stdio(&server)?,
        Some(address) => {
            let stop = Stop::default();
            let listener = Listener::bind(address, door(args, &root, server.name())?)?;
            signals::end_server(stop.clone());
            // A line that a program can read; whoever closed stderr does not want to hear of it.
            let _ = writeln!(io::stderr(), "listening on {}", listener.url());
            listener.serve(&server, &stop)?;
        }
    }
    Ok(Exit::Ready)
}

/// Serves over stdin and stdout until stdin ends, or a signal comes.
pub(super) fn serve_stdio(server: &Server) -> anyhow::Result<()> {
    let stop = Stop::default();
    signals::end_server(stop.clone());
    let (input, output) = streams()?;
    stdio::serve(server, input, output, &stop)?;
    Ok(())
}

/// Serves the queue of a repository. An agent's program runs in a work tree: what it reports is held
/// against that, and the queue is that of the repository which the agent works for.
fn task_queue(here: PathBuf) -> anyhow::Result<Server> {
    let root = variable(ROOT).map_or_else(|| here.clone(), PathBuf::from);
    let parent = variable(OWN_TASK).map(|id| id.parse()).transpose().context(OWN_TASK)?;
    let settings = AgentSettings::on_disk(environment(), &root)?;
    let agents = settings.roster.agents();
    let configured = &settings.configuration.github;
    let github = match configured.is_configured() {
        true => configured.open(A_MOMENT, tell)?,
        false => None,
    };
    let desk = Desk {
        queue: queues::open(&root, &settings)?.into(),
        agents: agents.iter().map(|it| (it.id.clone(), it.queue.clone())).collect(),
        parent,
        reports: HandedIn::open(&state_of(&root))?,
        root: here,
        github,
        repositories: configured.repositories.clone(),
    };
    Ok(task_queue::server(desk, VERSION))
}

/// Serves GitHub, to an agent as far as it is permitted.
fn github(args: &Args, here: PathBuf) -> anyhow::Result<Server> {
    let root = variable(ROOT).map_or(here, PathBuf::from);
    let settings = AgentSettings::on_disk(environment(), &root)?;
    let configured = &settings.configuration.github;
    let tickets = settings.configuration.jira.open(A_MOMENT, tell)?;
    let desk = github::Desk {
        github: configured.required(A_MOMENT, tell)?,
        repositories: configured.repositories.clone(),
        permit: permit(agent(args, &settings)?),
        tickets,
    };
    Ok(github::server(desk, VERSION))
}

/// Tells whoever looks on why something waits.
fn tell(text: &str) {
    // Whoever closed stderr does not want to hear of it.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Gives what whoever calls may do: what its agent may, or all that a person may.
fn permit(agent: Option<&AgentConfig>) -> Permit {
    agent.map_or(Permit::Person, AgentConfig::permit)
}

/// Serves an app on this machine. Its pictures are kept in the repository.
fn electron(args: &Args, root: &Path) -> anyhow::Result<Server> {
    let port = match (args.port, variable(DEBUG_PORT)) {
        (Some(port), _) => port,
        (None, Some(text)) => match text.trim().parse() {
            Ok(port) if port != 0 => port,
            _ => bail!("the variable `{DEBUG_PORT}` is no port: `{text}`"),
        },
        (None, None) => USUAL_DEBUG_PORT,
    };
    // An agent need not be in the folder that the server was started in.
    let pictures = state_of(root).open("e2e")?;
    pictures.make()?;
    let folder = pictures.path();
    let folder = folder.canonicalize().with_context(|| format!("`{}`", folder.display()))?;
    let app = App::new(Endpoint::local(port), folder);
    let app = if args.allow_eval { app.allowing_eval() } else { app };
    Ok(electron::server(app, VERSION))
}

/// Serves tickets. An agent's program runs in a work tree, which it can change: what it may do is
/// read where it works for. Without a JIRA the server starts too, and its tools answer what is
/// missing: an agent that is given several servers must not fail for one of them.
fn jira(args: &Args, here: &Path) -> anyhow::Result<Server> {
    let root = variable(ROOT).map_or_else(|| here.to_owned(), PathBuf::from);
    let settings = AgentSettings::on_disk(environment(), &root)?;
    let agent = agent(args, &settings)?;
    let stored = &settings.configuration.jira;
    let board = Board {
        // What is wrong in the configuration was refused when it was read.
        jira: stored.required(A_MOMENT, tell).map_err(|error| format!("{error:#}")),
        permit: permit(agent),
        project: stored.project.clone(),
        names: stored.names(agent),
    };
    Ok(jira::server(board, VERSION))
}

/// Gives the agent whose permissions hold. One that works under its own name takes no other.
fn agent<'a>(args: &Args, settings: &'a AgentSettings) -> anyhow::Result<Option<&'a AgentConfig>> {
    let id = match (&args.agent, variable(OWN_AGENT)) {
        (Some(asked), Some(own)) if *asked != own => {
            bail!("`--agent {asked}` is not who asks: `{OWN_AGENT}` is `{own}`")
        }
        (asked, own) => own.or_else(|| asked.clone()),
    };
    let Some(id) = id else { return Ok(None) };
    let known = settings.roster.of_worker(&id);
    known.map(Some).with_context(|| format!("there is no agent `{id}`; see `{}`", roster::PATH))
}

/// Takes stdin and stdout as files of our own.
fn streams() -> anyhow::Result<(File, File)> {
    let input = io::stdin().as_fd().try_clone_to_owned().context("could not use stdin")?;
    let output = output::duplicate().context("could not use stdout")?;
    Ok((input.into(), output))
}

/// Decides who may come in over HTTP, and says where the token is.
fn door(args: &Args, root: &Path, server: &str) -> anyhow::Result<Door> {
    let hosts = args.allow_host.clone();
    if args.no_token {
        return Ok(Door { token: None, hosts });
    }
    let file = || match &args.token_file {
        Some(path) => Ok(TokenPlace::Named(path.clone())),
        None => Ok(TokenPlace::Own(state_of(root).open("mcp")?, format!("{server}.token"))),
    };
    let token = doors::token(args.token_env.as_deref(), file)?;
    Ok(Door { token: Some(token), hosts })
}
