//! Commits of several files together: a write-ahead record on the disk, which the next operation applies after a crash.

use super::desk::Desk;
use super::guard::Unfinished;
use super::layout::file_name;
use super::write_ahead::{self, Stored, WriteAhead};
use crate::disk::{self, Sure};
use crate::queue::QueueError;
use crate::task::{QueueName, Status, TaskId};

impl Desk<'_> {
    /// Applies the records that a crashed process left, and re-indexes the tasks that it was changing.
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
                // It is renamed whole into its place, so this is not of our making.
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

    /// Looks at a task again that somebody did not finish changing.
    fn mend(&mut self, queue: &QueueName, id: &TaskId) -> Result<(), QueueError> {
        let path = self.layout.waiting(queue, id);
        if self.layout.completed(queue, id).is_file() {
            disk::remove(&path)?;
            disk::remove(&self.layout.lock(id))?;
        }
        self.index.remove(id)?;
        if path.is_file() {
            // Whoever put it there may have died before its name was on the disk, and from now on
            // everybody is told that it is there.
            disk::sync_folder(&path)?;
            self.take_in(queue, &file_name(id))?;
        }
        // A lock comes before the task is in progress, and goes after it is not.
        let status = self.index.get(id)?.map(|entry| entry.status);
        if status != Some(Status::InProgress) {
            disk::remove(&self.layout.lock(id))?;
        }
        self.tell_dependents(id)
    }

    /// Applies a record, all of it or nothing.
    pub(super) fn commit(&mut self, record: &WriteAhead) -> Result<(), QueueError> {
        let WriteAhead { settles, follow_ups } = record;
        for Stored { queue, task } in settles.iter().chain(follow_ups) {
            self.locked.note(queue, &task.id)?;
        }
        // One file takes its place at once; more than one need something that does.
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
                // Its file was written, and whoever wrote it died before it was listed.
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
