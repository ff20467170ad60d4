//! The changes of a single task under the queue lock, on disk and in the index: `QueueTransaction`.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fs;
use std::rc::Rc;
use std::time::Duration;

use assay_base::clock::{Clock, Uptime};
use serde_json::{Value, json};

use super::index::{FileVersion, Index, IndexEntry};
use super::layout::{Layout, file_name};
use super::lease_file::LeaseFile;
use super::queue_lock::QueueLockGuard;
use super::write_ahead::{StoredTask, WriteAhead};
use crate::cycles::Cycles;
use crate::durable_fs::{self, Durability};
use crate::queue::{
    ClaimedTask, Lease, LeaseKind, Policy, QueueError, QueuedTask, SettleOutcome, TaskResult,
};
use crate::task::{AgentId, Moment, QueueName, Task, TaskId, TaskStatus};
use crate::transitions::{self, BACKOFF_UNTIL, FENCE, Transition};

/// The limit of a plausible fence. A file with a larger number was edited by hand.
const MAX_FENCE: u64 = 1 << 62;

/// A write transaction on the file queue; holds the queue lock.
pub(super) struct QueueTransaction<'a> {
    pub(super) layout: &'a Layout,
    pub(super) policy: &'a Policy,
    pub(super) clock: &'a Clock,
    pub(super) boot: &'a str,
    pub(super) index: Rc<Index>,
    pub(super) lock: QueueLockGuard<'a>,
    /// False if the index or the lease files could not be updated after an operation: its tasks
    /// stay listed as dirty in the lock file.
    pub(super) is_tidy: bool,
    /// The cycles of dependencies; computed when an operation first needs them.
    pub(super) cycles: OnceCell<Cycles>,
}

impl QueueTransaction<'_> {
    /// Adds new tasks to their queues, all or none.
    pub(super) fn push(&mut self, tasks: Vec<QueuedTask>) -> Result<(), QueueError> {
        for (number, new) in tasks.iter().enumerate() {
            self.check_new(new, &tasks[..number])?;
        }
        let follow_ups =
            tasks.into_iter().map(|new| QueuedTask { task: transitions::reset(new.task), ..new });
        let follow_ups: Vec<StoredTask> = follow_ups.map(StoredTask::from).collect();
        self.commit(&WriteAhead { settles: None, follow_ups })
    }

    /// Adds new tasks to their queues independently. No write-ahead record holds the tasks
    /// together: if the process dies, each task is stored or not, and no caller got a reply.
    pub(super) fn push_all(
        &mut self,
        tasks: Vec<QueuedTask>,
    ) -> Result<Vec<Result<(), QueueError>>, QueueError> {
        let mut answers = Vec::with_capacity(tasks.len());
        let mut new: Vec<QueuedTask> = Vec::new();
        for task in tasks {
            let answer = self.check_new(&task, &new);
            if answer.is_ok() {
                new.push(QueuedTask { task: transitions::reset(task.task), ..task });
            }
            answers.push(answer);
        }
        for QueuedTask { queue, task } in &new {
            self.lock.mark_dirty(queue, &task.id)?;
        }
        if self.store_all(&new).is_err() {
            // Some files may be in place, so each task is checked and stored separately.
            let stored = new.iter().map(|new| self.store_new(new)).collect::<Vec<_>>();
            let mut stored = stored.into_iter();
            for answer in answers.iter_mut().filter(|answer| answer.is_ok()) {
                *answer = stored.next().unwrap_or(Ok(()));
            }
        }
        for new in &new {
            self.tidy(|transaction| transaction.update_dependents(&new.task.id));
        }
        Ok(answers)
    }

    /// Stores a new task, unless an earlier attempt has put its file in place.
    fn store_new(&mut self, new: &QueuedTask) -> Result<(), QueueError> {
        let path = self.layout.open_task(&new.queue, &new.task.id);
        match path.is_file() {
            true => Ok(durable_fs::sync_folder(&path)?),
            false => self.store(&new.queue, &new.task),
        }
    }

    /// Runs an update that follows a finished operation. If the update fails, the operation stays
    /// done, and the next operation repeats the update for the tasks that are listed as dirty in
    /// the lock file.
    pub(super) fn tidy(&mut self, what: impl FnOnce(&mut Self) -> Result<(), QueueError>) {
        if what(self).is_err() {
            self.is_tidy = false;
        }
    }

    /// Fails if a new task may not be added after the tasks in `before`, which are not stored yet.
    fn check_new(&self, new: &QueuedTask, before: &[QueuedTask]) -> Result<(), QueueError> {
        let QueuedTask { queue, task } = new;
        transitions::validate_new(task)?;
        let id = task.id.clone();
        if let Some(other) = before.iter().find(|other| other.task.id == id) {
            let (queue, status) = (other.queue.clone(), TaskStatus::Pending);
            return Err(QueueError::AlreadyExists { id, queue, status });
        }
        if let Some((queue, status)) = self.find(&id)? {
            return Err(QueueError::AlreadyExists { id, queue, status });
        }
        let parent = task.parent_task_id.as_ref();
        let parent = parent.map(|parent| self.index.get(parent)).transpose()?.flatten();
        if let Some(parent) = parent
            && self.repeats_parent(&parent, queue, task)?
        {
            return Err(QueueError::RepeatsParent { parent: parent.id, kind: task.kind.clone() });
        }
        let coming = before.iter().filter(|other| other.queue == *queue).count();
        let most = self.policy.max_queue_size;
        if self.index.count(queue, TaskStatus::Pending)? + coming >= most {
            return Err(QueueError::Full { queue: queue.clone(), most });
        }
        Ok(())
    }

    /// Returns true if a task would repeat its parent, which is in progress: same queue, same kind.
    fn repeats_parent(
        &self,
        parent: &IndexEntry,
        queue: &QueueName,
        task: &Task,
    ) -> Result<bool, QueueError> {
        if parent.status != TaskStatus::InProgress || parent.queue != *queue {
            return Ok(false);
        }
        let running = self.read(&parent.queue, &parent.file)?;
        Ok(running.is_some_and(|running| running.kind == task.kind))
    }

    /// Returns the queue and status of a task, in any status.
    pub(super) fn find(&self, id: &TaskId) -> Result<Option<(QueueName, TaskStatus)>, QueueError> {
        if let Some(entry) = self.index.get(id)? {
            return Ok(Some((entry.queue, entry.status)));
        }
        if let Some(queue) = self.find_archived(id)? {
            return Ok(Some((queue, TaskStatus::Completed)));
        }
        // A file that a person added, and that is not indexed yet, is recognised by its name.
        let queues = self.queues()?.into_iter();
        let mut dropped = queues.filter(|queue| self.may_be_in_own_file(queue, id));
        Ok(dropped.next().map(|queue| (queue, TaskStatus::Pending)))
    }

    /// Returns the queue whose archive has a task.
    pub(super) fn find_archived(&self, id: &TaskId) -> Result<Option<QueueName>, QueueError> {
        let names = durable_fs::list_dir(&self.layout.archives())?;
        let queues = names.iter().filter_map(|name| name.parse::<QueueName>().ok());
        let mut with = queues.filter(|queue| self.layout.completed_task(queue, id).is_file());
        Ok(with.next())
    }

    /// Returns the queues that have a folder, sorted.
    pub(super) fn queues(&self) -> Result<Vec<QueueName>, QueueError> {
        let names = durable_fs::list_dir(&self.layout.queues())?;
        let folders = names.iter().filter(|name| self.layout.queues().join(name).is_dir());
        let mut queues: Vec<QueueName> = folders.filter_map(|name| name.parse().ok()).collect();
        queues.sort();
        Ok(queues)
    }

    /// Claims the next task of a queue.
    pub(super) fn claim(
        &mut self,
        queue: &QueueName,
        agent: &AgentId,
        lease_kind: LeaseKind,
    ) -> Result<Option<ClaimedTask>, QueueError> {
        while let Some(entry) = self.index.next(queue, lease_kind, self.clock.uptime())? {
            if let Some(task) = self.read_unchanged(&entry)? {
                return self.start(&entry, task, agent, lease_kind).map(Some);
            }
        }
        Ok(None)
    }

    /// Reads a task if its file is as the index knows it. Imports the file again if it was changed
    /// by a person, and returns `None`.
    pub(super) fn read_unchanged(
        &mut self,
        entry: &IndexEntry,
    ) -> Result<Option<Task>, QueueError> {
        let path = self.layout.queue(&entry.queue).join(&entry.file);
        let unchanged =
            fs::symlink_metadata(&path).is_ok_and(|file| FileVersion::of(&file) == entry.version);
        // A file that cannot be read is set aside, and must not block other tasks.
        let task =
            if unchanged { self.read(&entry.queue, &entry.file).ok().flatten() } else { None };
        if task.is_none() {
            self.index.remove(&entry.id)?;
            self.import_file(&entry.queue, &entry.file)?;
        }
        Ok(task)
    }

    /// Reads a task's file. Returns `None` if there is no file, or it is not a task.
    pub(super) fn read(&self, queue: &QueueName, file: &str) -> Result<Option<Task>, QueueError> {
        let bytes = durable_fs::read(&self.layout.queue(queue).join(file))?;
        Ok(bytes.and_then(|bytes| Task::parse(&bytes).ok()))
    }

    fn start(
        &mut self,
        entry: &IndexEntry,
        task: Task,
        agent: &AgentId,
        lease_kind: LeaseKind,
    ) -> Result<ClaimedTask, QueueError> {
        let IndexEntry { id, queue, .. } = entry;
        self.lock.mark_dirty(queue, id)?;
        self.rename_to_id(entry)?;
        self.clear_lock(id)?;
        let before = LeaseFile::read(self.layout, id).ok().flatten().map_or(0, |file| file.fence);
        let fence = before.max(fence(&task)) + 1;
        let now = Moment::now(self.clock);
        let lease = Lease { task: id.clone(), queue: queue.clone(), agent: agent.clone(), fence };
        LeaseFile::new(&lease, lease_kind, self.boot, self.clock).write(self.layout)?;
        let mut task = transitions::start(task, agent.as_str(), now);
        task.rest.insert(FENCE.into(), json!(fence));
        task.rest.remove(BACKOFF_UNTIL);
        self.store(queue, &task)?;
        Ok(ClaimedTask { lease, task })
    }

    /// Renames a file to the name of its task; people may add a file under any name.
    pub(super) fn rename_to_id(&mut self, entry: &IndexEntry) -> Result<(), QueueError> {
        if entry.file == file_name(&entry.id) {
            return Ok(());
        }
        self.free_file_name(&entry.queue, &entry.id)?;
        let dropped = self.layout.queue(&entry.queue).join(&entry.file);
        Ok(durable_fs::rename_noreplace(&dropped, &self.layout.open_task(&entry.queue, &entry.id))?)
    }

    /// Returns the file of a lease. Fails if the file is gone or belongs to another claim.
    fn find_held_lease(&self, lease: &Lease) -> Result<LeaseFile, QueueError> {
        let file = LeaseFile::read(self.layout, &lease.task)?.filter(|file| file.is_for(lease));
        file.ok_or_else(|| QueueError::NotHeld {
            id: lease.task.clone(),
            agent: lease.agent.clone(),
            fence: lease.fence,
        })
    }

    /// Extends a lease to `time` from now.
    pub(super) fn renew(&mut self, lease: &Lease, time: Duration) -> Result<(), QueueError> {
        self.find_held_lease(lease)?.renewed(time, self.clock).write(self.layout)
    }

    /// Writes the result of a task.
    pub(super) fn settle(
        &mut self,
        lease: &Lease,
        what: TaskResult,
    ) -> Result<SettleOutcome, QueueError> {
        let Lease { task: id, queue, .. } = lease;
        if let Err(error) = self.find_held_lease(lease) {
            let is_done =
                matches!(what, TaskResult::Completed { .. }) && self.was_completed(lease)?;
            return if is_done { Ok(SettleOutcome::AlreadyCompleted) } else { Err(error) };
        }
        let task = self.read(queue, &file_name(id))?.filter(|task| task.id == *id);
        let task = task.ok_or_else(|| QueueError::Unknown(id.clone()))?;
        let mut transition =
            transitions::settle(task, lease, what, self.policy, Moment::now(self.clock));
        if !transition.backoff.is_zero() {
            let until = self.clock.uptime().after(transition.backoff).as_millis();
            let rests = json!({ "boot_id": self.boot, "until_uptime_ms": until });
            transition.task.rest.insert(BACKOFF_UNTIL.into(), rests);
        }
        let transition = self.rename_taken_ids(transition, id, lease.fence)?;
        let settled = transition.settled.clone();
        self.commit(&WriteAhead::of(queue, transition))?;
        Ok(settled)
    }

    /// Returns true if a task was completed under this lease.
    fn was_completed(&self, lease: &Lease) -> Result<bool, QueueError> {
        let bytes = durable_fs::read(&self.layout.completed_task(&lease.queue, &lease.task))?;
        let task = bytes.and_then(|bytes| Task::parse(&bytes).ok());
        Ok(task.is_some_and(|task| {
            fence(&task) == lease.fence
                && task.completed_by.as_deref() == Some(lease.agent.as_str())
        }))
    }

    /// Renames the follow-up tasks of a claim whose ids are taken.
    pub(super) fn rename_taken_ids(
        &self,
        mut transition: Transition,
        parent: &TaskId,
        fence: u64,
    ) -> Result<Transition, QueueError> {
        let is_taken = |name: &TaskId| {
            let Some((queue, _)) = self.find(name)? else {
                return Ok(false);
            };
            let there = self.read(&queue, &file_name(name))?;
            Ok(there.is_none_or(|there| !transitions::is_same_follow_up(&there, parent)))
        };
        let follow_ups = std::mem::take(&mut transition.follow_ups);
        let named = transitions::rename_taken_ids(follow_ups, parent, fence, is_taken)?;
        Ok(transition.with_follow_ups(named))
    }

    pub(super) fn archive(&mut self, queue: &QueueName, task: &Task) -> Result<(), QueueError> {
        let path = self.layout.completed_task(queue, &task.id);
        if !path.is_file() {
            durable_fs::make_folder(&self.layout.archive(queue))?;
            durable_fs::write(&path, task.to_json().as_bytes(), Durability::Fsync)?;
        }
        self.tidy(|transaction| {
            durable_fs::remove(&transaction.layout.open_task(queue, &task.id))?;
            transaction.index.remove(&task.id)
        });
        Ok(())
    }

    /// Writes a task's file and indexes the task.
    pub(super) fn store(&mut self, queue: &QueueName, task: &Task) -> Result<(), QueueError> {
        durable_fs::make_folder(&self.layout.queue(queue))?;
        self.free_file_name(queue, &task.id)?;
        let path = self.layout.open_task(queue, &task.id);
        durable_fs::write(&path, task.to_json().as_bytes(), Durability::Fsync)?;
        self.tidy(|transaction| transaction.index_stored(queue, task));
        Ok(())
    }

    /// Indexes a task whose file was just written.
    fn index_stored(&mut self, queue: &QueueName, task: &Task) -> Result<(), QueueError> {
        let path = self.layout.open_task(queue, &task.id);
        let file = fs::symlink_metadata(&path).map_err(durable_fs::with_path(&path))?;
        self.index_task(queue, &file_name(&task.id), &file, task)
    }

    /// Writes the files of several tasks and indexes them.
    fn store_all(&mut self, tasks: &[QueuedTask]) -> Result<(), QueueError> {
        let mut files = Vec::with_capacity(tasks.len());
        for QueuedTask { queue, task } in tasks {
            durable_fs::make_folder(&self.layout.queue(queue))?;
            self.free_file_name(queue, &task.id)?;
            files.push((self.layout.open_task(queue, &task.id), task.to_json()));
        }
        durable_fs::write_all(&files)?;
        for QueuedTask { queue, task } in tasks {
            self.tidy(|transaction| transaction.index_stored(queue, task));
        }
        Ok(())
    }

    /// Adds a task to the index.
    pub(super) fn index_task(
        &mut self,
        queue: &QueueName,
        file: &str,
        metadata: &fs::Metadata,
        task: &Task,
    ) -> Result<(), QueueError> {
        let needs: BTreeSet<TaskId> =
            task.depends_on.iter().cloned().chain(self.index.blockers(&task.id)?).collect();
        let entry = IndexEntry {
            id: task.id.clone(),
            queue: queue.clone(),
            file: file.to_owned(),
            version: FileVersion::of(metadata),
            status: task.status,
            priority: task.priority.get(),
            created: task.created_at.0.as_millisecond(),
            open_dependencies: self.open_dependencies(needs)?,
            delayed_until: self.delayed_until(task),
            describe_for_person: task.kind.is_escalation(),
        };
        self.index.put(&entry, &task.depends_on, &task.blocks)
    }

    fn open_dependencies(
        &self,
        needs: impl IntoIterator<Item = TaskId>,
    ) -> Result<usize, QueueError> {
        let mut open = 0;
        for need in needs {
            let completed = self.find_status(&need)? == Some(TaskStatus::Completed);
            open += usize::from(!completed);
        }
        Ok(open)
    }

    /// Returns the status of a task, or `None` if the task is unknown.
    pub(super) fn find_status(&self, id: &TaskId) -> Result<Option<TaskStatus>, QueueError> {
        Ok(self.find(id)?.map(|(_, status)| status))
    }

    /// Returns the end of a task's delay: by the monotonic clock if it was stored in this boot,
    /// else by the wall clock. Returns `None` if the task is not delayed.
    fn delayed_until(&self, task: &Task) -> Option<Uptime> {
        let rests = task.rest.get(BACKOFF_UNTIL).filter(|rests| rests["boot_id"] == self.boot);
        let until = rests.and_then(|rests| rests["until_uptime_ms"].as_i64());
        let left = transitions::time_until_claimable(task, self.policy, Moment::now(self.clock));
        let until = match until.map(Uptime::from_millis) {
            // The end of a back-off is stored by a clock that no user can set.
            Some(until) if task.run_at.is_none() => until,
            Some(until) => until.max(self.clock.uptime().after(left)),
            None => self.clock.uptime().after(left),
        };
        (until > self.clock.uptime()).then_some(until)
    }

    /// Counts the open dependencies of each task that depends on `id` again, and wakes agents that
    /// can claim them.
    pub(super) fn update_dependents(&mut self, id: &TaskId) -> Result<(), QueueError> {
        for waiting in self.index.dependents(id)? {
            self.recount_open_dependencies(&waiting)?;
        }
        Ok(())
    }

    /// Counts the open dependencies of a task again.
    pub(super) fn recount_open_dependencies(&mut self, id: &TaskId) -> Result<(), QueueError> {
        let open = self.open_dependencies(self.index.needs(id)?)?;
        self.index.set_open_dependencies(id, open)?;
        if open == 0
            && let Some(entry) = self.index.get(id)?
        {
            // The notification is best effort: no agent has to be waiting.
            let _ = fs::write(self.layout.wake_file(&entry.queue), "");
        }
        Ok(())
    }

    pub(super) fn cancel(&mut self, id: &TaskId, by: &str) -> Result<(), QueueError> {
        self.update_task(id, |task| transitions::cancel(task, by, Moment::now(self.clock)))
    }

    /// Makes a failed or cancelled task pending again.
    pub(super) fn retry(&mut self, id: &TaskId) -> Result<(), QueueError> {
        self.update_task(id, |mut task| {
            task.rest.remove(BACKOFF_UNTIL);
            transitions::retry(task)
        })
    }

    fn update_task(
        &mut self,
        id: &TaskId,
        how: impl FnOnce(Task) -> Result<Task, QueueError>,
    ) -> Result<(), QueueError> {
        let Some(entry) = self.index.get(id)? else {
            return match self.find_archived(id)? {
                Some(queue) => {
                    let bytes = durable_fs::read(&self.layout.completed_task(&queue, id))?;
                    let task = Task::parse(&bytes.unwrap_or_default())?;
                    how(task).map(|_| ())
                }
                None => Err(QueueError::Unknown(id.clone())),
            };
        };
        let task = self.read(&entry.queue, &entry.file)?;
        let task = how(task.ok_or_else(|| QueueError::Unknown(id.clone()))?)?;
        self.lock.mark_dirty(&entry.queue, id)?;
        self.rename_to_id(&entry)?;
        self.store(&entry.queue, &task)?;
        self.tidy(|transaction| {
            durable_fs::remove(&transaction.layout.lock(id))?;
            transaction.update_dependents(id)
        });
        Ok(())
    }

    /// Adds tasks with the status that they have, except those whose id exists, and returns the
    /// number of new tasks.
    pub(super) fn restore(&mut self, tasks: Vec<QueuedTask>) -> Result<usize, QueueError> {
        let mut new = 0;
        for QueuedTask { queue, task } in tasks {
            if self.find(&task.id)?.is_some() {
                continue;
            }
            new += 1;
            self.lock.mark_dirty(&queue, &task.id)?;
            match task.status {
                TaskStatus::Completed => self.archive(&queue, &task)?,
                TaskStatus::InProgress => {
                    self.store(&queue, &transitions::release(task.clone()))?
                }
                TaskStatus::Pending | TaskStatus::Failed | TaskStatus::Cancelled => {
                    self.store(&queue, &task)?
                }
            }
            self.update_dependents(&task.id)?;
        }
        Ok(new)
    }
}

/// Returns the fence of a task: the number of its claims.
pub(super) fn fence(task: &Task) -> u64 {
    let number = task.rest.get(FENCE).and_then(Value::as_u64);
    number.filter(|number| *number < MAX_FENCE).unwrap_or(0)
}
