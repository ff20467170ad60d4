//! The number of tasks by state, and the first tasks of each state, from the index.
//!
//! The cost grows with the tasks that wait for others and with the tasks that are returned, and
//! not with the number of tasks.

use std::collections::HashMap;

use super::index::{IndexEntry, OpenNeed};
use super::scan::ScanMode;
use super::transaction::QueueTransaction;
use crate::queue::{ClaimState, QueueCounts, QueueError};
use crate::task::{QueueName, TaskId, TaskStatus};

/// A task of the index with its claimability.
pub(super) type EntryWithState = (ClaimState, IndexEntry);

/// The overview of a queue before its task files are read.
pub(super) struct IndexOverview {
    /// The number of tasks by state, without the archives.
    pub(super) counts: Vec<QueueCounts>,
    pub(super) running: Vec<EntryWithState>,
    pub(super) blocked: Vec<EntryWithState>,
    pub(super) waiting: Vec<EntryWithState>,
    pub(super) failed: Vec<EntryWithState>,
}

impl QueueTransaction<'_> {
    /// Returns the number of tasks by state, and at most `most` tasks of each state. Files that
    /// people add are imported, unless the last scan was very recent.
    pub(super) fn overview(&mut self, most: usize) -> Result<IndexOverview, QueueError> {
        for queue in self.queues()? {
            let scanned = self.scan(&queue, ScanMode::Throttled);
            self.skip_unreadable(&queue, scanned)?;
        }
        let blocked = self.blocked_tasks()?;
        // Blocked tasks are pending too, and may come before all that wait.
        let pending = self.first_tasks(TaskStatus::Pending, most.saturating_add(blocked.len()))?;
        let waiting = pending
            .into_iter()
            .filter(|entry| blocked.binary_search_by_key(&entry.turn(), IndexEntry::turn).is_err());
        Ok(IndexOverview {
            counts: self.counts(&blocked)?,
            running: self.with_states(self.first_tasks(TaskStatus::InProgress, most)?)?,
            waiting: self.with_states(waiting.take(most))?,
            failed: self.with_states(self.first_tasks(TaskStatus::Failed, most)?)?,
            blocked: self.with_states(blocked.into_iter().take(most))?,
        })
    }

    fn first_tasks(&self, status: TaskStatus, most: usize) -> Result<Vec<IndexEntry>, QueueError> {
        self.index.list(None, status, most)
    }

    /// Returns tasks with their claimability.
    pub(super) fn with_states(
        &self,
        entries: impl IntoIterator<Item = IndexEntry>,
    ) -> Result<Vec<EntryWithState>, QueueError> {
        entries.into_iter().map(|entry| Ok((self.claim_state(&entry)?, entry))).collect()
    }

    /// Returns the pending tasks with a dependency that cannot be completed without intervention,
    /// in the order in which they would be claimed.
    pub(super) fn blocked_tasks(&self) -> Result<Vec<IndexEntry>, QueueError> {
        let mut needs: HashMap<TaskId, Vec<OpenNeed>> = HashMap::new();
        for need in self.index.open_needs()? {
            needs.entry(need.task.clone()).or_default().push(need);
        }
        let mut unlisted = HashMap::new();
        let mut blocked = Vec::new();
        for entry in self.index.with_open_dependencies()? {
            let open = needs.get(&entry.id).map(Vec::as_slice).unwrap_or_default();
            if self.is_any_blocking(open, &mut unlisted)? {
                blocked.push(entry);
            }
        }
        Ok(blocked)
    }

    /// Returns true if any of the dependencies of a task cannot be completed without intervention.
    /// `unlisted` has the status of dependencies that are not in the index.
    fn is_any_blocking(
        &self,
        needs: &[OpenNeed],
        unlisted: &mut HashMap<TaskId, Option<TaskStatus>>,
    ) -> Result<bool, QueueError> {
        for OpenNeed { task, need, status } in needs {
            let status = match (status, unlisted.get(need)) {
                (Some(status), _) => Some(*status),
                (None, Some(known)) => *known,
                (None, None) => {
                    let found = self.find_status(need)?;
                    unlisted.insert(need.clone(), found);
                    found
                }
            };
            if self.block_reason(task, need, status)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the number of tasks of all queues by state, without the archives.
    pub(super) fn counts(&self, blocked: &[IndexEntry]) -> Result<Vec<QueueCounts>, QueueError> {
        let count = |queue: QueueName| {
            let blocked = blocked.iter().filter(|entry| entry.queue == queue).count();
            self.count(queue, blocked)
        };
        self.queues()?.into_iter().map(count).collect()
    }

    fn count(&self, queue: QueueName, blocked: usize) -> Result<QueueCounts, QueueError> {
        let number = |status| self.index.count(&queue, status);
        let ready = self.index.count_ready(&queue, self.clock.uptime())?;
        Ok(QueueCounts {
            ready,
            waiting: number(TaskStatus::Pending)?.saturating_sub(ready + blocked),
            blocked,
            in_progress: number(TaskStatus::InProgress)?,
            completed: number(TaskStatus::Completed)?,
            failed: number(TaskStatus::Failed)?,
            cancelled: number(TaskStatus::Cancelled)?,
            queue,
        })
    }
}
