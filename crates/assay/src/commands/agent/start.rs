//! `assay agent start`: runs workers under a supervisor, and `assay agent work`: runs one worker.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, bail};
use assay_agents::config::roster::Replicas;
use assay_agents::instance_lock::{InstanceLock, SupervisorInfo, WorkerInfo};
use assay_agents::log::{self, Level, Log, LogFormat};
use assay_agents::retry::retry_with_backoff;
use assay_agents::shutdown;
use assay_agents::supervisor::{Supervisor, SupervisorExit, WorkerSpec};
use assay_agents::tail::Tail;
use assay_agents::worker::{OnWait, Worker, WorkerExit};
use assay_base::clock::Deadline;
use assay_base::shutdown::Shutdown;
use assay_base::text::first_chars;
use assay_engine::agent_team::{Team, agent_names, locks_folder, team, worker_suffix};
use assay_engine::config::agents::AgentSettings;
use assay_engine::notify::notifiers;
use assay_engine::queues;
use assay_engine::task_handlers;
use assay_rules::redact;
use assay_sandbox::Command;
use assay_store::queue::Queue;
use assay_store::task::AgentId;

use super::AgentContext;
use crate::commands::print;
use crate::diagnostics::Diagnostics;
use crate::exit::Exit;
use crate::process::{self, environment, state_of};

/// The time limit for agents to start in the background.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest wait before the start is checked again, if the log folder does not change.
const START_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The maximum length of the reason for waiting that `agent status` shows, in characters.
const MAX_REASON: usize = 1_000;

/// Arguments of `assay agent start`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The agents to start [default: all enabled agents]
    #[arg(value_name = "ID")]
    ids: Vec<AgentId>,
    /// Start this many workers of each named agent, or of `qa` if none is named
    #[arg(long, value_name = "N")]
    replicas: Option<Replicas>,
    /// Run in the background
    #[arg(long)]
    detach: bool,
    /// Write logs as JSON lines
    #[arg(long)]
    json: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// Arguments of `assay agent work`.
#[derive(clap::Args)]
pub(crate) struct WorkArgs {
    /// The id of the agent
    id: AgentId,
    /// The name of the worker
    #[arg(long)]
    name: AgentId,
    /// Write logs as JSON lines
    #[arg(long)]
    json: bool,
    /// Write the log to stderr as well
    #[arg(long)]
    echo: bool,
    /// The root of the repository
    #[arg(short = 'C', value_name = "DIR")]
    folder: PathBuf,
}

fn log_form(json: bool) -> LogFormat {
    if json { LogFormat::Json } else { LogFormat::Plain }
}

pub(crate) fn run(args: &Args, diagnostics: &Diagnostics) -> anyhow::Result<Exit> {
    let place = AgentContext::open(&args.folder)?;
    let suffix = worker_suffix(&place.root, &place.settings)?;
    let team = team(&place.settings.roster, &args.ids, args.replicas, &suffix)?;
    let names: Vec<String> =
        team.iter().flat_map(|(_, names)| names.iter().map(ToString::to_string)).collect();
    state_of(&place.root).create()?;
    let state = locks_folder(environment(), &place.root)?;
    if args.detach {
        return detach(args, &place.root, &state, &names, diagnostics);
    }
    let about = SupervisorInfo { pid: std::process::id(), since: process::now(), agents: names };
    let _seat = InstanceLock::acquire(&state, &about)?;
    let folder = log::folder(&place.root);
    log::rotate(&folder).context("cannot rotate the logs")?;
    let supervisor = Supervisor {
        workers: worker_specs(&place.root, &team, args, diagnostics)?,
        queue: place.queue,
        watchdog: Duration::from_secs(
            place.settings.configuration.safeguards.watchdog_interval.get(),
        ),
        log: Arc::new(open_log(&folder, "supervisor", args.json, true)?),
        shutdown: Shutdown::default(),
    };
    shutdown::request_on_signals(&supervisor.shutdown)
        .context("cannot install the signal handlers")?;
    Ok(match supervisor.run() {
        SupervisorExit::Stopped => Exit::Ready,
        SupervisorExit::GaveUp => Exit::Incomplete,
    })
}

fn worker_specs(
    root: &Path,
    team: &Team<'_>,
    args: &Args,
    diagnostics: &Diagnostics,
) -> anyhow::Result<Vec<WorkerSpec>> {
    let program =
        std::env::current_exe().context("cannot determine the path of the assay executable")?;
    let mut posts = Vec::new();
    for (agent, names) in team {
        for name in names {
            let mut command = Command::new(&program)
                .args(["agent", "work", agent.id.as_str(), "--name", name.as_str(), "--echo", "-C"])
                .args([root]);
            if args.json {
                command = command.args(["--json"]);
            }
            if let Some((name, filter)) = diagnostics.for_child() {
                command = command.env(name, filter);
            }
            posts.push(WorkerSpec { name: name.to_string(), command });
        }
    }
    Ok(posts)
}

fn open_log(folder: &Path, agent: &str, json: bool, echo: bool) -> anyhow::Result<Log> {
    let log = Log::open(folder, agent, log_form(json), process::clock());
    let log = log.with_context(|| format!("cannot open the logs in `{}`", folder.display()))?;
    Ok(if echo { log.with_echo(io::stderr()) } else { log })
}

/// Starts the supervisor as a background process.
fn detach(
    args: &Args,
    root: &Path,
    state: &Path,
    names: &[String],
    diagnostics: &Diagnostics,
) -> anyhow::Result<Exit> {
    // If another supervisor holds the lock, the error is printed here and not in the log.
    let about =
        SupervisorInfo { pid: std::process::id(), since: process::now(), agents: Vec::new() };
    drop(InstanceLock::acquire(state, &about)?);
    let folder = log::folder(root);
    fs::create_dir_all(&folder)?;
    let output = fs::File::options().append(true).create(true).open(folder.join("output.log"))?;
    let program =
        std::env::current_exe().context("cannot determine the path of the assay executable")?;
    let mut command = Command::new(program).args(["agent", "start", "-C"]).args([root]);
    if let Some(replicas) = args.replicas {
        command = command.args(["--replicas", &replicas.get().to_string()]);
    }
    if args.json {
        command = command.args(["--json"]);
    }
    if let Some((name, filter)) = diagnostics.for_child() {
        command = command.env(name, filter);
    }
    let command = command.args(args.ids.iter().map(AgentId::as_str));
    let tail = Tail::new(&folder)?;
    let pid = command.spawn_detached(&output)?;
    let logs: Vec<PathBuf> = names.iter().map(|name| folder.join(format!("{name}.log"))).collect();
    let until = Deadline::after(START_TIMEOUT);
    while InstanceLock::supervisor(state).is_none() || !logs.iter().all(|log| log.exists()) {
        if until.has_passed() || !assay_sandbox::is_running(pid) {
            bail!("the agents did not start; `logs/output.log` shows the reason");
        }
        tail.wait(START_POLL_INTERVAL);
    }
    let names = names.join(", ");
    print(&format!(
        "started {names} in the background; `assay agent status` shows them, `assay agent stop` \
         stops them\n"
    ))?;
    Ok(Exit::Ready)
}

/// Runs one worker until its shutdown is requested.
pub(crate) fn work(args: &WorkArgs, diagnostics: &Diagnostics) -> anyhow::Result<Exit> {
    let root = &args.folder;
    let settings = AgentSettings::on_disk(environment(), root)?;
    let Some(agent) = settings.roster.find(args.id.as_str()) else {
        bail!("unknown agent `{}`; configured agents: {}", args.id, agent_names(&settings.roster));
    };
    let (name, agent_id) = (args.name.clone(), agent.id.clone());
    let (pid, since) = (std::process::id(), process::now());
    let about = WorkerInfo { name, agent: agent_id, pid, since, waits_because: None };
    let seat = InstanceLock::acquire_worker(&locks_folder(environment(), root)?, &about)?;
    let on_wait = wait_recorder(seat, about);
    let shutdown = Shutdown::default();
    shutdown::request_on_signals(&shutdown).context("cannot install the signal handlers")?;
    shutdown::request_on_eof(&shutdown, io::stdin());
    let log = open_log(&log::folder(root), args.name.as_str(), args.json, args.echo)?;
    let log = Arc::new(log);
    diagnostics.write_to(&log);
    let queue = open_queue(root, &settings, &log, &shutdown, &on_wait)?;
    let Some(queue) = queue else { return Ok(Exit::Ready) };
    let worker = Worker {
        queue: queue.into(),
        agent: Arc::new(agent.clone()),
        name: args.name.clone(),
        handlers: Arc::new(task_handlers::handlers(root, &settings)?),
        notifiers: notifiers(root, &settings, &log)?,
        log,
        on_wait,
        clock: process::clock().clone(),
        shutdown,
        lease: settings.configuration.safeguards.lease(),
        grace: Duration::from_secs(settings.configuration.task.stop_grace),
        host: task_handlers::host()?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let ended = worker.run();
    // Commands of an abandoned task may still run.
    assay_sandbox::stop_all();
    Ok(match ended? {
        WorkerExit::ShutdownRequested => Exit::Ready,
        WorkerExit::TaskAbandoned => Exit::Incomplete,
    })
}

/// Returns a function that stores in the lock file of a worker why the worker waits for its queue,
/// for `agent status`. The function is called repeatedly, and writes only changes.
fn wait_recorder(seat: InstanceLock, about: WorkerInfo) -> OnWait {
    let noted = Mutex::new(about);
    Box::new(move |why| {
        let mut about = noted.lock().unwrap_or_else(PoisonError::into_inner);
        let why = why.map(|why| first_chars(&redact(why), MAX_REASON).to_owned());
        if about.waits_because != why {
            about.waits_because = why;
            // The log has the reason as well.
            let _ = seat.update(&about);
        }
    })
}

/// Opens the queue, and retries while it cannot be reached; `None` if a shutdown is requested.
fn open_queue(
    root: &Path,
    settings: &AgentSettings,
    log: &Log,
    shutdown: &Shutdown,
    on_wait: &OnWait,
) -> anyhow::Result<Option<Box<dyn Queue>>> {
    let told = |error: &anyhow::Error, wait: Duration| {
        let (why, seconds) = (format!("{error:#}"), wait.as_secs());
        log.record(Level::Warning, &format!("{why}; retrying in {seconds} s"));
        on_wait(Some(&why));
    };
    retry_with_backoff(shutdown, queues::is_unreachable, told, || queues::open(root, settings))
}
