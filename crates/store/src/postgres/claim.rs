//! Claiming tasks and renewing leases.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_base::clock::Stopwatch;
use jiff::Timestamp;
use postgres::Row;
use postgres::types::Json;

use super::pool::{Conn, OperationAttempt, OperationError, RetryMode};
use super::watch::MARK_WAITING;
use super::{PgQueue, millis, ticket};
use crate::queue::{ClaimedTask, Lease, LeaseKind, QueueError};
use crate::task::{AgentId, Moment, QueueName, Task, TaskId};
use crate::transitions;

const CLAIM: &str = include_str!("sql/claim.sql");

/// The claim statement for agents, which claim while they are alive: tasks that wait for a person
/// are skipped. The condition is in the statement, so that an index can be used.
static CLAIM_AS_AGENT: LazyLock<String> =
    LazyLock::new(|| CLAIM.replace("/* open to */", "AND NOT for_person"));

/// The minimum time between two scans for expired leases by callers that find nothing to claim.
const EXPIRY_SCAN_INTERVAL: Duration = Duration::from_secs(1);

/// Makes tasks claimable whose back-off has ended.
const END_BACKOFF: &str = "UPDATE assay_line SET rests = NULL WHERE id IN (
    SELECT id FROM assay_line WHERE queue = $1::text AND rests <= now()
        AND holder IS NULL AND open = 0 AND rests IS NOT NULL
    LIMIT 1000 FOR UPDATE SKIP LOCKED)";

/// Selects the tasks that were claimed by a call whose reply was lost.
const ADOPT: &str = "SELECT l.id, l.fence, t.body, l.started
    FROM assay_line l JOIN assay_tasks t ON t.id = l.id
    WHERE l.holder = $1::text AND l.ticket = $2::int8
    ORDER BY l.priority, l.created, l.id";

/// The maximum number of cached tasks.
const MAX_CACHED_TASKS: usize = 1_000;

/// A cache of the tasks claimed by this process, by id and fence, so that settling need not read
/// them again. Entries stay valid because a leased task is immutable.
#[derive(Default)]
pub(super) struct ClaimCache(Mutex<HashMap<(TaskId, u64), Task>>);

impl ClaimCache {
    fn put(&self, claimed: &ClaimedTask) {
        let mut tasks = self.lock();
        if tasks.len() >= MAX_CACHED_TASKS {
            tasks.clear();
        }
        let Lease { task, fence, .. } = &claimed.lease;
        tasks.insert((task.clone(), *fence), claimed.task.clone());
    }

    /// Removes a task from the cache and returns it.
    pub(super) fn take(&self, lease: &Lease) -> Option<Task> {
        self.lock().remove(&(lease.task.clone(), lease.fence))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(TaskId, u64), Task>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time of the last scan for expired leases.
#[derive(Default)]
pub(super) struct ExpiryTimer(Mutex<Option<Stopwatch>>);

impl ExpiryTimer {
    /// Returns true if a scan is due, and starts the next interval.
    fn is_due(&self) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.is_none_or(|last| last.elapsed() >= EXPIRY_SCAN_INTERVAL);
        if due {
            *last = Some(Stopwatch::start());
        }
        due
    }
}

struct Claimant<'a> {
    queue: &'a QueueName,
    agent: &'a AgentId,
    lease_kind: LeaseKind,
    ticket: i64,
}

/// The reply to a claim.
struct ClaimReply {
    /// True if tasks have ended their back-off: they must be made claimable first.
    has_ended_backoffs: bool,
    /// True if the queue is already marked as having a waiting consumer.
    is_marked_waiting: bool,
    claimed: Vec<ClaimedTask>,
}

impl PgQueue {
    /// Claims tasks of a queue, in the order of the queue.
    pub(super) fn claim(
        &self,
        queue: &QueueName,
        agent: &AgentId,
        lease_kind: LeaseKind,
        at_most: usize,
    ) -> Result<Vec<ClaimedTask>, QueueError> {
        if at_most == 0 {
            return Ok(Vec::new());
        }
        let claimed = self.claim_ready(queue, agent, lease_kind, at_most)?;
        if !claimed.is_empty() || !self.expiry_timer.is_due() {
            return Ok(claimed);
        }
        match self.recover()?.is_empty() {
            true => Ok(claimed),
            false => self.claim_ready(queue, agent, lease_kind, at_most),
        }
    }

    fn claim_ready(
        &self,
        queue: &QueueName,
        agent: &AgentId,
        lease_kind: LeaseKind,
        at_most: usize,
    ) -> Result<Vec<ClaimedTask>, QueueError> {
        self.local_agents.check_not_displaced(agent)?;
        let claimant = Claimant { queue, agent, lease_kind, ticket: ticket() };
        let at_most = i64::try_from(at_most).unwrap_or(i64::MAX);
        let claimed = self.pool.run(RetryMode::UntilRestarted, |conn, attempt| {
            if attempt == OperationAttempt::AfterLostReply {
                let adopted = adopt(conn, &claimant)?;
                if !adopted.is_empty() {
                    return Ok(adopted);
                }
            }
            self.claim_once(conn, &claimant, at_most)
        })?;
        for claimed in &claimed {
            self.claim_cache.put(claimed);
        }
        Ok(claimed)
    }

    fn claim_once(
        &self,
        conn: &mut Conn,
        claimant: &Claimant<'_>,
        at_most: i64,
    ) -> Result<Vec<ClaimedTask>, OperationError> {
        let mut reply = self.query_claim(conn, claimant, at_most, true)?;
        if reply.has_ended_backoffs {
            conn.execute(END_BACKOFF, &[&claimant.queue.as_str()])?;
            reply = self.query_claim(conn, claimant, at_most, false)?;
        }
        if reply.claimed.is_empty() && !reply.is_marked_waiting {
            // A push checks for waiting consumers after its commit. So a consumer marks itself
            // first and then searches again: one of both sees the other.
            conn.execute(MARK_WAITING, &[&claimant.queue.as_str()])?;
            reply = self.query_claim(conn, claimant, at_most, false)?;
        }
        Ok(reply.claimed)
    }

    fn query_claim(
        &self,
        conn: &mut Conn,
        claimant: &Claimant<'_>,
        at_most: i64,
        due_first: bool,
    ) -> Result<ClaimReply, OperationError> {
        let alive = matches!(claimant.lease_kind, LeaseKind::WhileAlive(_));
        let (queue, agent) = (claimant.queue.as_str(), claimant.agent.as_str());
        let time = millis(claimant.lease_kind.time());
        let claim = if alive { CLAIM_AS_AGENT.as_str() } else { CLAIM };
        let rows = conn.query(
            claim,
            &[&queue, &at_most, &agent, &alive, &time, &due_first, &claimant.ticket],
        )?;
        let first = rows.first().expect("there is always a row");
        let (has_ended_backoffs, is_marked_waiting, now): (bool, bool, Timestamp) =
            (first.get(0), first.get(1), first.get(2));
        self.pool.set_server_time(now);
        let tasks = rows.iter().filter(|row| row.get::<_, Option<&str>>(3).is_some());
        let claimed =
            tasks.map(|row| read_claimed(row, 3, claimant, now)).collect::<Result<_, _>>()?;
        Ok(ClaimReply { has_ended_backoffs, is_marked_waiting, claimed })
    }

    /// Extends a lease to `time` from now.
    pub(super) fn renew(&self, lease: &Lease, time: Duration) -> Result<(), QueueError> {
        let Lease { task, agent, fence, .. } = lease;
        let renewed = self.pool.run(RetryMode::UntilRestarted, |conn, _| {
            let values = (task.as_str(), agent.as_str(), fence_to_sql(*fence), millis(time));
            Ok(conn.execute(
                "UPDATE assay_line SET until = now() + $4::int8 * interval '1 millisecond'
                 WHERE id = $1::text AND holder = $2::text AND fence = $3::int8",
                &[&values.0, &values.1, &values.2, &values.3],
            )?)
        })?;
        if renewed == 0 { Err(not_held(lease)) } else { Ok(()) }
    }

    /// Returns the time until a delayed task of a queue becomes claimable; `None` if no task is
    /// delayed.
    pub(super) fn next_ready(&self, queue: &QueueName) -> Result<Option<Duration>, QueueError> {
        self.pool.run(RetryMode::UntilRestarted, |conn, _| {
            let rows = conn.query(
                "SELECT (extract(epoch FROM rests - now()) * 1000)::int8 FROM assay_line
                 WHERE queue = $1::text AND holder IS NULL AND open = 0 AND rests IS NOT NULL
                 ORDER BY rests LIMIT 1",
                &[&queue.as_str()],
            )?;
            // One millisecond more, so that the delay has surely ended by then.
            let left = rows.first().map(|row| row.get::<_, i64>(0).saturating_add(1));
            Ok(left.map(|left| Duration::from_millis(u64::try_from(left).unwrap_or(0))))
        })
    }
}

fn adopt(conn: &mut Conn, claimant: &Claimant<'_>) -> Result<Vec<ClaimedTask>, OperationError> {
    let rows = conn.query(ADOPT, &[&claimant.agent.as_str(), &claimant.ticket])?;
    rows.iter().map(|row| read_claimed(row, 0, claimant, row.get(3))).collect()
}

/// Reads the task from three columns: id, fence, JSON.
fn read_claimed(
    row: &Row,
    at: usize,
    claimant: &Claimant<'_>,
    now: Timestamp,
) -> Result<ClaimedTask, OperationError> {
    let fence: i64 = row.get(at + 1);
    let Json(task): Json<Task> = row.try_get(at + 2)?;
    let lease = Lease {
        task: task.id.clone(),
        queue: claimant.queue.clone(),
        agent: claimant.agent.clone(),
        fence: u64::try_from(fence).unwrap_or(0),
    };
    Ok(ClaimedTask { lease, task: transitions::start(task, claimant.agent.as_str(), Moment(now)) })
}

/// Returns a fence as the server stores it.
pub(super) fn fence_to_sql(fence: u64) -> i64 {
    i64::try_from(fence).unwrap_or(i64::MAX)
}

/// Returns the error for a lease that is not held any more.
pub(super) fn not_held(lease: &Lease) -> QueueError {
    let Lease { task, agent, fence, .. } = lease.clone();
    QueueError::NotHeld { id: task, agent, fence }
}
