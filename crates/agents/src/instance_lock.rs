//! Instance locks of the supervisor and the workers in a folder: an [`InstanceLock`] is a file that
//! its holder keeps locked.
//!
//! The locks work without the queue, which may be in a database that cannot be reached.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use assay_store::task::{AgentId, Moment};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The file of the supervisor's lock, in the state folder.
const SUPERVISOR_FILE: &str = "supervisor.json";

/// The folder of the workers' locks, with one file for each worker.
const WORKERS_FOLDER: &str = "workers";

/// The minimum size of a lock file, in characters.
const LOCK_FILE_SIZE: usize = 4_096;

/// The number of attempts to lock a file while readers hold a shared lock, and the delay between
/// them.
const MAX_LOCK_ATTEMPTS: usize = 1_000;
const LOCK_RETRY_DELAY: Duration = Duration::from_millis(1);

/// The content of the supervisor's lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupervisorInfo {
    /// The process id.
    pub pid: u32,
    /// The time at which the supervisor started.
    pub since: Moment,
    /// The names of the workers that the supervisor started.
    pub agents: Vec<String>,
}

/// The content of a worker's lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerInfo {
    /// The name of the worker.
    pub name: AgentId,
    /// The agent of which the worker is a replica.
    pub agent: AgentId,
    /// The process id.
    pub pid: u32,
    /// The time at which the worker started.
    pub since: Moment,
    /// The reason why the worker waits for its queue; `None` while the queue can be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_because: Option<String>,
}

/// The reason why a lock could not be acquired.
#[derive(Debug, thiserror::Error)]
pub enum InstanceLockError {
    /// Another process holds the lock.
    #[error(
        "agents are already running here: {agents} (process {pid}, since {since}); stop them with \
         `assay agent stop`"
    )]
    Held {
        /// The names of the holder's workers.
        agents: String,
        /// The process id of the holder.
        pid: u32,
        /// The time at which the holder started.
        since: String,
    },
    /// The file cannot be read, written or locked.
    #[error("cannot access `{path}`")]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// The instance lock of a supervisor or a worker, held until it is dropped.
#[derive(Debug)]
pub struct InstanceLock {
    file: File,
}

impl InstanceLock {
    /// Acquires the supervisor's lock in the state folder.
    pub fn acquire(
        state: &Path,
        about: &SupervisorInfo,
    ) -> Result<InstanceLock, InstanceLockError> {
        acquire(&state.join(SUPERVISOR_FILE), about, |file| held_error(read(file)))
    }

    /// Acquires the lock of a worker.
    pub fn acquire_worker(
        state: &Path,
        about: &WorkerInfo,
    ) -> Result<InstanceLock, InstanceLockError> {
        acquire(&worker_lock_path(state, &about.name), about, |file| {
            let other = read(file);
            held_error(other.map(|WorkerInfo { name, pid, since, .. }| {
                let agents = vec![name.to_string()];
                SupervisorInfo { pid, since, agents }
            }))
        })
    }

    /// Updates the content of a worker's lock file. The content is overwritten in place, so that a
    /// full disk accepts it.
    pub fn update(&self, about: &WorkerInfo) -> io::Result<()> {
        let mut file = &self.file;
        file.rewind()?;
        file.write_all(padded(about).as_bytes())
    }

    /// Returns the running supervisor; `None` if there is none.
    pub fn supervisor(state: &Path) -> Option<SupervisorInfo> {
        holder(&state.join(SUPERVISOR_FILE))
    }

    /// Returns the running workers, sorted by name.
    pub fn workers(state: &Path) -> Vec<WorkerInfo> {
        let entries = fs::read_dir(state.join(WORKERS_FOLDER)).into_iter().flatten();
        let lock_files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut workers: Vec<WorkerInfo> =
            lock_files.filter_map(|lock_file| holder(&lock_file)).collect();
        workers.sort_by(|a, b| a.name.cmp(&b.name));
        workers
    }

    /// Waits until no supervisor runs. Returns false on timeout.
    pub fn wait_until_free(state: &Path, at_most: Duration) -> bool {
        wait_until_free(&state.join(SUPERVISOR_FILE), at_most)
    }

    /// Waits until a worker has ended. Returns false on timeout.
    pub fn wait_until_gone(state: &Path, worker: &AgentId, at_most: Duration) -> bool {
        wait_until_free(&worker_lock_path(state, worker), at_most)
    }
}

fn worker_lock_path(state: &Path, worker: &AgentId) -> PathBuf {
    state.join(WORKERS_FOLDER).join(format!("{worker}.json"))
}

fn acquire(
    path: &Path,
    about: &impl Serialize,
    on_held: impl FnOnce(&mut File) -> InstanceLockError,
) -> Result<InstanceLock, InstanceLockError> {
    let fail = |source| InstanceLockError::File { path: path.to_owned(), source };
    let mut file = open(path).map_err(fail)?;
    if !lock(&file).map_err(fail)? {
        return Err(on_held(&mut file));
    }
    let text = padded(about);
    file.set_len(0).and_then(|()| file.write_all(text.as_bytes())).map_err(fail)?;
    Ok(InstanceLock { file })
}

/// Returns the content of a lock file, padded to a fixed size so that no part of an earlier content
/// remains.
fn padded(about: &impl Serialize) -> String {
    let text = serde_json::to_string(about).expect("it is JSON");
    format!("{text:<LOCK_FILE_SIZE$}")
}

/// Locks a file. Returns false if another process holds the lock. A reader also holds a shared lock
/// for a moment, so a conflict with a reader is retried.
fn lock(file: &File) -> io::Result<bool> {
    for _ in 0..MAX_LOCK_ATTEMPTS {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        match file.try_lock_shared() {
            Ok(()) => file.unlock()?,
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        thread::park_timeout(LOCK_RETRY_DELAY);
    }
    Ok(false)
}

fn holder<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let mut file = File::open(path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => read(&mut file),
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

fn wait_until_free(path: &Path, at_most: Duration) -> bool {
    let Ok(file) = File::open(path) else { return true };
    let (sender, free) = mpsc::channel();
    // The thread ends when the lock is released, or with this process.
    thread::spawn(move || sender.send(file.lock_shared().is_ok()));
    free.recv_timeout(at_most).unwrap_or(false)
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    File::options().read(true).write(true).create(true).truncate(false).open(path)
}

fn read<T: DeserializeOwned>(file: &mut File) -> Option<T> {
    let mut text = String::new();
    file.rewind().and_then(|()| file.read_to_string(&mut text)).ok()?;
    serde_json::from_str(&text).ok()
}

fn held_error(by: Option<SupervisorInfo>) -> InstanceLockError {
    match by {
        Some(SupervisorInfo { pid, since, agents }) => {
            InstanceLockError::Held { agents: agents.join(", "), pid, since: since.to_string() }
        }
        // The holder has not written its content yet.
        None => InstanceLockError::Held { agents: "some".into(), pid: 0, since: "just now".into() },
    }
}
