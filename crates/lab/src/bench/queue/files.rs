//! The queue on files compared with its disk: the time to push, claim and complete with few and
//! with many tasks, and the number of fsyncs.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use assay_base::clock::Clock;
use assay_store::files::FileQueue;
use assay_store::queue::{Lease, LeaseKind, Policy, Queue, QueuedTask, TaskResult};
use assay_store::task::{Moment, Task};
use assay_testenv::workspace::{answers, target_folder};

use crate::bench::{Row, Target, middle, timed};

/// The numbers of waiting tasks.
const SIZES: [usize; 3] = [100, 10_000, 100_000];

/// The number of measurements of each step at each size.
const MEASUREMENTS: usize = 200;

/// The number of tasks in the count of fsyncs.
const COUNTED_TASKS: usize = 100;

/// The number of fsyncs that are needed to push, claim and complete a task: each time for the file
/// and for its folder.
const REQUIRED_FSYNCS: f64 = 6.0;

const LEASE: LeaseKind = LeaseKind::ByTime(Duration::from_secs(3_600));

/// The times of the steps at one size.
struct StepTimes {
    push: Duration,
    claim: Duration,
    complete: Duration,
    /// The time of the disk alone: create, fsync, rename, fsync the folder.
    disk: Duration,
}

pub(in crate::bench) fn rows() -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut with_few = None;
    for size in SIZES {
        let StepTimes { push, claim, complete, disk } = measure(size)?;
        rows.push(Row::time(format!("files, {size} queued: the disk by itself"), disk));
        for (step, time) in [("push", push), ("claim", claim), ("complete", complete)] {
            let what = format!("files, {size} queued: {step}, beside the disk");
            rows.push(Row::ratio(what, ratio(time, disk)));
        }
        // Each time is compared with the disk in the same run.
        let claim = ratio(claim, disk);
        let few = *with_few.get_or_insert(claim);
        if size > SIZES[0] {
            let what = format!("files: a claim at {size} beside one at {}", SIZES[0]);
            rows.push(Row::number(what, claim / few, "x", Target::AtMost(1.5)));
        }
    }
    rows.push(syncs());
    Ok(rows)
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

fn measure(size: usize) -> anyhow::Result<StepTimes> {
    let folder = fresh(&format!("bench/queue/files-{size}"))?;
    drop_in(&folder, size)?;
    let policy = Policy { max_queue_size: usize::MAX, ..Policy::default() };
    let queue = FileQueue::open(&folder, policy, &Clock::system())?;
    let (qa, agent) = ("qa".parse()?, "bench".parse()?);
    // The first claim imports all tasks.
    ensure!(queue.claim(&qa, &agent, LEASE, 1)?.len() == 1, "nothing was dropped in");
    let (mut push, mut claim, mut complete, mut disk) = (vec![], vec![], vec![], vec![]);
    for number in 0..MEASUREMENTS {
        disk.push(timed(&mut || write_synced(&folder.join("by-itself"), number)));
        push.push(timed(&mut || queue.push(vec![task(&format!("new-{number}"))])));
        let mut lease: Option<Lease> = None;
        claim.push(timed(&mut || {
            let claimed = queue.claim(&qa, &agent, LEASE, 1);
            lease = claimed.ok().and_then(|mut claimed| Some(claimed.pop()?.lease));
        }));
        let lease = lease.context("nothing was claimed")?;
        let mut settled = None;
        complete.push(timed(&mut || settled = Some(queue.settle(&lease, done()))));
        settled.context("it was settled")??;
    }
    fs::remove_dir_all(&folder)?;
    let (push, claim) = (middle(push), middle(claim));
    Ok(StepTimes { push, claim, complete: middle(complete), disk: middle(disk) })
}

fn fresh(name: &str) -> anyhow::Result<PathBuf> {
    let folder = target_folder(name)?;
    fs::remove_dir_all(&folder)?;
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Writes task files as a person does, which is faster than pushing.
fn drop_in(folder: &Path, size: usize) -> anyhow::Result<()> {
    let queue = folder.join("queues/qa");
    fs::create_dir_all(&queue)?;
    for number in 0..size {
        let name = format!("old-{number}");
        fs::write(queue.join(format!("{name}.json")), task(&name).task.to_json())?;
    }
    Ok(())
}

fn task(id: &str) -> QueuedTask {
    let id = id.parse().expect("it is a name");
    let kind = "review".parse().expect("it is a name");
    let now: Moment = Moment::now(&Clock::system());
    let task = Task::new(id, kind, "Review a change", now);
    QueuedTask { queue: "qa".parse().expect("it is a name"), task }
}

fn done() -> TaskResult {
    let (summary, context) = ("done".to_owned(), serde_json::Map::new());
    TaskResult::Completed { summary, context, follow_ups: Vec::new() }
}

/// Writes a file completely and fsyncs it, without anything else.
fn write_synced(path: &Path, number: usize) -> std::io::Result<()> {
    let draft = path.with_extension("tmp");
    let mut file = File::create(&draft)?;
    file.write_all(task(&format!("by-itself-{number}")).task.to_json().as_bytes())?;
    file.sync_data()?;
    fs::rename(&draft, path)?;
    File::open(path.parent().unwrap_or(path))?.sync_all()
}

/// Counts the fsyncs of a whole task.
fn syncs() -> Row {
    let what = "files: waits for the disk in a whole task, beside those needed";
    match count_syncs() {
        Ok(per_task) => Row::number(what, per_task / REQUIRED_FSYNCS, "x", Target::AtMost(2.0)),
        Err(error) => Row::missing(what, format!("{error:#}")),
    }
}

fn count_syncs() -> anyhow::Result<f64> {
    ensure!(answers("strace", &["--version"]), "`strace` is missing: apt-get install strace");
    let folder = fresh("bench/queue/syncs")?;
    let counts = folder.join("counts");
    let place = folder.join("queue").display().to_string();
    let own = std::env::current_exe()?;
    let status = Command::new("strace")
        .args(["-f", "-c", "-e", "trace=fsync,fdatasync", "-o"])
        .arg(&counts)
        .arg(own)
        .args(["bench-whole-tasks", &place, &COUNTED_TASKS.to_string()])
        .stdin(Stdio::null())
        .status()?;
    ensure!(status.success(), "the tasks were not done");
    let told = fs::read_to_string(&counts)?;
    let calls = told.lines().filter(|line| line.ends_with("fsync") || line.ends_with("fdatasync"));
    let calls = calls.filter_map(|line| line.split_whitespace().nth(3)?.parse::<f64>().ok());
    // Opening the queue creates its folders once.
    Ok(calls.sum::<f64>() / COUNTED_TASKS as f64)
}

/// Pushes, claims and completes tasks one after the other, for the count of fsyncs.
pub(crate) fn whole_tasks(place: &Path, tasks: usize) -> anyhow::Result<bool> {
    let queue = FileQueue::open(place, Policy::default(), &Clock::system())?;
    let (qa, agent) = ("qa".parse()?, "bench".parse()?);
    for number in 0..tasks {
        queue.push(vec![task(&format!("t{number}"))])?;
        let claimed = queue.claim(&qa, &agent, LEASE, 1)?.pop().context("nothing to claim")?;
        queue.settle(&claimed.lease, done())?;
    }
    Ok(true)
}
