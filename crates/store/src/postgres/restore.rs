//! Restoring tasks with their status, as copies from another store.

use jiff::Timestamp;

use super::pool::Patience;
use super::push::Columns;
use super::settle::RELEASE;
use super::{PgQueue, millis, ticket};
use crate::queue::{Addressed, QueueError};
use crate::steps;
use crate::task::Status;

const RESTORE: &str = include_str!("sql/restore.sql");

impl PgQueue {
    /// Adds tasks with the status that they have, except those whose id exists, and returns the
    /// number of new tasks.
    pub(super) fn restore(&self, tasks: Vec<Addressed>) -> Result<usize, QueueError> {
        let now = self.pool.now();
        let here = |Addressed { queue, task }| match task.status {
            Status::InProgress => Addressed { queue, task: steps::set_free(task) },
            Status::Pending | Status::Completed | Status::Failed | Status::Cancelled => {
                Addressed { queue, task }
            }
        };
        let tasks: Vec<Addressed> = tasks.into_iter().map(here).collect();
        let columns = Columns::of(&tasks);
        let status = |new: &Addressed| match new.task.status {
            Status::Pending | Status::InProgress => "open",
            status @ (Status::Completed | Status::Failed | Status::Cancelled) => status.as_str(),
        };
        let statuses: Vec<&str> = tasks.iter().map(status).collect();
        let ended = |new: &Addressed| new.task.completed_at.or(new.task.failed_at).map(|at| at.0);
        let ended: Vec<Option<Timestamp>> = tasks.iter().map(ended).collect();
        let rests = |new: &Addressed| steps::not_before(&new.task, &self.policy, now);
        let rests: Vec<i64> = tasks.iter().map(|new| millis(rests(new))).collect();
        let ticket = ticket();
        let new = self.pool.run(Patience::Restart, |conn, _| {
            let Columns {
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
        self.crier.cry(tasks.iter().map(|new| &new.queue));
        Ok(usize::try_from(new).unwrap_or(0))
    }
}
