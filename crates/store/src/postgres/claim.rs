//! Claiming tasks, and holding them for longer.

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

/// The same for those who claim while they are alive, which are agents: what waits for a person is
/// not for them. It is said in the statement, so that an index can be used for it.
static CLAIM_AS_AGENT: LazyLock<String> =
    LazyLock::new(|| CLAIM.replace("/* open to */", "AND NOT for_person"));

/// How often it is looked for what nobody holds any more, by those who find nothing to claim.
const LOOK_FOR_LOST: Duration = Duration::from_secs(1);

/// Tasks that have rested enough wait again.
const WAKE: &str = "UPDATE assay_line SET rests = NULL WHERE id IN (
    SELECT id FROM assay_line WHERE queue = $1::text AND rests <= now()
        AND holder IS NULL AND open = 0 AND rests IS NOT NULL
    LIMIT 1000 FOR UPDATE SKIP LOCKED)";

/// What was claimed by a call whose answer was lost.
const ADOPT: &str = "SELECT l.id, l.fence, t.body, l.started
    FROM assay_line l JOIN assay_tasks t ON t.id = l.id
    WHERE l.holder = $1::text AND l.ticket = $2::int8
    ORDER BY l.priority, l.created, l.id";

/// The most tasks that are kept on the desk.
const DESK: usize = 1_000;

/// The tasks that were claimed here, so that they need not be read again when they are settled. One
/// with the same number is the same: nobody changes a task that is held.
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

    /// Takes a task from the desk, if it is there.
    pub(super) fn take(&self, lease: &Lease) -> Option<Task> {
        self.lock().remove(&(lease.task.clone(), lease.fence))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(TaskId, u64), Task>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When it was last looked for what nobody holds any more.
#[derive(Default)]
pub(super) struct Lost(Mutex<Option<Stopwatch>>);

impl Lost {
    /// Says whether it is time to look, which is then done.
    fn is_due(&self) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.is_none_or(|last| last.elapsed() >= LOOK_FOR_LOST);
        if due {
            *last = Some(Stopwatch::start());
        }
        due
    }
}

/// Who claims, and from where.
struct Claimant<'a> {
    queue: &'a QueueName,
    agent: &'a AgentId,
    tenure: Tenure,
    ticket: i64,
}

/// What a claim gave.
struct Answer {
    /// Whether tasks have rested enough, which come first.
    due: bool,
    /// Whether it is noted that somebody waits for this queue.
    hungry: bool,
    claimed: Vec<Claimed>,
}

impl PgQueue {
    /// Claims the tasks of a queue whose turn it is.
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
            // Who pushes looks after the push whether somebody is hungry. So whoever is has to say so
            // first and look again then: one of both sees the other.
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

    /// Holds a task for as much longer from now.
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

    /// Says how long it is until a task of a queue has rested enough.
    pub(super) fn next_ready(&self, queue: &QueueName) -> Result<Option<Duration>, QueueError> {
        self.pool.run(Patience::Restart, |conn, _| {
            let rows = conn.query(
                "SELECT (extract(epoch FROM rests - now()) * 1000)::int8 FROM assay_line
                 WHERE queue = $1::text AND holder IS NULL AND open = 0 AND rests IS NOT NULL
                 ORDER BY rests LIMIT 1",
                &[&queue.as_str()],
            )?;
            // A moment more, so that it has surely rested enough by then.
            let left = rows.first().map(|row| row.get::<_, i64>(0).saturating_add(1));
            Ok(left.map(|left| Duration::from_millis(u64::try_from(left).unwrap_or(0))))
        })
    }
}

fn adopt(conn: &mut Conn, who: &Claimant<'_>) -> Result<Vec<Claimed>, Failure> {
    let rows = conn.query(ADOPT, &[&who.agent.as_str(), &who.ticket])?;
    rows.iter().map(|row| read(row, 0, who, row.get(3))).collect()
}

/// Reads the task in three columns: its name, the number of its claim, its JSON.
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

/// The number of a claim as the server keeps it.
pub(super) fn number(fence: u64) -> i64 {
    i64::try_from(fence).unwrap_or(i64::MAX)
}

/// What is told to whoever does not hold a task any more.
pub(super) fn not_held(lease: &Lease) -> QueueError {
    let Lease { task, agent, fence, .. } = lease.clone();
    QueueError::NotHeld { id: task, agent, fence }
}
