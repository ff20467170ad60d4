//! `assay agent status`: who works on what, as a live table or as JSON.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use assay_agents::seat::{Seat, Supervising};
use assay_findings::write::plain;
use assay_review::runs;
use assay_store::clock;
use assay_store::queue::{AgentState, Count, Queue, Seen};
use serde::Serialize;

use super::Place;
use crate::commands::{print, print_json};
use crate::exit::Exit;

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
    agents: Vec<Seen>,
    queues: Vec<Count>,
}

impl Status {
    fn read(place: &Place) -> anyhow::Result<Status> {
        let queue: &dyn Queue = &*place.queue;
        Ok(Status {
            supervisor: Seat::holder(&runs::state_folder_path(&place.root)),
            agents: queue.agents()?,
            queues: queue.count()?,
        })
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let place = Place::open(&args.folder)?;
    let is_live = io::stdout().is_terminal() && !args.json && !args.once;
    if !is_live {
        let status = Status::read(&place)?;
        match args.once {
            true => print(&table(&status))?,
            false => print_json(&status)?,
        }
        return Ok(Exit::Ready);
    }
    let queue = &place.settings.configuration.workflow.reviewer;
    let watch = place.queue.watch(queue)?;
    loop {
        let table = table(&Status::read(&place)?);
        // From the top of an empty screen.
        let mut out = io::stdout().lock();
        write!(out, "\x1b[H\x1b[2J{table}\nCtrl-C to leave\n")?;
        out.flush()?;
        drop(out);
        watch.wait(EVERY);
    }
}

fn table(status: &Status) -> String {
    let mut out = match &status.supervisor {
        Some(holder) => format!("agents run here (process {})\n\n", holder.pid),
        None => "no agents are running here; `assay agent start` starts them\n\n".to_owned(),
    };
    let mut rows = vec![["AGENT", "QUEUE", "STATE", "TASK", "SINCE", "SEEN"].map(str::to_owned)];
    rows.extend(status.agents.iter().map(agent_row));
    out.push_str(&aligned(&rows));
    let header = ["QUEUE", "READY", "WAITING", "BLOCKED", "RUNNING", "DONE", "FAILED"];
    let mut rows = vec![header.map(str::to_owned)];
    rows.extend(status.queues.iter().map(|count| {
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
    let now = clock::now();
    let ago = |then: assay_store::task::Moment| {
        let seconds = now.0.duration_since(then.0).as_secs().max(0);
        match seconds {
            0..120 => format!("{seconds} s"),
            120..7_200 => format!("{} min", seconds / 60),
            _ => format!("{} h", seconds / 3_600),
        }
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
