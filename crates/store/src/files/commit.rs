//! Commits of several files together: a write-ahead record on disk, which the next operation
//! applies after a crash.

use super::layout::file_name;
use super::queue_lock::DirtyTasks;
use super::transaction::QueueTransaction;
use super::write_ahead::{self, StoredTask, WriteAhead};
use crate::durable_fs::{self, Durability};
use crate::queue::QueueError;
use crate::task::{QueueName, TaskId, TaskStatus};

impl QueueTransaction<'_> {
    /// Applies the records that a crashed process left, and re-indexes the tasks that it was
    /// changing.
    pub(super) fn recover_writes(&mut self) -> Result<(), QueueError> {
        let dirty_tasks = self.lock.dirty_tasks()?;
        for name in durable_fs::list_dir(&self.layout.write_ahead_records())? {
            let path = self.layout.write_ahead_records().join(&name);
            if name.starts_with('.') {
                continue;
            }
            match write_ahead::read(&path) {
                Ok(record) => {
                    self.apply(&record)?;
                    durable_fs::remove_synced(&path)?;
                }
                // A record is renamed into place as a whole, so this file is from another writer.
                Err(wrong) => self.quarantine(&path, &name, &wrong)?,
            }
        }
        match dirty_tasks {
            DirtyTasks::Nothing => Ok(()),
            DirtyTasks::Tasks(tasks) => {
                tasks.iter().try_for_each(|(queue, id)| self.reindex(queue, id))
            }
            DirtyTasks::Unknown => self.import_all(),
        }
    }

    /// Indexes a task again whose change a crashed process did not finish.
    fn reindex(&mut self, queue: &QueueName, id: &TaskId) -> Result<(), QueueError> {
        let path = self.layout.open_task(queue, id);
        if self.layout.completed_task(queue, id).is_file() {
            durable_fs::remove(&path)?;
            durable_fs::remove(&self.layout.lock(id))?;
        }
        self.index.remove(id)?;
        if path.is_file() {
            // The process that wrote the file may have died before its name was synced, and from
            // now on callers rely on the task.
            durable_fs::sync_folder(&path)?;
            self.import_file(queue, &file_name(id))?;
        }
        // The lock is written before the task is in progress, and removed after it is not any more.
        let status = self.index.get(id)?.map(|entry| entry.status);
        if status != Some(TaskStatus::InProgress) {
            durable_fs::remove(&self.layout.lock(id))?;
        }
        self.update_dependents(id)
    }

    /// Applies a record as a whole or not at all.
    pub(super) fn commit(&mut self, record: &WriteAhead) -> Result<(), QueueError> {
        let WriteAhead { settles, follow_ups } = record;
        for StoredTask { queue, task } in settles.iter().chain(follow_ups) {
            self.lock.mark_dirty(queue, &task.id)?;
        }
        // A single file is replaced atomically; several need the record.
        let files = follow_ups.len() + usize::from(settles.is_some());
        let first = settles.iter().chain(follow_ups).next();
        let (Some(first), 2..) = (first, files) else {
            return self.apply(record);
        };
        let path = self.layout.write_ahead_record(&first.task.id);
        let json = serde_json::to_vec(record).expect("a write-ahead record is JSON");
        durable_fs::write(&path, &json, Durability::Fsync)?;
        // From here on the record is applied, by this operation or by the next one.
        self.tidy(|transaction| {
            transaction.apply(record)?;
            Ok(durable_fs::remove_synced(&path)?)
        });
        Ok(())
    }

    /// Applies the parts of a record that are not applied yet.
    fn apply(&mut self, record: &WriteAhead) -> Result<(), QueueError> {
        for StoredTask { queue, task } in &record.follow_ups {
            if self.find(&task.id)?.is_none() {
                self.store(queue, task)?;
                self.tidy(|transaction| transaction.update_dependents(&task.id));
            } else if self.index.get(&task.id)?.is_none() {
                // The file was written by a process that died before it was indexed.
                self.import_file(queue, &file_name(&task.id))?;
            }
        }
        let Some(StoredTask { queue, task }) = &record.settles else {
            return Ok(());
        };
        match task.status {
            TaskStatus::Completed => self.archive(queue, task)?,
            TaskStatus::Failed if task.kind.is_escalation() => {
                let json = task.to_json();
                durable_fs::write(
                    &self.layout.escalation(&task.id),
                    json.as_bytes(),
                    Durability::Fsync,
                )?;
                self.store(queue, task)?;
            }
            TaskStatus::Pending
            | TaskStatus::InProgress
            | TaskStatus::Failed
            | TaskStatus::Cancelled => {
                self.store(queue, task)?;
            }
        }
        self.tidy(|transaction| {
            durable_fs::remove(&transaction.layout.lock(&task.id))?;
            transaction.update_dependents(&task.id)
        });
        Ok(())
    }
}
