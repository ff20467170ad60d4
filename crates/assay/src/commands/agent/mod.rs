//! `assay agent`: starts, stops and shows worker agents.

mod logs;
mod start;
mod status;
mod stop;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_engine::agent_team::named_workers;
use assay_engine::config::agents::AgentSettings;
use assay_engine::queues;
use assay_store::queue::{PauseTarget, Queue};
use assay_store::task::AgentId;
use clap::Subcommand;

use super::print;
use crate::diagnostics::Diagnostics;
use crate::exit::Exit;
use crate::process::environment;

/// Subcommands of `assay agent`.
#[derive(Subcommand)]
pub(crate) enum Agent {
    /// Start agents and restart them if they exit, until Ctrl-C or `assay agent stop`
    Start(start::Args),
    /// Stop agents: running tasks are finished or returned to the queue
    Stop(stop::Args),
    /// Show the agents and their current tasks
    Status(status::Args),
    /// Pause agents: they claim no further tasks, running tasks are finished
    Pause(SelectionArgs),
    /// Resume paused agents
    Resume(SelectionArgs),
    /// Print the logs of agents
    Logs(logs::Args),
    /// Run one worker; started by `assay agent start`
    #[command(hide = true)]
    Work(start::WorkArgs),
}

impl Agent {
    /// Returns true if the command handles signals itself.
    pub(crate) fn handles_signals(&self) -> bool {
        match self {
            Agent::Start(_) | Agent::Work(_) => true,
            Agent::Stop(_)
            | Agent::Status(_)
            | Agent::Pause(_)
            | Agent::Resume(_)
            | Agent::Logs(_) => false,
        }
    }
}

/// Arguments of `assay agent pause` and `assay agent resume`.
#[derive(clap::Args)]
pub(crate) struct SelectionArgs {
    /// The agents, such as `qa`, or single workers, such as `qa-2`
    #[arg(value_name = "ID", required_unless_present = "all")]
    ids: Vec<AgentId>,
    /// Select all agents
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

pub(crate) fn run(agent: &Agent, diagnostics: &Diagnostics) -> anyhow::Result<Exit> {
    match agent {
        Agent::Start(args) => start::run(args, diagnostics),
        Agent::Work(args) => start::work(args, diagnostics),
        Agent::Stop(args) => stop::run(args),
        Agent::Status(args) => status::run(args),
        Agent::Logs(args) => logs::run(args),
        Agent::Pause(whom) => for_each(whom, "paused", |queue, who| Ok(queue.pause(who)?)),
        Agent::Resume(whom) => for_each(whom, "resumed", |queue, who| Ok(queue.resume(who)?)),
    }
}

/// The repository and the settings that every command on agents needs.
struct AgentContext {
    root: PathBuf,
    settings: AgentSettings,
    queue: Arc<dyn Queue>,
}

impl AgentContext {
    fn open(folder: &Path) -> anyhow::Result<AgentContext> {
        let root = queues::root(folder)?;
        let settings = AgentSettings::on_disk(environment(), &root)?;
        let queue = queues::open(&root, &settings)?.into();
        Ok(AgentContext { root, settings, queue })
    }
}

/// Calls a function for each worker that is named, and prints the result.
fn for_each(
    whom: &SelectionArgs,
    done: &str,
    act: impl Fn(&dyn Queue, &PauseTarget) -> anyhow::Result<()>,
) -> anyhow::Result<Exit> {
    let place = AgentContext::open(&whom.folder)?;
    if whom.all {
        act(&*place.queue, &PauseTarget::All)?;
        print(&format!("{done} all agents\n"))?;
        return Ok(Exit::Ready);
    }
    for id in &whom.ids {
        for worker in named_workers(&*place.queue, &place.settings.roster, id)? {
            act(&*place.queue, &PauseTarget::Agent(worker.clone()))?;
            print(&format!("{done} {worker}\n"))?;
        }
    }
    Ok(Exit::Ready)
}
