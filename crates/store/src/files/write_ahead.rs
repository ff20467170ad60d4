//! The write-ahead record of files that change together: [`WriteAhead`].
//!
//! Tasks that are pushed independently need no record: a caller that got no reply pushes again.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::queue::QueuedTask;
use crate::task::{QueueName, Task};
use crate::transitions::Transition;

/// A new state of a task, together with all its follow-up tasks. Once the record is on disk, this
/// process or the next one applies it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WriteAhead {
    /// The task that is settled; `None` if tasks are only added.
    pub(super) settles: Option<StoredTask>,
    pub(super) follow_ups: Vec<StoredTask>,
}

impl WriteAhead {
    /// Returns the record that settles a task of `queue`.
    pub(super) fn of(queue: &QueueName, transition: Transition) -> WriteAhead {
        let settles = Some(StoredTask { queue: queue.clone(), task: transition.task });
        WriteAhead {
            settles,
            follow_ups: transition.follow_ups.into_iter().map(StoredTask::from).collect(),
        }
    }
}

/// A task and its queue, as the record stores them.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredTask {
    pub(super) queue: QueueName,
    pub(super) task: Task,
}

impl From<QueuedTask> for StoredTask {
    fn from(QueuedTask { queue, task }: QueuedTask) -> StoredTask {
        StoredTask { queue, task }
    }
}

/// Reads the record at `path`. Returns the reason if the entry is not a record.
pub(super) fn read(path: &Path) -> Result<WriteAhead, String> {
    if !path.is_file() {
        return Err("not a regular file in the write-ahead folder".to_owned());
    }
    let bytes = fs::read(path).map_err(|error| format!("cannot read the file: {error}"))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("invalid write-ahead record: {error}"))
}
