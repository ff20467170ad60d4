//! `assay agent status`: who works on what, as a live table or as JSON.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assay_agents::seat::{Seat, Supervising, Working};
use assay_findings::write::plain;
use assay_review::runs;
use assay_store::clock;
use assay_store::queue::{AgentState, Count, Queue, QueueError, Seen, Watch};
use assay_store::task::Moment;
use serde::Serialize;

use crate::commands::{print, print_json};
use crate::exit::Exit;
use crate::queues;
use crate::settings::agents::AgentSettings;

/// How often the table is drawn anew where nothing is heard.
const EVERY: Duration = Duration::from_secs(1);

/// How to show it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON, as is done where the output is no terminal
    #[arg(long)]
    json: bool,
    /// Print the table once
    #[arg(long, conflicts_with = "json")]
    once: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// Who works on what.
#[derive(Serialize)]
struct Status {
    supervisor: Option<Supervising>,
    /// Those who work here, as this machine knows it.
    workers: Vec<Working>,
    #[serde(flatten)]
    told: Told,
}

/// What the queue knows.
#[derive(Serialize)]
#[serde(untagged)]
enum Told {
    /// Everybody, wherever they are, and what there is to do.
    All { agents: Vec<Seen>, queues: Vec<Count> },
    /// It does not tell, and why.
    Nothing { unreadable: String },
}

/// Where status is read from.
struct Source {
    root: PathBuf,
    settings: AgentSettings,
    /// It is not there before it can be reached.
    queue: Option<Arc<dyn Queue>>,
}

impl Source {
    fn new(folder: &Path) -> anyhow::Result<Source> {
        let root = queues::root(folder)?;
        let settings = AgentSettings::on_disk(&root)?;
        Ok(Source { root, settings, queue: None })
    }

    fn queue(&mut self) -> anyhow::Result<Arc<dyn Queue>> {
        if let Some(queue) = &self.queue {
            return Ok(queue.clone());
        }
        let queue: Arc<dyn Queue> = queues::open(&self.root, &self.settings)?.into();
        Ok(self.queue.insert(queue).clone())
    }

    /// Reads all that can be read. A queue that is away, or will not be read, leaves what is known
    /// here.
    fn read(&mut self) -> anyhow::Result<Status> {
        let state = runs::state_folder_path(&self.root);
        let (supervisor, workers) = (Seat::holder(&state), Seat::workers(&state));
        let told = self.queue().and_then(|queue| Ok((queue.agents()?, queue.count()?)));
        let told = match told {
            Ok((agents, queues)) => Told::All { agents, queues },
            Err(error) if error.chain().any(|cause| cause.is::<QueueError>()) => {
                let unreadable = assay_rules::redact(&format!("{error:#}")).into_owned();
                Told::Nothing { unreadable }
            }
            Err(error) => return Err(error),
        };
        Ok(Status { supervisor, workers, told })
    }

    /// What wakes whoever shows it.
    fn watch(&self) -> Watch {
        let queue = &self.settings.configuration.workflow.reviewer;
        let watch = self.queue.as_ref().and_then(|open| open.watch(queue).ok());
        watch.unwrap_or_else(Watch::deaf)
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut source = Source::new(&args.folder)?;
    if io::stdout().is_terminal() && !args.json && !args.once {
        return show_live(source);
    }
    let status = source.read()?;
    match args.once {
        true => print(&table(&status))?,
        false => print_json(&status)?,
    }
    Ok(match status.told {
        Told::All { .. } => Exit::Ready,
        Told::Nothing { .. } => Exit::Incomplete,
    })
}

fn show_live(mut source: Source) -> anyhow::Result<Exit> {
    let mut status = source.read()?;
    let watch = source.watch();
    loop {
        // From the top of an empty screen.
        let mut out = io::stdout().lock();
        write!(out, "\x1b[H\x1b[2J{}\nCtrl-C to leave\n", table(&status))?;
        out.flush()?;
        drop(out);
        watch.wait(EVERY);
        status = source.read()?;
    }
}

fn table(status: &Status) -> String {
    let mut out = match &status.supervisor {
        Some(holder) => format!("agents run here (process {})\n\n", holder.pid),
        None => "no agents are running here; `assay agent start` starts them\n\n".to_owned(),
    };
    let (agents, queues) = match &status.told {
        Told::All { agents, queues } => (agents, queues),
        Told::Nothing { unreadable } => {
            let mut rows = vec![["WORKER", "PROCESS", "SINCE"].map(str::to_owned)];
            rows.extend(status.workers.iter().map(worker_row));
            let why = plain::one_line(unreadable);
            return format!("{out}{}\nno more is known: {why}\n", aligned(&rows));
        }
    };
    let mut rows = vec![["AGENT", "QUEUE", "STATE", "TASK", "SINCE", "SEEN"].map(str::to_owned)];
    rows.extend(agents.iter().map(agent_row));
    out.push_str(&aligned(&rows));
    let header = ["QUEUE", "READY", "WAITING", "BLOCKED", "RUNNING", "DONE", "FAILED"];
    let mut rows = vec![header.map(str::to_owned)];
    rows.extend(queues.iter().map(|count| {
        let Count { queue, ready, waiting, blocked, in_progress, completed, failed, .. } = count;
        let numbers = [ready, waiting, blocked, in_progress, completed, failed];
        let [a, b, c, d, e, f] = numbers.map(usize::to_string);
        [queue.to_string(), a, b, c, d, e, f]
    }));
    out.push('\n');
    out.push_str(&aligned(&rows));
    out
}

fn agent_row(seen: &Seen) -> [String; 6] {
    let heartbeat = &seen.heartbeat;
    let state = match (seen.alive, heartbeat.state, seen.paused) {
        (_, AgentState::Stopped, _) => "stopped",
        (false, _, _) => "gone",
        (true, AgentState::Working, true) => "working, then paused",
        (true, AgentState::Working, false) => "working",
        (true, AgentState::Stopping, _) => "stopping",
        (true, AgentState::Idle | AgentState::Paused, true) => "paused",
        (true, AgentState::Idle | AgentState::Paused, false) => "idle",
    };
    [
        plain::one_line(heartbeat.agent.as_str()),
        heartbeat.queue.to_string(),
        state.to_owned(),
        heartbeat.task.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
        ago(heartbeat.since),
        format!("{} ago", ago(heartbeat.at)),
    ]
}

fn worker_row(worker: &Working) -> [String; 3] {
    [worker.name.to_string(), worker.pid.to_string(), ago(worker.since)]
}

/// Says how long ago something was.
fn ago(then: Moment) -> String {
    let seconds = clock::now().0.duration_since(then.0).as_secs().max(0);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3_600),
    }
}

/// Puts rows below each other in columns.
fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..N).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
