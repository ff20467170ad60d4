//! `assay mcp`: servers for agents and editors, over stdin and stdout or over HTTP.

use std::fs::File;
use std::io::{self, IsTerminal, Write as _};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use assay_base::shutdown::Shutdown;
use assay_engine::queues;
use assay_serve::auth::AccessPolicy;
use assay_serve::mcp::http::McpListener;
use assay_serve::mcp::{Server, stdio};
use assay_serve::servers::ServerContext;
use clap::ValueEnum;

use crate::exit::Exit;
use crate::messages::{Stderr, note};
use crate::output;
use crate::process::{environment, state_of};
use crate::signals;
use crate::token::{self, TokenFile};

/// Arguments of `assay mcp`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The server to run
    #[arg(value_enum)]
    server: ServerName,
    /// Serve streamable HTTP at an address, such as 127.0.0.1:0, instead of stdin and stdout
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,
    /// The file with the token for requests; created with a random token if it does not exist
    /// [default: .assay/mcp/SERVER.token]
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// The variable with the token, instead of a file
    #[arg(long, value_name = "NAME", requires = "http", conflicts_with = "token_file")]
    token_env: Option<String>,
    /// Require no token; allowed only if other machines cannot reach the server
    #[arg(long, requires = "http", conflicts_with_all = ["token_file", "token_env"])]
    no_token: bool,
    /// Allow requests of other machines to this host name [default: requests of this machine only]
    #[arg(long, value_name = "NAME", requires = "http")]
    allow_host: Vec<String>,
    /// The debugging port of the app, for `electron` [default: ELECTRON_DEBUG_PORT, or 9222]
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Offer `eval`, which runs code in the app, for `electron`
    #[arg(long)]
    allow_eval: bool,
    /// The agent whose permissions apply, for `github` and `jira` [default: ASSAY_AGENT, or the
    /// permissions of a person]
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// The servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ServerName {
    /// Tasks of agents, and their findings
    TaskQueue,
    /// Reviews that the model of the agent reads
    Review,
    /// An app in Electron or Chromium, for testing
    Electron,
    /// Pull requests on GitHub
    Github,
    /// Tickets in JIRA
    Jira,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let root = queues::root(&args.folder)?;
    if args.server != ServerName::Electron && (args.port.is_some() || args.allow_eval) {
        bail!("`--port` and `--allow-eval` require the server `electron`");
    }
    if !matches!(args.server, ServerName::Github | ServerName::Jira) && args.agent.is_some() {
        bail!("`--agent` requires the server `github` or `jira`");
    }
    let context = ServerContext {
        environment: environment(),
        root: root.clone(),
        reporter: Arc::new(Stderr),
        version: env!("CARGO_PKG_VERSION"),
    };
    let server = match args.server {
        ServerName::TaskQueue => context.task_queue()?,
        ServerName::Review => context.review(),
        ServerName::Electron => context.electron(args.port, args.allow_eval)?,
        ServerName::Github => context.github(args.agent.as_deref())?,
        ServerName::Jira => context.jira(args.agent.as_deref())?,
    };
    match args.http {
        None => {
            if io::stdin().is_terminal() {
                note(
                    "waiting for messages of an MCP client on stdin; start this command in the \
                     configuration of an agent, or use `--http ADDR`; Ctrl-C ends",
                );
            }
            serve_stdio(&server)?;
        }
        Some(address) => {
            let shutdown = Shutdown::default();
            let listener = McpListener::bind(address, access(args, &root, server.name())?)?;
            signals::end_server(shutdown.clone());
            // A line that a program can parse. A closed stderr is ignored.
            let _ = writeln!(io::stderr(), "listening on {}", listener.url());
            listener.serve(&server, &shutdown)?;
        }
    }
    Ok(Exit::Ready)
}

/// Serves over stdin and stdout until stdin ends, or a signal arrives.
pub(super) fn serve_stdio(server: &Server) -> anyhow::Result<()> {
    let shutdown = Shutdown::default();
    signals::end_server(shutdown.clone());
    let (input, output) = duplicate_stdio()?;
    stdio::serve(server, input, output, &shutdown)?;
    Ok(())
}

/// Duplicates stdin and stdout as files.
pub(super) fn duplicate_stdio() -> anyhow::Result<(File, File)> {
    let input = io::stdin().as_fd().try_clone_to_owned().context("cannot use stdin")?;
    let output = output::duplicate().context("cannot use stdout")?;
    Ok((input.into(), output))
}

/// Returns the access policy for HTTP, and prints the path of the token.
fn access(args: &Args, root: &Path, server: &str) -> anyhow::Result<AccessPolicy> {
    let hosts = args.allow_host.clone();
    if args.no_token {
        return Ok(AccessPolicy { token: None, hosts });
    }
    let file = || match &args.token_file {
        Some(path) => Ok(TokenFile::Named(path.clone())),
        None => Ok(TokenFile::InState(state_of(root).open("mcp")?, format!("{server}.token"))),
    };
    let token = token::load_token(args.token_env.as_deref(), file)?;
    Ok(AccessPolicy { token: Some(token), hosts })
}
