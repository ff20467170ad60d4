//! The queue lock, `Guard`: a kernel lock under which every change is made, by one process at a
//! time.
//!
//! The locked file itself lists the tasks that are about to change, and is truncated afterwards. A
//! process that finds entries knows that the previous lock holder crashed, and checks these tasks
//! again.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::disk::{self, DiskError, at, fault};
use crate::task::{QueueName, TaskId};

/// The file whose lock protects every change.
#[derive(Debug)]
pub(super) struct Guard {
    file: File,
    path: PathBuf,
}

/// The tasks that a crashed lock holder may have left half written.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unfinished {
    Nothing,
    Tasks(Vec<(QueueName, TaskId)>),
    /// The list cannot be parsed.
    Unknown,
}

impl Guard {
    pub(super) fn open(path: &Path) -> Result<Guard, DiskError> {
        Ok(Guard { file: disk::open_to_lock(path)?, path: path.to_owned() })
    }

    /// Waits until no other process holds the lock, and acquires it.
    pub(super) fn lock(&mut self) -> Result<Locked<'_>, DiskError> {
        self.file.lock().map_err(at(&self.path))?;
        Ok(Locked { guard: self, noted: false })
    }
}

/// The held queue lock. It is released on drop.
#[derive(Debug)]
pub(super) struct Locked<'a> {
    guard: &'a mut Guard,
    noted: bool,
}

impl Locked<'_> {
    /// Reads the tasks that the previous lock holder left unfinished.
    pub(super) fn unfinished(&mut self) -> Result<Unfinished, DiskError> {
        let mut note = Vec::new();
        let file = &mut self.guard.file;
        file.seek(SeekFrom::Start(0)).map_err(at(&self.guard.path))?;
        file.read_to_end(&mut note).map_err(at(&self.guard.path))?;
        self.noted = !note.is_empty();
        Ok(read_note(&note))
    }

    /// Adds a task to the list of tasks that are about to change.
    pub(super) fn note(&mut self, queue: &QueueName, id: &TaskId) -> Result<(), DiskError> {
        self.noted = true;
        let line = format!("{queue} {id}\n");
        let write = || {
            fault::point("note")?;
            let mut file = &self.guard.file;
            file.seek(SeekFrom::End(0))?;
            file.write_all(line.as_bytes())
        };
        write().map_err(at(&self.guard.path))
    }

    /// Clears the list: all its changes are complete.
    pub(super) fn done(&mut self) -> Result<(), DiskError> {
        if !self.noted {
            return Ok(());
        }
        self.noted = false;
        fault::point("note done")
            .and_then(|()| self.guard.file.set_len(0))
            .map_err(at(&self.guard.path))
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // The file stays open, so the lock must be released explicitly.
        let _ = self.guard.file.unlock();
    }
}

fn read_note(note: &[u8]) -> Unfinished {
    if note.is_empty() {
        return Unfinished::Nothing;
    }
    // A line without an end was cut off before its task was changed.
    let whole = note.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let task = |line: &[u8]| {
        let (queue, id) = std::str::from_utf8(line).ok()?.trim_end().split_once(' ')?;
        Some((queue.parse().ok()?, id.parse().ok()?))
    };
    let tasks: Option<Vec<(QueueName, TaskId)>> = whole.map(task).collect();
    tasks.map_or(Unfinished::Unknown, Unfinished::Tasks)
}
