//! Agents that run: `assay agent start` and its effect on tasks, as seen on disk.

mod approvals;
mod comment_commands;
mod cycle;
mod folded;
mod github;
mod on_postgres;
mod orphans;
mod outbox;
mod pull_fixes;
mod purpose;
mod resolution;
mod task_lifecycle;
mod traces;
mod trust;
mod validation;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use assay_testkit::Repository;
use serde_json::{Value, json};

use crate::{AssayRun, assay_with};

/// The time limit for anything that must happen, on a busy machine.
const LONG: Duration = Duration::from_secs(120);

/// A configuration without back-off for failed tasks.
const QUICK: &str = "task:\n  backoff: { initial: 0, max: 0 }\n  stop_grace: 60\n";

/// Agents that run in a repository, and end when the value is dropped.
struct Agents<'a> {
    repository: &'a Repository,
    supervisor: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl<'a> Agents<'a> {
    fn start(repository: &'a Repository, args: &[&str]) -> Agents<'a> {
        Agents::start_with(repository, args, &[])
    }

    fn start_with(
        repository: &'a Repository,
        args: &[&str],
        variables: &[(&str, &str)],
    ) -> Agents<'a> {
        let mut agents = Agents::launch(repository, args, variables);
        agents.wait_for_line("Polling queue: ");
        agents
    }

    /// Starts agents, whether or not they reach their queue.
    fn launch(repository: &'a Repository, args: &[&str], variables: &[(&str, &str)]) -> Agents<'a> {
        let mut supervisor = Command::new(env!("CARGO_BIN_EXE_assay"))
            .args(["agent", "start"])
            .args(args)
            .current_dir(repository.path())
            .env("XDG_STATE_HOME", crate::state_home())
            .env_remove("ANTHROPIC_API_KEY")
            .env_remove("OPENAI_API_KEY")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = supervisor.stderr.take().unwrap();
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Agents { repository, supervisor, lines, seen: Vec::new() }
    }

    /// Waits for a line of the log that contains `words`, and returns the line.
    fn wait_for_line(&mut self, words: &str) -> String {
        let until = Instant::now() + LONG;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if line.contains(words) {
                        return line;
                    }
                }
                Err(_) => panic!("nobody said {words:?}:\n{}", self.seen.join("\n")),
            }
        }
    }

    /// Kills the process of a worker.
    fn kill(&self, worker: &str) {
        let heartbeat = read(self.repository, &format!("heartbeats/{worker}.json"));
        let pid = heartbeat["pid"].to_string();
        assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    }

    /// Kills the process of a worker once its heartbeat names a task.
    fn kill_at_work(&self, worker: &str, task: &str) {
        let path = place(self.repository, &format!("heartbeats/{worker}.json"));
        let pid = until("a worker at work", || {
            let beat: Value = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
            let pid = beat["pid"].to_string();
            let is_alive = fs::read_to_string(format!("/proc/{pid}/stat"));
            let is_alive = is_alive.is_ok_and(|stat| !stat.contains(") Z "));
            (beat["task"] == task && is_alive).then_some(pid)
        });
        assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    }

    /// Stops all agents as a user does, and returns the exit code.
    fn stop(mut self) -> i32 {
        let pid = self.supervisor.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.supervisor.wait().unwrap().code().unwrap()
    }
}

impl Drop for Agents<'_> {
    fn drop(&mut self) {
        let _ = self.supervisor.kill();
        let _ = self.supervisor.wait();
    }
}

/// Waits until `look` returns a value.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + LONG;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited too long for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn place(repository: &Repository, path: &str) -> PathBuf {
    repository.path().join(".agent-communication").join(path)
}

/// Reads a file of the queue.
fn read(repository: &Repository, path: &str) -> Value {
    let text = fs::read_to_string(place(repository, path)).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}: {text}"))
}

/// Waits until a task is completed, and returns the task.
fn completed(repository: &Repository, queue: &str, id: &str) -> Value {
    let path = format!("completed/{queue}/{id}.json");
    until(&path, || place(repository, &path).exists().then_some(()));
    read(repository, &path)
}

/// Waits until a task waits in a queue, and returns the task.
fn waiting(repository: &Repository, queue: &str, id: &str) -> Value {
    let path = format!("queues/{queue}/{id}.json");
    until(&path, || place(repository, &path).exists().then_some(()));
    read(repository, &path)
}

/// Writes a task file into the folder of a queue, as a user does.
fn drop_in(repository: &Repository, queue: &str, task: &Value) {
    let folder = place(repository, &format!("queues/{queue}"));
    fs::create_dir_all(&folder).unwrap();
    let file = format!("by-hand-{}.json", task["id"].as_str().unwrap());
    fs::write(folder.join(file), task.to_string()).unwrap();
}

fn review_task(id: &str, context: &Value) -> Value {
    json!({
        "id": id, "type": "review", "status": "pending", "priority": 50,
        "created_by": "manual-test", "assigned_to": "qa", "created_at": "2026-02-03T10:00:00.000Z",
        "title": "Test Review", "description": "Test task for verification", "depends_on": [],
        "blocks": [], "context": context, "retry_count": 0,
    })
}

/// Returns the names of the tasks in a folder of the queue.
fn names(repository: &Repository, folder: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(place(repository, folder)) else { return Vec::new() };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    names
}

fn assay(repository: &Repository, args: &[&str]) -> AssayRun {
    assay_with(repository.path(), args, b"", &[])
}

/// Returns a repository with a change on the branch `topic`, and `main` checked out.
fn with_change(configuration: &str, file: &str, text: &str) -> Repository {
    let repository = Repository::new();
    repository.write("config/agent-framework.yaml", configuration);
    repository.write("shop.py", "def total(prices):\n    return sum(prices)\n");
    repository.commit("a shop");
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    repository.write(file, text);
    repository.commit("a change");
    repository.git(&["switch", "--quiet", "main"]);
    repository
}
