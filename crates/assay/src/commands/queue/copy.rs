//! `assay queue migrate|copy`: updates and copies the stores of the queue.

use anyhow::bail;
use assay_agents::config::framework::policy;
use assay_engine::config::agents::AgentSettings;
use assay_engine::queues;
use assay_engine::wording::count;
use assay_store::postgres::PgQueue;
use assay_store::queue::{QueuedTask, TaskFilter};
use assay_store::task::TaskStatus;

use super::super::print;
use crate::exit::Exit;
use crate::process::environment;

/// The number of tasks per batch.
const BATCH_SIZE: usize = 500;

/// Arguments of `assay queue copy`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The source: a folder with `queues/`, or the address of a database
    from: String,
    /// The target: a folder, or the address of a database
    to: String,
}

pub(super) fn migrate(settings: &AgentSettings) -> anyhow::Result<Exit> {
    let told =
        match settings.configuration.queue.url.as_deref().map(PgQueue::migrate).transpose()? {
            None => format!("nothing to migrate: the queue is in files below `{}`", queues::FOLDER),
            Some(0) => "the tables are up to date".to_owned(),
            Some(steps) => format!("migrated the tables: {}", count(steps, "step")),
        };
    print(&(told + "\n"))?;
    Ok(Exit::Ready)
}

pub(super) fn run(settings: &AgentSettings, args: &Args) -> anyhow::Result<Exit> {
    let of = &settings.configuration;
    let policy = policy(&of.task, &of.safeguards, &of.workflow);
    let from = queues::open_at(environment(), &args.from, policy.clone())?;
    let to = queues::open_at(environment(), &args.to, policy)?;
    let filter = TaskFilter { statuses: TaskStatus::ALL.to_vec(), ..TaskFilter::default() };
    let tasks = from.list(&filter)?;
    let running =
        tasks.iter().filter(|listed| listed.task.status == TaskStatus::InProgress).count();
    if running > 0 {
        let running = count(running, "task");
        bail!("{running} in progress; stop the agents first, so that no task runs twice");
    }
    let all = tasks.len();
    let tasks: Vec<QueuedTask> = tasks
        .into_iter()
        .map(|listed| QueuedTask { queue: listed.queue, task: listed.task })
        .collect();
    let mut new = 0;
    for some in tasks.chunks(BATCH_SIZE) {
        new += to.restore(some.to_vec())?;
    }
    let (there, new) = (all - new, count(new, "task"));
    print(&format!("{new} copied, {there} already present; the source is unchanged\n"))?;
    Ok(Exit::Ready)
}
