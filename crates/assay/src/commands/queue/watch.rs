//! `assay queue watch`: prints changes of tasks as they happen.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use assay_engine::queues;
use assay_findings::write::escape;
use assay_store::queue::{Queue, TaskFilter, Watch};
use assay_store::task::{QueueName, TaskStatus};
use serde_json::json;

use super::super::print;
use super::queue_name;
use crate::exit::Exit;
use crate::output;
use crate::process;

/// The interval at which the queue is read even without a notification, to find new queues.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Arguments of `assay queue watch`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Print only tasks of this queue
    #[arg(long, value_name = "NAME", value_parser = queue_name)]
    queue: Option<QueueName>,
    /// Print JSON lines
    #[arg(long)]
    json: bool,
}

/// The state of a task at the last poll.
#[derive(PartialEq, Clone)]
struct TaskSnapshot {
    queue: QueueName,
    status: TaskStatus,
    by: Option<String>,
    title: String,
}

pub(super) fn run(queue: &dyn Queue, args: &Args) -> anyhow::Result<Exit> {
    let (wake, woken) = channel();
    let mut watched: Vec<QueueName> = Vec::new();
    let mut before = read_tasks(queue, args)?;
    for (id, snapshot) in &before {
        print_change(args, id, None, Some(snapshot))?;
    }
    while output::is_open() {
        for name in queue_names(queue)? {
            if !watched.contains(&name) {
                let (watch, wake): (Watch, _) = (queue.watch(&name)?, wake.clone());
                watched.push(name);
                // The thread ends with the process, as watching does.
                std::thread::spawn(
                    move || while watch.wait(Duration::MAX) && wake.send(()).is_ok() {},
                );
            }
        }
        match woken.recv_timeout(POLL_INTERVAL) {
            Ok(()) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(Exit::Ready),
        }
        let now = match read_tasks(queue, args) {
            Ok(now) => now,
            Err(error) if queues::is_unreachable(&error) => {
                super::super::warn(&format!("{error:#}; retrying"));
                std::thread::park_timeout(POLL_INTERVAL);
                continue;
            }
            Err(error) => return Err(error),
        };
        for (id, snapshot) in &now {
            if before.get(id) != Some(snapshot) {
                print_change(args, id, before.get(id), Some(snapshot))?;
            }
        }
        for (id, snapshot) in before.iter().filter(|(id, _)| !now.contains_key(*id)) {
            let done = queue.get(&id.parse()?).ok();
            let completed = done.map(|done| TaskSnapshot {
                status: done.task.status,
                by: done.task.completed_by,
                ..snapshot.clone()
            });
            print_change(args, id, Some(snapshot), completed.as_ref())?;
        }
        before = now;
    }
    Ok(Exit::Ready)
}

/// Returns the names of the queues; empty while the queue cannot be reached.
fn queue_names(queue: &dyn Queue) -> anyhow::Result<Vec<QueueName>> {
    match queue.count() {
        Ok(counts) => Ok(counts.into_iter().map(|count| count.queue).collect()),
        Err(error) if error.is_transient() => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Returns the tasks that are not completed, by id.
fn read_tasks(queue: &dyn Queue, args: &Args) -> anyhow::Result<BTreeMap<String, TaskSnapshot>> {
    let filter = TaskFilter { queue: args.queue.clone(), ..TaskFilter::default() };
    let snapshots = queue.list(&filter)?.into_iter().map(|listed| {
        let snapshot = TaskSnapshot {
            queue: listed.queue,
            status: listed.task.status,
            by: listed.task.started_by,
            title: listed.task.title,
        };
        (listed.task.id.to_string(), snapshot)
    });
    Ok(snapshots.collect())
}

fn print_change(
    args: &Args,
    id: &str,
    from: Option<&TaskSnapshot>,
    to: Option<&TaskSnapshot>,
) -> anyhow::Result<()> {
    let Some(snapshot) = to.or(from) else {
        return Ok(());
    };
    let word = |snapshot: Option<&TaskSnapshot>| {
        snapshot.map_or("gone", |snapshot| snapshot.status.as_str())
    };
    let now = process::now();
    if args.json {
        let by = to.and_then(|snapshot| snapshot.by.as_ref());
        return print(&format!(
            "{}\n",
            json!({ "at": now, "queue": snapshot.queue, "task": id, "status": word(to), "by": by })
        ));
    }
    let change = match from {
        Some(from) if to.is_none_or(|to| to.status != from.status) => {
            format!("{} → {}", from.status, word(to))
        }
        _ => word(to).to_owned(),
    };
    let by = to.and_then(|snapshot| snapshot.by.as_ref()).map(|by| format!(" by {by}"));
    let clock = now.0.strftime("%H:%M:%S");
    let title = escape::one_line(&snapshot.title);
    let by = by.unwrap_or_default();
    print(&format!("{clock} [{}] {id}: {change}{by}  {title}\n", snapshot.queue))
}
