//! Recovery of tasks whose agent is gone, and the registration of agents.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::time::Duration;

use serde_json::Value;

use super::desk::{Desk, fence};
use super::index::Entry;
use super::lease::Lock;
use super::write_ahead::WriteAhead;
use crate::disk;
use crate::queue::{QueueError, Recovered};
use crate::steps;
use crate::task::{AgentId, Moment, Status};

/// The maximum age of a heartbeat for which an agent without a lock file still counts as alive.
const FRESH: Duration = Duration::from_secs(90);

impl Desk<'_> {
    /// Recovers tasks whose lease has expired or whose agent is gone.
    pub(super) fn recover(&mut self) -> Result<Vec<Recovered>, QueueError> {
        for name in disk::names(&self.layout.locks())? {
            let Some(id) = name.strip_suffix(".lock").filter(|name| !name.starts_with('.')) else {
                continue;
            };
            let path = self.layout.locks().join(&name);
            if !path.is_file() {
                self.set_aside(&path, &name, "it stands where locks are kept, and is no file")?;
                continue;
            }
            let lock = match id.parse() {
                Ok(id) => match Lock::read(self.layout, &id) {
                    Ok(lock) => lock,
                    // Another user may hold the task: a lock that cannot be read is not removed.
                    Err(_) => continue,
                },
                Err(_) => None,
            };
            if lock.and_then(|lock| lock.left(self.layout, self.boot, self.clock)).is_none() {
                disk::remove(&self.layout.locks().join(&name))?;
            }
        }
        let mut recovered = Vec::new();
        for entry in self.index.list(None, Status::InProgress)? {
            if !self.layout.lock(&entry.id).is_file() {
                recovered.extend(self.take_back(&entry)?);
            }
        }
        Ok(recovered)
    }

    /// Makes a task pending again that is in progress and has no lock.
    fn take_back(&mut self, entry: &Entry) -> Result<Option<Recovered>, QueueError> {
        let Some(task) = self.read_unchanged(entry)? else {
            return Ok(None);
        };
        let held_by = task.started_by.clone();
        if held_by.as_ref().is_some_and(|agent| self.gave_a_sign(agent)) && fence(&task) == 0 {
            return Ok(None);
        }
        self.locked.note(&entry.queue, &entry.id)?;
        self.name_by_id(entry)?;
        let fence = fence(&task);
        let step = steps::recover(task, &entry.queue, self.policy, Moment::now(self.clock));
        let step = self.named_apart(step, &entry.id, fence)?;
        self.commit(&WriteAhead::of(&entry.queue, step))?;
        Ok(Some(Recovered { task: entry.id.clone(), queue: entry.queue.clone(), held_by }))
    }

    /// Returns true if an agent that writes no lock files sent a heartbeat recently.
    fn gave_a_sign(&self, agent: &str) -> bool {
        let Ok(agent) = agent.parse::<AgentId>() else {
            return false;
        };
        let changed = fs::metadata(self.layout.heartbeat(&agent)).and_then(|file| file.modified());
        changed.is_ok_and(|changed| self.clock.since(changed).is_some_and(|age| age < FRESH))
    }

    /// Locks an agent's file, which registers its name, and writes `about` into it.
    pub(super) fn join(&mut self, agent: &AgentId, about: &Value) -> Result<fs::File, QueueError> {
        let path = self.layout.agent(agent);
        let mut file = disk::open_to_lock(&path)?;
        if file.try_lock().is_err() {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            let holder = holder.trim().to_owned();
            return Err(QueueError::AgentRuns { agent: agent.clone(), holder });
        }
        let write = |file: &mut fs::File| {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            writeln!(file, "{about}")
        };
        write(&mut file).map_err(disk::at(&path))?;
        self.drop_leases(agent)?;
        Ok(file)
    }

    /// Ends the leases that an earlier agent of this name claimed while alive.
    fn drop_leases(&mut self, agent: &AgentId) -> Result<(), QueueError> {
        for entry in self.index.list(None, Status::InProgress)? {
            let lock = Lock::read(self.layout, &entry.id).ok().flatten();
            if lock.is_some_and(|lock| lock.agent == *agent && lock.ends_with_its_agent()) {
                disk::remove(&self.layout.lock(&entry.id))?;
            }
        }
        self.recover().map(|_| ())
    }
}
