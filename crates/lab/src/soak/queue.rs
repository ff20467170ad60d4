//! Many processes on one queue: each task is completed once, no matter which worker dies, whatever
//! the clocks show.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use assay_base::clock::Clock;
use assay_store::files::FileQueue;
use assay_store::postgres::PgQueue;
use assay_store::queue::{LeaseKind, Policy, Queue, QueuedTask, TaskFilter, TaskResult};
use assay_store::task::{Moment, Task, TaskStatus};
use assay_testenv::postgres::{PrivatePostgres, ServerDurability, in_schema};
use assay_testenv::workspace::{answers, target_folder};

use crate::random::Random;

/// The number of concurrent worker processes.
const WORKERS: usize = 16;

/// The number of tasks, including follow-up tasks.
const TASKS: usize = 10_000;

/// The number of kills.
const KILLS: usize = 1_000;

/// The number of initial tasks while workers are killed.
const TASKS_UNDER_KILLS: usize = 4_000;

/// The number of restarts of the server while workers run.
const RESTARTS: usize = 10;

/// The queue of the first tasks, and the queue of their follow-up tasks.
const QUEUES: [&str; 2] = ["qa", "engineer"];

/// The length of a lease without renewal: longer than any test.
const LEASE: Duration = Duration::from_secs(3_600);

/// The place of a queue, and the log of its workers.
struct QueueLocation {
    /// A folder, or the address of a database.
    queue: String,
    /// The file to which each worker appends the ids of completed tasks.
    log: String,
}

/// Runs the suite on all stores.
pub(super) fn run(seed: u64) -> anyhow::Result<Vec<(String, bool)>> {
    println!("=== queue, seed {seed}");
    let mut outcomes = Vec::new();
    let mut part = |name: &str, result: anyhow::Result<String>| {
        match &result {
            Ok(told) => println!("{name}: {told}"),
            Err(error) => println!("{name}: {error:#}"),
        }
        outcomes.push((name.to_owned(), result.is_ok()));
    };
    part("files: sixteen processes", sixteen(&on_files("sixteen")?, &[]));
    part("files: a thousand kills", kills(&on_files("kills")?, seed));
    part("files: clocks an hour apart", clocks(&on_files("clocks")?));
    let below = target_folder("soak/postgres")?;
    let mut server = match PrivatePostgres::start(&below, ServerDurability::Yes) {
        Ok(server) => server,
        Err(error) => {
            part("PostgreSQL", Err(error.into()));
            return Ok(outcomes);
        }
    };
    part("PostgreSQL: sixteen processes", sixteen(&in_postgres(&server, "sixteen")?, &[]));
    part("PostgreSQL: a thousand kills", kills(&in_postgres(&server, "kills")?, seed));
    part("PostgreSQL: clocks an hour apart", clocks(&in_postgres(&server, "clocks")?));
    let place = in_postgres(&server, "restarts")?;
    part("PostgreSQL: restarts under load", restarts(&place, &mut server));
    Ok(outcomes)
}

fn on_files(name: &str) -> anyhow::Result<QueueLocation> {
    let folder = target_folder("soak")?.join(format!("queue-{name}"));
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let inside = |name: &str| folder.join(name).display().to_string();
    fs::create_dir_all(folder.join("queue"))?;
    Ok(QueueLocation { queue: inside("queue"), log: inside("completed.log") })
}

fn in_postgres(server: &PrivatePostgres, name: &str) -> anyhow::Result<QueueLocation> {
    let log = on_files(&format!("postgres-{name}"))?.log;
    let queue = in_schema(&server.url(), &format!("soak_{name}"));
    PgQueue::migrate(&queue)?;
    Ok(QueueLocation { queue, log })
}

fn open(place: &str) -> anyhow::Result<Box<dyn Queue>> {
    // A task may lose many workers here, and must not be given up.
    let (max_queue_size, max_retries) = (usize::MAX, u32::MAX);
    let policy = Policy { max_queue_size, max_retries, ..Policy::default() };
    if place.starts_with("postgres://") {
        return Ok(Box::new(PgQueue::open(place, policy, &Clock::system())?));
    }
    Ok(Box::new(FileQueue::open(Path::new(place), policy, &Clock::system())?))
}

/// Runs many processes, and checks that each task is completed once.
fn sixteen(place: &QueueLocation, before: &[&[&str]]) -> anyhow::Result<String> {
    fill(place, TASKS)?;
    let mut workers = Vec::new();
    for number in 0..WORKERS {
        let wrapper = if before.is_empty() { &[][..] } else { before[number % before.len()] };
        workers.push(worker(place, number, wrapper)?);
    }
    for mut worker in workers {
        ensure!(worker.wait()?.success(), "a worker failed");
    }
    let done = check(place, TASKS)?;
    Ok(format!("{done} tasks by {WORKERS} processes, each once"))
}

/// Runs the same check with clocks that are an hour ahead or behind.
fn clocks(place: &QueueLocation) -> anyhow::Result<String> {
    if !answers("faketime", &["--version"]) {
        bail!("`faketime` is missing: apt-get install faketime");
    }
    let ahead: &[&str] = &["faketime", "-f", "+1h"];
    let behind: &[&str] = &["faketime", "-f", "-1h"];
    sixteen(place, &[&[], ahead, behind])
}

/// Kills workers at any time, while others continue.
fn kills(place: &QueueLocation, seed: u64) -> anyhow::Result<String> {
    let mut random = Random::new(seed);
    fill(place, TASKS_UNDER_KILLS)?;
    let mut workers: Vec<Child> =
        (0..4).map(|number| worker(place, number, &[])).collect::<anyhow::Result<_>>()?;
    let (mut killed, mut tasks) = (0, TASKS_UNDER_KILLS);
    while killed < KILLS {
        let number = random.below(workers.len());
        // The machine decides at which point of its work the worker is killed.
        std::thread::sleep(Duration::from_millis(random.below(30) as u64));
        if workers[number].try_wait()?.is_some_and(|status| status.success()) {
            // All tasks are completed, so more are added.
            tasks += fill_more(place, tasks)?;
        } else {
            workers[number].kill()?;
            workers[number].wait()?;
            killed += 1;
        }
        workers[number] = worker(place, number, &[])?;
    }
    for mut worker in workers {
        ensure!(worker.wait()?.success(), "a worker failed");
    }
    let mut last = worker(place, 99, &[])?;
    ensure!(last.wait()?.success(), "the last worker failed");
    let done = check(place, tasks)?;
    Ok(format!("{done} tasks, {killed} workers killed, nothing lost, nothing twice"))
}

/// Kills and restarts the server repeatedly, while the workers continue.
fn restarts(place: &QueueLocation, server: &mut PrivatePostgres) -> anyhow::Result<String> {
    fill(place, TASKS)?;
    let mut workers: Vec<Child> =
        (0..WORKERS).map(|number| worker(place, number, &[])).collect::<anyhow::Result<_>>()?;
    for number in 0..RESTARTS {
        std::thread::sleep(Duration::from_millis(700));
        if number % 2 == 0 { server.kill() } else { server.stop() }?;
        std::thread::sleep(Duration::from_millis(300));
        server.resume()?;
    }
    for worker in &mut workers {
        ensure!(worker.wait()?.success(), "a worker failed");
    }
    let done = check(place, TASKS)?;
    Ok(format!("{done} tasks, {RESTARTS} restarts of the server, nothing lost, nothing twice"))
}

fn fill(place: &QueueLocation, tasks: usize) -> anyhow::Result<()> {
    let queue = open(&place.queue)?;
    let numbers: Vec<usize> = (0..tasks / 2).collect();
    for some in numbers.chunks(500) {
        queue.push(some.iter().map(|number| first(&format!("t{number}"))).collect())?;
    }
    Ok(())
}

fn fill_more(place: &QueueLocation, so_far: usize) -> anyhow::Result<usize> {
    let new: Vec<QueuedTask> = (0..50).map(|n| first(&format!("m{so_far}-{n}"))).collect();
    let with_next = new.len() * 2;
    open(&place.queue)?.push(new)?;
    Ok(with_next)
}

fn first(id: &str) -> QueuedTask {
    task(id, QUEUES[0])
}

fn task(id: &str, queue: &str) -> QueuedTask {
    let name = id.parse().expect("it is a name");
    let kind = "review".parse().expect("it is a name");
    let task = Task::new(name, kind, format!("Task {id}"), Moment::now(&Clock::system()));
    QueuedTask { queue: queue.parse().expect("it is a name"), task }
}

/// Starts a worker, optionally under another command, such as for another clock.
fn worker(place: &QueueLocation, number: usize, before: &[&str]) -> anyhow::Result<Child> {
    let own = std::env::current_exe()?;
    let mut command = match before.split_first() {
        Some((program, args)) => {
            let mut command = Command::new(program);
            command.args(args).arg(own).env("DONT_FAKE_MONOTONIC", "1");
            command
        }
        None => Command::new(own),
    };
    command
        .args(["queue-worker", &place.queue, &format!("worker-{number}"), &place.log])
        .stdin(Stdio::null())
        .spawn()
        .context("could not start a worker")
}

/// Completes tasks until none is left, and logs their ids.
pub(crate) fn work(place: &str, agent: &str, log: &Path) -> anyhow::Result<bool> {
    let queue = open(place)?;
    let agent = agent.parse()?;
    let _presence = queue.join(&agent)?;
    let mut log = OpenOptions::new().create(true).append(true).open(log)?;
    loop {
        let mut idle = true;
        for name in QUEUES {
            let lease_kind = LeaseKind::WhileAlive(LEASE);
            let Some(claimed) = queue.claim(&name.parse()?, &agent, lease_kind, 1)?.pop() else {
                continue;
            };
            idle = false;
            let id = claimed.lease.task.clone();
            let follow_ups = match name {
                "qa" => vec![task(&format!("{id}-next"), QUEUES[1])],
                _ => Vec::new(),
            };
            let (summary, context) = ("done".to_owned(), serde_json::Map::new());
            let done = TaskResult::Completed { summary, context, follow_ups };
            match queue.settle(&claimed.lease, done) {
                // A single write, so that writes of other processes do not interleave.
                Ok(_) => log.write_all(format!("{id}\n").as_bytes())?,
                Err(error) => bail!("{agent} could not complete `{id}`: {error}"),
            }
        }
        if idle {
            return Ok(true);
        }
    }
}

/// Checks that all tasks are completed, none was completed twice, and no task is left.
fn check(place: &QueueLocation, tasks: usize) -> anyhow::Result<usize> {
    let queue = open(&place.queue)?;
    let left = queue.list(&TaskFilter::default())?;
    ensure!(left.is_empty(), "{} tasks are left, such as `{}`", left.len(), left[0].task.id);
    let filter = TaskFilter { statuses: vec![TaskStatus::Completed], ..TaskFilter::default() };
    let done = queue.list(&filter)?;
    ensure!(done.len() == tasks, "{} tasks are completed, not {tasks}", done.len());
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for id in fs::read_to_string(&place.log)?.lines() {
        *times.entry(id.to_owned()).or_default() += 1;
    }
    let twice: Vec<&String> = times.iter().filter(|(_, n)| **n > 1).map(|(id, _)| id).collect();
    ensure!(twice.is_empty(), "completed more than once: {twice:?}");
    Ok(done.len())
}
