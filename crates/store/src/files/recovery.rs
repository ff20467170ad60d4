//! Recovery of tasks whose agent is gone, and the registration of agents.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::time::Duration;

use serde_json::Value;

use super::index::IndexEntry;
use super::lease_file::LeaseFile;
use super::transaction::{QueueTransaction, fence};
use super::write_ahead::WriteAhead;
use crate::durable_fs;
use crate::queue::{QueueError, RecoveredTask};
use crate::task::{AgentId, Moment, TaskStatus};
use crate::transitions;

/// The maximum age of a heartbeat for which an agent without a lease file still counts as alive.
const MAX_HEARTBEAT_AGE: Duration = Duration::from_secs(90);

impl QueueTransaction<'_> {
    /// Recovers tasks whose lease has expired or whose agent is gone.
    pub(super) fn recover(&mut self) -> Result<Vec<RecoveredTask>, QueueError> {
        for name in durable_fs::list_dir(&self.layout.locks())? {
            let Some(id) = name.strip_suffix(".lock").filter(|name| !name.starts_with('.')) else {
                continue;
            };
            let path = self.layout.locks().join(&name);
            if !path.is_file() {
                self.quarantine(&path, &name, "not a regular file in the lock folder")?;
                continue;
            }
            let lease = match id.parse() {
                Ok(id) => match LeaseFile::read(self.layout, &id) {
                    Ok(lease) => lease,
                    // Another user may hold the task: a lease that cannot be read is not removed.
                    Err(_) => continue,
                },
                Err(_) => None,
            };
            if lease.and_then(|it| it.remaining(self.layout, self.boot, self.clock)).is_none() {
                durable_fs::remove(&self.layout.locks().join(&name))?;
            }
        }
        let mut recovered = Vec::new();
        for entry in self.index.list(None, TaskStatus::InProgress, usize::MAX)? {
            if !self.layout.lock(&entry.id).is_file() {
                recovered.extend(self.recover_task(&entry)?);
            }
        }
        Ok(recovered)
    }

    /// Makes a task pending again that is in progress and has no lease.
    fn recover_task(&mut self, entry: &IndexEntry) -> Result<Option<RecoveredTask>, QueueError> {
        let Some(task) = self.read_unchanged(entry)? else {
            return Ok(None);
        };
        let held_by = task.started_by.clone();
        if held_by.as_ref().is_some_and(|agent| self.has_recent_heartbeat(agent))
            && fence(&task) == 0
        {
            return Ok(None);
        }
        self.lock.mark_dirty(&entry.queue, &entry.id)?;
        self.rename_to_id(entry)?;
        let fence = fence(&task);
        let transition =
            transitions::recover(task, &entry.queue, self.policy, Moment::now(self.clock));
        let transition = self.rename_taken_ids(transition, &entry.id, fence)?;
        self.commit(&WriteAhead::of(&entry.queue, transition))?;
        Ok(Some(RecoveredTask { task: entry.id.clone(), queue: entry.queue.clone(), held_by }))
    }

    /// Returns true if an agent that writes no lease files sent a heartbeat recently.
    fn has_recent_heartbeat(&self, agent: &str) -> bool {
        let Ok(agent) = agent.parse::<AgentId>() else {
            return false;
        };
        let changed = fs::metadata(self.layout.heartbeat(&agent)).and_then(|file| file.modified());
        changed.is_ok_and(|changed| {
            self.clock.since(changed).is_some_and(|age| age < MAX_HEARTBEAT_AGE)
        })
    }

    /// Locks an agent's file, which registers its name, and writes `about` into it.
    pub(super) fn join(&mut self, agent: &AgentId, about: &Value) -> Result<fs::File, QueueError> {
        let path = self.layout.agent_lock(agent);
        let mut file = durable_fs::open_lock_file(&path)?;
        if file.try_lock().is_err() {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            let holder = holder.trim().to_owned();
            return Err(QueueError::AgentRunning { agent: agent.clone(), holder });
        }
        let write = |file: &mut fs::File| {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            writeln!(file, "{about}")
        };
        write(&mut file).map_err(durable_fs::with_path(&path))?;
        self.end_leases(agent)?;
        Ok(file)
    }

    /// Ends the leases that an earlier agent of this name claimed while alive.
    fn end_leases(&mut self, agent: &AgentId) -> Result<(), QueueError> {
        for entry in self.index.list(None, TaskStatus::InProgress, usize::MAX)? {
            let lease = LeaseFile::read(self.layout, &entry.id).ok().flatten();
            if lease.is_some_and(|lease| lease.agent == *agent && lease.ends_with_agent()) {
                durable_fs::remove(&self.layout.lock(&entry.id))?;
            }
        }
        self.recover().map(|_| ())
    }
}
