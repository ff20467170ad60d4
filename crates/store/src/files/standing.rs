//! The claimability of a task.

use super::desk::Desk;
use super::index::Entry;
use super::lease::Lock;
use crate::cycles::Cycles;
use crate::queue::{QueueError, Standing};
use crate::task::{Status, TaskId};

impl Desk<'_> {
    /// Returns the claimability of a task.
    pub(super) fn standing(&self, entry: &Entry) -> Result<Standing, QueueError> {
        match entry.status {
            Status::Pending => {}
            Status::InProgress => return self.holding(&entry.id),
            Status::Completed | Status::Failed | Status::Cancelled => return Ok(Standing::Over),
        }
        if entry.open_dependencies > 0 {
            return self.waiting(&entry.id);
        }
        let left = entry.rests_until.map(|until| self.clock.uptime().until(until));
        match left.filter(|left| !left.is_zero()) {
            Some(left) => Ok(Standing::Resting { seconds: left.as_secs().max(1) }),
            None => Ok(Standing::Ready),
        }
    }

    fn holding(&self, id: &TaskId) -> Result<Standing, QueueError> {
        let Ok(lock) = Lock::read(self.layout, id) else {
            let reason = format!("its lock `locks/{id}.lock` cannot be read");
            return Ok(Standing::Blocked { reason });
        };
        let left = lock
            .and_then(|lock| Some((lock.left(self.layout, self.boot, self.clock)?, lock.agent)));
        Ok(match left {
            Some((left, by)) => Standing::Held { by, seconds: left.as_secs() },
            // The next claim recovers the task first.
            None => Standing::Ready,
        })
    }

    fn waiting(&self, id: &TaskId) -> Result<Standing, QueueError> {
        let mut on = Vec::new();
        for need in self.index.needs(id)? {
            let reason = match self.find_status(&need)? {
                Some(Status::Completed) => continue,
                Some(Status::Failed) => format!("it depends on `{need}`, which failed"),
                Some(Status::Cancelled) => format!("it depends on `{need}`, which was cancelled"),
                None => format!("it depends on `{need}`, which is not known"),
                Some(Status::Pending | Status::InProgress)
                    if self.wait_for_each_other(&need, id)? =>
                {
                    format!("it depends on `{need}`, which depends on it")
                }
                Some(Status::Pending | Status::InProgress) => {
                    on.push(need);
                    continue;
                }
            };
            return Ok(Standing::Blocked { reason });
        }
        Ok(Standing::Waiting { on })
    }

    /// Returns true if two tasks depend, directly or through others, on each other.
    fn wait_for_each_other(&self, one: &TaskId, other: &TaskId) -> Result<bool, QueueError> {
        if self.cycles.get().is_none() {
            let _ = self.cycles.set(Cycles::find(&self.index.all_needs()?));
        }
        Ok(self.cycles.get().is_some_and(|found| found.share(one.as_str(), other.as_str())))
    }
}
