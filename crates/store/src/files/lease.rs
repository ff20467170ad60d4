//! The lease of a task as a file: `locks/{id}.lock`, from the claim until the task is settled.

use std::fs::File;
use std::time::Duration;

use assay_base::clock::{Clock, Uptime};
use serde::{Deserialize, Serialize};

use super::layout::Layout;
use crate::disk::{self, Sure};
use crate::queue::{Lease, QueueError, Tenure};
use crate::task::{AgentId, Moment, QueueName, TaskId};

/// The condition for the end of a lease, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ends {
    WithTheAgent,
    ByTime,
}

/// The content of a lock file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Lock {
    pub(super) task: TaskId,
    pub(super) queue: QueueName,
    pub(super) agent: AgentId,
    pub(super) fence: u64,
    ends: Ends,
    /// The wall-clock time of the expiry, for people; it decides nothing.
    until: Moment,
    until_uptime_ms: i64,
    boot_id: String,
}

impl Lock {
    pub(super) fn new(lease: &Lease, tenure: Tenure, boot: &str, clock: &Clock) -> Lock {
        let ends = match tenure {
            Tenure::WhileAlive(_) => Ends::WithTheAgent,
            Tenure::ByTime(_) => Ends::ByTime,
        };
        let lock = Lock {
            task: lease.task.clone(),
            queue: lease.queue.clone(),
            agent: lease.agent.clone(),
            fence: lease.fence,
            ends,
            until: Moment::now(clock),
            until_uptime_ms: 0,
            boot_id: boot.to_owned(),
        };
        lock.renewed(tenure.time(), clock)
    }

    /// Returns the lock with an expiry of `time` from now.
    pub(super) fn renewed(self, time: Duration, clock: &Clock) -> Lock {
        let until = clock.now().checked_add(time).unwrap_or(jiff::Timestamp::MAX);
        let until_uptime_ms = clock.uptime().after(time).as_millis();
        Lock { until: Moment(until), until_uptime_ms, ..self }
    }

    /// Reads the lock of a task. A file that is not the lock of this task counts as missing.
    pub(super) fn read(layout: &Layout, id: &TaskId) -> Result<Option<Lock>, QueueError> {
        let bytes = disk::read(&layout.lock(id))?;
        let lock: Option<Lock> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(lock.filter(|lock| lock.task == *id))
    }

    /// Writes the lock without syncing: no lease survives a restart of the machine.
    pub(super) fn write(&self, layout: &Layout) -> Result<(), QueueError> {
        let json = serde_json::to_vec_pretty(self).expect("a lock is JSON");
        Ok(disk::write(&layout.lock(&self.task), &json, Sure::InMemory)?)
    }

    pub(super) fn is_for(&self, lease: &Lease) -> bool {
        self.agent == lease.agent && self.fence == lease.fence && self.queue == lease.queue
    }

    pub(super) fn ends_with_its_agent(&self) -> bool {
        self.ends == Ends::WithTheAgent
    }

    /// Returns the remaining time of the lease; `None` if it has ended.
    pub(super) fn left(&self, layout: &Layout, boot: &str, clock: &Clock) -> Option<Duration> {
        let left = clock.uptime().until(Uptime::from_millis(self.until_uptime_ms));
        let over = self.boot_id != boot
            || left.is_zero()
            || (self.ends_with_its_agent() && !is_alive(layout, &self.agent));
        (!over).then_some(left)
    }
}

/// Returns true if an agent of this name is alive: it holds the lock of its file.
///
/// The check acquires the lock for a moment, so it runs under the queue lock only, as agents join
/// under it.
pub(super) fn is_alive(layout: &Layout, agent: &AgentId) -> bool {
    let Ok(file) = File::open(layout.agent(agent)) else {
        return false;
    };
    file.try_lock_shared().is_err()
}
