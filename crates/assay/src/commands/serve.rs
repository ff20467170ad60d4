//! `assay serve`: runs the server for the dashboard, its HTTP API, webhooks of GitHub and JIRA, and
//! requests of builds.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use assay_base::shutdown::Shutdown;
use assay_engine::config::agents::AgentSettings;
use assay_engine::dashboard::Dashboard;
use assay_engine::queues;
use assay_findings::write::escape;
use assay_serve::auth::AccessPolicy;
use assay_serve::dashboard::DashboardService;
use assay_serve::hooks::{HookContext, Hooks};
use assay_serve::http_server::{HttpListener, HttpServer};

use crate::diagnostics::Diagnostics;
use crate::exit::Exit;
use crate::process::{self, environment, state_of};
use crate::signals;
use crate::token::{self, TokenFile};

/// Arguments of `assay serve`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8787")]
    listen: SocketAddr,
    /// The file with the token for the dashboard, the API and `POST /queue`; created with a random
    /// token if it does not exist
    /// [default: .assay/serve/token]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The variable with the token, instead of a file
    #[arg(long, value_name = "NAME", conflicts_with = "token_file")]
    token_env: Option<String>,
    /// Allow requests of other machines to this host name [default: requests of this machine only]
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args, diagnostics: &Diagnostics) -> anyhow::Result<Exit> {
    let root = queues::root(&args.folder)?;
    let settings = AgentSettings::on_disk(environment(), &root)?;
    let state = state_of(&root);
    let own = state.open("serve")?;
    let log = Arc::new(|line: &str| print_to_stderr(&format!("{} {line}", process::clock().now())));
    let setup = HookContext::from_settings(
        &settings,
        queues::open(&root, &settings)?.into(),
        print_to_stderr,
        log,
    )?;
    let file = || match args.token_file.clone() {
        Some(path) => Ok(TokenFile::Named(path)),
        None => Ok(TokenFile::InState(own, "token".to_owned())),
    };
    let token = token::load_token(args.token_env.as_deref(), file)?;
    let access = AccessPolicy { token: Some(token), hosts: args.allow_host.clone() };
    let listener = HttpListener::bind(args.listen, access.clone())?;
    let (queue, reviewer) = (Arc::clone(&setup.queue), setup.reviewer.clone());
    let user = process::user_name(&root);
    let dashboard = Dashboard::new(environment(), &root, Arc::clone(&queue), user)?;
    let dashboard = DashboardService::new(dashboard, access.clone(), process::clock())?
        .with_traces(diagnostics.traces().cloned());
    let hooks = Hooks::new(setup, access, &state.home_folder("serve")?.join("deliveries"));
    let hooks = hooks.context("cannot set up the triggers")?;
    let shutdown = Shutdown::default();
    signals::end_server(shutdown.clone());
    print_to_stderr(&format!("listening on {}", listener.url()));
    listener.serve(HttpServer { hooks, dashboard, queue, reviewer }, &shutdown)?;
    Ok(Exit::Ready)
}

/// Writes a line to stderr. A closed stderr is ignored.
fn print_to_stderr(line: &str) {
    let _ = writeln!(io::stderr(), "{}", escape::escape_hidden(line));
}
