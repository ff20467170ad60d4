//! Where a task stands, as seen from outside.

use std::collections::HashSet;

use super::desk::Desk;
use super::index::Entry;
use super::lease::Lock;
use crate::clock::Uptime;
use crate::queue::{QueueError, Standing};
use crate::task::{Status, TaskId};

impl Desk<'_> {
    /// Says where a task stands, as seen from outside.
    pub(super) fn standing(&self, entry: &Entry) -> Result<Standing, QueueError> {
        match entry.status {
            Status::Pending => {}
            Status::InProgress => return self.holding(&entry.id),
            Status::Completed | Status::Failed | Status::Cancelled => return Ok(Standing::Over),
        }
        if entry.open_dependencies > 0 {
            return self.waiting(&entry.id);
        }
        let left = entry.rests_until.map(|until| Uptime::now().until(until));
        match left.filter(|left| !left.is_zero()) {
            Some(left) => Ok(Standing::Resting { seconds: left.as_secs().max(1) }),
            None => Ok(Standing::Ready),
        }
    }

    fn holding(&self, id: &TaskId) -> Result<Standing, QueueError> {
        let lock = Lock::read(self.layout, id)?;
        let left = lock.and_then(|lock| Some((lock.left(self.layout, self.boot)?, lock.agent)));
        Ok(match left {
            Some((left, by)) => Standing::Held { by, seconds: left.as_secs() },
            // Whoever claims next takes it back first.
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
                Some(Status::Pending | Status::InProgress) if self.leads_to(&need, id)? => {
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

    /// Says whether a task waits, by way of others, for another one.
    fn leads_to(&self, from: &TaskId, to: &TaskId) -> Result<bool, QueueError> {
        let mut seen = HashSet::new();
        let mut open = vec![from.clone()];
        while let Some(id) = open.pop() {
            if id == *to {
                return Ok(true);
            }
            if seen.insert(id.clone()) {
                open.extend(self.index.needs(&id)?);
            }
        }
        Ok(false)
    }
}
