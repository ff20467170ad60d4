//! The transitions of tasks in the database: settling, recovering, cancelling, retrying.

use std::collections::{BTreeSet, HashMap, HashSet};

use jiff::Timestamp;
use postgres::types::Json;

use super::claim::{not_held, number};
use super::look::{BY_ID, HELD, Seated};
use super::pool::{Conn, Failure, Patience, Try};
use super::push::{Columns, needs};
use super::{PgQueue, millis, ticket};
use crate::queue::{Addressed, Lease, QueueError, Recovered, Settled, Settlement, same_for_all};
use crate::steps::{self, Step};
use crate::task::{AgentId, Moment, QueueName, Status, Task, TaskId};

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
const TRIES: usize = 20;

/// A new state of a task, which is stored only if the task is unchanged since it was read.
struct Change {
    id: TaskId,
    queue: QueueName,
    /// The holder of the task when it was read; `None` if it was not held.
    holder: Option<String>,
    fence: i64,
    /// The expiry of the lease, if it must be unchanged; `None` otherwise.
    until: Option<Timestamp>,
    step: Step,
}

impl Change {
    /// Returns a change without follow-up tasks.
    fn to(seat: &Seated, until: Option<Timestamp>, task: Task) -> Change {
        let (rests, settled) = (std::time::Duration::ZERO, Settled::GivenBack);
        Change {
            id: task.id.clone(),
            queue: seat.queue.clone(),
            holder: seat.holder.clone(),
            fence: seat.fence,
            until,
            step: Step { task, follow_ups: Vec::new(), rests, settled },
        }
    }

    /// Returns the status as the tables store it.
    fn status(&self) -> &'static str {
        match self.step.task.status {
            Status::Pending | Status::InProgress => "open",
            status @ (Status::Completed | Status::Failed | Status::Cancelled) => status.as_str(),
        }
    }

    /// Returns true if this change may make a task claimable.
    fn wakes(&self) -> bool {
        self.status() == "open" || !self.step.follow_ups.is_empty()
    }
}

/// The effect of changes.
#[derive(Default)]
struct Done {
    /// The tasks that were unchanged since they were read, and are now changed.
    ids: HashSet<String>,
    /// The queues with a task whose last dependency was completed.
    released: Vec<String>,
}

impl PgQueue {
    /// Settles several tasks independently.
    pub(super) fn settle_all(
        &self,
        settlements: Vec<(Lease, Settlement)>,
    ) -> Vec<Result<Settled, QueueError>> {
        if settlements.len() > 1 && !are_apart(&settlements) {
            let one = |one| self.settle_all(vec![one]);
            return settlements.into_iter().flat_map(one).collect();
        }
        let leases: Vec<Lease> = settlements.iter().map(|(lease, _)| lease.clone()).collect();
        let mut known = match self.claimed(&leases) {
            Ok(known) => known,
            Err(error) => return same_for_all(leases.len(), error),
        };
        let now = self.pool.now();
        let mut answers: Vec<Result<Settled, QueueError>> = Vec::new();
        let mut changes = Vec::new();
        for (lease, what) in settlements {
            let is_completion = matches!(what, Settlement::Completed { .. });
            let change = match known.remove(&lease.task) {
                Some(task) if is_completion && task.status == Status::Completed => {
                    answers.push(Ok(Settled::AlreadyCompleted));
                    continue;
                }
                Some(task) if task.status == Status::InProgress => {
                    self.change(task, &lease, what, now)
                }
                Some(_) | None => Err(not_held(&lease)),
            };
            answers.push(change.map(|change| {
                let settled = change.step.settled.clone();
                changes.push(change);
                settled
            }));
        }
        match self.carry_out(&changes) {
            Ok(done) => {
                let mark = |(answer, lease): (Result<Settled, QueueError>, &Lease)| {
                    let is_done = done.contains(lease.task.as_str());
                    answer.and_then(|settled| match settled {
                        Settled::AlreadyCompleted => Ok(settled),
                        settled if is_done => Ok(settled),
                        _ => Err(not_held(lease)),
                    })
                };
                answers.into_iter().zip(&leases).map(mark).collect()
            }
            Err(error) => same_for_all(leases.len(), error),
        }
    }

    /// Returns the tasks of leases, as they were claimed or as they were completed under the same
    /// lease, from the cache or the database.
    fn claimed(&self, leases: &[Lease]) -> Result<HashMap<TaskId, Task>, QueueError> {
        let mut known = HashMap::new();
        let mut unknown = Vec::new();
        for lease in leases {
            match self.desk.take(lease) {
                Some(task) => drop(known.insert(lease.task.clone(), task)),
                None => unknown.push(lease),
            }
        }
        if unknown.is_empty() {
            return Ok(known);
        }
        let ids: Vec<&str> = unknown.iter().map(|lease| lease.task.as_str()).collect();
        let seats =
            self.pool.run(Patience::Restart, |conn, _| Seated::query(conn, BY_ID, &[&ids]))?;
        for seat in seats {
            let lease = unknown.iter().find(|lease| lease.task == seat.task.id);
            let is_held = lease.is_some_and(|lease| {
                let completed_by = seat.task.completed_by.as_deref();
                let by = seat.holder.as_deref().or(completed_by);
                seat.fence == number(lease.fence) && by == Some(lease.agent.as_str())
            });
            if is_held {
                known.insert(seat.task.id.clone(), seat.task);
            }
        }
        Ok(known)
    }

    fn change(
        &self,
        task: Task,
        lease: &Lease,
        what: Settlement,
        now: Moment,
    ) -> Result<Change, QueueError> {
        let step = steps::settle(task, lease, what, &self.policy, now);
        let step = self.named_apart(step, &lease.task, lease.fence)?;
        let (holder, fence) = (Some(lease.agent.as_str().to_owned()), number(lease.fence));
        let (id, queue) = (lease.task.clone(), lease.queue.clone());
        Ok(Change { id, queue, holder, fence, until: None, step })
    }

    /// Renames the follow-up tasks of a claim whose ids are taken.
    fn named_apart(&self, mut step: Step, parent: &TaskId, fence: u64) -> Result<Step, QueueError> {
        if step.follow_ups.is_empty() {
            return Ok(step);
        }
        let follow_ups = std::mem::take(&mut step.follow_ups);
        let ids: Vec<&str> = follow_ups.iter().map(|next| next.task.id.as_str()).collect();
        let there =
            self.pool.run(Patience::Restart, |conn, _| Seated::query(conn, BY_ID, &[&ids]))?;
        let taken = there.iter().filter(|seat| !steps::stands_in(&seat.task, parent));
        let taken: HashSet<TaskId> = taken.map(|seat| seat.task.id.clone()).collect();
        let is_taken = |name: &TaskId| Ok(taken.contains(name));
        Ok(step.followed_by(steps::named_apart(follow_ups, parent, fence, is_taken)?))
    }

    /// Stores the changes whose tasks are unchanged since they were read, and returns the ids of
    /// these tasks.
    fn carry_out(&self, changes: &[Change]) -> Result<HashSet<String>, QueueError> {
        if changes.is_empty() {
            return Ok(HashSet::new());
        }
        let ticket = ticket();
        let done = self.pool.run(Patience::Restart, |conn, attempt| {
            let mut done = store(conn, changes, ticket)?;
            if attempt == Try::AfterLoss {
                done.ids.extend(stored_before(conn, changes, ticket)?);
            }
            Ok(done)
        })?;
        let wakes = |change: &&Change| change.wakes() && done.ids.contains(change.id.as_str());
        let waking = changes.iter().filter(wakes);
        let queues = waking.flat_map(|change| {
            let next = change.step.follow_ups.iter().map(|next| &next.queue);
            next.chain([&change.queue]).cloned().collect::<Vec<QueueName>>()
        });
        let released = done.released.iter().filter_map(|queue| queue.parse().ok());
        let queues: BTreeSet<QueueName> = queues.chain(released).collect();
        self.crier.cry(&queues);
        Ok(done.ids)
    }

    pub(super) fn cancel(&self, id: &TaskId, by: &str) -> Result<(), QueueError> {
        for _ in 0..TRIES {
            let seat = self.seat(id)?;
            let task = steps::cancel(seat.task.clone(), by, self.pool.now())?;
            let change = Change::to(&seat, None, task);
            if !self.carry_out(&[change])?.is_empty() {
                if seat.holder.is_some() {
                    self.tell(seat.queue.as_str())?;
                }
                return Ok(());
            }
        }
        Err(restless(id))
    }

    /// Makes a failed or cancelled task pending again.
    pub(super) fn retry(&self, id: &TaskId) -> Result<(), QueueError> {
        for _ in 0..TRIES {
            let seat = self.seat(id)?;
            let before = seat.task.status.as_str();
            let task = steps::retry(seat.task)?;
            let needs: Vec<&str> = needs(&task).into_iter().collect();
            let (for_person, run_at) = (task.kind.is_escalation(), task.run_at.map(|at| at.0));
            let (id, body) = (id.as_str(), Json(&task));
            let again = self.pool.run(Patience::Restart, |conn, _| {
                Ok(conn.execute(RETRY, &[&id, &before, &body, &needs, &for_person, &run_at])?)
            })?;
            if again > 0 {
                self.crier.cry([&seat.queue]);
                return Ok(());
            }
        }
        Err(restless(id))
    }

    fn seat(&self, id: &TaskId) -> Result<Seated, QueueError> {
        let ids = [id.as_str()];
        let ids: &[&str] = &ids;
        let seats =
            self.pool.run(Patience::Restart, |conn, _| Seated::query(conn, BY_ID, &[&ids]))?;
        seats.into_iter().next().ok_or_else(|| QueueError::Unknown(id.clone()))
    }

    /// Recovers tasks whose lease has expired or whose agent is gone.
    pub(super) fn recover(&self) -> Result<Vec<Recovered>, QueueError> {
        self.strike_dead()?;
        let released = self.pool.run(Patience::Restart, |conn, _| {
            let all: Option<&[&str]> = None;
            Ok(conn.query(RELEASE, &[&all])?)
        })?;
        let released: BTreeSet<QueueName> =
            released.iter().filter_map(|row| row.get::<_, &str>(0).parse().ok()).collect();
        self.crier.cry(&released);
        self.take_back(|seat| seat.is_gone())
    }

    /// Recovers the tasks that an earlier agent of this name claimed while alive.
    pub(super) fn take_back_from(&self, agent: &AgentId) -> Result<(), QueueError> {
        let theirs =
            |seat: &Seated| seat.while_alive && seat.holder.as_deref() == Some(agent.as_str());
        self.take_back(theirs).map(|_| ())
    }

    fn take_back(&self, which: impl Fn(&Seated) -> bool) -> Result<Vec<Recovered>, QueueError> {
        let mut seats =
            self.pool.run(Patience::Restart, |conn, _| Seated::query(conn, HELD, &[]))?;
        seats.retain(which);
        let now = self.pool.now();
        let changes: Vec<Change> = seats
            .iter()
            .map(|seat| {
                let step = steps::recover(seat.task.clone(), &seat.queue, &self.policy, now);
                let fence = u64::try_from(seat.fence).unwrap_or(0);
                let step = self.named_apart(step, &seat.task.id, fence)?;
                Ok(Change { step, ..Change::to(seat, seat.until, seat.task.clone()) })
            })
            .collect::<Result<_, QueueError>>()?;
        let done = self.carry_out(&changes)?;
        let taken = seats.into_iter().filter(|seat| done.contains(seat.task.id.as_str()));
        Ok(taken
            .map(|seat| Recovered { task: seat.task.id, queue: seat.queue, held_by: seat.holder })
            .collect())
    }
}

/// Returns true if the settlements are independent of each other, so that one statement can store
/// them.
fn are_apart(settlements: &[(Lease, Settlement)]) -> bool {
    let mut ids = HashSet::new();
    if !settlements.iter().all(|(lease, _)| ids.insert(&lease.task)) {
        return false;
    }
    let mut named = HashSet::new();
    settlements.iter().all(|(_, what)| match what {
        Settlement::Completed { follow_ups, .. } => follow_ups.iter().all(|next| {
            named.insert(&next.task.id)
                && next.task.depends_on.iter().all(|need| !ids.contains(need))
        }),
        Settlement::Failed(_) | Settlement::GivenBack { .. } => true,
    })
}

fn restless(id: &TaskId) -> QueueError {
    QueueError::Database { message: format!("task `{id}` changes all the time; try again") }
}

/// Stores changes and their follow-up tasks in one statement.
fn store(conn: &mut Conn, changes: &[Change], ticket: i64) -> Result<Done, Failure> {
    let ids: Vec<&str> = changes.iter().map(|change| change.id.as_str()).collect();
    let holders: Vec<Option<&str>> =
        changes.iter().map(|change| change.holder.as_deref()).collect();
    let fences: Vec<i64> = changes.iter().map(|change| change.fence).collect();
    let until: Vec<Option<Timestamp>> = changes.iter().map(|change| change.until).collect();
    let statuses: Vec<&str> = changes.iter().map(Change::status).collect();
    let rests: Vec<i64> = changes.iter().map(|change| millis(change.step.rests)).collect();
    let bodies: Vec<Json<&Task>> = changes.iter().map(|change| Json(&change.step.task)).collect();
    let (parents, follow_ups) = follow_ups(changes);
    let rows = if follow_ups.is_empty() {
        conn.query(SETTLE, &[&ids, &holders, &fences, &until, &statuses, &rests, &bodies, &ticket])?
    } else {
        let mut next = Columns::of(follow_ups);
        next.keep_needs(|dependent, need| !is_parent(changes, dependent, need));
        let Columns { ids: names, queues, priorities, created, bodies: tasks, .. } = &next;
        let Columns { for_people, run_ats, dependents, needs, .. } = &next;
        conn.query(
            SETTLE_WITH,
            &[
                &ids, &holders, &fences, &until, &statuses, &rests, &bodies, &ticket, &parents,
                names, queues, priorities, created, tasks, dependents, needs, for_people, run_ats,
            ],
        )?
    };
    let mut done = Done::default();
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
fn follow_ups(changes: &[Change]) -> (Vec<&str>, Vec<&Addressed>) {
    let mut names = HashSet::new();
    let all = changes.iter().flat_map(|change| {
        change.step.follow_ups.iter().map(move |next| (change.id.as_str(), next))
    });
    all.filter(|(_, next)| names.insert(&next.task.id)).unzip()
}

/// Returns true if the dependency of a follow-up task is its own parent, which is completed by the
/// time the follow-up can be claimed.
fn is_parent(changes: &[Change], follow_up: &str, need: &str) -> bool {
    changes.iter().any(|change| {
        change.id.as_str() == need
            && change.step.task.status == Status::Completed
            && change.step.follow_ups.iter().any(|next| next.task.id.as_str() == follow_up)
    })
}

/// Returns the tasks whose changes an earlier attempt stored before its reply was lost.
fn stored_before(
    conn: &mut Conn,
    changes: &[Change],
    ticket: i64,
) -> Result<Vec<String>, postgres::Error> {
    let ids: Vec<&str> = changes.iter().map(|change| change.id.as_str()).collect();
    let mine = conn.query(
        "SELECT id FROM assay_tasks WHERE id = ANY ($1::text[]) AND settled = $2::int8",
        &[&ids, &ticket],
    )?;
    Ok(mine.iter().map(|row| row.get(0)).collect())
}
