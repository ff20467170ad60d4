//! An idle agent: its cost, and its latency until it starts a task.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use assay_base::clock::Clock;
use assay_store::files::FileQueue;
use assay_store::queue::{Policy, Queue, QueuedTask};
use assay_store::task::{Moment, Task};
use assay_testenv::workspace::target_folder;
use serde_json::Value;

use crate::bench::{Row, Target, middle};
use crate::repository::Repository;
use crate::workspace::assay;

/// The time for which an idle agent is observed.
const OBSERVATION_TIME: Duration = Duration::from_secs(10);

/// The time between the heartbeat that reports the agent as idle and the actual idleness.
const SETTLE_TIME: Duration = Duration::from_secs(1);

/// The number of tasks that are pushed to the agent.
const PUSHED_TASKS: usize = 15;

/// The number of times that an agent is started.
const STARTS: usize = 7;

/// The time limit of any wait.
const WAIT_TIMEOUT: Duration = Duration::from_secs(20);

pub(in crate::bench) fn rows() -> anyhow::Result<Vec<Row>> {
    let folder = target_folder("bench/queue/idle")?;
    let repository = Repository::new(folder.join("repository"))?;
    repository.write("a.txt", b"a\n")?;
    repository.commit("before")?;
    let root = repository.folder().to_owned();
    let binary = assay()?;
    let starts: Vec<Duration> =
        (0..STARTS).map(|_| start_once(&binary, &root)).collect::<anyhow::Result<_>>()?;
    let agent = RunningAgent::start(&binary, &root)?;
    let pick_ups: Vec<Duration> =
        (0..PUSHED_TASKS).map(|number| pick_up(&root, number)).collect::<anyhow::Result<_>>()?;
    wait_until(|| Ok(state(&root)?.as_deref() == Some("idle")))?;
    // The worker reports that it is idle just before it waits.
    std::thread::sleep(SETTLE_TIME);
    let (before, begun) = (wake_ups(agent.worker)?, Instant::now());
    std::thread::sleep(OBSERVATION_TIME);
    let woken = (wake_ups(agent.worker)? - before) as f64 / begun.elapsed().as_secs_f64();
    let memory = private_memory(agent.worker)?;
    Ok(vec![
        Row::number("an idle agent: private memory", memory, " MiB", Target::AtMost(12.0)),
        Row::number("an idle agent: wake-ups a second", woken, "", Target::AtMost(0.1)),
        Row::number("an agent: started in", millis(middle(starts)), " ms", Target::AtMost(50.0)),
        Row::number(
            "an agent: from push to begun",
            millis(middle(pick_ups)),
            " ms",
            Target::AtMost(20.0),
        ),
    ])
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A supervisor with one worker, which end when the value is dropped.
struct RunningAgent {
    supervisor: Child,
    worker: u32,
}

impl RunningAgent {
    fn start(binary: &Path, root: &Path) -> anyhow::Result<RunningAgent> {
        let _ = fs::remove_file(heartbeat(root));
        let supervisor = Command::new(binary)
            .args(["agent", "start", "qa"])
            .current_dir(root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        wait_until(|| Ok(state(root)?.as_deref() == Some("idle")))?;
        let told: Value = serde_json::from_slice(&fs::read(heartbeat(root))?)?;
        let worker = told["pid"].as_u64().context("a heartbeat names a process")?;
        Ok(RunningAgent { supervisor, worker: u32::try_from(worker)? })
    }
}

impl Drop for RunningAgent {
    fn drop(&mut self) {
        let id = self.supervisor.id().to_string();
        let _ = Command::new("kill").arg(id).status();
        let _ = self.supervisor.wait();
    }
}

/// Starts a worker alone, and returns the time until it waits for tasks.
fn start_once(binary: &Path, root: &Path) -> anyhow::Result<Duration> {
    let _ = fs::remove_file(heartbeat(root));
    let begun = Instant::now();
    let mut worker = Command::new(binary)
        .args(["agent", "work", "qa", "--name", "qa", "-C"])
        .arg(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    wait_until(|| Ok(heartbeat(root).is_file()))?;
    let took = begun.elapsed();
    // The worker ends when its stdin is closed.
    drop(worker.stdin.take());
    worker.wait()?;
    Ok(took)
}

/// Pushes a task to the idle agent, and returns the time until it starts.
fn pick_up(root: &Path, number: usize) -> anyhow::Result<Duration> {
    wait_until(|| Ok(state(root)?.as_deref() == Some("idle")))?;
    let queue =
        FileQueue::open(&root.join(".agent-communication"), Policy::default(), &Clock::system())?;
    let id = format!("task-{number}-{}", Moment::now(&Clock::system()).0.as_millisecond());
    let mut task =
        Task::new(id.parse()?, "review".parse()?, "Review a commit", Moment::now(&Clock::system()));
    task.context.insert("commit".to_owned(), Value::from("HEAD"));
    let lock = root.join(format!(".agent-communication/locks/{id}.lock"));
    let completed = root.join(format!(".agent-communication/completed/qa/{id}.json"));
    queue.push(vec![QueuedTask { queue: "qa".parse()?, task }])?;
    let begun = Instant::now();
    wait_until(|| Ok(lock.exists() || completed.exists()))?;
    let took = begun.elapsed();
    wait_until(|| Ok(completed.exists()))?;
    Ok(took)
}

fn heartbeat(root: &Path) -> PathBuf {
    root.join(".agent-communication/heartbeats/qa.json")
}

/// Returns the state in the heartbeat of the agent; `None` if there is no heartbeat.
fn state(root: &Path) -> anyhow::Result<Option<String>> {
    let Ok(bytes) = fs::read(heartbeat(root)) else {
        return Ok(None);
    };
    let told: Value = serde_json::from_slice(&bytes)?;
    Ok(told["state"].as_str().map(str::to_owned))
}

fn wait_until(mut is_so: impl FnMut() -> anyhow::Result<bool>) -> anyhow::Result<()> {
    let begun = Instant::now();
    while !is_so()? {
        if begun.elapsed() > WAIT_TIMEOUT {
            bail!("the agent did not do what was waited for");
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(())
}

/// Returns the number of wake-ups of the threads of a process.
fn wake_ups(process: u32) -> anyhow::Result<u64> {
    let mut sum = 0;
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        let status = fs::read_to_string(thread?.path().join("status"))?;
        sum += field(&status, "voluntary_ctxt_switches:")?;
    }
    Ok(sum)
}

/// Returns the private memory of a process, in MiB. Pages of its program file are not counted: the
/// kernel shares them between processes, and drops them when memory is short.
fn private_memory(process: u32) -> anyhow::Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    Ok(field(&status, "RssAnon:")? as f64 / 1024.0)
}

fn field(status: &str, name: &str) -> anyhow::Result<u64> {
    let line = status.lines().find(|line| line.starts_with(name)).context("a status has it")?;
    let number = line[name.len()..].split_whitespace().next().context("it has a value")?;
    ensure!(!number.is_empty(), "it has a value");
    Ok(number.parse()?)
}
