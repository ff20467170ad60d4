//! The queue lock, `QueueLock`: a kernel lock on the file `guard.lock`, under which every change is
//! made, by one process at a time.
//!
//! The locked file itself lists the tasks that are about to change, and is truncated afterwards. A
//! process that finds entries knows that the previous lock holder crashed, and checks these tasks
//! again.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::durable_fs::{self, DiskError, fault, with_path};
use crate::task::{QueueName, TaskId};

/// The file whose lock protects every change.
#[derive(Debug)]
pub(super) struct QueueLock {
    file: File,
    path: PathBuf,
}

/// The tasks that a crashed lock holder may have left half written.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DirtyTasks {
    Nothing,
    Tasks(Vec<(QueueName, TaskId)>),
    /// The list cannot be parsed.
    Unknown,
}

impl QueueLock {
    pub(super) fn open(path: &Path) -> Result<QueueLock, DiskError> {
        Ok(QueueLock { file: durable_fs::open_lock_file(path)?, path: path.to_owned() })
    }

    /// Waits until no other process holds the lock, and acquires it.
    pub(super) fn lock(&mut self) -> Result<QueueLockGuard<'_>, DiskError> {
        self.file.lock().map_err(with_path(&self.path))?;
        Ok(QueueLockGuard { queue_lock: self, is_dirty: false })
    }
}

/// The held queue lock. It is released on drop.
#[derive(Debug)]
pub(super) struct QueueLockGuard<'a> {
    queue_lock: &'a mut QueueLock,
    is_dirty: bool,
}

impl QueueLockGuard<'_> {
    /// Reads the tasks that the previous lock holder left unfinished.
    pub(super) fn dirty_tasks(&mut self) -> Result<DirtyTasks, DiskError> {
        let mut list = Vec::new();
        let file = &mut self.queue_lock.file;
        file.seek(SeekFrom::Start(0)).map_err(with_path(&self.queue_lock.path))?;
        file.read_to_end(&mut list).map_err(with_path(&self.queue_lock.path))?;
        self.is_dirty = !list.is_empty();
        Ok(parse_dirty(&list))
    }

    /// Adds a task to the list of tasks that are about to change.
    pub(super) fn mark_dirty(&mut self, queue: &QueueName, id: &TaskId) -> Result<(), DiskError> {
        self.is_dirty = true;
        let line = format!("{queue} {id}\n");
        let write = || {
            fault::point("note")?;
            let mut file = &self.queue_lock.file;
            file.seek(SeekFrom::End(0))?;
            file.write_all(line.as_bytes())
        };
        write().map_err(with_path(&self.queue_lock.path))
    }

    /// Clears the list: all its changes are complete.
    pub(super) fn clear_dirty(&mut self) -> Result<(), DiskError> {
        if !self.is_dirty {
            return Ok(());
        }
        self.is_dirty = false;
        fault::point("note done")
            .and_then(|()| self.queue_lock.file.set_len(0))
            .map_err(with_path(&self.queue_lock.path))
    }
}

impl Drop for QueueLockGuard<'_> {
    fn drop(&mut self) {
        // The file stays open, so the lock must be released explicitly.
        let _ = self.queue_lock.file.unlock();
    }
}

fn parse_dirty(list: &[u8]) -> DirtyTasks {
    if list.is_empty() {
        return DirtyTasks::Nothing;
    }
    // A line without an end was cut off before its task was changed.
    let whole = list.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let task = |line: &[u8]| {
        let (queue, id) = std::str::from_utf8(line).ok()?.trim_end().split_once(' ')?;
        Some((queue.parse().ok()?, id.parse().ok()?))
    };
    let tasks: Option<Vec<(QueueName, TaskId)>> = whole.map(task).collect();
    tasks.map_or(DirtyTasks::Unknown, DirtyTasks::Tasks)
}
