//! The dashboard of `assay serve` with a large ledger and a long queue: time and size of its pages,
//! and the queue beside live viewers.

mod viewers;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use assay_base::clock::Clock;
use assay_change::state::State;
use assay_store::files::FileQueue;
use assay_store::queue::{Policy, Queue, QueuedTask};
use assay_store::task::{Moment, Task};
use assay_testenv::workspace::target_folder;
use assay_testkit::storm::{CONFIGURATION, Server};
use assay_testkit::webhook::{self, Answer};

use super::ledger::{MANY, fill};
use super::{Row, Target, middle};
use crate::repository::Repository;
use crate::workspace::assay;

const TASKS: usize = 10_000;

/// Every tenth task depends on another task.
const DEPENDENT: usize = 10;

/// Every hundredth task depends on a task that does not exist.
const BLOCKED: usize = 100;

/// The limits of a page.
const MAX_TIME: Duration = Duration::from_millis(100);
const MAX_KIB: f64 = 100.0;

/// The number of requests of each page.
const REQUESTS: usize = 15;

const TOKEN: &str = "a-token-for-the-bench";

const PAGES: [&str; 5] = ["/", "/findings", "/findings?state=dismissed", "/runs", "/reviewers"];

/// Times the pages of the dashboard, and the queue with and without viewers.
pub(super) fn rows() -> anyhow::Result<Vec<Row>> {
    let site = Site::create()?;
    let mut rows = Vec::new();
    let server = site.serve()?;
    let cookie = sign_in(server.address())?;
    let (time, first) = timed_get(server.address(), "/", &cookie)?;
    rows.extend(page_rows("first request after the start", time, &first));
    wait_until_complete(server.address(), &cookie)?;
    for path in PAGES {
        let mut times = Vec::new();
        let mut last = None;
        for _ in 0..REQUESTS {
            let (time, answer) = timed_get(server.address(), path, &cookie)?;
            times.push(time);
            last = Some(answer);
        }
        rows.extend(page_rows(path, middle(times), &last.context("no page was read")?));
    }
    rows.extend(viewers::rows(&site.queue()?, server.address(), &cookie)?);
    Ok(rows)
}

/// Returns the time and the size of a page as ratios to their limits.
fn page_rows(what: &str, time: Duration, page: &Answer) -> [Row; 2] {
    let kib = page.body.len() as f64 / 1024.0;
    let time = time.as_secs_f64() / MAX_TIME.as_secs_f64();
    [
        Row::number(
            format!("dashboard, {what}: time beside 100 ms"),
            time,
            "x",
            Target::AtMost(1.0),
        ),
        Row::number(
            format!("dashboard, {what}: size beside 100 KiB"),
            kib / MAX_KIB,
            "x",
            Target::AtMost(1.0),
        ),
    ]
}

/// A repository with a large ledger and a long queue.
struct Site {
    folder: PathBuf,
    home: PathBuf,
}

impl Site {
    fn create() -> anyhow::Result<Site> {
        let place = target_folder("bench/dashboard")?;
        std::fs::remove_dir_all(&place)?;
        let repository = Repository::new(place.join("repository"))?;
        repository.write("config/agent-framework.yaml", CONFIGURATION.as_bytes())?;
        let site = Site { folder: repository.folder().to_owned(), home: place.join("state") };
        let state = State::new(&site.folder, Some(&site.home.join("assay")));
        let mut ledger = assay_review::ledger::open(&state)?;
        fill(&mut ledger, MANY)?;
        drop(ledger);
        let tasks = site.queue()?.push_all((0..TASKS).map(task).collect::<anyhow::Result<_>>()?);
        tasks.into_iter().collect::<Result<Vec<()>, _>>()?;
        Ok(site)
    }

    fn queue(&self) -> anyhow::Result<FileQueue> {
        let policy = Policy { max_queue_size: usize::MAX, ..Policy::default() };
        let folder = self.folder.join(".agent-communication");
        Ok(FileQueue::open(&folder, policy, &Clock::system())?)
    }

    fn serve(&self) -> anyhow::Result<Server> {
        let args = ["--listen", "127.0.0.1:0", "--token-env", "BENCH_TOKEN"];
        let home = self.home.to_str().context("the folder is text")?;
        let variables = [("BENCH_TOKEN", TOKEN), ("XDG_STATE_HOME", home)];
        Ok(Server::start(&assay()?, &self.folder, &args, &variables)?)
    }
}

fn task(number: usize) -> anyhow::Result<QueuedTask> {
    let id = format!("t{number:05}").parse()?;
    let title = format!("Review change {number}");
    let mut task = Task::new(id, "review".parse()?, title, Moment::now(&Clock::system()));
    if number % BLOCKED == BLOCKED - 1 {
        task.depends_on = vec!["missing".parse()?];
    } else if number % DEPENDENT == DEPENDENT - 1 {
        task.depends_on = vec![format!("t{:05}", number - 1).parse()?];
    }
    Ok(QueuedTask { queue: ["qa", "dev"][number % 2].parse()?, task })
}

/// Signs in, and returns the cookie of the session.
fn sign_in(address: &str) -> anyhow::Result<String> {
    let origin = format!("http://{address}");
    let form = ("content-type", "application/x-www-form-urlencoded");
    let body = format!("token={TOKEN}&next=%2F");
    let answer =
        webhook::send(address, "POST", "/login", &[("origin", &origin), form], body.as_bytes())?;
    let cookie = answer.head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("set-cookie").then(|| value.trim().to_owned())
    });
    let cookie = cookie.with_context(|| format!("no session: {}", answer.head))?;
    Ok(cookie.split(';').next().unwrap_or_default().to_owned())
}

fn get(address: &str, path: &str, cookie: &str) -> anyhow::Result<Answer> {
    let answer = webhook::send(address, "GET", path, &[("cookie", cookie)], b"")?;
    ensure!(answer.status == 200, "{path}: {}", answer.head);
    Ok(answer)
}

fn timed_get(address: &str, path: &str, cookie: &str) -> anyhow::Result<(Duration, Answer)> {
    let start = Instant::now();
    let answer = get(address, path, cookie)?;
    Ok((start.elapsed(), answer))
}

/// Waits until the statistics are computed, as the live update of a page does.
fn wait_until_complete(address: &str, cookie: &str) -> anyhow::Result<()> {
    let end = Instant::now() + Duration::from_secs(600);
    while Instant::now() < end {
        if !get(address, "/", cookie)?.body.contains("being computed") {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    anyhow::bail!("the statistics were not computed within ten minutes")
}
