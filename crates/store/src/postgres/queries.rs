//! Read-only queries on tasks: a single task, lists, and counts.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use postgres::Row;
use postgres::types::{Json, ToSql};
use serde_json::Value;

use super::PgQueue;
use super::pool::{Conn, OperationError, RetryMode};
use crate::cycles::Cycles;
use crate::queue::{ClaimState, ListedTask, QueueCounts, QueueError, QueueOverview, TaskFilter};
use crate::task::{Moment, QueueName, Task, TaskId, TaskStatus};
use crate::transitions;

/// Selects tasks by id.
pub(super) const BY_ID: &str = concat!(
    include_str!("sql/look.sql"),
    "FROM assay_tasks t LEFT JOIN assay_line l ON l.id = t.id WHERE t.id = ANY ($1::text[])"
);

/// Selects tasks with a holder, also if the lease has expired.
pub(super) const HELD: &str = concat!(
    include_str!("sql/look.sql"),
    "FROM assay_line l JOIN assay_tasks t ON t.id = l.id WHERE l.holder IS NOT NULL"
);

/// Selects open tasks in the order in which they would be claimed: of a queue or all, waiting, held
/// or both, containing a text or any, up to a limit.
const OPEN: &str = concat!(
    include_str!("sql/look.sql"),
    "FROM assay_line l JOIN assay_tasks t ON t.id = l.id
     WHERE ($1::text IS NULL OR l.queue = $1::text)
         AND ((l.holder IS NULL AND $2::bool) OR (l.holder IS NOT NULL AND $3::bool))
         AND ($4::text IS NULL OR strpos(t.body::text, $4::text) > 0)
     ORDER BY l.priority, l.created, l.id LIMIT $5::int8"
);

/// Selects failed or cancelled tasks, in the order in which they would have been claimed.
const GIVEN_UP: &str = concat!(
    include_str!("sql/look.sql"),
    "FROM assay_tasks t LEFT JOIN assay_line l ON l.id = t.id
     WHERE t.status <> 'open' AND t.status = $1::text
         AND ($2::text IS NULL OR t.queue = $2::text)
         AND ($3::text IS NULL OR strpos(t.body::text, $3::text) > 0)
     ORDER BY t.priority, t.created, t.id LIMIT $4::int8"
);

/// Selects the newest completed tasks.
const COMPLETED: &str = concat!(
    include_str!("sql/look.sql"),
    "FROM assay_tasks t LEFT JOIN assay_line l ON l.id = t.id
     WHERE t.status <> 'open' AND t.status = $1::text
         AND ($2::text IS NULL OR t.queue = $2::text)
         AND ($3::text IS NULL OR strpos(t.body::text, $3::text) > 0)
     ORDER BY t.ended DESC, t.id LIMIT $4::int8"
);

/// Selects the open dependencies of open tasks, with their status.
const NEEDS: &str = "SELECT n.task, n.needs, t.status
    FROM assay_line l JOIN assay_needs n ON n.task = l.id LEFT JOIN assay_tasks t ON t.id = n.needs
    WHERE l.open > 0";

/// Selects the ids of tasks with open dependencies, in the order in which they would be claimed.
const DEPENDENT_IDS: &str =
    "SELECT id FROM assay_line WHERE open > 0 ORDER BY priority, created, id";

/// Selects the first ids of the tasks that have a holder, or of those that have none, in the order
/// in which they would be claimed.
const FIRST_IDS: &str = "SELECT id FROM assay_line WHERE (holder IS NOT NULL) = $1::bool
    ORDER BY priority, created, id LIMIT $2::int8";

/// A task joined with its row in `assay_line`.
pub(super) struct TaskRow {
    pub(super) queue: QueueName,
    /// The task, in progress if it has a holder.
    pub(super) task: Task,
    pub(super) fence: i64,
    pub(super) holder: Option<String>,
    pub(super) until: Option<Timestamp>,
    pub(super) while_alive: bool,
    open: i32,
    delay_ms: Option<i64>,
    held_ms: Option<i64>,
    without_agent: bool,
}

impl TaskRow {
    /// Runs one of the statements above.
    pub(super) fn query(
        conn: &mut Conn,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<TaskRow>, OperationError> {
        conn.query(sql, values)?.iter().map(TaskRow::read).collect()
    }

    fn read(row: &Row) -> Result<TaskRow, OperationError> {
        let queue: &str = row.get(0);
        let Json(mut task): Json<Task> = row.try_get(2)?;
        let (holder, started): (Option<String>, Option<Timestamp>) = (row.get(4), row.get(5));
        if let (Some(holder), Some(started)) = (&holder, started) {
            task = transitions::start(task, holder, Moment(started));
        }
        Ok(TaskRow {
            queue: queue
                .parse()
                .map_err(|error| OperationError::Rejected(QueueError::Task(error)))?,
            task,
            fence: row.get(3),
            holder,
            open: row.get(6),
            until: row.get(7),
            while_alive: row.get(8),
            delay_ms: row.get(9),
            held_ms: row.get(10),
            without_agent: row.get(11),
        })
    }

    /// Returns true if the task has a holder whose lease has ended.
    pub(super) fn is_lease_expired(&self) -> bool {
        self.holder.is_some() && (self.without_agent || self.held_ms.is_none_or(|left| left <= 0))
    }

    fn into_listed(self, needs: &OpenDependencies) -> ListedTask {
        ListedTask { claim_state: self.claim_state(needs), queue: self.queue, task: self.task }
    }

    fn claim_state(&self, needs: &OpenDependencies) -> ClaimState {
        match self.task.status {
            TaskStatus::Pending => {}
            TaskStatus::InProgress => return self.leased_state(),
            TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled => {
                return ClaimState::Done;
            }
        }
        if self.open > 0 {
            return needs.claim_state(&self.task);
        }
        match self.delay_ms {
            Some(left @ 1..) => ClaimState::Backoff { seconds: seconds(left).max(1) },
            Some(_) | None => ClaimState::Ready,
        }
    }

    fn leased_state(&self) -> ClaimState {
        let by = self.holder.as_deref().and_then(|holder| holder.parse().ok());
        match by {
            Some(by) if !self.is_lease_expired() => {
                ClaimState::Leased { by, seconds: seconds(self.held_ms.unwrap_or(0)) }
            }
            // The next claim recovers the task first.
            Some(_) | None => ClaimState::Ready,
        }
    }
}

fn seconds(millis: i64) -> u64 {
    u64::try_from(millis / 1_000).unwrap_or(0)
}

/// The open dependencies of open tasks.
#[derive(Default)]
struct OpenDependencies {
    of: HashMap<String, Vec<String>>,
    /// The status of dependencies; unknown tasks have no entry.
    status: HashMap<String, String>,
    cycles: Cycles,
}

impl OpenDependencies {
    fn read(conn: &mut Conn) -> Result<OpenDependencies, postgres::Error> {
        let mut needs = OpenDependencies::default();
        for row in conn.query(NEEDS, &[])? {
            let (task, need): (String, String) = (row.get(0), row.get(1));
            if let Some(status) = row.get(2) {
                needs.status.insert(need.clone(), status);
            }
            needs.of.entry(task).or_default().push(need);
        }
        needs.cycles = Cycles::find(&needs.of);
        Ok(needs)
    }

    fn claim_state(&self, task: &Task) -> ClaimState {
        let open = self.of.get(task.id.as_str()).into_iter().flatten();
        let mut on: Vec<TaskId> = open.filter_map(|need| need.parse().ok()).collect();
        let place = |need: &TaskId| task.depends_on.iter().position(|other| other == need);
        // First the order in the task, then the tasks that name this one in their `blocks`.
        on.sort_by_key(|need| (place(need).unwrap_or(usize::MAX), need.clone()));
        let reason = on.iter().find_map(|need| self.reason(task.id.as_str(), need.as_str()));
        match reason {
            Some(reason) => ClaimState::Blocked { reason },
            None => ClaimState::Waiting { on },
        }
    }

    /// Returns the reason why a dependency cannot be completed without intervention, if that is so.
    fn reason(&self, task: &str, need: &str) -> Option<String> {
        let why = match self.status.get(need).map(String::as_str) {
            None => "is unknown",
            Some("failed") => "failed",
            Some("cancelled") => "was cancelled",
            Some(_) if self.cycles.is_same_cycle(need, task) => "depends on this task",
            Some(_) => return None,
        };
        Some(format!("depends on `{need}`, which {why}"))
    }

    fn is_blocked(&self, task: &str) -> bool {
        let needs = self.of.get(task).into_iter().flatten();
        needs.into_iter().any(|need| self.reason(task, need).is_some())
    }
}

impl PgQueue {
    /// Returns a task with its claimability.
    pub(super) fn get(&self, id: &TaskId) -> Result<ListedTask, QueueError> {
        let ids = [id.as_str()];
        let ids: &[&str] = &ids;
        self.pool.run(RetryMode::UntilRestarted, |conn, _| {
            let task_row = TaskRow::query(conn, BY_ID, &[&ids])?.pop();
            let task_row = task_row.ok_or_else(|| QueueError::Unknown(id.clone()))?;
            let needs = if task_row.open > 0 {
                OpenDependencies::read(conn)?
            } else {
                OpenDependencies::default()
            };
            Ok(task_row.into_listed(&needs))
        })
    }

    /// Returns the tasks that match a filter.
    pub(super) fn list(&self, filter: &TaskFilter) -> Result<Vec<ListedTask>, QueueError> {
        let wants = |status: TaskStatus| match filter.statuses.is_empty() {
            true => status != TaskStatus::Completed,
            false => filter.statuses.contains(&status),
        };
        let queue = filter.queue.as_ref().map(QueueName::as_str);
        let text = filter.context.as_ref().map(|(_, value)| as_json(value));
        // For a context filter, the server only preselects tasks by text, so the limit applies
        // later.
        let most = filter.limit.filter(|_| text.is_none());
        let most = most.map(|most| i64::try_from(most).unwrap_or(i64::MAX));
        let (waiting, held) = (wants(TaskStatus::Pending), wants(TaskStatus::InProgress));
        let over =
            [TaskStatus::Failed, TaskStatus::Cancelled].into_iter().filter(|status| wants(*status));
        let over: Vec<&str> = over.map(TaskStatus::as_str).collect();
        self.pool.run(RetryMode::UntilRestarted, |conn, _| {
            let mut task_rows =
                TaskRow::query(conn, OPEN, &[&queue, &waiting, &held, &text, &most])?;
            for status in &over {
                task_rows.extend(TaskRow::query(conn, GIVEN_UP, &[status, &queue, &text, &most])?);
            }
            let key = |task_row: &TaskRow| {
                (task_row.task.priority, task_row.task.created_at, task_row.task.id.clone())
            };
            task_rows.sort_by_cached_key(key);
            if wants(TaskStatus::Completed) {
                let completed = TaskStatus::Completed.as_str();
                task_rows.extend(TaskRow::query(
                    conn,
                    COMPLETED,
                    &[&completed, &queue, &text, &most],
                )?);
            }
            task_rows.retain(|task_row| {
                filter.context.as_ref().is_none_or(|wanted| has_context(&task_row.task, wanted))
            });
            task_rows.truncate(filter.limit.unwrap_or(usize::MAX));
            let waits = task_rows.iter().any(|task_row| task_row.open > 0);
            let needs =
                if waits { OpenDependencies::read(conn)? } else { OpenDependencies::default() };
            Ok(task_rows.into_iter().map(|task_row| task_row.into_listed(&needs)).collect())
        })
    }

    /// Returns the number of tasks of all queues by state.
    pub(super) fn count(&self) -> Result<Vec<QueueCounts>, QueueError> {
        self.pool.run(RetryMode::UntilRestarted, |conn, _| {
            let needs = OpenDependencies::read(conn)?;
            counts(conn, &needs)
        })
    }

    /// Returns the number of tasks of all queues by state, and at most `most` tasks of each state.
    pub(super) fn overview(&self, most: usize) -> Result<QueueOverview, QueueError> {
        self.pool.run(RetryMode::UntilRestarted, |conn, _| {
            let needs = OpenDependencies::read(conn)?;
            let mut blocked = ids(conn, DEPENDENT_IDS, &[])?;
            blocked.retain(|id| needs.is_blocked(id));
            // Blocked tasks are pending too, and may come before all that wait.
            let searched = limit(most.saturating_add(blocked.len()));
            let mut waiting = ids(conn, FIRST_IDS, &[&false, &searched])?;
            waiting.retain(|id| !needs.is_blocked(id));
            let running = ids(conn, FIRST_IDS, &[&true, &limit(most)])?;
            let (failed, any) = (TaskStatus::Failed.as_str(), None::<&str>);
            let failed = TaskRow::query(conn, GIVEN_UP, &[&failed, &any, &any, &limit(most)])?;
            Ok(QueueOverview {
                counts: counts(conn, &needs)?,
                running: listed(conn, &needs, &running)?,
                blocked: listed(conn, &needs, first(&blocked, most))?,
                waiting: listed(conn, &needs, first(&waiting, most))?,
                failed: failed.into_iter().map(|task_row| task_row.into_listed(&needs)).collect(),
            })
        })
    }
}

fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

fn first(ids: &[String], most: usize) -> &[String] {
    &ids[..most.min(ids.len())]
}

fn ids(
    conn: &mut Conn,
    sql: &'static str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Vec<String>, OperationError> {
    Ok(conn.query(sql, values)?.iter().map(|row| row.get(0)).collect())
}

/// Returns the tasks with these ids, in the same order.
fn listed(
    conn: &mut Conn,
    needs: &OpenDependencies,
    ids: &[String],
) -> Result<Vec<ListedTask>, OperationError> {
    let mut task_rows = TaskRow::query(conn, BY_ID, &[&ids])?;
    let place = |task_row: &TaskRow| ids.iter().position(|id| id == task_row.task.id.as_str());
    task_rows.sort_by_cached_key(place);
    Ok(task_rows.into_iter().map(|task_row| task_row.into_listed(needs)).collect())
}

/// Counts the tasks of all queues by state.
fn counts(conn: &mut Conn, needs: &OpenDependencies) -> Result<Vec<QueueCounts>, OperationError> {
    let mut counts = BTreeMap::new();
    let line = conn.query(
        "SELECT queue, CASE WHEN holder IS NOT NULL THEN 'in_progress'
             WHEN rests > now() THEN 'waiting' ELSE 'ready' END, count(*)
         FROM assay_line WHERE open = 0 GROUP BY 1, 2
         UNION ALL
         SELECT queue, status, count(*) FROM assay_tasks WHERE status <> 'open'
         GROUP BY 1, 2",
        &[],
    )?;
    for row in line {
        let (queue, state, many): (&str, &str, i64) = (row.get(0), row.get(1), row.get(2));
        *counter(&mut counts, queue, state)? += usize::try_from(many).unwrap_or(0);
    }
    for row in conn.query("SELECT id, queue FROM assay_line WHERE open > 0", &[])? {
        let (id, queue): (&str, &str) = (row.get(0), row.get(1));
        let state = if needs.is_blocked(id) { "blocked" } else { "waiting" };
        *counter(&mut counts, queue, state)? += 1;
    }
    Ok(counts.into_values().collect())
}

/// Returns the counter of a queue for a state.
fn counter<'a>(
    counts: &'a mut BTreeMap<QueueName, QueueCounts>,
    queue: &str,
    state: &str,
) -> Result<&'a mut usize, OperationError> {
    let queue: QueueName =
        queue.parse().map_err(|error| OperationError::Rejected(QueueError::Task(error)))?;
    let count = counts.entry(queue.clone()).or_insert(QueueCounts {
        queue,
        ready: 0,
        waiting: 0,
        blocked: 0,
        in_progress: 0,
        completed: 0,
        failed: 0,
        cancelled: 0,
    });
    Ok(match state {
        "ready" => &mut count.ready,
        "waiting" => &mut count.waiting,
        "in_progress" => &mut count.in_progress,
        "completed" => &mut count.completed,
        "failed" => &mut count.failed,
        "cancelled" => &mut count.cancelled,
        _ => &mut count.blocked,
    })
}

/// Returns a text as it is escaped in JSON, without its quotes.
fn as_json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted.trim_matches('"').to_owned()
}

/// Returns true if a task's context has a value under a key.
fn has_context(task: &Task, (key, wanted): &(String, String)) -> bool {
    task.context.get(key).is_some_and(|value| value == wanted)
}
