//! Claiming tasks and renewing leases.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_base::clock::Stopwatch;
use jiff::Timestamp;
use postgres::Row;
use postgres::types::Json;

use super::pool::{Conn, Failure, Patience, Try};
use super::watch::HUNGRY;
use super::{PgQueue, millis, ticket};
use crate::queue::{Claimed, Lease, QueueError, Tenure};
use crate::steps;
use crate::task::{AgentId, Moment, QueueName, Task, TaskId};

const CLAIM: &str = include_str!("sql/claim.sql");

/// The claim statement for agents, which claim while they are alive: tasks that wait for a person
/// are skipped. The condition is in the statement, so that an index can be used.
static CLAIM_AS_AGENT: LazyLock<String> =
    LazyLock::new(|| CLAIM.replace("/* open to */", "AND NOT for_person"));

/// The minimum time between two scans for expired leases by callers that find nothing to claim.
const LOOK_FOR_LOST: Duration = Duration::from_secs(1);

/// Makes tasks claimable whose back-off has ended.
const WAKE: &str = "UPDATE assay_line SET rests = NULL WHERE id IN (
    SELECT id FROM assay_line WHERE queue = $1::text AND rests <= now()
        AND holder IS NULL AND open = 0 AND rests IS NOT NULL
    LIMIT 1000 FOR UPDATE SKIP LOCKED)";

/// Selects the tasks that were claimed by a call whose reply was lost.
const ADOPT: &str = "SELECT l.id, l.fence, t.body, l.started
    FROM assay_line l JOIN assay_tasks t ON t.id = l.id
    WHERE l.holder = $1::text AND l.ticket = $2::int8
    ORDER BY l.priority, l.created, l.id";

/// The maximum number of cached tasks.
const DESK: usize = 1_000;

/// A cache of the tasks claimed by this process, by id and fence, so that settling need not read
/// them again. Entries stay valid because a leased task is immutable.
#[derive(Default)]
pub(super) struct Desk(Mutex<HashMap<(TaskId, u64), Task>>);

impl Desk {
    fn put(&self, claimed: &Claimed) {
        let mut tasks = self.lock();
        if tasks.len() >= DESK {
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
pub(super) struct Lost(Mutex<Option<Stopwatch>>);

impl Lost {
    /// Returns true if a scan is due, and starts the next interval.
    fn is_due(&self) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.is_none_or(|last| last.elapsed() >= LOOK_FOR_LOST);
        if due {
            *last = Some(Stopwatch::start());
        }
        due
    }
}

struct Claimant<'a> {
    queue: &'a QueueName,
    agent: &'a AgentId,
    tenure: Tenure,
    ticket: i64,
}

/// The reply to a claim.
struct Answer {
    /// True if tasks have ended their back-off: they must be made claimable first.
    due: bool,
    /// True if the queue is already marked as having a waiting consumer.
    hungry: bool,
    claimed: Vec<Claimed>,
}

impl PgQueue {
    /// Claims tasks of a queue, in the order of the queue.
    pub(super) fn claim(
        &self,
        queue: &QueueName,
        agent: &AgentId,
        tenure: Tenure,
        at_most: usize,
    ) -> Result<Vec<Claimed>, QueueError> {
        if at_most == 0 {
            return Ok(Vec::new());
        }
        let claimed = self.claim_what_waits(queue, agent, tenure, at_most)?;
        if !claimed.is_empty() || !self.lost.is_due() {
            return Ok(claimed);
        }
        match self.recover()?.is_empty() {
            true => Ok(claimed),
            false => self.claim_what_waits(queue, agent, tenure, at_most),
        }
    }

    fn claim_what_waits(
        &self,
        queue: &QueueName,
        agent: &AgentId,
        tenure: Tenure,
        at_most: usize,
    ) -> Result<Vec<Claimed>, QueueError> {
        self.names.refuse_displaced(agent)?;
        let who = Claimant { queue, agent, tenure, ticket: ticket() };
        let at_most = i64::try_from(at_most).unwrap_or(i64::MAX);
        let claimed = self.pool.run(Patience::Restart, |conn, attempt| {
            if attempt == Try::AfterLoss {
                let adopted = adopt(conn, &who)?;
                if !adopted.is_empty() {
                    return Ok(adopted);
                }
            }
            self.claim_once(conn, &who, at_most)
        })?;
        for claimed in &claimed {
            self.desk.put(claimed);
        }
        Ok(claimed)
    }

    fn claim_once(
        &self,
        conn: &mut Conn,
        who: &Claimant<'_>,
        at_most: i64,
    ) -> Result<Vec<Claimed>, Failure> {
        let mut answer = self.ask(conn, who, at_most, true)?;
        if answer.due {
            conn.execute(WAKE, &[&who.queue.as_str()])?;
            answer = self.ask(conn, who, at_most, false)?;
        }
        if answer.claimed.is_empty() && !answer.hungry {
            // A push checks for waiting consumers after its commit. So a consumer marks itself
            // first and then searches again: one of both sees the other.
            conn.execute(HUNGRY, &[&who.queue.as_str()])?;
            answer = self.ask(conn, who, at_most, false)?;
        }
        Ok(answer.claimed)
    }

    fn ask(
        &self,
        conn: &mut Conn,
        who: &Claimant<'_>,
        at_most: i64,
        due_first: bool,
    ) -> Result<Answer, Failure> {
        let alive = matches!(who.tenure, Tenure::WhileAlive(_));
        let (queue, agent) = (who.queue.as_str(), who.agent.as_str());
        let time = millis(who.tenure.time());
        let claim = if alive { CLAIM_AS_AGENT.as_str() } else { CLAIM };
        let rows =
            conn.query(claim, &[&queue, &at_most, &agent, &alive, &time, &due_first, &who.ticket])?;
        let first = rows.first().expect("there is always a row");
        let (due, hungry, now): (bool, bool, Timestamp) =
            (first.get(0), first.get(1), first.get(2));
        self.pool.set_clock(now);
        let tasks = rows.iter().filter(|row| row.get::<_, Option<&str>>(3).is_some());
        let claimed = tasks.map(|row| read(row, 3, who, now)).collect::<Result<_, _>>()?;
        Ok(Answer { due, hungry, claimed })
    }

    /// Extends a lease to `time` from now.
    pub(super) fn renew(&self, lease: &Lease, time: Duration) -> Result<(), QueueError> {
        let Lease { task, agent, fence, .. } = lease;
        let renewed = self.pool.run(Patience::Restart, |conn, _| {
            let values = (task.as_str(), agent.as_str(), number(*fence), millis(time));
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
        self.pool.run(Patience::Restart, |conn, _| {
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

fn adopt(conn: &mut Conn, who: &Claimant<'_>) -> Result<Vec<Claimed>, Failure> {
    let rows = conn.query(ADOPT, &[&who.agent.as_str(), &who.ticket])?;
    rows.iter().map(|row| read(row, 0, who, row.get(3))).collect()
}

/// Reads the task from three columns: id, fence, JSON.
fn read(row: &Row, at: usize, who: &Claimant<'_>, now: Timestamp) -> Result<Claimed, Failure> {
    let fence: i64 = row.get(at + 1);
    let Json(task): Json<Task> = row.try_get(at + 2)?;
    let lease = Lease {
        task: task.id.clone(),
        queue: who.queue.clone(),
        agent: who.agent.clone(),
        fence: u64::try_from(fence).unwrap_or(0),
    };
    Ok(Claimed { lease, task: steps::start(task, who.agent.as_str(), Moment(now)) })
}

/// Returns a fence as the server stores it.
pub(super) fn number(fence: u64) -> i64 {
    i64::try_from(fence).unwrap_or(i64::MAX)
}

/// Returns the error for a lease that is not held any more.
pub(super) fn not_held(lease: &Lease) -> QueueError {
    let Lease { task, agent, fence, .. } = lease.clone();
    QueueError::NotHeld { id: task, agent, fence }
}
