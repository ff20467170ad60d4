//! `assay agent stop`: stops all agents, or some. It does not need the queue, whose database may be
//! unreachable.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use assay_agents::instance_lock::{InstanceLock, WorkerInfo};
use assay_base::clock::Deadline;
use assay_engine::agent_team::{check_known, locks_folder};
use assay_engine::config::Configuration;
use assay_engine::config::agents::AgentSettings;
use assay_engine::queues;
use assay_store::task::AgentId;

use crate::commands::{print, warn};
use crate::exit::Exit;
use crate::process::environment;

/// The extra wait after the time limit of running tasks: workers report results to the queue, which
/// may be unreachable.
const REPORT_MARGIN: Duration = Duration::from_secs(60);

/// Arguments of `assay agent stop`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The agents, such as `qa`, or single workers, such as `qa-2` [default: all]
    #[arg(value_name = "ID")]
    ids: Vec<AgentId>,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let root = queues::root(&args.folder)?;
    let state = locks_folder(environment(), &root)?;
    match args.ids.is_empty() {
        true => stop_all(&root, &state),
        false => stop_some(&root, &state, &args.ids),
    }
}

fn stop_all(root: &Path, state: &Path) -> anyhow::Result<Exit> {
    let Some(holder) = InstanceLock::supervisor(state) else {
        print("no agents are running\n")?;
        return Ok(Exit::Ready);
    };
    assay_sandbox::terminate(holder.pid);
    if !InstanceLock::wait_until_free(state, stop_timeout(root)) {
        bail!(
            "process {} has not stopped yet; `assay agent status` shows the running agents",
            holder.pid
        );
    }
    print(&format!("stopped {}\n", holder.agents.join(", ")))?;
    Ok(Exit::Ready)
}

/// Returns the time that agents may take to stop. An error in the configuration does not keep the
/// user from stopping them.
fn stop_timeout(root: &Path) -> Duration {
    let task = match Configuration::on_disk(environment(), root) {
        Ok(configuration) => configuration.unwrap_or_default().task,
        Err(error) => {
            warn(&format!("{error:#}"));
            Configuration::default().task
        }
    };
    Duration::from_secs(task.stop_grace) + REPORT_MARGIN
}

fn stop_some(root: &Path, state: &Path, ids: &[AgentId]) -> anyhow::Result<Exit> {
    let here = InstanceLock::workers(state);
    let mut asked: Vec<&WorkerInfo> = Vec::new();
    for id in ids {
        let is_meant = |worker: &&WorkerInfo| worker.name == *id || worker.agent == *id;
        let workers: Vec<&WorkerInfo> = here.iter().filter(is_meant).collect();
        if workers.is_empty() {
            let roster = AgentSettings::on_disk(environment(), root)?.roster;
            check_known(&roster, id)?;
            print(&format!("{id} is not running\n"))?;
        }
        for worker in workers {
            assay_sandbox::terminate(worker.pid);
            asked.push(worker);
        }
    }
    let until = Deadline::after(stop_timeout(root));
    for worker in asked {
        let left = until.left();
        if !InstanceLock::wait_until_gone(state, &worker.name, left) {
            bail!("{} has not stopped yet", worker.name);
        }
        print(&format!("stopped {}\n", worker.name))?;
    }
    Ok(Exit::Ready)
}
