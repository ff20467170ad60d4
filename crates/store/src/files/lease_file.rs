//! The lease of a task as a file: `locks/{id}.lock`, from the claim until the task is settled. In
//! spite of its name, the file is no lock: no process locks it.

use std::fs::File;
use std::time::Duration;

use assay_base::clock::{Clock, Uptime};
use serde::{Deserialize, Serialize};

use super::layout::Layout;
use crate::durable_fs::{self, Durability};
use crate::queue::{Lease, LeaseKind, QueueError};
use crate::task::{AgentId, Moment, QueueName, TaskId};

/// The condition for the end of a lease, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LeaseEnd {
    WithTheAgent,
    ByTime,
}

/// The content of a lease file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LeaseFile {
    pub(super) task: TaskId,
    pub(super) queue: QueueName,
    pub(super) agent: AgentId,
    pub(super) fence: u64,
    ends: LeaseEnd,
    /// The wall-clock time of the expiry, for people; it decides nothing.
    until: Moment,
    until_uptime_ms: i64,
    boot_id: String,
}

impl LeaseFile {
    pub(super) fn new(
        lease: &Lease,
        lease_kind: LeaseKind,
        boot: &str,
        clock: &Clock,
    ) -> LeaseFile {
        let ends = match lease_kind {
            LeaseKind::WhileAlive(_) => LeaseEnd::WithTheAgent,
            LeaseKind::ByTime(_) => LeaseEnd::ByTime,
        };
        let file = LeaseFile {
            task: lease.task.clone(),
            queue: lease.queue.clone(),
            agent: lease.agent.clone(),
            fence: lease.fence,
            ends,
            until: Moment::now(clock),
            until_uptime_ms: 0,
            boot_id: boot.to_owned(),
        };
        file.renewed(lease_kind.time(), clock)
    }

    /// Returns the lease with an expiry of `time` from now.
    pub(super) fn renewed(self, time: Duration, clock: &Clock) -> LeaseFile {
        let until = clock.now().checked_add(time).unwrap_or(jiff::Timestamp::MAX);
        let until_uptime_ms = clock.uptime().after(time).as_millis();
        LeaseFile { until: Moment(until), until_uptime_ms, ..self }
    }

    /// Reads the lease of a task. A file that is not the lease of this task counts as missing.
    pub(super) fn read(layout: &Layout, id: &TaskId) -> Result<Option<LeaseFile>, QueueError> {
        let bytes = durable_fs::read(&layout.lock(id))?;
        let file: Option<LeaseFile> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(file.filter(|file| file.task == *id))
    }

    /// Writes the lease without syncing: no lease survives a restart of the machine.
    pub(super) fn write(&self, layout: &Layout) -> Result<(), QueueError> {
        let json = serde_json::to_vec_pretty(self).expect("a lease is JSON");
        Ok(durable_fs::write(&layout.lock(&self.task), &json, Durability::PageCache)?)
    }

    pub(super) fn is_for(&self, lease: &Lease) -> bool {
        self.agent == lease.agent && self.fence == lease.fence && self.queue == lease.queue
    }

    pub(super) fn ends_with_agent(&self) -> bool {
        self.ends == LeaseEnd::WithTheAgent
    }

    /// Returns the remaining time of the lease; `None` if it has ended.
    pub(super) fn remaining(&self, layout: &Layout, boot: &str, clock: &Clock) -> Option<Duration> {
        let left = clock.uptime().until(Uptime::from_millis(self.until_uptime_ms));
        let over = self.boot_id != boot
            || left.is_zero()
            || (self.ends_with_agent() && !is_alive(layout, &self.agent));
        (!over).then_some(left)
    }
}

/// Returns true if an agent of this name is alive: it holds the lock of its file.
///
/// The check acquires the lock for a moment, so it runs under the queue lock only, as agents join
/// under it.
pub(super) fn is_alive(layout: &Layout, agent: &AgentId) -> bool {
    let Ok(file) = File::open(layout.agent_lock(agent)) else {
        return false;
    };
    file.try_lock_shared().is_err()
}
