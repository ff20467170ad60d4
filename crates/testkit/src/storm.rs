//! Many concurrent deliveries to `assay serve`, which is killed meanwhile: [`storm`].

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::webhook::{Connection, commit, deliver, pull_request};

/// The secret that deliveries are signed with.
pub const SECRET: &str = "a secret of a storm, and no other";

/// The repository of all deliveries.
pub const REPOSITORY: &str = "octo/storm";

/// The configuration of a server that accepts all deliveries.
pub const CONFIGURATION: &str =
    "safeguards: { max_queue_size: 1000000 }\ngithub: { repositories: [octo/storm] }\n";

/// The delay before a delivery is retried.
const RETRY_DELAY: Duration = Duration::from_millis(10);

/// The maximum number of attempts of a delivery.
const MAX_ATTEMPTS: usize = 3_000;

/// A running `assay serve`, which is killed when the value is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    address: String,
    said: Arc<Mutex<Vec<String>>>,
    reader: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts the program in a folder, with variables, and waits until it listens.
    pub fn start(
        program: &Path,
        folder: &Path,
        args: &[&str],
        variables: &[(&str, &str)],
    ) -> io::Result<Server> {
        Server::launch(
            Command::new(program)
                .arg("serve")
                .args(args)
                .current_dir(folder)
                .env_remove("GITHUB_WEBHOOK_SECRET")
                .env_remove("JIRA_WEBHOOK_TOKEN")
                .envs(variables.iter().copied()),
        )
    }

    /// Starts any program that prints its address as `assay serve` does.
    pub fn launch(command: &mut Command) -> io::Result<Server> {
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut before = String::new();
        let address = loop {
            let mut line = String::new();
            if stderr.read_line(&mut line)? == 0 {
                let _ = child.wait();
                return Err(io::Error::other(format!("it does not listen: {before}")));
            }
            if let Some(address) = line.trim().strip_prefix("listening on http://") {
                break address.to_owned();
            }
            before += &line;
        };
        let said = Arc::new(Mutex::new(vec![before]));
        let lines = Arc::clone(&said);
        let reader = thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            }
        });
        Ok(Server { child, address, said, reader: Some(reader) })
    }

    /// Returns the address of the server.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Stops the server as a service manager does, and returns its exit code and its stderr.
    pub fn stop(mut self) -> (Option<i32>, String) {
        let pid = self.child.id().to_string();
        let told = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(told.is_ok_and(|status| status.success()), "it is gone already");
        let code = self.child.wait().unwrap().code();
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        (code, self.said.lock().unwrap().join("\n"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The size of a storm.
#[derive(Debug, Clone, Copy)]
pub struct StormSize {
    /// The number of deliveries.
    pub deliveries: usize,
    /// The number of concurrent deliveries.
    pub in_flight: usize,
    /// The number of times that the server is killed.
    pub kills: usize,
}

/// The result of a storm.
#[derive(Debug)]
pub struct StormResult {
    /// The number of times that each task was reported as new.
    pub tasks: BTreeMap<String, usize>,
    /// The number of retried deliveries.
    pub again: usize,
}

/// Returns the number of the pull request of a delivery, and the number of its head. One in ten
/// deliveries has the head of another one.
fn about(number: usize) -> (u64, usize) {
    let head = if number % 10 == 9 { number - 1 } else { number };
    (head as u64 + 1, head + 1)
}

/// Sends deliveries until each is answered with 2xx. The server is killed after random numbers of
/// answers and started again.
pub fn storm(program: &Path, folder: &Path, size: StormSize, seed: u64) -> io::Result<StormResult> {
    let variables = [("GITHUB_WEBHOOK_SECRET", SECRET)];
    let server = Server::start(program, folder, &["--listen", "127.0.0.1:0"], &variables)?;
    let address = server.address().to_owned();
    let (next, answered, again) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let tasks = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        let senders: Vec<_> = (0..size.in_flight)
            .map(|_| {
                scope.spawn(|| -> io::Result<()> {
                    let mut sender = Sender { address: &address, connection: None };
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= size.deliveries {
                            return Ok(());
                        }
                        let (task, is_new, tries) = sender.send(number)?;
                        again.fetch_add(tries - 1, Ordering::Relaxed);
                        *tasks.lock().unwrap().entry(task).or_default() += usize::from(is_new);
                        answered.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        let mut server = server;
        for due in when(size, seed) {
            while answered.load(Ordering::Relaxed) < due && senders.iter().any(|s| !s.is_finished())
            {
                thread::sleep(Duration::from_millis(1));
            }
            drop(server);
            server = Server::start(program, folder, &["--listen", &address], &variables)?;
        }
        senders.into_iter().try_for_each(|sender| sender.join().unwrap())
    })?;
    Ok(StormResult { tasks: tasks.into_inner().unwrap(), again: again.into_inner() })
}

/// Returns the numbers of answers after which the server is killed: one in each part of the storm.
fn when(size: StormSize, seed: u64) -> Vec<usize> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let part = size.deliveries / (size.kills + 1);
    let somewhere = |kill: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        part * kill + part / 2 + (state >> 33) as usize % (part / 2).max(1)
    };
    (0..size.kills).map(somewhere).collect()
}

struct Sender<'a> {
    address: &'a str,
    connection: Option<Connection>,
}

impl Sender<'_> {
    /// Sends a delivery until it is accepted. Returns its task, true if the task was new, and the
    /// number of attempts.
    fn send(&mut self, number: usize) -> io::Result<(String, bool, usize)> {
        let (pull, head) = about(number);
        let body = pull_request("synchronize", REPOSITORY, pull, &commit(head)).to_string();
        for tries in 1..=MAX_ATTEMPTS {
            let connection = match self.connection.take() {
                Some(connection) => Ok(connection),
                None => Connection::open(self.address),
            };
            let answer = connection.and_then(|mut connection| {
                let id = format!("delivery-{number}");
                let answer =
                    deliver(&mut connection, SECRET, &id, "pull_request", body.as_bytes())?;
                self.connection = Some(connection);
                Ok(answer)
            });
            match answer {
                Ok(answer) if matches!(answer.status, 200 | 202) => {
                    let task = answer.json()["task"].as_str().unwrap_or_default().to_owned();
                    return Ok((task, answer.status == 202, tries));
                }
                Ok(answer) if answer.status == 503 => thread::sleep(RETRY_DELAY),
                Ok(answer) => return Err(io::Error::other(answer.body)),
                Err(_) => thread::sleep(RETRY_DELAY),
            }
        }
        Err(io::Error::other(format!("delivery {number} was not taken in {MAX_ATTEMPTS} tries")))
    }
}

/// Checks that each reported task is in the queue once, and no other task. Returns the number of
/// tasks.
pub fn check(folder: &Path, size: StormSize, outcome: &StormResult) -> Result<usize, String> {
    let queues = folder.join(".agent-communication/queues/qa");
    let mut files: Vec<PathBuf> = std::fs::read_dir(queues)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
        .map_err(|error| error.to_string())?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    let mut there = Vec::new();
    for path in &files {
        let text = std::fs::read(path).map_err(|error| error.to_string())?;
        let task: serde_json::Value = serde_json::from_slice(&text).map_err(|e| e.to_string())?;
        there.push(task["id"].as_str().unwrap_or_default().to_owned());
    }
    there.sort();
    let told: Vec<&String> = outcome.tasks.keys().collect();
    if there.iter().collect::<Vec<_>>() != told {
        return Err(format!("{} tasks were told of, and {} are there", told.len(), there.len()));
    }
    let heads: std::collections::BTreeSet<_> = (0..size.deliveries).map(about).collect();
    if heads.len() != there.len() {
        return Err(format!("{} heads made {} tasks", heads.len(), there.len()));
    }
    match outcome.tasks.iter().find(|(_, new)| **new > 1) {
        Some((task, new)) => Err(format!("`{task}` was new {new} times")),
        None => Ok(there.len()),
    }
}

/// The durations of answers.
#[derive(Debug, Default)]
pub struct ResponseTimes(Vec<Duration>);

impl ResponseTimes {
    /// Returns the 99th percentile.
    pub fn p99(&mut self) -> Duration {
        self.0.sort_unstable();
        self.0.get(self.0.len() * 99 / 100).copied().unwrap_or_default()
    }
}

/// Sends deliveries to a server that is not killed. Returns the total duration, and that of each
/// answer.
pub fn time(address: &str, size: StormSize, first: usize) -> io::Result<(Duration, ResponseTimes)> {
    let bodies: Vec<String> = (first..first + size.deliveries)
        .map(|n| pull_request("opened", REPOSITORY, n as u64 + 1, &commit(n + 1)).to_string())
        .collect();
    let (next, times) = (AtomicUsize::new(0), Mutex::new(ResponseTimes::default()));
    let start = Instant::now();
    thread::scope(|scope| {
        let sender = || -> io::Result<()> {
            let mut connection = Connection::open(address)?;
            let mut own = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(body) = bodies.get(number) else { break };
                let (id, began) = (format!("timed-{}", first + number), Instant::now());
                let answer =
                    deliver(&mut connection, SECRET, &id, "pull_request", body.as_bytes())?;
                own.push(began.elapsed());
                if answer.status != 202 {
                    return Err(io::Error::other(answer.body));
                }
            }
            times.lock().unwrap().0.extend(own);
            Ok(())
        };
        let senders: Vec<_> = (0..size.in_flight).map(|_| scope.spawn(sender)).collect();
        senders.into_iter().try_for_each(|sender| sender.join().unwrap())
    })?;
    Ok((start.elapsed(), times.into_inner().unwrap()))
}
