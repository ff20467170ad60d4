//! The file names of tasks, without collisions: a file that a person added is never overwritten.

use std::fs;

use super::layout::file_name;
use super::scan::read_task;
use super::transaction::QueueTransaction;
use crate::durable_fs;
use crate::queue::QueueError;
use crate::task::{QueueName, TaskId};

impl QueueTransaction<'_> {
    /// Returns true if the file with a task's name may contain the task: a person may have added
    /// another task under this name.
    pub(super) fn may_be_in_own_file(&self, queue: &QueueName, id: &TaskId) -> bool {
        let path = self.layout.open_task(queue, id);
        let Ok(file) = fs::symlink_metadata(&path) else { return false };
        file.is_file() && read_task(&path, &file).map_or(true, |task| task.id == *id)
    }

    /// Frees the file name of a task. Another task that has the name is renamed; a file that is not
    /// a task is set aside.
    pub(super) fn free_file_name(
        &mut self,
        queue: &QueueName,
        id: &TaskId,
    ) -> Result<(), QueueError> {
        let named = file_name(id);
        let known = self.index.find_by_file(queue, &named)?;
        if known.is_some_and(|entry| entry.id == *id) {
            return Ok(());
        }
        let path = self.layout.open_task(queue, id);
        let Ok(file) = fs::symlink_metadata(&path) else { return Ok(()) };
        match read_task(&path, &file) {
            Ok(task) if task.id == *id => Ok(()),
            Ok(other) => self.move_to_free_name(queue, &named, &other.id),
            Err(wrong) => {
                self.unindex(queue, &named)?;
                self.quarantine(&path, &named, &wrong)
            }
        }
    }

    /// Renames the file of a task to a free name.
    fn move_to_free_name(
        &mut self,
        queue: &QueueName,
        file: &str,
        id: &TaskId,
    ) -> Result<(), QueueError> {
        let folder = self.layout.queue(queue);
        let numbered = (2..).map(|number| format!("{id}.{number}.json"));
        let mut names = std::iter::once(file_name(id)).chain(numbered);
        let free = names.find(|name| fs::symlink_metadata(folder.join(name)).is_err());
        let free = free.expect("some number is free");
        durable_fs::rename_noreplace(&folder.join(file), &folder.join(&free))?;
        self.unindex(queue, file)?;
        self.import_file(queue, &free).map(|_| ())
    }

    /// Sets aside an entry that has the name of a task's lock and is not a file.
    pub(super) fn clear_lock(&mut self, id: &TaskId) -> Result<(), QueueError> {
        let path = self.layout.lock(id);
        match fs::symlink_metadata(&path) {
            Ok(entry) if !entry.is_file() => {
                let reason = "not a regular file in the lock folder";
                self.quarantine(&path, &format!("{id}.lock"), reason)
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }
}
