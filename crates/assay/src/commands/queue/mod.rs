//! `assay queue`: tasks for agents, and single steps with them for scripts.

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
use assay_store::task::{AgentId, QueueName, Status, TaskId};
use clap::Subcommand;

use crate::exit::Exit;
use crate::process::environment;

/// How long a database that cannot be reached is waited for: as long as a restart takes.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// Delays between attempts to reach the database.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(2));

/// What to do with tasks.
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
    /// Puts a task in a queue
    Push(push::Args),
    /// Lists tasks in the order in which they would be claimed
    List(view::ListArgs),
    /// Shows a task
    Show(view::ShowArgs),
    /// Tells what becomes of tasks, as it happens
    Watch(watch::Args),
    /// Counts the tasks of every queue
    Stats(view::StatsArgs),
    /// Calls off tasks that wait or run
    Cancel(Named),
    /// Lets failed or cancelled tasks wait again
    Retry(Named),
    /// Removes tasks that were completed, given up or cancelled long ago
    Prune(PruneArgs),
    /// Brings the tables of the queue's database up to date
    Migrate,
    /// Copies all tasks from one store to another
    Copy(copy::Args),
    /// Claims the tasks whose turn it is, for scripts
    Claim(steps::ClaimArgs),
    /// Holds a claimed task for longer, for scripts
    Renew(steps::RenewArgs),
    /// Completes claimed tasks, for scripts
    Complete(steps::CompleteArgs),
    /// Says that a claimed task failed, for scripts
    Fail(steps::FailArgs),
}

/// Which tasks are removed.
#[derive(clap::Args)]
struct PruneArgs {
    /// Those that were over so long ago, such as 30d; what a task that is not completed depends on stays
    #[arg(long, value_name = "TIME")]
    older: Interval,
}

/// Tasks by their names.
#[derive(clap::Args)]
struct Named {
    /// The tasks
    #[arg(value_name = "ID", required = true)]
    ids: Vec<TaskId>,
}

pub(crate) fn run(args: Args) -> anyhow::Result<Exit> {
    let root = queues::root(&args.folder)?;
    let settings = AgentSettings::on_disk(environment(), &root)?;
    let open = || wait_for(|| queues::open(&root, &settings));
    let open_to_read = || wait_for(|| queues::open_to_read(&root, &settings));
    let no_tasks = || queues::no_tasks(&root, &settings);
    match args.command {
        Command::Push(args) => push::run(&*open()?, &settings, &super::user_name(&root), args),
        Command::List(args) => view::list(&*open_to_read()?, &args, no_tasks),
        Command::Show(args) => view::show(&*open_to_read()?, &args),
        Command::Watch(args) => watch::run(&*open()?, &args),
        Command::Stats(args) => view::stats(&*open_to_read()?, &args, no_tasks),
        Command::Cancel(named) => {
            let by = super::user_name(&root);
            each(&*open()?, &named, "cancelled", |queue, id| queue.cancel(id, &by))
        }
        Command::Retry(named) => {
            each(&*open()?, &named, "waiting again", |queue, id| queue.retry(id))
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

/// Opens a queue, and waits for one whose database cannot be reached as long as a restart takes.
fn wait_for(open: impl Fn() -> anyhow::Result<Box<dyn Queue>>) -> anyhow::Result<Box<dyn Queue>> {
    // A signal ends the process while it waits.
    let never = Shutdown::default();
    let since = Stopwatch::start();
    let mut retries = 0;
    loop {
        let delay = BACKOFF.delay(retries);
        match open() {
            Err(error) if queues::is_away(&error) && since.elapsed() + delay < MAX_WAIT => {
                if retries == 0 {
                    let seconds = MAX_WAIT.as_secs();
                    super::warn(&format!("{error:#}; waiting for it, up to {seconds} s"));
                }
                never.wait(delay);
                retries += 1;
            }
            opened => return opened,
        }
    }
}

/// Does the same with several tasks. One that refuses does not keep the others from it.
fn each(
    queue: &dyn Queue,
    named: &Named,
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

fn status(text: &str) -> Result<Status, String> {
    text.parse().map_err(|error: assay_store::task::TaskError| error.to_string())
}
