//! Who supervises in a folder: [`Seat`], of which there is one.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use assay_store::task::Moment;
use serde::{Deserialize, Serialize};

/// Where it is noted, in the folder of what assay keeps.
const FILE: &str = "supervisor.json";

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

/// The right to supervise in a folder, for as long as it is held.
#[derive(Debug)]
pub struct Seat {
    _file: File,
}

impl Seat {
    /// Takes the seat in the folder of what assay keeps.
    pub fn take(state: &Path, about: &Supervising) -> Result<Seat, SeatError> {
        let path = state.join(FILE);
        let fail = |source| SeatError::File { path: path.clone(), source };
        let mut file = open(&path).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(taken(&mut file)),
            Err(TryLockError::Error(source)) => return Err(fail(source)),
        }
        let text = serde_json::to_string(about).expect("it is JSON");
        file.set_len(0).and_then(|()| file.write_all(text.as_bytes())).map_err(fail)?;
        Ok(Seat { _file: file })
    }

    /// Says who has the seat.
    pub fn holder(state: &Path) -> Option<Supervising> {
        let mut file = File::open(state.join(FILE)).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => read(&mut file),
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }

    /// Waits until nobody has the seat. Says whether that is so.
    pub fn wait_until_free(state: &Path, at_most: Duration) -> bool {
        let Ok(file) = File::open(state.join(FILE)) else { return true };
        let (sender, free) = mpsc::channel();
        // It ends with the lock, or with us.
        thread::spawn(move || sender.send(file.lock_shared().is_ok()));
        free.recv_timeout(at_most).unwrap_or(false)
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    File::options().read(true).write(true).create(true).truncate(false).open(path)
}

fn read(file: &mut File) -> Option<Supervising> {
    let mut text = String::new();
    file.rewind().and_then(|()| file.read_to_string(&mut text)).ok()?;
    serde_json::from_str(&text).ok()
}

fn taken(file: &mut File) -> SeatError {
    match read(file) {
        Some(Supervising { pid, since, agents }) => {
            SeatError::Taken { agents: agents.join(", "), pid, since: since.to_string() }
        }
        // Its holder has not written its name yet.
        None => SeatError::Taken { agents: "some".into(), pid: 0, since: "just now".into() },
    }
}
