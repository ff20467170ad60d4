//! The claimability of a task.

use super::index::IndexEntry;
use super::lease_file::LeaseFile;
use super::transaction::QueueTransaction;
use crate::cycles::Cycles;
use crate::queue::{ClaimState, QueueError};
use crate::task::{TaskId, TaskStatus};

impl QueueTransaction<'_> {
    /// Returns the claimability of a task.
    pub(super) fn claim_state(&self, entry: &IndexEntry) -> Result<ClaimState, QueueError> {
        match entry.status {
            TaskStatus::Pending => {}
            TaskStatus::InProgress => return self.leased_state(&entry.id),
            TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled => {
                return Ok(ClaimState::Done);
            }
        }
        if entry.open_dependencies > 0 {
            return self.dependency_state(&entry.id);
        }
        let left = entry.delayed_until.map(|until| self.clock.uptime().until(until));
        match left.filter(|left| !left.is_zero()) {
            Some(left) => Ok(ClaimState::Backoff { seconds: left.as_secs().max(1) }),
            None => Ok(ClaimState::Ready),
        }
    }

    fn leased_state(&self, id: &TaskId) -> Result<ClaimState, QueueError> {
        let Ok(lock) = LeaseFile::read(self.layout, id) else {
            let reason = format!("cannot read the lock file `locks/{id}.lock`");
            return Ok(ClaimState::Blocked { reason });
        };
        let left = lock.and_then(|lock| {
            Some((lock.remaining(self.layout, self.boot, self.clock)?, lock.agent))
        });
        Ok(match left {
            Some((left, by)) => ClaimState::Leased { by, seconds: left.as_secs() },
            // The next claim recovers the task first.
            None => ClaimState::Ready,
        })
    }

    fn dependency_state(&self, id: &TaskId) -> Result<ClaimState, QueueError> {
        let mut on = Vec::new();
        for need in self.index.needs(id)? {
            let status = self.find_status(&need)?;
            if let Some(reason) = self.block_reason(id, &need, status)? {
                return Ok(ClaimState::Blocked { reason });
            }
            if status != Some(TaskStatus::Completed) {
                on.push(need);
            }
        }
        Ok(ClaimState::Waiting { on })
    }

    /// Returns the reason why a dependency with this status cannot be completed without
    /// intervention; `None` if it can be completed, or is.
    pub(super) fn block_reason(
        &self,
        task: &TaskId,
        need: &TaskId,
        status: Option<TaskStatus>,
    ) -> Result<Option<String>, QueueError> {
        let why = match status {
            Some(TaskStatus::Completed) => return Ok(None),
            Some(TaskStatus::Failed) => "failed",
            Some(TaskStatus::Cancelled) => "was cancelled",
            None => "is unknown",
            Some(TaskStatus::Pending | TaskStatus::InProgress) => {
                match self.depend_on_each_other(need, task)? {
                    true => "depends on this task",
                    false => return Ok(None),
                }
            }
        };
        Ok(Some(format!("depends on `{need}`, which {why}")))
    }

    /// Returns true if two tasks depend, directly or through others, on each other.
    fn depend_on_each_other(&self, one: &TaskId, other: &TaskId) -> Result<bool, QueueError> {
        if self.cycles.get().is_none() {
            let _ = self.cycles.set(Cycles::find(&self.index.all_needs()?));
        }
        Ok(self.cycles.get().is_some_and(|found| found.is_same_cycle(one.as_str(), other.as_str())))
    }
}
