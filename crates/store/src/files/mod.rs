//! The queue as plain files that a person can read and edit: [`FileQueue`].
//!
//! `queues/{queue}/{id}.json` are the tasks that are not completed, `completed/{queue}/` the
//! completed ones, and `locks/{id}.lock` has the holder of a task and the end of its lease. The
//! files are the source of truth, and people may add a task as a file. Every change is made under
//! one kernel lock ([`queue_lock`]), file by file ([`durable_fs`](crate::durable_fs),
//! [`transaction`]), and changes of several files through a [`write_ahead`] record. An index of the
//! files ([`index`]) keeps the cost of a claim independent of the number of tasks; it is rebuilt
//! from the files if it is missing ([`scan`]).
//!
//! Tasks, leases and records are written by `durable_fs` alone. `queue_lock` lets one process at a
//! time make changes, `transaction` has every change of one task, `commit` changes of several tasks
//! at once, `recovery` recovers tasks whose holder is gone, `claim_state` computes the claimability
//! of a task, `scan` imports files that people add, edit or remove, and `lease_file` stores which
//! agent holds a task.

mod claim_state;
mod commit;
mod file_names;
mod index;
mod layout;
mod lease_file;
mod overview;
mod prune;
mod queue_lock;
mod recovery;
mod scan;
#[cfg(test)]
mod tests;
mod transaction;
mod watch;
mod write_ahead;

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_base::clock::Clock;
use serde_json::json;
use tempfile::TempDir;

use self::index::{Index, IndexEntry, IndexState};
use self::layout::Layout;
use self::overview::EntryWithState;
use self::queue_lock::QueueLock;
use self::scan::ScanMode;
use self::transaction::QueueTransaction;
use self::watch::EditedFiles;
use crate::boot::boot_id;
use crate::durable_fs::{self, DiskError, Durability};
use crate::queue::{
    AgentHealth, ClaimState, ClaimedTask, Heartbeat, Lease, LeaseKind, ListedTask, PauseTarget,
    Policy, Queue, QueueCounts, QueueError, QueueOverview, QueuedTask, RecoveredTask, Registration,
    SettleOutcome, TaskFilter, TaskResult, Watch, repeat_error,
};
use crate::task::{AgentId, Moment, QueueName, Task, TaskId, TaskStatus};

/// The delay before the next scan of a folder in which a file may be incomplete.
const RESCAN_DELAY: Duration = Duration::from_millis(200);

/// A queue that is stored in files.
pub struct FileQueue {
    layout: Layout,
    policy: Policy,
    clock: Clock,
    boot: String,
    inner: Mutex<Inner>,
    edited: EditedFiles,
    /// The temporary folder of a queue from `empty`.
    _scratch: Option<TempDir>,
}

struct Inner {
    queue_lock: QueueLock,
    index: Option<Index>,
}

impl FileQueue {
    /// Opens the queue in a folder, which is created if it does not exist.
    pub fn open(folder: &Path, policy: Policy, clock: &Clock) -> Result<FileQueue, QueueError> {
        let layout = Layout::new(folder);
        for folder in layout.folders() {
            durable_fs::make_folder(&folder)?;
        }
        if !layout.gitignore().is_file() {
            let text = b"# Written by assay: what is not meant for git.\n*\n";
            // A disk that has no space for this file has none for tasks either, and the push
            // reports that.
            let _ = durable_fs::write(&layout.gitignore(), text, Durability::PageCache);
        }
        let queue_lock = QueueLock::open(&layout.queue_lock())?;
        let inner = Mutex::new(Inner { queue_lock, index: None });
        let (clock, boot) = (clock.clone(), boot_id());
        let edited = EditedFiles::default();
        Ok(FileQueue { layout, policy, clock, boot, inner, edited, _scratch: None })
    }

    /// Opens a queue without tasks in a temporary folder, which is removed with the queue: for
    /// commands that only read where no queue exists.
    pub fn empty(policy: Policy, clock: &Clock) -> Result<FileQueue, QueueError> {
        let folder = TempDir::with_prefix("assay-queue-");
        let folder =
            folder.map_err(durable_fs::with_path(Path::new("the folder for temporary files")))?;
        let queue = FileQueue::open(folder.path(), policy, clock)?;
        Ok(FileQueue { _scratch: Some(folder), ..queue })
    }

    /// Creates the folder of a queue, so that people can add tasks as files.
    pub fn make(&self, queue: &QueueName) -> Result<(), QueueError> {
        Ok(durable_fs::make_folder(&self.layout.queue(queue))?)
    }

    /// Returns true if the folder has a queue.
    pub fn exists_in(folder: &Path) -> bool {
        Layout::new(folder).queues().is_dir()
    }

    /// Returns the names of the files that were set aside because they are not tasks.
    pub fn malformed_files(folder: &Path) -> Result<Vec<String>, DiskError> {
        let names = durable_fs::list_dir(&Layout::new(folder).malformed())?.into_iter();
        let names = names.filter(|name| !name.starts_with('.'));
        // If an entry could not be moved, only its reason is in the folder.
        let entry =
            |name: String| name.strip_suffix(layout::REASON).map_or(name.clone(), str::to_owned);
        Ok(names.map(entry).collect::<BTreeSet<String>>().into_iter().collect())
    }

    /// Returns the files in queues that are not valid tasks and may still be incomplete, each with
    /// the reason. They are set aside if they stay invalid.
    pub fn incomplete_files(&self) -> Result<Vec<(String, String)>, QueueError> {
        self.with_transaction(|transaction| {
            let mut incomplete = Vec::new();
            for queue in transaction.queues()? {
                incomplete.extend(transaction.incomplete_files(&queue)?);
            }
            Ok(incomplete)
        })
    }

    /// Returns the folder of the queue.
    pub fn folder(&self) -> &Path {
        self.layout.root()
    }

    /// Runs an operation under the queue lock, after recovering the writes of a crashed process.
    fn with_transaction<T>(
        &self,
        what: impl FnOnce(&mut QueueTransaction<'_>) -> Result<T, QueueError>,
    ) -> Result<T, QueueError> {
        let mut inner = self.lock();
        let Inner { queue_lock, index } = &mut *inner;
        let lock = queue_lock.lock()?;
        let (opened, found) = open_index(index.take(), &self.layout, &self.boot)?;
        let (layout, policy, boot) = (&self.layout, &self.policy, self.boot.as_str());
        let opened = Rc::new(opened);
        let index_of_transaction = Rc::clone(&opened);
        let mut transaction = QueueTransaction {
            layout,
            policy,
            clock: &self.clock,
            boot,
            index: index_of_transaction,
            lock,
            is_tidy: true,
            cycles: OnceCell::new(),
        };
        let done = transaction.recover_writes().and_then(|()| match found {
            IndexState::Filled => Ok(()),
            IndexState::Empty => transaction.import_all(),
        });
        let done = done.and_then(|()| what(&mut transaction));
        let QueueTransaction { mut lock, is_tidy, index: index_of_transaction, .. } = transaction;
        drop(index_of_transaction);
        // An operation whose files are written is done, whatever happens to the index: the next
        // operation re-indexes the tasks that are listed as dirty in the lock file.
        let is_kept = match done {
            Ok(_) => opened.commit_transaction(),
            Err(_) => opened.roll_back(),
        };
        match Rc::into_inner(opened) {
            Some(opened) if is_kept => *index = Some(opened),
            Some(broken) => broken.discard(),
            None => {}
        }
        if is_kept && is_tidy && done.is_ok() {
            let _ = lock.clear_dirty();
        }
        done
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // An operation that panicked left its tasks listed as dirty in the lock file, and the next
        // operation recovers them.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn claim_one(
        &self,
        queue: &QueueName,
        agent: &AgentId,
        lease_kind: LeaseKind,
    ) -> Result<Option<ClaimedTask>, QueueError> {
        self.with_transaction(|transaction| {
            for name in self.edited.take(&self.layout.queue(queue)) {
                transaction.import_file(queue, &name)?;
            }
            transaction.scan(queue, ScanMode::Throttled)?;
            if let Some(claimed) = transaction.claim(queue, agent, lease_kind)? {
                return Ok(Some(claimed));
            }
            transaction.scan(queue, ScanMode::IfChanged)?;
            transaction.recover()?;
            transaction.claim(queue, agent, lease_kind)
        })
    }

    /// Reads the task of an index entry, also if it was completed meanwhile.
    fn read(&self, entry: &IndexEntry) -> Option<Task> {
        let waiting = self.layout.queue(&entry.queue).join(&entry.file);
        let completed = self.layout.completed_task(&entry.queue, &entry.id);
        let bytes = fs::read(waiting).or_else(|_| fs::read(completed)).ok()?;
        Task::parse(&bytes).ok()
    }

    /// Returns the completed tasks of a queue, the newest first.
    fn list_archived(&self, queue: &QueueName, most: usize) -> Result<Vec<ListedTask>, QueueError> {
        let folder = self.layout.archive(queue);
        let names =
            durable_fs::list_dir(&folder)?.into_iter().filter(|name| layout::is_task_file(name));
        let age = |name: &String| fs::metadata(folder.join(name)).and_then(|file| file.modified());
        let mut names: Vec<(_, String)> =
            names.filter_map(|name| Some((age(&name).ok()?, name))).collect();
        names.sort_by_key(|(age, name)| (Reverse(*age), name.clone()));
        let read = |(_, name): (_, String)| {
            let task = Task::parse(&fs::read(folder.join(name)).ok()?).ok()?;
            Some(ListedTask { queue: queue.clone(), claim_state: ClaimState::Done, task })
        };
        Ok(names.into_iter().take(most).filter_map(read).collect())
    }

    /// Returns at most `most` tasks with a status from the index, in the order in which they would
    /// be claimed.
    fn list_indexed(
        &self,
        queue: Option<&QueueName>,
        status: TaskStatus,
        most: usize,
    ) -> Result<Vec<ListedTask>, QueueError> {
        let entries = self.with_transaction(|transaction| {
            transaction.scan_all()?;
            transaction.with_states(transaction.index.list(queue, status, most)?)
        })?;
        Ok(self.read_all(entries))
    }

    /// Reads the tasks of index entries, without the lock, so that other processes need not wait.
    fn read_all(&self, entries: Vec<EntryWithState>) -> Vec<ListedTask> {
        let listed = entries.into_iter().filter_map(|(claim_state, entry)| {
            Some(ListedTask { task: self.read(&entry)?, queue: entry.queue, claim_state })
        });
        listed.collect()
    }

    /// Adds the completed tasks to the counts, without the lock, so that other processes need not
    /// wait.
    fn add_archived(&self, counts: &mut [QueueCounts]) -> Result<(), QueueError> {
        for count in counts {
            let archive = durable_fs::list_dir(&self.layout.archive(&count.queue))?;
            count.completed += archive.iter().filter(|name| layout::is_task_file(name)).count();
        }
        Ok(())
    }
}

/// Begins a transaction on the index: on the open one, on a new one if another process deleted its
/// file, or on one in memory if the disk does not accept a file.
fn open_index(
    index: Option<Index>,
    layout: &Layout,
    boot: &str,
) -> Result<(Index, IndexState), QueueError> {
    if let Some(index) = index.filter(Index::is_current)
        && index.begin_transaction().is_ok()
    {
        return Ok((index, IndexState::Filled));
    }
    let path = layout.index();
    let on_disk = || -> Result<(Index, IndexState), QueueError> {
        durable_fs::make_folder(path.parent().expect("it is in a folder"))?;
        let (opened, found) = Index::open(&path, boot)?;
        opened.begin_transaction()?;
        Ok((opened, found))
    };
    on_disk().or_else(|_| {
        let index = Index::in_memory(&path)?;
        index.begin_transaction()?;
        Ok((index, IndexState::Empty))
    })
}

impl Queue for FileQueue {
    fn push(&self, tasks: Vec<QueuedTask>) -> Result<(), QueueError> {
        self.with_transaction(|transaction| transaction.push(tasks))
    }

    fn push_all(&self, tasks: Vec<QueuedTask>) -> Vec<Result<(), QueueError>> {
        let number = tasks.len();
        let done = self.with_transaction(|transaction| transaction.push_all(tasks));
        done.unwrap_or_else(|error| repeat_error(number, error))
    }

    fn claim(
        &self,
        queue: &QueueName,
        agent: &AgentId,
        lease_kind: LeaseKind,
        at_most: usize,
    ) -> Result<Vec<ClaimedTask>, QueueError> {
        let mut claimed = Vec::new();
        while claimed.len() < at_most {
            match self.claim_one(queue, agent, lease_kind) {
                Ok(Some(next)) => claimed.push(next),
                Ok(None) => break,
                // The tasks that were claimed before are held, so they must be returned.
                Err(_) if !claimed.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(claimed)
    }

    fn renew(&self, lease: &Lease, time: Duration) -> Result<(), QueueError> {
        self.with_transaction(|transaction| transaction.renew(lease, time))
    }

    fn settle(&self, lease: &Lease, result: TaskResult) -> Result<SettleOutcome, QueueError> {
        self.with_transaction(|transaction| transaction.settle(lease, result))
    }

    fn get(&self, id: &TaskId) -> Result<ListedTask, QueueError> {
        let found = self.with_transaction(|transaction| {
            transaction.scan_all()?;
            match transaction.index.get(id)? {
                Some(entry) => Ok(Ok((transaction.claim_state(&entry)?, entry))),
                None => transaction.find_archived(id).map(Err),
            }
        })?;
        let unknown = || QueueError::Unknown(id.clone());
        match found {
            Ok((claim_state, entry)) => {
                let task = self.read(&entry).ok_or_else(unknown)?;
                Ok(ListedTask { queue: entry.queue, claim_state, task })
            }
            Err(archive) => {
                let queue = archive.ok_or_else(unknown)?;
                let bytes = durable_fs::read(&self.layout.completed_task(&queue, id))?
                    .ok_or_else(unknown)?;
                Ok(ListedTask { queue, claim_state: ClaimState::Done, task: Task::parse(&bytes)? })
            }
        }
    }

    fn list(&self, filter: &TaskFilter) -> Result<Vec<ListedTask>, QueueError> {
        let all = [
            TaskStatus::InProgress,
            TaskStatus::Pending,
            TaskStatus::Failed,
            TaskStatus::Cancelled,
        ];
        let statuses = if filter.statuses.is_empty() { &all[..] } else { &filter.statuses };
        let limit = filter.limit.unwrap_or(usize::MAX);
        // The index does not know the context of tasks.
        let most = if filter.context.is_none() { limit } else { usize::MAX };
        let mut listed = Vec::new();
        for status in statuses {
            let missing = most.saturating_sub(listed.len());
            if missing == 0 {
                break;
            }
            listed.extend(self.list_indexed(filter.queue.as_ref(), *status, missing)?);
            if *status != TaskStatus::Completed {
                continue;
            }
            let queues = match &filter.queue {
                Some(queue) => vec![queue.clone()],
                None => archives(&self.layout)?,
            };
            for queue in queues {
                listed.extend(self.list_archived(&queue, most)?);
            }
        }
        if let Some((key, value)) = &filter.context {
            listed.retain(|listed| listed.task.context.get(key).is_some_and(|is| is == value));
        }
        listed.truncate(limit);
        Ok(listed)
    }

    fn count(&self) -> Result<Vec<QueueCounts>, QueueError> {
        let mut counts = self.with_transaction(|transaction| {
            transaction.scan_all()?;
            transaction.counts(&transaction.blocked_tasks()?)
        })?;
        self.add_archived(&mut counts)?;
        Ok(counts)
    }

    fn overview(&self, most: usize) -> Result<QueueOverview, QueueError> {
        let found = self.with_transaction(|transaction| transaction.overview(most))?;
        let mut counts = found.counts;
        self.add_archived(&mut counts)?;
        Ok(QueueOverview {
            counts,
            running: self.read_all(found.running),
            blocked: self.read_all(found.blocked),
            waiting: self.read_all(found.waiting),
            failed: self.read_all(found.failed),
        })
    }

    fn cancel(&self, id: &TaskId, by: &str) -> Result<(), QueueError> {
        self.with_transaction(|transaction| {
            transaction.scan_all()?;
            transaction.cancel(id, by)
        })
    }

    fn retry(&self, id: &TaskId) -> Result<(), QueueError> {
        self.with_transaction(|transaction| {
            transaction.scan_all()?;
            transaction.retry(id)
        })
    }

    fn restore(&self, tasks: Vec<QueuedTask>) -> Result<usize, QueueError> {
        self.with_transaction(|transaction| {
            transaction.scan_all()?;
            transaction.restore(tasks)
        })
    }

    fn prune(&self, older_than: Duration) -> Result<usize, QueueError> {
        self.with_transaction(|transaction| {
            transaction.scan_all()?;
            transaction.prune(older_than, Moment::now(&self.clock))
        })
    }

    fn recover(&self) -> Result<Vec<RecoveredTask>, QueueError> {
        self.with_transaction(|transaction| transaction.recover())
    }

    fn watch(&self, queue: &QueueName) -> Result<Watch, QueueError> {
        let folder = self.layout.queue(queue);
        durable_fs::make_folder(&folder)?;
        watch::watch(&[folder, self.layout.pauses()], &self.edited)
    }

    fn next_ready(&self, queue: &QueueName) -> Result<Option<Duration>, QueueError> {
        self.with_transaction(|transaction| {
            // The index may exist without the folder of the queue.
            transaction.folder(queue)?;
            let rested = transaction
                .index
                .first_delay_end(queue)?
                .map(|over| self.clock.uptime().until(over));
            let unsettled = transaction.needs_rescan(queue)?.then_some(RESCAN_DELAY);
            Ok(rested.into_iter().chain(unsettled).min())
        })
    }

    fn join(&self, agent: &AgentId) -> Result<Box<dyn Registration>, QueueError> {
        let about = json!({ "pid": std::process::id(), "since": Moment::now(&self.clock) });
        let file = self.with_transaction(|transaction| transaction.join(agent, &about))?;
        Ok(Box::new(FileRegistration { _file: file }))
    }

    fn record_heartbeat(&self, heartbeat: &Heartbeat) -> Result<(), QueueError> {
        let json = serde_json::to_vec_pretty(heartbeat).expect("a heartbeat is JSON");
        Ok(durable_fs::write(
            &self.layout.heartbeat(&heartbeat.agent),
            &json,
            Durability::PageCache,
        )?)
    }

    fn agents(&self) -> Result<Vec<AgentHealth>, QueueError> {
        let mut seen = Vec::new();
        let names = durable_fs::list_dir(&self.layout.heartbeats())?.into_iter();
        for name in names.filter(|name| layout::is_task_file(name)) {
            // A heartbeat that cannot be read must not hide other agents.
            let bytes = durable_fs::read(&self.layout.heartbeats().join(&name)).ok().flatten();
            let bytes = bytes.unwrap_or_default();
            let Ok(heartbeat) = serde_json::from_slice::<Heartbeat>(&bytes) else {
                continue;
            };
            let paused = self.is_paused(&heartbeat.agent)?;
            seen.push(AgentHealth { heartbeat, alive: false, paused });
        }
        if seen.is_empty() {
            return Ok(seen);
        }
        self.with_transaction(|transaction| {
            for agent in &mut seen {
                agent.alive = lease_file::is_alive(transaction.layout, &agent.heartbeat.agent);
            }
            Ok(())
        })?;
        seen.sort_by(|a, b| a.heartbeat.agent.cmp(&b.heartbeat.agent));
        Ok(seen)
    }

    fn pause(&self, target: &PauseTarget) -> Result<(), QueueError> {
        let path = match target {
            PauseTarget::Agent(agent) => self.layout.pause(agent),
            PauseTarget::All => self.layout.pause_all(),
        };
        let since = format!("{}\n", Moment::now(&self.clock));
        self.with_transaction(|_| {
            Ok(durable_fs::write(&path, since.as_bytes(), Durability::Fsync)?)
        })
    }

    fn resume(&self, target: &PauseTarget) -> Result<(), QueueError> {
        let folder = self.layout.pauses();
        let paths = match target {
            PauseTarget::Agent(agent) => vec![self.layout.pause(agent)],
            PauseTarget::All => {
                durable_fs::list_dir(&folder)?.iter().map(|name| folder.join(name)).collect()
            }
        };
        let mut files = paths.iter().filter(|path| !path.is_dir());
        Ok(files.try_for_each(|path| durable_fs::remove(path))?)
    }

    fn is_paused(&self, agent: &AgentId) -> Result<bool, QueueError> {
        Ok(self.layout.pause(agent).exists() || self.layout.pause_all().exists())
    }
}

/// Returns the queues that have completed tasks.
fn archives(layout: &Layout) -> Result<Vec<QueueName>, QueueError> {
    let names = durable_fs::list_dir(&layout.archives())?;
    let names = names.iter().filter(|name| layout.archives().join(name).is_dir());
    Ok(names.filter_map(|name| name.parse().ok()).collect())
}

/// The registration of an agent, which ends when the lock of its file ends.
struct FileRegistration {
    _file: File,
}

impl Registration for FileRegistration {}
