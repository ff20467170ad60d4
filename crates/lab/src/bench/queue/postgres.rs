//! The queue in PostgreSQL compared with other queues on the same server, which fsyncs before it
//! answers.
//!
//! A whole task is pushed, claimed and completed. Each program has eight workers and its own
//! database, and runs twice: with one job per round trip, then in the fastest way that its manual
//! describes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use anyhow::Context;
use assay_base::clock::Clock;
use assay_store::postgres::PgQueue;
use assay_store::queue::{LeaseKind, Policy, Queue, QueuedTask, TaskResult};
use assay_store::task::{AgentId, Moment, QueueName, Task};
use assay_testenv::postgres::{PrivatePostgres, ServerDurability};
use assay_testenv::workspace::target_folder;
use serde_json::Value;

use crate::bench::{Row, Target};
use crate::peers;
use crate::workspace::output;

const WORKERS: usize = 8;

/// The number of tasks that are pushed to a waiting agent.
const WAKE_UPS: usize = 500;

/// The lowest ratio to the fastest peer that meets the target.
const MIN_RATIO_TO_PEER: f64 = 0.9;

/// The number of tasks per round trip.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Single,
    Batch,
}

impl Mode {
    const ALL: [Mode; 2] = [Mode::Single, Mode::Batch];

    fn name(self) -> &'static str {
        match self {
            Mode::Single => "single",
            Mode::Batch => "batch",
        }
    }

    fn shown(self) -> &'static str {
        match self {
            Mode::Single => "one by one",
            Mode::Batch => "in batches",
        }
    }

    fn size(self) -> usize {
        match self {
            Mode::Single => 1,
            Mode::Batch => 50,
        }
    }

    fn tasks(self) -> usize {
        match self {
            Mode::Single => 5_000,
            Mode::Batch => 20_000,
        }
    }
}

/// The times of a run.
struct RunTimes {
    push: Duration,
    work: Duration,
}

impl RunTimes {
    fn per_second(&self, mode: Mode) -> [f64; 3] {
        let per = |time: Duration| mode.tasks() as f64 / time.as_secs_f64();
        [per(self.push), per(self.work), per(self.push + self.work)]
    }
}

/// Another queue.
struct Peer {
    name: &'static str,
    /// Features of our queue that the peer lacks.
    without: &'static str,
    /// Installs the peer, and returns the command that times it.
    get: fn() -> anyhow::Result<Command>,
}

const PEERS: [Peer; 5] = [
    Peer {
        name: "graphile-worker 0.18",
        without: "no dependencies, no fencing, no record of what was done",
        get: || {
            let folder = peers::npm("graphile-worker", "graphile-worker", peers::GRAPHILE_WORKER)?;
            script("node".into(), &folder, "bench.mjs", include_str!("peers/graphile.mjs"))
        },
    },
    Peer {
        name: "pg-boss 12.5",
        without: "no dependencies, no fencing",
        get: || {
            let folder = peers::npm("pg-boss", "pg-boss", peers::PG_BOSS)?;
            script("node".into(), &folder, "bench.mjs", include_str!("peers/pg-boss.mjs"))
        },
    },
    Peer {
        name: "pgqueuer 1.6",
        without: "no dependencies, no fencing",
        get: || {
            let python = peers::pip_with(peers::PGQUEUER)?;
            let folder = target_folder("peers/pgqueuer")?;
            script(python, &folder, "bench.py", include_str!("peers/pgqueuer.py"))
        },
    },
    Peer {
        name: "procrastinate 3.10",
        without: "no dependencies, no fencing, claims one job at a time",
        get: || {
            let python = peers::pip_with(peers::PROCRASTINATE)?;
            let folder = target_folder("peers/procrastinate")?;
            script(python, &folder, "bench.py", include_str!("peers/procrastinate.py"))
        },
    },
    Peer {
        name: "apalis-postgres 1.0",
        without: "no dependencies, no fencing",
        get: || {
            let (manifest, main) =
                (include_str!("peers/apalis.toml"), include_str!("peers/apalis.rs"));
            Ok(Command::new(peers::cargo("apalis", manifest, main)?))
        },
    },
];

/// Writes a script into the folder of the package that it uses, and returns its command.
fn script(program: PathBuf, folder: &Path, name: &str, text: &str) -> anyhow::Result<Command> {
    let path = folder.join(name);
    std::fs::write(&path, text)?;
    let mut command = Command::new(program);
    command.arg(path).current_dir(folder);
    Ok(command)
}

/// Times all queues one after the other.
pub(crate) fn rows() -> anyhow::Result<Vec<Row>> {
    if assay_testenv::postgres::programs().is_none() {
        let how = assay_testenv::postgres::INSTALL_HINT;
        return Ok(vec![Row::missing("queue in PostgreSQL", how)]);
    }
    let server = PrivatePostgres::start(&target_folder("postgres")?, ServerDurability::Yes)?;
    let mut rows = Vec::new();
    for mode in Mode::ALL {
        let own = measure_assay(&server, mode)?.per_second(mode);
        rows.extend(lines("assay", mode, own));
        let mut fastest: Option<(f64, &str)> = None;
        for peer in &PEERS {
            match measure_peer(&server, peer, mode) {
                Ok(taken) => {
                    let speed = taken.per_second(mode);
                    rows.extend(lines(&format!("{} ({})", peer.name, peer.without), mode, speed));
                    if fastest.is_none_or(|(most, _)| speed[2] > most) {
                        fastest = Some((speed[2], peer.name));
                    }
                }
                Err(error) => rows.push(Row::missing(peer.name, format!("{error:#}"))),
            }
        }
        if let Some((most, name)) = fastest {
            let what = format!("{}: assay beside the fastest other, {name}", mode.shown());
            rows.push(Row::number(what, own[2] / most, "x", Target::AtLeast(MIN_RATIO_TO_PEER)));
        }
    }
    rows.extend(wake(&server)?);
    Ok(rows)
}

fn lines(name: &str, mode: Mode, [push, work, whole]: [f64; 3]) -> Vec<Row> {
    let how = mode.shown();
    vec![
        Row::count(format!("{how}: {name}"), whole, "/s"),
        Row::count(format!("  {how}: pushed"), push, "/s"),
        Row::count(format!("  {how}: claimed and completed"), work, "/s"),
    ]
}

fn queue_name() -> QueueName {
    "qa".parse().expect("it is a name")
}

fn open(url: &str) -> anyhow::Result<PgQueue> {
    PgQueue::migrate(url)?;
    let policy = Policy { max_queue_size: 10_000_000, ..Policy::default() };
    Ok(PgQueue::open(url, policy, &Clock::system())?)
}

fn task(number: usize, created: Moment) -> anyhow::Result<QueuedTask> {
    let id = format!("review-qa-{number:08}").parse()?;
    let task = Task::new(id, "review".parse()?, "Review a pull request", created);
    Ok(QueuedTask { queue: queue_name(), task })
}

/// Times assay's queue.
fn measure_assay(server: &PrivatePostgres, mode: Mode) -> anyhow::Result<RunTimes> {
    let queue = open(&server.database(&format!("assay_{}", mode.name()))?)?;
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    in_parallel(|_| push_all(&queue, mode, &next))?;
    let push = start.elapsed();
    let start = Instant::now();
    in_parallel(|worker| work_off(&queue, mode, worker))?;
    Ok(RunTimes { push, work: start.elapsed() })
}

fn in_parallel(work: impl Fn(usize) -> anyhow::Result<()> + Sync) -> anyhow::Result<()> {
    std::thread::scope(|scope| {
        let work = &work;
        let start = |worker| scope.spawn(move || work(worker));
        let workers: Vec<_> = (0..WORKERS).map(start).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })
}

fn push_all(queue: &PgQueue, mode: Mode, next: &AtomicUsize) -> anyhow::Result<()> {
    let created: Moment = "2026-02-03T10:00:00.000Z".parse()?;
    loop {
        let first = next.fetch_add(mode.size(), Ordering::Relaxed);
        if first >= mode.tasks() {
            return Ok(());
        }
        let tasks = (first..first + mode.size()).map(|number| task(number, created));
        queue.push(tasks.collect::<anyhow::Result<_>>()?)?;
    }
}

fn work_off(queue: &PgQueue, mode: Mode, worker: usize) -> anyhow::Result<()> {
    let agent: AgentId = format!("qa-{worker}").parse()?;
    let lease_kind = LeaseKind::ByTime(Duration::from_secs(600));
    loop {
        let claimed = queue.claim(&queue_name(), &agent, lease_kind, mode.size())?;
        if claimed.is_empty() {
            return Ok(());
        }
        let done = claimed.into_iter().map(|one| (one.lease, completed()));
        for settled in queue.settle_all(done.collect()) {
            settled?;
        }
    }
}

fn completed() -> TaskResult {
    let (context, follow_ups) = Default::default();
    TaskResult::Completed { summary: "approved".to_owned(), context, follow_ups }
}

/// Times a peer in its own process.
fn measure_peer(server: &PrivatePostgres, peer: &Peer, mode: Mode) -> anyhow::Result<RunTimes> {
    let mut command = (peer.get)()?;
    let name: String = peer.name.chars().filter(char::is_ascii_alphabetic).collect();
    let url = server.database(&format!("{name}_{}", mode.name()))?;
    command.arg(url).arg(mode.tasks().to_string()).arg(mode.name());
    let said = output(command)?;
    let said: Value = serde_json::from_str(said.lines().last().unwrap_or_default())
        .with_context(|| format!("it said {said:?}"))?;
    let time = |key: &str| {
        let seconds = said.get(key).and_then(Value::as_f64).context("it tells no time")?;
        anyhow::Ok(Duration::from_secs_f64(seconds))
    };
    Ok(RunTimes { push: time("push")?, work: time("work")? })
}

/// Times the latency from a push until a waiting agent has the task.
fn wake(server: &PrivatePostgres) -> anyhow::Result<Vec<Row>> {
    let url = server.database("assay_wake")?;
    let (waiting, pushing) =
        (open(&url)?, PgQueue::open(&url, Policy::default(), &Clock::system())?);
    let watch = waiting.watch(&queue_name())?;
    let agent: AgentId = "qa-1".parse()?;
    let created: Moment = "2026-02-03T10:00:00.000Z".parse()?;
    let (started, starts) = channel();
    let mut times = Vec::new();
    std::thread::scope(|scope| -> anyhow::Result<()> {
        let waiting = &waiting;
        let worker = scope.spawn(move || -> anyhow::Result<()> {
            let mut done = 0;
            while done < WAKE_UPS {
                let lease_kind = LeaseKind::ByTime(Duration::from_secs(600));
                let claimed = waiting.claim(&queue_name(), &agent, lease_kind, 1)?;
                let Some(one) = claimed.into_iter().next() else {
                    watch.wait(Duration::from_secs(30));
                    continue;
                };
                let start = Instant::now();
                waiting.settle(&one.lease, completed())?;
                done += 1;
                started.send(start)?;
            }
            Ok(())
        });
        for number in 0..WAKE_UPS {
            let start = Instant::now();
            pushing.push(vec![task(number, created)?])?;
            times.push(starts.recv()? - start);
        }
        worker.join().expect("the worker does not panic")
    })?;
    times.sort_unstable();
    let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)];
    Ok(vec![
        Row::time("from push to start, an agent that waits, median", at(50)),
        Row::time("from push to start, an agent that waits, p99", at(99)),
    ])
}
