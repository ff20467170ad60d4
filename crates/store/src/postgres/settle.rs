//! The transitions of tasks in the database: settling, recovering, cancelling, retrying.

use std::collections::{BTreeSet, HashMap, HashSet};

use jiff::Timestamp;
use postgres::types::Json;

use super::claim::{fence_to_sql, not_held};
use super::pool::{Conn, OperationAttempt, OperationError, RetryMode};
use super::push::{TaskColumns, dependencies};
use super::queries::{BY_ID, HELD, TaskRow};
use super::{PgQueue, millis, ticket};
use crate::queue::{
    Lease, QueueError, QueuedTask, RecoveredTask, SettleOutcome, TaskResult, repeat_error,
};
use crate::task::{AgentId, Moment, QueueName, Task, TaskId, TaskStatus};
use crate::transitions::{self, Transition};

const SETTLE: &str = concat!(include_str!("sql/settle.sql"), include_str!("sql/settled.sql"));

/// The settle statement with follow-up tasks. Most tasks have none, and need not pay for them.
const SETTLE_WITH: &str = concat!(
    include_str!("sql/settle.sql"),
    include_str!("sql/follow.sql"),
    include_str!("sql/bind.sql"),
    ", queued AS (",
    include_str!("sql/line.sql"),
    ")",
    include_str!("sql/settled.sql"),
);

pub(super) const RELEASE: &str = include_str!("sql/release.sql");

const RETRY: &str = concat!(
    include_str!("sql/retry.sql"),
    include_str!("sql/bind.sql"),
    include_str!("sql/line.sql"),
);

/// The retry limit for a change of a task that other processes keep changing.
const MAX_ATTEMPTS: usize = 20;

/// A new state of a task, which is stored only if the task is unchanged since it was read.
struct TaskChange {
    id: TaskId,
    queue: QueueName,
    /// The holder of the task when it was read; `None` if it was not held.
    holder: Option<String>,
    fence: i64,
    /// The expiry of the lease, if it must be unchanged; `None` otherwise.
    until: Option<Timestamp>,
    transition: Transition,
}

impl TaskChange {
    /// Returns a change without follow-up tasks.
    fn to(task_row: &TaskRow, until: Option<Timestamp>, task: Task) -> TaskChange {
        let (backoff, settled) = (std::time::Duration::ZERO, SettleOutcome::Released);
        TaskChange {
            id: task.id.clone(),
            queue: task_row.queue.clone(),
            holder: task_row.holder.clone(),
            fence: task_row.fence,
            until,
            transition: Transition { task, follow_ups: Vec::new(), backoff, settled },
        }
    }

    /// Returns the status as the tables store it.
    fn status(&self) -> &'static str {
        match self.transition.task.status {
            TaskStatus::Pending | TaskStatus::InProgress => "open",
            status @ (TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled) => {
                status.as_str()
            }
        }
    }

    /// Returns true if this change may make a task claimable.
    fn may_wake(&self) -> bool {
        self.status() == "open" || !self.transition.follow_ups.is_empty()
    }
}

/// The effect of changes.
#[derive(Default)]
struct ChangeEffect {
    /// The tasks that were unchanged since they were read, and are now changed.
    ids: HashSet<String>,
    /// The queues with a task whose last dependency was completed.
    released: Vec<String>,
}

impl PgQueue {
    /// Settles several tasks independently.
    pub(super) fn settle_all(
        &self,
        results: Vec<(Lease, TaskResult)>,
    ) -> Vec<Result<SettleOutcome, QueueError>> {
        if results.len() > 1 && !are_independent(&results) {
            let one = |one| self.settle_all(vec![one]);
            return results.into_iter().flat_map(one).collect();
        }
        let leases: Vec<Lease> = results.iter().map(|(lease, _)| lease.clone()).collect();
        let mut known = match self.find_claimed(&leases) {
            Ok(known) => known,
            Err(error) => return repeat_error(leases.len(), error),
        };
        let now = self.pool.now();
        let mut answers: Vec<Result<SettleOutcome, QueueError>> = Vec::new();
        let mut changes = Vec::new();
        for (lease, what) in results {
            let is_completion = matches!(what, TaskResult::Completed { .. });
            let change = match known.remove(&lease.task) {
                Some(task) if is_completion && task.status == TaskStatus::Completed => {
                    answers.push(Ok(SettleOutcome::AlreadyCompleted));
                    continue;
                }
                Some(task) if task.status == TaskStatus::InProgress => {
                    self.settle_change(task, &lease, what, now)
                }
                Some(_) | None => Err(not_held(&lease)),
            };
            answers.push(change.map(|change| {
                let settled = change.transition.settled.clone();
                changes.push(change);
                settled
            }));
        }
        match self.apply(&changes) {
            Ok(done) => {
                let mark = |(answer, lease): (Result<SettleOutcome, QueueError>, &Lease)| {
                    let is_done = done.contains(lease.task.as_str());
                    answer.and_then(|settled| match settled {
                        SettleOutcome::AlreadyCompleted => Ok(settled),
                        settled if is_done => Ok(settled),
                        _ => Err(not_held(lease)),
                    })
                };
                answers.into_iter().zip(&leases).map(mark).collect()
            }
            Err(error) => repeat_error(leases.len(), error),
        }
    }

    /// Returns the tasks of leases, as they were claimed or as they were completed under the same
    /// lease, from the cache or the database.
    fn find_claimed(&self, leases: &[Lease]) -> Result<HashMap<TaskId, Task>, QueueError> {
        let mut known = HashMap::new();
        let mut unknown = Vec::new();
        for lease in leases {
            match self.claim_cache.take(lease) {
                Some(task) => drop(known.insert(lease.task.clone(), task)),
                None => unknown.push(lease),
            }
        }
        if unknown.is_empty() {
            return Ok(known);
        }
        let ids: Vec<&str> = unknown.iter().map(|lease| lease.task.as_str()).collect();
        let task_rows = self
            .pool
            .run(RetryMode::UntilRestarted, |conn, _| TaskRow::query(conn, BY_ID, &[&ids]))?;
        for task_row in task_rows {
            let lease = unknown.iter().find(|lease| lease.task == task_row.task.id);
            let is_held = lease.is_some_and(|lease| {
                let completed_by = task_row.task.completed_by.as_deref();
                let by = task_row.holder.as_deref().or(completed_by);
                task_row.fence == fence_to_sql(lease.fence) && by == Some(lease.agent.as_str())
            });
            if is_held {
                known.insert(task_row.task.id.clone(), task_row.task);
            }
        }
        Ok(known)
    }

    fn settle_change(
        &self,
        task: Task,
        lease: &Lease,
        what: TaskResult,
        now: Moment,
    ) -> Result<TaskChange, QueueError> {
        let transition = transitions::settle(task, lease, what, &self.policy, now);
        let transition = self.rename_taken_ids(transition, &lease.task, lease.fence)?;
        let (holder, fence) = (Some(lease.agent.as_str().to_owned()), fence_to_sql(lease.fence));
        let (id, queue) = (lease.task.clone(), lease.queue.clone());
        Ok(TaskChange { id, queue, holder, fence, until: None, transition })
    }

    /// Renames the follow-up tasks of a claim whose ids are taken.
    fn rename_taken_ids(
        &self,
        mut transition: Transition,
        parent: &TaskId,
        fence: u64,
    ) -> Result<Transition, QueueError> {
        if transition.follow_ups.is_empty() {
            return Ok(transition);
        }
        let follow_ups = std::mem::take(&mut transition.follow_ups);
        let ids: Vec<&str> = follow_ups.iter().map(|next| next.task.id.as_str()).collect();
        let there = self
            .pool
            .run(RetryMode::UntilRestarted, |conn, _| TaskRow::query(conn, BY_ID, &[&ids]))?;
        let taken =
            there.iter().filter(|task_row| !transitions::is_same_follow_up(&task_row.task, parent));
        let taken: HashSet<TaskId> = taken.map(|task_row| task_row.task.id.clone()).collect();
        let is_taken = |name: &TaskId| Ok(taken.contains(name));
        Ok(transition
            .with_follow_ups(transitions::rename_taken_ids(follow_ups, parent, fence, is_taken)?))
    }

    /// Stores the changes whose tasks are unchanged since they were read, and returns the ids of
    /// these tasks.
    fn apply(&self, changes: &[TaskChange]) -> Result<HashSet<String>, QueueError> {
        if changes.is_empty() {
            return Ok(HashSet::new());
        }
        let ticket = ticket();
        let done = self.pool.run(RetryMode::UntilRestarted, |conn, attempt| {
            let mut done = store(conn, changes, ticket)?;
            if attempt == OperationAttempt::AfterLostReply {
                done.ids.extend(find_stored(conn, changes, ticket)?);
            }
            Ok(done)
        })?;
        let wakes =
            |change: &&TaskChange| change.may_wake() && done.ids.contains(change.id.as_str());
        let waking = changes.iter().filter(wakes);
        let queues = waking.flat_map(|change| {
            let next = change.transition.follow_ups.iter().map(|next| &next.queue);
            next.chain([&change.queue]).cloned().collect::<Vec<QueueName>>()
        });
        let released = done.released.iter().filter_map(|queue| queue.parse().ok());
        let queues: BTreeSet<QueueName> = queues.chain(released).collect();
        self.notify_sender.request(&queues);
        Ok(done.ids)
    }

    pub(super) fn cancel(&self, id: &TaskId, by: &str) -> Result<(), QueueError> {
        for _ in 0..MAX_ATTEMPTS {
            let task_row = self.task_row(id)?;
            let task = transitions::cancel(task_row.task.clone(), by, self.pool.now())?;
            let change = TaskChange::to(&task_row, None, task);
            if !self.apply(&[change])?.is_empty() {
                if task_row.holder.is_some() {
                    self.notify_now(task_row.queue.as_str())?;
                }
                return Ok(());
            }
        }
        Err(conflict_error(id))
    }

    /// Makes a failed or cancelled task pending again.
    pub(super) fn retry(&self, id: &TaskId) -> Result<(), QueueError> {
        for _ in 0..MAX_ATTEMPTS {
            let task_row = self.task_row(id)?;
            let before = task_row.task.status.as_str();
            let task = transitions::retry(task_row.task)?;
            let needs: Vec<&str> = dependencies(&task).into_iter().collect();
            let (for_person, run_at) = (task.kind.is_escalation(), task.run_at.map(|at| at.0));
            let (id, body) = (id.as_str(), Json(&task));
            let again = self.pool.run(RetryMode::UntilRestarted, |conn, _| {
                Ok(conn.execute(RETRY, &[&id, &before, &body, &needs, &for_person, &run_at])?)
            })?;
            if again > 0 {
                self.notify_sender.request([&task_row.queue]);
                return Ok(());
            }
        }
        Err(conflict_error(id))
    }

    fn task_row(&self, id: &TaskId) -> Result<TaskRow, QueueError> {
        let ids = [id.as_str()];
        let ids: &[&str] = &ids;
        let task_rows = self
            .pool
            .run(RetryMode::UntilRestarted, |conn, _| TaskRow::query(conn, BY_ID, &[&ids]))?;
        task_rows.into_iter().next().ok_or_else(|| QueueError::Unknown(id.clone()))
    }

    /// Recovers tasks whose lease has expired or whose agent is gone.
    pub(super) fn recover(&self) -> Result<Vec<RecoveredTask>, QueueError> {
        self.remove_dead_agents()?;
        let released = self.pool.run(RetryMode::UntilRestarted, |conn, _| {
            let all: Option<&[&str]> = None;
            Ok(conn.query(RELEASE, &[&all])?)
        })?;
        let released: BTreeSet<QueueName> =
            released.iter().filter_map(|row| row.get::<_, &str>(0).parse().ok()).collect();
        self.notify_sender.request(&released);
        self.recover_where(|task_row| task_row.is_lease_expired())
    }

    /// Recovers the tasks that an earlier agent of this name claimed while alive.
    pub(super) fn recover_from(&self, agent: &AgentId) -> Result<(), QueueError> {
        let theirs = |task_row: &TaskRow| {
            task_row.while_alive && task_row.holder.as_deref() == Some(agent.as_str())
        };
        self.recover_where(theirs).map(|_| ())
    }

    fn recover_where(
        &self,
        which: impl Fn(&TaskRow) -> bool,
    ) -> Result<Vec<RecoveredTask>, QueueError> {
        let mut task_rows =
            self.pool.run(RetryMode::UntilRestarted, |conn, _| TaskRow::query(conn, HELD, &[]))?;
        task_rows.retain(which);
        let now = self.pool.now();
        let changes: Vec<TaskChange> = task_rows
            .iter()
            .map(|task_row| {
                let transition =
                    transitions::recover(task_row.task.clone(), &task_row.queue, &self.policy, now);
                let fence = u64::try_from(task_row.fence).unwrap_or(0);
                let transition = self.rename_taken_ids(transition, &task_row.task.id, fence)?;
                Ok(TaskChange {
                    transition,
                    ..TaskChange::to(task_row, task_row.until, task_row.task.clone())
                })
            })
            .collect::<Result<_, QueueError>>()?;
        let done = self.apply(&changes)?;
        let taken =
            task_rows.into_iter().filter(|task_row| done.contains(task_row.task.id.as_str()));
        Ok(taken
            .map(|task_row| RecoveredTask {
                task: task_row.task.id,
                queue: task_row.queue,
                held_by: task_row.holder,
            })
            .collect())
    }
}

/// Returns true if the settlements are independent of each other, so that one statement can store
/// them.
fn are_independent(results: &[(Lease, TaskResult)]) -> bool {
    let mut ids = HashSet::new();
    if !results.iter().all(|(lease, _)| ids.insert(&lease.task)) {
        return false;
    }
    let mut named = HashSet::new();
    results.iter().all(|(_, what)| match what {
        TaskResult::Completed { follow_ups, .. } => follow_ups.iter().all(|next| {
            named.insert(&next.task.id)
                && next.task.depends_on.iter().all(|need| !ids.contains(need))
        }),
        TaskResult::Failed(_) | TaskResult::Released { .. } => true,
    })
}

fn conflict_error(id: &TaskId) -> QueueError {
    QueueError::Database {
        message: format!("other processes changed task `{id}` during every attempt; retry"),
    }
}

/// Stores changes and their follow-up tasks in one statement.
fn store(
    conn: &mut Conn,
    changes: &[TaskChange],
    ticket: i64,
) -> Result<ChangeEffect, OperationError> {
    let ids: Vec<&str> = changes.iter().map(|change| change.id.as_str()).collect();
    let holders: Vec<Option<&str>> =
        changes.iter().map(|change| change.holder.as_deref()).collect();
    let fences: Vec<i64> = changes.iter().map(|change| change.fence).collect();
    let until: Vec<Option<Timestamp>> = changes.iter().map(|change| change.until).collect();
    let statuses: Vec<&str> = changes.iter().map(TaskChange::status).collect();
    let rests: Vec<i64> = changes.iter().map(|change| millis(change.transition.backoff)).collect();
    let bodies: Vec<Json<&Task>> =
        changes.iter().map(|change| Json(&change.transition.task)).collect();
    let (parents, follow_ups) = follow_ups(changes);
    let rows = if follow_ups.is_empty() {
        conn.query(SETTLE, &[&ids, &holders, &fences, &until, &statuses, &rests, &bodies, &ticket])?
    } else {
        let mut next = TaskColumns::of(follow_ups);
        next.keep_needs(|dependent, need| !is_parent(changes, dependent, need));
        let TaskColumns { ids: names, queues, priorities, created, bodies: tasks, .. } = &next;
        let TaskColumns { for_people, run_ats, dependents, needs, .. } = &next;
        conn.query(
            SETTLE_WITH,
            &[
                &ids, &holders, &fences, &until, &statuses, &rests, &bodies, &ticket, &parents,
                names, queues, priorities, created, tasks, dependents, needs, for_people, run_ats,
            ],
        )?
    };
    let mut done = ChangeEffect::default();
    let mut awaited = Vec::new();
    for row in rows {
        let (id, is_awaited): (Option<String>, Option<bool>) = (row.get(0), row.get(1));
        done.released.extend(row.get::<_, Option<String>>(2));
        if is_awaited == Some(true) {
            awaited.extend(id.clone());
        }
        done.ids.extend(id);
    }
    if !awaited.is_empty() {
        // Another process may have pushed a task that depends on one of these during the statement,
        // which could not see it.
        let released = conn.query(RELEASE, &[&awaited])?;
        done.released.extend(released.iter().map(|row| row.get::<_, String>(0)));
    }
    Ok(done)
}

/// Returns the follow-up tasks of changes, each id once, with the ids of their parents.
fn follow_ups(changes: &[TaskChange]) -> (Vec<&str>, Vec<&QueuedTask>) {
    let mut names = HashSet::new();
    let all = changes.iter().flat_map(|change| {
        change.transition.follow_ups.iter().map(move |next| (change.id.as_str(), next))
    });
    all.filter(|(_, next)| names.insert(&next.task.id)).unzip()
}

/// Returns true if the dependency of a follow-up task is its own parent, which is completed by the
/// time the follow-up can be claimed.
fn is_parent(changes: &[TaskChange], follow_up: &str, need: &str) -> bool {
    changes.iter().any(|change| {
        change.id.as_str() == need
            && change.transition.task.status == TaskStatus::Completed
            && change.transition.follow_ups.iter().any(|next| next.task.id.as_str() == follow_up)
    })
}

/// Returns the tasks whose changes an earlier attempt stored before its reply was lost.
fn find_stored(
    conn: &mut Conn,
    changes: &[TaskChange],
    ticket: i64,
) -> Result<Vec<String>, postgres::Error> {
    let ids: Vec<&str> = changes.iter().map(|change| change.id.as_str()).collect();
    let mine = conn.query(
        "SELECT id FROM assay_tasks WHERE id = ANY ($1::text[]) AND settled = $2::int8",
        &[&ids, &ticket],
    )?;
    Ok(mine.iter().map(|row| row.get(0)).collect())
}
