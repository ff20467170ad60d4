//! Removal of old tasks that are completed, failed or cancelled.

use std::fs;
use std::time::Duration;

use super::layout::is_task_file;
use super::transaction::QueueTransaction;
use crate::durable_fs;
use crate::queue::QueueError;
use crate::task::{Moment, Task, TaskStatus};

impl QueueTransaction<'_> {
    /// Removes tasks that ended longer ago than `older_than`, and returns their number.
    pub(super) fn prune(&mut self, older_than: Duration, now: Moment) -> Result<usize, QueueError> {
        let Ok(before) = now.0.checked_sub(older_than).map(Moment) else { return Ok(0) };
        Ok(self.prune_completed(before)? + self.prune_given_up(before)?)
    }

    fn prune_completed(&mut self, before: Moment) -> Result<usize, QueueError> {
        let mut removed = 0;
        for archive in durable_fs::list_dir(&self.layout.archives())? {
            let folder = self.layout.archives().join(archive);
            if !folder.is_dir() {
                continue;
            }
            for name in durable_fs::list_dir(&folder)?.into_iter().filter(|name| is_task_file(name))
            {
                let path = folder.join(name);
                // A file that is not a task was put there by a person, and stays.
                let task = fs::read(&path).ok().and_then(|bytes| Task::parse(&bytes).ok());
                let is_old = |task: &Task| task.completed_at.is_some_and(|at| at < before);
                if let Some(task) = task.filter(is_old)
                    && self.index.dependents(&task.id)?.is_empty()
                {
                    durable_fs::remove(&path)?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }

    fn prune_given_up(&mut self, before: Moment) -> Result<usize, QueueError> {
        let mut removed = 0;
        for status in [TaskStatus::Failed, TaskStatus::Cancelled] {
            for entry in self.index.list(None, status, usize::MAX)? {
                let task = self.read(&entry.queue, &entry.file).ok().flatten();
                let is_old = task.is_some_and(|task| task.failed_at.is_some_and(|at| at < before));
                if is_old && self.index.dependents(&entry.id)?.is_empty() {
                    durable_fs::remove(&self.layout.queue(&entry.queue).join(&entry.file))?;
                    self.unindex(&entry.queue, &entry.file)?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }
}
