//! Commits of several files together: a write-ahead record on disk, which the next operation
//! applies after a crash.

use super::desk::Desk;
use super::guard::Unfinished;
use super::layout::file_name;
use super::write_ahead::{self, Stored, WriteAhead};
use crate::disk::{self, Sure};
use crate::queue::QueueError;
use crate::task::{QueueName, Status, TaskId};

impl Desk<'_> {
    /// Applies the records that a crashed process left, and re-indexes the tasks that it was
    /// changing.
    pub(super) fn recover_writes(&mut self) -> Result<(), QueueError> {
        let unfinished = self.locked.unfinished()?;
        for name in disk::names(&self.layout.intents())? {
            let path = self.layout.intents().join(&name);
            if name.starts_with('.') {
                continue;
            }
            match write_ahead::read(&path) {
                Ok(record) => {
                    self.apply(&record)?;
                    disk::remove_surely(&path)?;
                }
                // A record is renamed into place as a whole, so this file is from another writer.
                Err(wrong) => self.set_aside(&path, &name, &wrong)?,
            }
        }
        match unfinished {
            Unfinished::Nothing => Ok(()),
            Unfinished::Tasks(tasks) => {
                tasks.iter().try_for_each(|(queue, id)| self.mend(queue, id))
            }
            Unfinished::Unknown => self.fill(),
        }
    }

    /// Indexes a task again whose change a crashed process did not finish.
    fn mend(&mut self, queue: &QueueName, id: &TaskId) -> Result<(), QueueError> {
        let path = self.layout.waiting(queue, id);
        if self.layout.completed(queue, id).is_file() {
            disk::remove(&path)?;
            disk::remove(&self.layout.lock(id))?;
        }
        self.index.remove(id)?;
        if path.is_file() {
            // The process that wrote the file may have died before its name was synced, and from
            // now on callers rely on the task.
            disk::sync_folder(&path)?;
            self.take_in(queue, &file_name(id))?;
        }
        // The lock is written before the task is in progress, and removed after it is not any more.
        let status = self.index.get(id)?.map(|entry| entry.status);
        if status != Some(Status::InProgress) {
            disk::remove(&self.layout.lock(id))?;
        }
        self.tell_dependents(id)
    }

    /// Applies a record as a whole or not at all.
    pub(super) fn commit(&mut self, record: &WriteAhead) -> Result<(), QueueError> {
        let WriteAhead { settles, follow_ups } = record;
        for Stored { queue, task } in settles.iter().chain(follow_ups) {
            self.locked.note(queue, &task.id)?;
        }
        // A single file is replaced atomically; several need the record.
        let files = follow_ups.len() + usize::from(settles.is_some());
        let first = settles.iter().chain(follow_ups).next();
        let (Some(first), 2..) = (first, files) else {
            return self.apply(record);
        };
        let path = self.layout.intent(&first.task.id);
        let json = serde_json::to_vec(record).expect("a write-ahead record is JSON");
        disk::write(&path, &json, Sure::OnDisk)?;
        // From here on the record is applied, by this operation or by the next one.
        self.tidy(|desk| {
            desk.apply(record)?;
            Ok(disk::remove_surely(&path)?)
        });
        Ok(())
    }

    /// Applies the parts of a record that are not applied yet.
    fn apply(&mut self, record: &WriteAhead) -> Result<(), QueueError> {
        for Stored { queue, task } in &record.follow_ups {
            if self.find(&task.id)?.is_none() {
                self.store(queue, task)?;
                self.tidy(|desk| desk.tell_dependents(&task.id));
            } else if self.index.get(&task.id)?.is_none() {
                // The file was written by a process that died before it was indexed.
                self.take_in(queue, &file_name(&task.id))?;
            }
        }
        let Some(Stored { queue, task }) = &record.settles else {
            return Ok(());
        };
        match task.status {
            Status::Completed => self.archive(queue, task)?,
            Status::Failed if task.kind.is_escalation() => {
                let json = task.to_json();
                disk::write(&self.layout.escalation(&task.id), json.as_bytes(), Sure::OnDisk)?;
                self.store(queue, task)?;
            }
            Status::Pending | Status::InProgress | Status::Failed | Status::Cancelled => {
                self.store(queue, task)?;
            }
        }
        self.tidy(|desk| {
            disk::remove(&desk.layout.lock(&task.id))?;
            desk.tell_dependents(&task.id)
        });
        Ok(())
    }
}
