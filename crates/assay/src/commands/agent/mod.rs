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
use assay_store::queue::{Queue, Who};
use assay_store::task::AgentId;
use clap::Subcommand;

use super::print;
use crate::diagnostics::Diagnostics;
use crate::exit::Exit;
use crate::process::environment;

/// What to do with agents.
#[derive(Subcommand)]
pub(crate) enum Agent {
    /// Starts agents and keeps them going, until Ctrl-C or `assay agent stop`
    Start(start::Args),
    /// Stops agents: running tasks are finished or given back
    Stop(stop::Args),
    /// Shows who works on what
    Status(status::Args),
    /// Keeps agents from taking tasks; what is under way goes on
    Pause(Whom),
    /// Lets agents take tasks again
    Resume(Whom),
    /// Prints what agents tell
    Logs(logs::Args),
    /// Is one agent: `start` runs this
    #[command(hide = true)]
    Work(start::WorkArgs),
}

impl Agent {
    /// Says whether it does something about signals itself.
    pub(crate) fn sees_to_signals(&self) -> bool {
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

/// Whom a pause is for.
#[derive(clap::Args)]
pub(crate) struct Whom {
    /// The agents, such as `qa`, or single workers, such as `qa-2`
    #[arg(value_name = "ID", required_unless_present = "all")]
    ids: Vec<AgentId>,
    /// All of them
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

/// What every command on agents needs.
struct Place {
    root: PathBuf,
    settings: AgentSettings,
    queue: Arc<dyn Queue>,
}

impl Place {
    fn open(folder: &Path) -> anyhow::Result<Place> {
        let root = queues::root(folder)?;
        let settings = AgentSettings::on_disk(environment(), &root)?;
        let queue = queues::open(&root, &settings)?.into();
        Ok(Place { root, settings, queue })
    }
}

/// Does something for each of those who are meant.
fn for_each(
    whom: &Whom,
    done: &str,
    act: impl Fn(&dyn Queue, &Who) -> anyhow::Result<()>,
) -> anyhow::Result<Exit> {
    let place = Place::open(&whom.folder)?;
    if whom.all {
        act(&*place.queue, &Who::All)?;
        print(&format!("{done} all agents\n"))?;
        return Ok(Exit::Ready);
    }
    for id in &whom.ids {
        for worker in named_workers(&*place.queue, &place.settings.roster, id)? {
            act(&*place.queue, &Who::Agent(worker.clone()))?;
            print(&format!("{done} {worker}\n"))?;
        }
    }
    Ok(Exit::Ready)
}
