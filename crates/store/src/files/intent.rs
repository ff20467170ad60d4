//! Several files that change together: an intent on the disk, and whoever comes next finishes it.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::desk::Desk;
use super::guard::Unfinished;
use super::layout::file_name;
use crate::disk::{self, Sure};
use crate::queue::{Addressed, QueueError};
use crate::steps::Step;
use crate::task::{QueueName, Status, Task, TaskId};

/// What a task becomes, together with all that follows from it. Once this is on the disk it is
/// done, whoever carries it out.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Intent {
    /// The task that is settled, if there is one.
    pub(super) settles: Option<Stored>,
    pub(super) follow_ups: Vec<Stored>,
}

impl Intent {
    /// To settle a task of a queue.
    pub(super) fn of(queue: &QueueName, step: Step) -> Intent {
        let settles = Some(Stored { queue: queue.clone(), task: step.task });
        Intent { settles, follow_ups: step.follow_ups.into_iter().map(Stored::from).collect() }
    }
}

/// A task and its queue, as they are written.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) queue: QueueName,
    pub(super) task: Task,
}

impl From<Addressed> for Stored {
    fn from(Addressed { queue, task }: Addressed) -> Stored {
        Stored { queue, task }
    }
}

impl Desk<'_> {
    /// Finishes what somebody began and did not live to finish.
    pub(super) fn finish_others(&mut self) -> Result<(), QueueError> {
        let unfinished = self.locked.unfinished()?;
        for name in disk::names(&self.layout.intents())? {
            let path = self.layout.intents().join(&name);
            if name.starts_with('.') {
                continue;
            }
            match read_intent(&path) {
                Ok(intent) => {
                    self.carry_out(&intent)?;
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

    /// Does what is intended, all of it or nothing.
    pub(super) fn commit(&mut self, intent: &Intent) -> Result<(), QueueError> {
        let Intent { settles, follow_ups } = intent;
        for Stored { queue, task } in settles.iter().chain(follow_ups) {
            self.locked.note(queue, &task.id)?;
        }
        // One file takes its place at once; more than one need something that does.
        let files = follow_ups.len() + usize::from(settles.is_some());
        let first = settles.iter().chain(follow_ups).next();
        let (Some(first), 2..) = (first, files) else {
            return self.carry_out(intent);
        };
        let path = self.layout.intent(&first.task.id);
        let json = serde_json::to_vec(intent).expect("an intent is JSON");
        disk::write(&path, &json, Sure::OnDisk)?;
        // From here on the intent is carried out, by this operation or by the next one.
        self.tidy(|desk| {
            desk.carry_out(intent)?;
            Ok(disk::remove_surely(&path)?)
        });
        Ok(())
    }

    /// Does what is intended, as far as it is not done.
    fn carry_out(&mut self, intent: &Intent) -> Result<(), QueueError> {
        for Stored { queue, task } in &intent.follow_ups {
            if self.find(&task.id)?.is_none() {
                self.store(queue, task)?;
                self.tidy(|desk| desk.tell_dependents(&task.id));
            } else if self.index.get(&task.id)?.is_none() {
                // Its file was written, and whoever wrote it died before it was listed.
                self.take_in(queue, &file_name(&task.id))?;
            }
        }
        let Some(Stored { queue, task }) = &intent.settles else {
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

/// Reads an intent, or says why an entry is none.
fn read_intent(path: &Path) -> Result<Intent, String> {
    if !path.is_file() {
        return Err("it stands where intents are kept, and is no file".to_owned());
    }
    let bytes = fs::read(path).map_err(|error| format!("it cannot be read: {error}"))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("it is no intent: {error}"))
}
