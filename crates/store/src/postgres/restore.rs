//! Restoring tasks with their status, as copies from another store.

use jiff::Timestamp;

use super::pool::RetryMode;
use super::push::TaskColumns;
use super::settle::RELEASE;
use super::{PgQueue, millis, ticket};
use crate::queue::{QueueError, QueuedTask};
use crate::task::TaskStatus;
use crate::transitions;

const RESTORE: &str = include_str!("sql/restore.sql");

impl PgQueue {
    /// Adds tasks with the status that they have, except those whose id exists, and returns the
    /// number of new tasks.
    pub(super) fn restore(&self, tasks: Vec<QueuedTask>) -> Result<usize, QueueError> {
        let now = self.pool.now();
        let here = |QueuedTask { queue, task }| match task.status {
            TaskStatus::InProgress => QueuedTask { queue, task: transitions::release(task) },
            TaskStatus::Pending
            | TaskStatus::Completed
            | TaskStatus::Failed
            | TaskStatus::Cancelled => QueuedTask { queue, task },
        };
        let tasks: Vec<QueuedTask> = tasks.into_iter().map(here).collect();
        let columns = TaskColumns::of(&tasks);
        let status = |new: &QueuedTask| match new.task.status {
            TaskStatus::Pending | TaskStatus::InProgress => "open",
            status @ (TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled) => {
                status.as_str()
            }
        };
        let statuses: Vec<&str> = tasks.iter().map(status).collect();
        let ended = |new: &QueuedTask| new.task.completed_at.or(new.task.failed_at).map(|at| at.0);
        let ended: Vec<Option<Timestamp>> = tasks.iter().map(ended).collect();
        let rests =
            |new: &QueuedTask| transitions::time_until_claimable(&new.task, &self.policy, now);
        let rests: Vec<i64> = tasks.iter().map(|new| millis(rests(new))).collect();
        let ticket = ticket();
        let new = self.pool.run(RetryMode::UntilRestarted, |conn, _| {
            let TaskColumns {
                ids,
                queues,
                priorities,
                created,
                bodies,
                for_people,
                dependents,
                needs,
                ..
            } = &columns;
            let rows = conn.query(
                RESTORE,
                &[
                    ids, queues, priorities, created, bodies, &statuses, &ended, &rests,
                    dependents, needs, &ticket, for_people,
                ],
            )?;
            // A completed task must not block its dependents, wherever it was in the list.
            let all: Option<&[&str]> = None;
            conn.query(RELEASE, &[&all])?;
            Ok(rows.first().map_or(0, |row| row.get::<_, i64>(0)))
        })?;
        self.notify_sender.request(tasks.iter().map(|new| &new.queue));
        Ok(usize::try_from(new).unwrap_or(0))
    }
}
