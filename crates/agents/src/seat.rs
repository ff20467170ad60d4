//! Who supervises and who works in a folder: a [`Seat`] for each, which its holder keeps locked.
//!
//! This is known without the queue, which may be in a database that is away.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use assay_store::task::{AgentId, Moment};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Where it is noted who supervises, in the folder of what assay keeps.
const FILE: &str = "supervisor.json";

/// Where it is noted who works, a file each.
const WORKERS: &str = "workers";

/// The least size of a seat's text, in characters.
const SEAT_SIZE: usize = 4_096;

/// So often a seat is tried that somebody only looks at, with such a wait in between.
const TRIES: usize = 1_000;
const A_MOMENT: Duration = Duration::from_millis(1);

/// Who supervises.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Supervising {
    /// The process.
    pub pid: u32,
    /// Since when.
    pub since: Moment,
    /// The workers that it started.
    pub agents: Vec<String>,
}

/// Who works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Working {
    /// The worker.
    pub name: AgentId,
    /// The agent that it is one of.
    pub agent: AgentId,
    /// Its process.
    pub pid: u32,
    /// Since when.
    pub since: Moment,
    /// Why the worker waits for its queue; `None` while the queue can be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_because: Option<String>,
}

/// Why nobody can supervise.
#[derive(Debug, thiserror::Error)]
pub enum SeatError {
    /// Somebody does already.
    #[error(
        "agents are running here already: {agents} (process {pid}, since {since}); \
         `assay agent stop` stops them"
    )]
    Taken {
        /// The workers.
        agents: String,
        /// The process.
        pid: u32,
        /// Since when.
        since: String,
    },
    /// The file cannot be used.
    #[error("could not use `{path}`")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The right to supervise in a folder, or to be one of its workers, for as long as it is held.
#[derive(Debug)]
pub struct Seat {
    file: File,
}

impl Seat {
    /// Takes the seat of the supervisor in the folder of what assay keeps.
    pub fn take(state: &Path, about: &Supervising) -> Result<Seat, SeatError> {
        take(&state.join(FILE), about, |file| taken(read(file)))
    }

    /// Takes the seat of a worker.
    pub fn take_to_work(state: &Path, about: &Working) -> Result<Seat, SeatError> {
        take(&seat_of(state, &about.name), about, |file| {
            let other = read(file);
            taken(other.map(|Working { name, pid, since, .. }| {
                let agents = vec![name.to_string()];
                Supervising { pid, since, agents }
            }))
        })
    }

    /// Notes something new of the worker that holds the seat. What was noted is written over in place, so
    /// that a full disk takes it.
    pub fn note(&self, about: &Working) -> io::Result<()> {
        let mut file = &self.file;
        file.rewind()?;
        file.write_all(padded(about).as_bytes())
    }

    /// Says who supervises.
    pub fn holder(state: &Path) -> Option<Supervising> {
        holder(&state.join(FILE))
    }

    /// Says who works, by name.
    pub fn workers(state: &Path) -> Vec<Working> {
        let entries = fs::read_dir(state.join(WORKERS)).into_iter().flatten();
        let seats = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut workers: Vec<Working> = seats.filter_map(|seat| holder(&seat)).collect();
        workers.sort_by(|a, b| a.name.cmp(&b.name));
        workers
    }

    /// Waits until nobody supervises. Says whether that is so.
    pub fn wait_until_free(state: &Path, at_most: Duration) -> bool {
        wait_until_free(&state.join(FILE), at_most)
    }

    /// Waits until a worker is gone. Says whether it is.
    pub fn wait_until_gone(state: &Path, worker: &AgentId, at_most: Duration) -> bool {
        wait_until_free(&seat_of(state, worker), at_most)
    }
}

fn seat_of(state: &Path, worker: &AgentId) -> PathBuf {
    state.join(WORKERS).join(format!("{worker}.json"))
}

fn take(
    path: &Path,
    about: &impl Serialize,
    taken: impl FnOnce(&mut File) -> SeatError,
) -> Result<Seat, SeatError> {
    let fail = |source| SeatError::File { path: path.to_owned(), source };
    let mut file = open(path).map_err(fail)?;
    if !lock(&file).map_err(fail)? {
        return Err(taken(&mut file));
    }
    let text = padded(about);
    file.set_len(0).and_then(|()| file.write_all(text.as_bytes())).map_err(fail)?;
    Ok(Seat { file })
}

/// Returns the text of a seat, always as long, so that no part of an earlier one is left behind it.
fn padded(about: &impl Serialize) -> String {
    let text = serde_json::to_string(about).expect("it is JSON");
    format!("{text:<SEAT_SIZE$}")
}

/// Locks a seat, unless somebody holds it. Whoever only looks at it has it locked for a moment, too.
fn lock(file: &File) -> io::Result<bool> {
    for _ in 0..TRIES {
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
        thread::park_timeout(A_MOMENT);
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
    // It ends with the lock, or with us.
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

fn taken(by: Option<Supervising>) -> SeatError {
    match by {
        Some(Supervising { pid, since, agents }) => {
            SeatError::Taken { agents: agents.join(", "), pid, since: since.to_string() }
        }
        // Its holder has not written its name yet.
        None => SeatError::Taken { agents: "some".into(), pid: 0, since: "just now".into() },
    }
}
