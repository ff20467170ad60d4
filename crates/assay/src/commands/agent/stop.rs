//! `assay agent stop`: all agents, or some.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::bail;
use assay_agents::seat::Seat;
use assay_review::runs;
use assay_store::queue::{Queue, Seen};
use assay_store::task::AgentId;

use super::{Place, meant};
use crate::commands::print;
use crate::exit::Exit;

/// How much longer than their tasks may go on agents are waited for.
const MARGIN: Duration = Duration::from_secs(30);

/// Whom to stop.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The agents, such as `qa`, or single workers, such as `qa-2`; all where none is named
    #[arg(value_name = "ID")]
    ids: Vec<AgentId>,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let place = Place::open(&args.folder)?;
    let grace = Duration::from_secs(place.settings.configuration.task.stop_grace) + MARGIN;
    match args.ids.is_empty() {
        true => stop_all(&place, grace),
        false => stop_some(&place, &args.ids, grace),
    }
}

fn stop_all(place: &Place, grace: Duration) -> anyhow::Result<Exit> {
    let state = runs::state_folder_path(&place.root);
    let Some(holder) = Seat::holder(&state) else {
        print("no agents are running here\n")?;
        return Ok(Exit::Ready);
    };
    assay_sandbox::ask_to_end(holder.pid);
    if !Seat::wait_until_free(&state, grace) {
        bail!("process {} has not stopped yet; `assay agent status` shows who runs", holder.pid);
    }
    print(&format!("stopped {}\n", holder.agents.join(", ")))?;
    Ok(Exit::Ready)
}

fn stop_some(place: &Place, ids: &[AgentId], grace: Duration) -> anyhow::Result<Exit> {
    let host = crate::agents::host()?;
    let mut asked = Vec::new();
    for id in ids {
        for worker in meant(&*place.queue, &place.settings.roster, id)? {
            let seen = alive(&*place.queue)?.into_iter().find(|it| it.heartbeat.agent == worker);
            match seen {
                None => print(&format!("{worker} is not running\n"))?,
                Some(seen) if seen.heartbeat.host != host => {
                    bail!("{worker} runs on `{}`; stop it there", seen.heartbeat.host);
                }
                Some(seen) => {
                    assay_sandbox::ask_to_end(seen.heartbeat.pid);
                    asked.push(seen.heartbeat);
                }
            }
        }
    }
    let until = Instant::now() + grace;
    for heartbeat in asked {
        // Whoever ends says so, which wakes this.
        let watch = place.queue.watch(&heartbeat.queue)?;
        while alive(&*place.queue)?.iter().any(|seen| seen.heartbeat.agent == heartbeat.agent) {
            if Instant::now() >= until {
                bail!("{} has not stopped yet", heartbeat.agent);
            }
            watch.wait(Duration::from_millis(100));
        }
        print(&format!("stopped {}\n", heartbeat.agent))?;
    }
    Ok(Exit::Ready)
}

fn alive(queue: &dyn Queue) -> anyhow::Result<Vec<Seen>> {
    Ok(queue.agents()?.into_iter().filter(|seen| seen.alive).collect())
}
