//! The queue as plain files that a person can read and edit: [`FileQueue`].
//!
//! `queues/{queue}/{id}.json` are the tasks that are not completed, `completed/{queue}/` the
//! completed ones, and `locks/{id}.lock` has the holder of a task and the end of its lease. The
//! files are the source of truth, and people may add a task as a file. Every change is made under
//! one kernel lock ([`guard`]), file by file ([`disk`](crate::disk), [`desk`]), and changes of
//! several files through a [`write_ahead`] record. An index of the files ([`index`]) keeps the cost
//! of a claim independent of the number of tasks; it is rebuilt from the files if it is missing
//! ([`sweep`]).
//!
//! Tasks, leases and records are written by `disk` alone. `guard` lets one process at a time make
//! changes, `desk` has every change of one task, `commit` changes of several tasks at once,
//! `recovery` recovers tasks whose holder is gone, `standing` computes the claimability of a task,
//! `sweep` imports files that people add, edit or remove, and `lease` stores which agent holds a
//! task.

mod commit;
mod desk;
mod guard;
mod index;
mod layout;
mod lease;
mod prune;
mod recovery;
mod room;
mod standing;
mod sweep;
#[cfg(test)]
mod tests;
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

use self::desk::Desk;
use self::guard::Guard;
use self::index::{Entry, Found, Index};
use self::layout::Layout;
use self::sweep::Look;
use self::watch::Edited;
use crate::boot::boot_id;
use crate::disk::{self, DiskError, Sure};
use crate::queue::{
    Addressed, Claimed, Count, Filter, Heartbeat, Lease, Listed, Policy, Presence, Queue,
    QueueError, Recovered, Seen, Settled, Settlement, Standing, Tenure, Watch, Who, same_for_all,
};
use crate::task::{AgentId, Moment, QueueName, Status, Task, TaskId};

/// The delay before the next scan of a folder in which a file may be incomplete.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// A queue that is stored in files.
pub struct FileQueue {
    layout: Layout,
    policy: Policy,
    clock: Clock,
    boot: String,
    inner: Mutex<Inner>,
    edited: Edited,
    /// The temporary folder of a queue from `empty`.
    _scratch: Option<TempDir>,
}

struct Inner {
    guard: Guard,
    index: Option<Index>,
}

impl FileQueue {
    /// Opens the queue in a folder, which is created if it does not exist.
    pub fn open(folder: &Path, policy: Policy, clock: &Clock) -> Result<FileQueue, QueueError> {
        let layout = Layout::new(folder);
        for folder in layout.folders() {
            disk::make_folder(&folder)?;
        }
        if !layout.ignored().is_file() {
            let text = b"# Written by assay: what is not meant for git.\n*\n";
            // A disk that has no space for this file has none for tasks either, and the push
            // reports that.
            let _ = disk::write(&layout.ignored(), text, Sure::InMemory);
        }
        let guard = Guard::open(&layout.guard())?;
        let inner = Mutex::new(Inner { guard, index: None });
        let (clock, boot) = (clock.clone(), boot_id());
        let edited = Edited::default();
        Ok(FileQueue { layout, policy, clock, boot, inner, edited, _scratch: None })
    }

    /// Opens a queue without tasks in a temporary folder, which is removed with the queue: for
    /// commands that only read where no queue exists.
    pub fn empty(policy: Policy, clock: &Clock) -> Result<FileQueue, QueueError> {
        let folder = TempDir::with_prefix("assay-queue-");
        let folder = folder.map_err(disk::at(Path::new("the folder for temporary files")))?;
        let queue = FileQueue::open(folder.path(), policy, clock)?;
        Ok(FileQueue { _scratch: Some(folder), ..queue })
    }

    /// Creates the folder of a queue, so that people can add tasks as files.
    pub fn make(&self, queue: &QueueName) -> Result<(), QueueError> {
        Ok(disk::make_folder(&self.layout.queue(queue))?)
    }

    /// Returns true if the folder has a queue.
    pub fn is_in(folder: &Path) -> bool {
        Layout::new(folder).queues().is_dir()
    }

    /// Returns the names of the files that were set aside because they are not tasks.
    pub fn set_aside(folder: &Path) -> Result<Vec<String>, DiskError> {
        let names = disk::names(&Layout::new(folder).malformed())?.into_iter();
        let names = names.filter(|name| !name.starts_with('.'));
        // If an entry could not be moved, only its reason is in the folder.
        let entry =
            |name: String| name.strip_suffix(layout::REASON).map_or(name.clone(), str::to_owned);
        Ok(names.map(entry).collect::<BTreeSet<String>>().into_iter().collect())
    }

    /// Returns the files in queues that are not valid tasks and may still be incomplete, each with
    /// the reason. They are set aside if they stay invalid.
    pub fn doubtful(&self) -> Result<Vec<(String, String)>, QueueError> {
        self.guarded(|desk| {
            let mut doubtful = Vec::new();
            for queue in desk.queues()? {
                doubtful.extend(desk.doubtful(&queue)?);
            }
            Ok(doubtful)
        })
    }

    /// Returns the folder of the queue.
    pub fn folder(&self) -> &Path {
        self.layout.root()
    }

    /// Runs an operation under the queue lock, after recovering the writes of a crashed process.
    fn guarded<T>(
        &self,
        what: impl FnOnce(&mut Desk<'_>) -> Result<T, QueueError>,
    ) -> Result<T, QueueError> {
        let mut inner = self.lock();
        let Inner { guard, index } = &mut *inner;
        let locked = guard.lock()?;
        let (opened, found) = open_index(index.take(), &self.layout, &self.boot)?;
        let (layout, policy, boot) = (&self.layout, &self.policy, self.boot.as_str());
        let opened = Rc::new(opened);
        let index_of_desk = Rc::clone(&opened);
        let mut desk = Desk {
            layout,
            policy,
            clock: &self.clock,
            boot,
            index: index_of_desk,
            locked,
            is_tidy: true,
            cycles: OnceCell::new(),
        };
        let done = desk.recover_writes().and_then(|()| match found {
            Found::Filled => Ok(()),
            Found::Empty => desk.fill(),
        });
        let done = done.and_then(|()| what(&mut desk));
        let Desk { mut locked, is_tidy, index: index_of_desk, .. } = desk;
        drop(index_of_desk);
        // An operation whose files are written is done, whatever happens to the index: the next
        // operation re-indexes the tasks that are noted under the guard.
        let is_kept = match done {
            Ok(_) => opened.keep_changes(),
            Err(_) => opened.drop_changes(),
        };
        match Rc::into_inner(opened) {
            Some(opened) if is_kept => *index = Some(opened),
            Some(broken) => broken.discard(),
            None => {}
        }
        if is_kept && is_tidy && done.is_ok() {
            let _ = locked.done();
        }
        done
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // An operation that panicked left its tasks noted under the guard, and the next operation
        // recovers them.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn claim_one(
        &self,
        queue: &QueueName,
        agent: &AgentId,
        tenure: Tenure,
    ) -> Result<Option<Claimed>, QueueError> {
        self.guarded(|desk| {
            for name in self.edited.take(&self.layout.queue(queue)) {
                desk.take_in(queue, &name)?;
            }
            desk.look(queue, Look::InPassing)?;
            if let Some(claimed) = desk.claim(queue, agent, tenure)? {
                return Ok(Some(claimed));
            }
            desk.look(queue, Look::Closely)?;
            desk.recover()?;
            desk.claim(queue, agent, tenure)
        })
    }

    /// Reads the task of an index entry, also if it was completed meanwhile.
    fn read(&self, entry: &Entry) -> Option<Task> {
        let waiting = self.layout.queue(&entry.queue).join(&entry.file);
        let completed = self.layout.completed(&entry.queue, &entry.id);
        let bytes = fs::read(waiting).or_else(|_| fs::read(completed)).ok()?;
        Task::parse(&bytes).ok()
    }

    /// Returns the completed tasks of a queue, the newest first.
    fn archived(&self, queue: &QueueName, most: usize) -> Result<Vec<Listed>, QueueError> {
        let folder = self.layout.archive(queue);
        let names = disk::names(&folder)?.into_iter().filter(|name| layout::is_task_file(name));
        let age = |name: &String| fs::metadata(folder.join(name)).and_then(|file| file.modified());
        let mut names: Vec<(_, String)> =
            names.filter_map(|name| Some((age(&name).ok()?, name))).collect();
        names.sort_by_key(|(age, name)| (Reverse(*age), name.clone()));
        let read = |(_, name): (_, String)| {
            let task = Task::parse(&fs::read(folder.join(name)).ok()?).ok()?;
            Some(Listed { queue: queue.clone(), standing: Standing::Over, task })
        };
        Ok(names.into_iter().take(most).filter_map(read).collect())
    }

    /// Returns the tasks with a status from the index, in the order in which they would be claimed.
    fn listed(&self, filter: &Filter, status: Status) -> Result<Vec<Listed>, QueueError> {
        let entries = self.guarded(|desk| {
            desk.look_everywhere()?;
            let entries = desk.index.list(filter.queue.as_ref(), status)?.into_iter();
            let most = filter.limit.filter(|_| filter.context.is_none()).unwrap_or(usize::MAX);
            let with_standing = |entry| Ok((desk.standing(&entry)?, entry));
            entries.take(most).map(with_standing).collect::<Result<Vec<_>, QueueError>>()
        })?;
        // The files are read without the lock, so that other processes need not wait.
        let listed = entries.into_iter().filter_map(|(standing, entry)| {
            Some(Listed { task: self.read(&entry)?, queue: entry.queue, standing })
        });
        Ok(listed.collect())
    }
}

/// Begins a transaction on the index: on the open one, on a new one if another process deleted its
/// file, or on one in memory if the disk does not accept a file.
fn open_index(
    index: Option<Index>,
    layout: &Layout,
    boot: &str,
) -> Result<(Index, Found), QueueError> {
    if let Some(index) = index.filter(Index::is_there)
        && index.begin_changes().is_ok()
    {
        return Ok((index, Found::Filled));
    }
    let path = layout.index();
    let on_disk = || -> Result<(Index, Found), QueueError> {
        disk::make_folder(path.parent().expect("it is in a folder"))?;
        let (opened, found) = Index::open(&path, boot)?;
        opened.begin_changes()?;
        Ok((opened, found))
    };
    on_disk().or_else(|_| {
        let index = Index::in_memory(&path)?;
        index.begin_changes()?;
        Ok((index, Found::Empty))
    })
}

impl Queue for FileQueue {
    fn push(&self, tasks: Vec<Addressed>) -> Result<(), QueueError> {
        self.guarded(|desk| desk.push(tasks))
    }

    fn push_all(&self, tasks: Vec<Addressed>) -> Vec<Result<(), QueueError>> {
        let number = tasks.len();
        let done = self.guarded(|desk| desk.push_all(tasks));
        done.unwrap_or_else(|error| same_for_all(number, error))
    }

    fn claim(
        &self,
        queue: &QueueName,
        agent: &AgentId,
        tenure: Tenure,
        at_most: usize,
    ) -> Result<Vec<Claimed>, QueueError> {
        let mut claimed = Vec::new();
        while claimed.len() < at_most {
            match self.claim_one(queue, agent, tenure) {
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
        self.guarded(|desk| desk.renew(lease, time))
    }

    fn settle(&self, lease: &Lease, settlement: Settlement) -> Result<Settled, QueueError> {
        self.guarded(|desk| desk.settle(lease, settlement))
    }

    fn get(&self, id: &TaskId) -> Result<Listed, QueueError> {
        let found = self.guarded(|desk| {
            desk.look_everywhere()?;
            match desk.index.get(id)? {
                Some(entry) => Ok(Ok((desk.standing(&entry)?, entry))),
                None => desk.archived(id).map(Err),
            }
        })?;
        let unknown = || QueueError::Unknown(id.clone());
        match found {
            Ok((standing, entry)) => {
                let task = self.read(&entry).ok_or_else(unknown)?;
                Ok(Listed { queue: entry.queue, standing, task })
            }
            Err(archive) => {
                let queue = archive.ok_or_else(unknown)?;
                let bytes = disk::read(&self.layout.completed(&queue, id))?.ok_or_else(unknown)?;
                Ok(Listed { queue, standing: Standing::Over, task: Task::parse(&bytes)? })
            }
        }
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Listed>, QueueError> {
        let all = [Status::InProgress, Status::Pending, Status::Failed, Status::Cancelled];
        let statuses = if filter.statuses.is_empty() { &all[..] } else { &filter.statuses };
        let most = filter.limit.unwrap_or(usize::MAX);
        let mut listed = Vec::new();
        for status in statuses {
            listed.extend(self.listed(filter, *status)?);
            if *status != Status::Completed {
                continue;
            }
            let queues = match &filter.queue {
                Some(queue) => vec![queue.clone()],
                None => archives(&self.layout)?,
            };
            for queue in queues {
                let most = if filter.context.is_none() { most } else { usize::MAX };
                listed.extend(self.archived(&queue, most)?);
            }
        }
        if let Some((key, value)) = &filter.context {
            listed.retain(|listed| listed.task.context.get(key).is_some_and(|is| is == value));
        }
        listed.truncate(most);
        Ok(listed)
    }

    fn count(&self) -> Result<Vec<Count>, QueueError> {
        let mut counts = self.guarded(|desk| {
            desk.look_everywhere()?;
            let queues = desk.queues()?.into_iter();
            queues.map(|queue| count(desk, queue)).collect::<Result<Vec<Count>, QueueError>>()
        })?;
        // The archives are counted without the lock, so that other processes need not wait.
        for count in &mut counts {
            let archive = disk::names(&self.layout.archive(&count.queue))?;
            count.completed += archive.iter().filter(|name| layout::is_task_file(name)).count();
        }
        Ok(counts)
    }

    fn cancel(&self, id: &TaskId, by: &str) -> Result<(), QueueError> {
        self.guarded(|desk| {
            desk.look_everywhere()?;
            desk.cancel(id, by)
        })
    }

    fn retry(&self, id: &TaskId) -> Result<(), QueueError> {
        self.guarded(|desk| {
            desk.look_everywhere()?;
            desk.retry(id)
        })
    }

    fn restore(&self, tasks: Vec<Addressed>) -> Result<usize, QueueError> {
        self.guarded(|desk| {
            desk.look_everywhere()?;
            desk.restore(tasks)
        })
    }

    fn prune(&self, older_than: Duration) -> Result<usize, QueueError> {
        self.guarded(|desk| {
            desk.look_everywhere()?;
            desk.prune(older_than, Moment::now(&self.clock))
        })
    }

    fn recover(&self) -> Result<Vec<Recovered>, QueueError> {
        self.guarded(|desk| desk.recover())
    }

    fn watch(&self, queue: &QueueName) -> Result<Watch, QueueError> {
        let folder = self.layout.queue(queue);
        disk::make_folder(&folder)?;
        watch::watch(&[folder, self.layout.pauses()], &self.edited)
    }

    fn next_ready(&self, queue: &QueueName) -> Result<Option<Duration>, QueueError> {
        self.guarded(|desk| {
            // The index may exist without the folder of the queue.
            desk.folder(queue)?;
            let rested = desk.index.rest_over(queue)?.map(|over| self.clock.uptime().until(over));
            let unsettled = desk.is_unsettled(queue)?.then_some(LOOK_AGAIN);
            Ok(rested.into_iter().chain(unsettled).min())
        })
    }

    fn join(&self, agent: &AgentId) -> Result<Box<dyn Presence>, QueueError> {
        let about = json!({ "pid": std::process::id(), "since": Moment::now(&self.clock) });
        let file = self.guarded(|desk| desk.join(agent, &about))?;
        Ok(Box::new(FilePresence { _locked: file }))
    }

    fn beat(&self, heartbeat: &Heartbeat) -> Result<(), QueueError> {
        let json = serde_json::to_vec_pretty(heartbeat).expect("a heartbeat is JSON");
        Ok(disk::write(&self.layout.heartbeat(&heartbeat.agent), &json, Sure::InMemory)?)
    }

    fn agents(&self) -> Result<Vec<Seen>, QueueError> {
        let mut seen = Vec::new();
        let names = disk::names(&self.layout.heartbeats())?.into_iter();
        for name in names.filter(|name| layout::is_task_file(name)) {
            // A heartbeat that cannot be read must not hide other agents.
            let bytes = disk::read(&self.layout.heartbeats().join(&name)).ok().flatten();
            let bytes = bytes.unwrap_or_default();
            let Ok(heartbeat) = serde_json::from_slice::<Heartbeat>(&bytes) else {
                continue;
            };
            let agent = &heartbeat.agent;
            let alive = self.guarded(|desk| Ok(lease::is_alive(desk.layout, agent)))?;
            let paused = self.is_paused(agent)?;
            seen.push(Seen { heartbeat, alive, paused });
        }
        seen.sort_by(|a, b| a.heartbeat.agent.cmp(&b.heartbeat.agent));
        Ok(seen)
    }

    fn pause(&self, who: &Who) -> Result<(), QueueError> {
        let path = match who {
            Who::Agent(agent) => self.layout.pause(agent),
            Who::All => self.layout.pause_all(),
        };
        let since = format!("{}\n", Moment::now(&self.clock));
        self.guarded(|_| Ok(disk::write(&path, since.as_bytes(), Sure::OnDisk)?))
    }

    fn resume(&self, who: &Who) -> Result<(), QueueError> {
        let folder = self.layout.pauses();
        let paths = match who {
            Who::Agent(agent) => vec![self.layout.pause(agent)],
            Who::All => disk::names(&folder)?.iter().map(|name| folder.join(name)).collect(),
        };
        let mut files = paths.iter().filter(|path| !path.is_dir());
        Ok(files.try_for_each(|path| disk::remove(path))?)
    }

    fn is_paused(&self, agent: &AgentId) -> Result<bool, QueueError> {
        Ok(self.layout.pause(agent).exists() || self.layout.pause_all().exists())
    }
}

fn count(desk: &Desk<'_>, queue: QueueName) -> Result<Count, QueueError> {
    let number = |status| desk.index.count(&queue, status);
    let (ready, pending) =
        (desk.index.ready(&queue, desk.clock.uptime())?, number(Status::Pending)?);
    let mut blocked = 0;
    for id in desk.index.waiting(&queue, usize::MAX)? {
        let Some(entry) = desk.index.get(&id)? else {
            continue;
        };
        blocked += usize::from(matches!(desk.standing(&entry)?, Standing::Blocked { .. }));
    }
    Ok(Count {
        ready,
        waiting: pending.saturating_sub(ready + blocked),
        blocked,
        in_progress: number(Status::InProgress)?,
        completed: number(Status::Completed)?,
        failed: number(Status::Failed)?,
        cancelled: number(Status::Cancelled)?,
        queue,
    })
}

/// Returns the queues that have completed tasks.
fn archives(layout: &Layout) -> Result<Vec<QueueName>, QueueError> {
    let names = disk::names(&layout.archives())?;
    let names = names.iter().filter(|name| layout.archives().join(name).is_dir());
    Ok(names.filter_map(|name| name.parse().ok()).collect())
}

/// The registration of an agent, which ends when the lock of its file ends.
struct FilePresence {
    _locked: File,
}

impl Presence for FilePresence {}
