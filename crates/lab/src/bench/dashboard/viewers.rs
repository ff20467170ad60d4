//! Tasks that pass through the queue while browsers follow the dashboard.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use assay_base::clock::Clock;
use assay_store::files::FileQueue;
use assay_store::queue::{LeaseKind, Queue, QueuedTask, TaskResult};
use assay_store::task::{Moment, Priority, QueueName, Task};

use super::super::{Row, Target};
use super::get;

const VIEWERS: usize = 50;

/// The time between two tasks: a hundred a second.
const PACE: Duration = Duration::from_millis(10);

/// The number of tasks in a round, and of rounds with and without viewers.
const TASKS: usize = 500;
const ROUNDS: usize = 3;

const LEASE: LeaseKind = LeaseKind::ByTime(Duration::from_secs(3_600));

/// A round: the mean time of a task, and the tasks that passed in a second.
#[derive(Clone, Copy)]
struct RoundResult {
    task: Duration,
    rate: f64,
}

/// Times tasks with and without viewers, in turns.
pub(super) fn rows(queue: &FileQueue, address: &str, cookie: &str) -> anyhow::Result<Vec<Row>> {
    let (mut alone, mut beside, mut pages) = (Vec::new(), Vec::new(), 0);
    for round in 0..ROUNDS {
        alone.push(pass_tasks(queue, &format!("alone-{round}"))?);
        let (result, read) =
            with_viewers(address, cookie, || pass_tasks(queue, &format!("beside-{round}")));
        beside.push(result?);
        pages += read;
    }
    let (alone, beside) = (middle(alone)?, middle(beside)?);
    let ratio = beside.task.as_secs_f64() / alone.task.as_secs_f64();
    Ok(vec![
        Row::time("queue without viewers: a task, pushed, claimed and completed", alone.task),
        Row::time(format!("queue with {VIEWERS} viewers: a task"), beside.task),
        Row::count("  pages that the viewers read", pages as f64, ""),
        Row::ratio("  time of a task beside that without viewers", ratio),
        Row::number(
            "  tasks in a second, beside those without viewers",
            beside.rate / alone.rate,
            "x",
            Target::AtLeast(0.95),
        ),
    ])
}

fn middle(mut results: Vec<RoundResult>) -> anyhow::Result<RoundResult> {
    results.sort_by_key(|result| result.task);
    results.get(results.len() / 2).copied().context("no task passed")
}

/// Pushes, claims and completes tasks at the pace.
fn pass_tasks(queue: &FileQueue, name: &str) -> anyhow::Result<RoundResult> {
    let (place, agent): (QueueName, _) = ("ops".parse()?, "bench".parse()?);
    let (start, mut busy) = (Instant::now(), Duration::ZERO);
    for number in 0..TASKS {
        let due = start + PACE * u32::try_from(number)?;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let begun = Instant::now();
        let now = Moment::now(&Clock::system());
        let id = format!("{name}-{number}").parse()?;
        let mut task = Task::new(id, "review".parse()?, "Review a change", now);
        task.priority = Priority::try_from(1_i64)?;
        queue.push(vec![QueuedTask { queue: place.clone(), task }])?;
        let claimed = queue.claim(&place, &agent, LEASE, 1)?.pop().context("nothing to claim")?;
        let (summary, context) = ("done".to_owned(), serde_json::Map::new());
        let done = TaskResult::Completed { summary, context, follow_ups: Vec::new() };
        queue.settle(&claimed.lease, done)?;
        busy += begun.elapsed();
    }
    let tasks = u32::try_from(TASKS)?;
    let rate = f64::from(tasks) / start.elapsed().as_secs_f64();
    Ok(RoundResult { task: busy / tasks, rate })
}

/// Runs a function while viewers follow the dashboard, and returns the number of pages that they
/// read.
fn with_viewers<T>(address: &str, cookie: &str, work: impl FnOnce() -> T) -> (T, usize) {
    let (is_over, pages) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..VIEWERS {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    // A stream ends after a time, and a browser connects again.
                    let _ = follow(address, cookie, &is_over, &pages);
                }
            });
        }
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        (done, pages.load(Ordering::Relaxed))
    })
}

/// Reads the page after each event, as the script of the page does, until the stream ends.
fn follow(
    address: &str,
    cookie: &str,
    is_over: &AtomicBool,
    pages: &AtomicUsize,
) -> anyhow::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    let request = format!("GET /events HTTP/1.1\r\nhost: {address}\r\ncookie: {cookie}\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    for line in BufReader::new(stream).lines() {
        if is_over.load(Ordering::Relaxed) {
            return Ok(());
        }
        if line?.starts_with("data: ") {
            get(address, "/", cookie)?;
            pages.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}
