//! Who holds a task: the file `locks/{id}.lock`, from the claim until the task is settled.

use std::fs::File;
use std::time::Duration;

use assay_base::clock::{Clock, Uptime};
use serde::{Deserialize, Serialize};

use super::layout::Layout;
use crate::disk::{self, Sure};
use crate::queue::{Lease, QueueError, Tenure};
use crate::task::{AgentId, Moment, QueueName, TaskId};

/// How a lease ends, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ends {
    WithTheAgent,
    ByTime,
}

/// What a lock says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Lock {
    pub(super) task: TaskId,
    pub(super) queue: QueueName,
    pub(super) agent: AgentId,
    pub(super) fence: u64,
    ends: Ends,
    /// For people: by the clock on the wall, which decides nothing.
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

    /// The same for so long from now.
    pub(super) fn renewed(self, time: Duration, clock: &Clock) -> Lock {
        let until = clock.now().checked_add(time).unwrap_or(jiff::Timestamp::MAX);
        let until_uptime_ms = clock.uptime().after(time).as_millis();
        Lock { until: Moment(until), until_uptime_ms, ..self }
    }

    /// Reads the lock of a task. One that nobody can read is none.
    pub(super) fn read(layout: &Layout, id: &TaskId) -> Result<Option<Lock>, QueueError> {
        let bytes = disk::read(&layout.lock(id))?;
        let lock: Option<Lock> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(lock.filter(|lock| lock.task == *id))
    }

    /// Writes it. Nobody holds anything after the machine went down, so the disk is not waited for.
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

    /// For how much longer it holds; nothing if it is over.
    pub(super) fn left(&self, layout: &Layout, boot: &str, clock: &Clock) -> Option<Duration> {
        let left = clock.uptime().until(Uptime::from_millis(self.until_uptime_ms));
        let over = self.boot_id != boot
            || left.is_zero()
            || (self.ends_with_its_agent() && !is_alive(layout, &self.agent));
        (!over).then_some(left)
    }
}

/// Says whether an agent of that name lives: it keeps its file locked.
///
/// This takes the lock for a moment, so it is asked under the guard alone, as agents join.
pub(super) fn is_alive(layout: &Layout, agent: &AgentId) -> bool {
    let Ok(file) = File::open(layout.agent(agent)) else {
        return false;
    };
    file.try_lock_shared().is_err()
}
