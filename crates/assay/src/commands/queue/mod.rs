//! `assay queue`: manages tasks for agents, with single steps for scripts.

mod copy;
mod push;
mod steps;
mod view;
mod watch;

use std::path::PathBuf;
use std::time::Duration;

use assay_base::backoff::Backoff;
use assay_base::clock::Stopwatch;
use assay_base::shutdown::Shutdown;
use assay_engine::config::agents::AgentSettings;
use assay_engine::queues;
use assay_engine::wording::count;
use assay_store::interval::Interval;
use assay_store::queue::Queue;
use assay_store::task::{AgentId, QueueName, TaskId, TaskStatus};
use clap::Subcommand;

use crate::exit::Exit;
use crate::process::environment;

/// The longest wait for a database that cannot be reached, which covers a restart.
const MAX_OPEN_WAIT: Duration = Duration::from_secs(20);

/// The back-off between attempts to reach the database.
const OPEN_BACKOFF: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(2));

/// Arguments of `assay queue`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".", global = true)]
    folder: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Add a task to a queue
    Push(push::Args),
    /// List tasks in the order in which they would be claimed
    List(view::ListArgs),
    /// Show a task
    Show(view::ShowArgs),
    /// Print changes of tasks as they happen
    Watch(watch::Args),
    /// Count the tasks of every queue
    Stats(view::StatsArgs),
    /// Cancel tasks that wait or run
    Cancel(TaskIds),
    /// Queue failed or cancelled tasks again
    Retry(TaskIds),
    /// Remove tasks that were completed, failed or cancelled long ago
    Prune(PruneArgs),
    /// Update the tables of the queue's database
    Migrate,
    /// Copy all tasks from one store to another
    Copy(copy::Args),
    /// Claim the next tasks, for scripts
    Claim(steps::ClaimArgs),
    /// Renew the lease of a claimed task, for scripts
    Renew(steps::RenewArgs),
    /// Complete claimed tasks, for scripts
    Complete(steps::CompleteArgs),
    /// Mark a claimed task as failed, for scripts
    Fail(steps::FailArgs),
}

/// Arguments of `assay queue prune`.
#[derive(clap::Args)]
struct PruneArgs {
    /// Remove tasks that ended at least this long ago, such as 30d; dependencies of tasks that are
    /// not completed stay
    #[arg(long, value_name = "TIME")]
    older: Interval,
}

/// Arguments with the ids of tasks.
#[derive(clap::Args)]
struct TaskIds {
    /// The ids of the tasks
    #[arg(value_name = "ID", required = true)]
    ids: Vec<TaskId>,
}

pub(crate) fn run(args: Args) -> anyhow::Result<Exit> {
    let root = queues::root(&args.folder)?;
    let settings = AgentSettings::on_disk(environment(), &root)?;
    let open = || open_waiting(|| queues::open(&root, &settings));
    let open_to_read = || open_waiting(|| queues::open_to_read(&root, &settings));
    let stray_entries = || queues::find_stray_entries(&root, &settings);
    match args.command {
        Command::Push(args) => push::run(&*open()?, &settings, &super::user_name(&root), args),
        Command::List(args) => view::list(&*open_to_read()?, &args, stray_entries),
        Command::Show(args) => view::show(&*open_to_read()?, &args),
        Command::Watch(args) => watch::run(&*open()?, &args),
        Command::Stats(args) => view::stats(&*open_to_read()?, &args, stray_entries),
        Command::Cancel(named) => {
            let by = super::user_name(&root);
            apply_to_each(&*open()?, &named, "cancelled", |queue, id| queue.cancel(id, &by))
        }
        Command::Retry(named) => {
            apply_to_each(&*open()?, &named, "queued again", |queue, id| queue.retry(id))
        }
        Command::Prune(args) => {
            let removed = open_to_read()?.prune(args.older.duration())?;
            super::print(&format!("{} removed\n", count(removed, "task")))?;
            Ok(Exit::Ready)
        }
        Command::Migrate => copy::migrate(&settings),
        Command::Copy(args) => copy::run(&settings, &args),
        Command::Claim(args) => steps::claim(&*open()?, &args),
        Command::Renew(args) => steps::renew(&*open()?, &args),
        Command::Complete(args) => steps::complete(&*open()?, args),
        Command::Fail(args) => steps::fail(&*open()?, args),
    }
}

/// Opens a queue, and waits up to `MAX_OPEN_WAIT` for a database that cannot be reached.
fn open_waiting(
    open: impl Fn() -> anyhow::Result<Box<dyn Queue>>,
) -> anyhow::Result<Box<dyn Queue>> {
    // A signal ends the process during the wait.
    let never = Shutdown::default();
    let since = Stopwatch::start();
    let mut retries = 0;
    loop {
        let delay = OPEN_BACKOFF.delay(retries);
        match open() {
            Err(error)
                if queues::is_unreachable(&error) && since.elapsed() + delay < MAX_OPEN_WAIT =>
            {
                if retries == 0 {
                    let seconds = MAX_OPEN_WAIT.as_secs();
                    super::warn(&format!("{error:#}; retrying for up to {seconds} s"));
                }
                never.wait(delay);
                retries += 1;
            }
            opened => return opened,
        }
    }
}

/// Applies an operation to several tasks. An error of one task does not stop the others.
fn apply_to_each(
    queue: &dyn Queue,
    named: &TaskIds,
    done: &str,
    what: impl Fn(&dyn Queue, &TaskId) -> Result<(), assay_store::queue::QueueError>,
) -> anyhow::Result<Exit> {
    let mut exit = Exit::Ready;
    for id in &named.ids {
        match what(queue, id) {
            Ok(()) => super::print(&format!("{id}: {done}\n"))?,
            Err(error) if named.ids.len() == 1 => return Err(error.into()),
            Err(error) => {
                super::warn(&error.to_string());
                exit = Exit::Usage;
            }
        }
    }
    Ok(exit)
}

fn queue_name(text: &str) -> Result<QueueName, String> {
    text.parse().map_err(|error: assay_store::task::TaskError| error.to_string())
}

fn agent_id(text: &str) -> Result<AgentId, String> {
    text.parse().map_err(|error: assay_store::task::TaskError| error.to_string())
}

fn status(text: &str) -> Result<TaskStatus, String> {
    text.parse().map_err(|error: assay_store::task::TaskError| error.to_string())
}
