//! Pushing tasks within the capacity of their queues.
//!
//! Pending tasks are not counted at every push. A count, under a lock on the queue's row, also
//! records the total number of arrivals; until that number has grown by the free capacity, there is
//! capacity, and the push statement checks only the number. When capacity is scarce, pushes to one
//! queue are serialised and each counts.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use jiff::{RoundMode, Timestamp, TimestampRound, Unit};
use postgres::error::SqlState;
use postgres::types::Json;

use super::pool::{Conn, OperationAttempt, OperationError, RetryMode};
use super::{PgQueue, ticket};
use crate::queue::{QueueError, QueuedTask};
use crate::task::{QueueName, Task, TaskId, TaskStatus};
use crate::transitions;

const PUSH: &str = concat!(
    include_str!("sql/push.sql"),
    include_str!("sql/bind.sql"),
    include_str!("sql/line.sql"),
);

const WAITING: &str = include_str!("sql/waiting.sql");

/// The capacity that is never used without counting: a reserve for concurrent pushes.
const CAPACITY_MARGIN: i64 = 500;

/// The number of arrivals up to which each queue is known to have capacity.
#[derive(Default)]
pub(super) struct CapacityCache(Mutex<HashMap<QueueName, i64>>);

impl CapacityCache {
    /// Returns the number of arrivals up to which all of the queues have capacity; `None` if one of
    /// them is unknown.
    fn until(&self, queues: &BTreeSet<&QueueName>) -> Option<i64> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ends: Option<Vec<i64>> =
            queues.iter().map(|queue| known.get(*queue).copied()).collect();
        ends?.into_iter().min()
    }

    fn record(&self, queue: &QueueName, until: i64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(queue.clone(), until);
    }
}

/// Tasks as columns, the form in which a statement takes many tasks.
#[derive(Default)]
pub(super) struct TaskColumns<'a> {
    pub(super) ids: Vec<&'a str>,
    pub(super) queues: Vec<&'a str>,
    pub(super) priorities: Vec<i16>,
    pub(super) created: Vec<Timestamp>,
    pub(super) bodies: Vec<Json<&'a Task>>,
    pub(super) for_people: Vec<bool>,
    pub(super) run_ats: Vec<Option<Timestamp>>,
    pub(super) dependents: Vec<&'a str>,
    pub(super) needs: Vec<&'a str>,
}

impl<'a> TaskColumns<'a> {
    pub(super) fn of(tasks: impl IntoIterator<Item = &'a QueuedTask>) -> TaskColumns<'a> {
        let mut columns = TaskColumns::default();
        for QueuedTask { queue, task } in tasks {
            columns.ids.push(task.id.as_str());
            columns.queues.push(queue.as_str());
            columns.priorities.push(i16::from(task.priority.get()));
            columns.created.push(round_as_stored(task.created_at.0));
            columns.bodies.push(Json(task));
            columns.for_people.push(task.kind.is_escalation());
            columns.run_ats.push(task.run_at.map(|at| at.0));
            for need in dependencies(task) {
                columns.dependents.push(task.id.as_str());
                columns.needs.push(need);
            }
            for blocked in &task.blocks {
                columns.dependents.push(blocked.as_str());
                columns.needs.push(task.id.as_str());
            }
        }
        columns
    }

    /// Removes dependencies, except those for which `keep` returns true.
    pub(super) fn keep_needs(&mut self, keep: impl Fn(&str, &str) -> bool) {
        let pairs = self.dependents.iter().zip(&self.needs);
        let kept = pairs.filter(|(dependent, need)| keep(dependent, need));
        (self.dependents, self.needs) = kept.map(|(dependent, need)| (*dependent, *need)).unzip();
    }
}

/// Returns the dependencies of a task, each once.
pub(super) fn dependencies(task: &Task) -> BTreeSet<&str> {
    task.depends_on.iter().map(TaskId::as_str).collect()
}

/// Rounds a timestamp to the precision of a task's JSON, so that copied tasks have the same order.
fn round_as_stored(moment: Timestamp) -> Timestamp {
    let floor = TimestampRound::new().smallest(Unit::Millisecond).mode(RoundMode::Floor);
    moment.round(floor).unwrap_or(moment)
}

impl PgQueue {
    /// Adds tasks to their queues, all or none.
    pub(super) fn push(&self, tasks: Vec<QueuedTask>) -> Result<(), QueueError> {
        if tasks.is_empty() {
            return Ok(());
        }
        let mut seen = BTreeSet::new();
        for QueuedTask { queue, task } in &tasks {
            transitions::validate_new(task)?;
            if !seen.insert(&task.id) {
                return Err(already_exists(&task.id, queue.clone(), TaskStatus::Pending));
            }
        }
        let tasks = tasks.into_iter();
        let tasks: Vec<QueuedTask> =
            tasks.map(|new| QueuedTask { task: transitions::reset(new.task), ..new }).collect();
        let ticket = ticket();
        self.pool.run(RetryMode::UntilRestarted, |conn, attempt| {
            self.push_once(conn, &tasks, ticket, attempt)
        })?;
        self.notify_sender.request(tasks.iter().map(|new| &new.queue));
        Ok(())
    }

    fn push_once(
        &self,
        conn: &mut Conn,
        tasks: &[QueuedTask],
        ticket: i64,
        attempt: OperationAttempt,
    ) -> Result<(), OperationError> {
        if attempt == OperationAttempt::AfterLostReply && was_pushed(conn, tasks, ticket)? {
            return Ok(());
        }
        reject_repeated_parent(conn, tasks)?;
        let queues: BTreeSet<&QueueName> = tasks.iter().map(|new| &new.queue).collect();
        let columns = TaskColumns::of(tasks);
        let pushed = match self.capacity.until(&queues) {
            Some(until) => insert_tasks(conn, &columns, ticket, until),
            None => Ok(0),
        };
        match pushed {
            Ok(0) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(explain_error(conn, tasks, error)),
        }
        conn.batch("BEGIN")?;
        let pushed = self.push_counting(conn, tasks, &queues, &columns, ticket);
        if pushed.is_err() {
            conn.batch("ROLLBACK")?;
        }
        match pushed {
            Ok(()) => Ok(conn.batch("COMMIT")?),
            Err(OperationError::Server(error)) => Err(explain_error(conn, tasks, error)),
            Err(OperationError::Rejected(full)) => {
                Err(find_existing(conn, tasks)?.unwrap_or(full).into())
            }
        }
    }

    /// Pushes under a lock on the rows of the queues, after counting their pending tasks.
    fn push_counting(
        &self,
        conn: &mut Conn,
        tasks: &[QueuedTask],
        queues: &BTreeSet<&QueueName>,
        columns: &TaskColumns<'_>,
        ticket: i64,
    ) -> Result<(), OperationError> {
        let names: Vec<&str> = queues.iter().map(|queue| queue.as_str()).collect();
        conn.execute(
            "INSERT INTO assay_queues (name) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING",
            &[&names],
        )?;
        conn.query(
            "SELECT FROM assay_queues WHERE name = ANY ($1::text[]) ORDER BY name FOR UPDATE",
            &[&names],
        )?;
        let most = self.policy.max_queue_size;
        let limit = i64::try_from(most).unwrap_or(i64::MAX / 4);
        for row in conn.query(WAITING, &[&names, &(limit + 1)])? {
            let (name, waiting, arrivals): (&str, i64, i64) = (row.get(0), row.get(1), row.get(2));
            let new = tasks.iter().filter(|new| new.queue.as_str() == name).count();
            let queue = queues.iter().find(|queue| queue.as_str() == name);
            let queue = (*queue.expect("only these were counted")).clone();
            if waiting + i64::try_from(new).unwrap_or(limit) > limit {
                return Err(QueueError::Full { queue, most }.into());
            }
            self.capacity.record(&queue, arrivals + limit - waiting - CAPACITY_MARGIN);
        }
        insert_tasks(conn, columns, ticket, i64::MAX)?;
        Ok(())
    }
}

fn insert_tasks(
    conn: &mut Conn,
    columns: &TaskColumns<'_>,
    ticket: i64,
    until: i64,
) -> Result<u64, postgres::Error> {
    let TaskColumns { ids, queues, priorities, created, bodies, .. } = columns;
    let TaskColumns { for_people, run_ats, dependents, needs, .. } = columns;
    conn.execute(
        PUSH,
        &[
            ids, queues, priorities, created, bodies, dependents, needs, &ticket, &until,
            for_people, run_ats,
        ],
    )
}

/// Returns true if an earlier attempt took effect.
fn was_pushed(conn: &mut Conn, tasks: &[QueuedTask], ticket: i64) -> Result<bool, postgres::Error> {
    let id = tasks.first().map(|new| new.task.id.as_str());
    let mine = conn.query(
        "SELECT FROM assay_tasks WHERE id = $1::text AND pushed = $2::int8",
        &[&id, &ticket],
    )?;
    Ok(!mine.is_empty())
}

/// Fails if a task repeats its parent, which is in progress: same queue, same kind.
fn reject_repeated_parent(conn: &mut Conn, tasks: &[QueuedTask]) -> Result<(), OperationError> {
    let of = |new: &QueuedTask| new.task.parent_task_id.clone();
    let parents: Vec<TaskId> = tasks.iter().filter_map(of).collect();
    if parents.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = parents.iter().map(TaskId::as_str).collect();
    let running = conn.query(
        "SELECT l.id, l.queue, t.body FROM assay_line l JOIN assay_tasks t ON t.id = l.id
         WHERE l.id = ANY ($1::text[]) AND l.holder IS NOT NULL",
        &[&names],
    )?;
    for row in running {
        let (id, queue): (&str, &str) = (row.get(0), row.get(1));
        let Json(parent): Json<Task> = row.try_get(2)?;
        let again = tasks.iter().any(|QueuedTask { queue: to, task }| {
            let parent_id = task.parent_task_id.as_ref().map(TaskId::as_str);
            parent_id == Some(id) && to.as_str() == queue && task.kind == parent.kind
        });
        if again {
            return Err(QueueError::RepeatsParent { parent: parent.id, kind: parent.kind }.into());
        }
    }
    Ok(())
}

/// Returns the error with the task that exists already, if the server reports a duplicate.
fn explain_error(conn: &mut Conn, tasks: &[QueuedTask], error: postgres::Error) -> OperationError {
    if error.code() != Some(&SqlState::UNIQUE_VIOLATION) {
        return error.into();
    }
    match find_existing(conn, tasks) {
        Ok(Some(there)) => there.into(),
        Ok(None) => error.into(),
        Err(failure) => failure,
    }
}

fn find_existing(
    conn: &mut Conn,
    tasks: &[QueuedTask],
) -> Result<Option<QueueError>, OperationError> {
    let ids: Vec<&str> = tasks.iter().map(|new| new.task.id.as_str()).collect();
    let rows = conn.query(
        "SELECT t.id, t.queue, CASE WHEN t.status <> 'open' THEN t.status
             WHEN l.holder IS NOT NULL THEN 'in_progress' ELSE 'pending' END
         FROM assay_tasks t LEFT JOIN assay_line l ON l.id = t.id
         WHERE t.id = ANY ($1::text[]) ORDER BY t.id LIMIT 1",
        &[&ids],
    )?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let (id, queue, status): (&str, &str, &str) = (row.get(0), row.get(1), row.get(2));
    let parsed = |error| OperationError::Rejected(QueueError::Task(error));
    let id: TaskId = id.parse().map_err(parsed)?;
    let queue = queue.parse().map_err(parsed)?;
    Ok(Some(already_exists(&id, queue, status.parse().map_err(parsed)?)))
}

fn already_exists(id: &TaskId, queue: QueueName, status: TaskStatus) -> QueueError {
    QueueError::AlreadyExists { id: id.clone(), queue, status }
}
