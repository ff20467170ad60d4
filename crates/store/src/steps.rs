//! What becomes of a task: decided here for every store, so that a store only carries it out.

use std::time::Duration;

use assay_base::hash::short_hash;
use assay_base::text::first_chars;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::pulls;
use crate::queue::{Addressed, Again, Failure, Lease, Policy, QueueError, Settled, Settlement};
use crate::task::{
    Attempt, Kind, MAX_TASK, Moment, Priority, QueueName, Status, Task, TaskError, TaskId,
};

/// The most characters that are kept of an error.
const MAX_ERROR: usize = 4_000;

/// The most tries that are told of a task.
const MAX_ATTEMPTS: usize = 50;

/// What is to be stored when a task is settled.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The task as it is now.
    pub task: Task,
    /// What follows from it, for a queue each.
    pub follow_ups: Vec<Addressed>,
    /// How long it rests before it can be claimed.
    pub rests: Duration,
    /// What is told to whoever settled it.
    pub settled: Settled,
}

impl Step {
    /// The same with what follows from it under other names.
    pub(crate) fn followed_by(self, follow_ups: Vec<Addressed>) -> Step {
        let settled = match self.settled {
            Settled::Failed { escalation: Some(_) } => {
                let escalation = follow_ups.first().map(|next| next.task.id.clone());
                Settled::Failed { escalation }
            }
            other => other,
        };
        Step { follow_ups, settled, ..self }
    }
}

/// Where a task's file keeps how often it was claimed.
pub(crate) const FENCE: &str = "fence";

/// Where a task's file keeps until when it rests, by a clock that nobody moves.
pub(crate) const RESTS: &str = "rests";

/// Checks a task at the door.
pub fn admit(task: &Task) -> Result<(), QueueError> {
    task.check()?;
    let size = task.to_json().len();
    if size > MAX_TASK {
        let message = format!("task `{}` has {size} bytes, and may have {MAX_TASK}", task.id);
        return Err(TaskError::Json(message).into());
    }
    if task.priority == Priority::ESCALATION && !task.kind.is_escalation() {
        return Err(QueueError::NotUrgent { id: task.id.clone() });
    }
    Ok(())
}

/// Makes a task wait as one that is new, whatever it says of itself.
pub fn fresh(mut task: Task) -> Task {
    task.retry_count = 0;
    task.last_failed_at = None;
    task.last_error = None;
    task.failed_at = None;
    task.failed_by = None;
    task.completed_at = None;
    task.completed_by = None;
    task.result_summary = None;
    task.attempts.clear();
    task.rest.remove(FENCE);
    task.rest.remove(RESTS);
    waiting_again(task)
}

/// Gives what follows from a claim of a task names of its own where others have them: nothing that
/// follows is lost to a name. Only what follows from the same task and still waits is not made twice,
/// and the review of a pull request's head, which there is once, whoever made it.
pub fn named_apart(
    follow_ups: Vec<Addressed>,
    parent: &TaskId,
    fence: u64,
    is_taken: impl Fn(&TaskId) -> Result<bool, QueueError>,
) -> Result<Vec<Addressed>, QueueError> {
    let mut kept = Vec::new();
    for next in follow_ups {
        if !pulls::is_of_one_head(&next.task.id) || !is_taken(&next.task.id)? {
            kept.push(next);
        }
    }
    let mut follow_ups = kept;
    for number in 0..follow_ups.len() {
        let taken = follow_ups[number].task.id.clone();
        if !is_taken(&taken)? {
            continue;
        }
        let own = short_name(taken.as_str(), &short_hash(format!("{parent} {fence}"), HASH_DIGITS));
        follow_ups[number].task.id = own.clone();
        let needs = follow_ups.iter_mut().flat_map(|next| &mut next.task.depends_on);
        needs.filter(|need| **need == taken).for_each(|need| *need = own.clone());
    }
    Ok(follow_ups)
}

/// An agent begins to work on a task.
pub fn start(mut task: Task, agent: &str, now: Moment) -> Task {
    task.status = Status::InProgress;
    task.started_at = Some(now);
    task.started_by = Some(agent.to_owned());
    task
}

/// An agent has settled a task.
pub fn settle(task: Task, lease: &Lease, what: Settlement, policy: &Policy, now: Moment) -> Step {
    let agent = lease.agent.as_str();
    match what {
        Settlement::Completed { summary, context, follow_ups } => {
            let next = next_occurrence(&task, &lease.queue, now);
            let mut task = ended(task, agent, "completed", now);
            task.context.extend(context);
            task.status = Status::Completed;
            task.completed_at = Some(now);
            task.completed_by = Some(agent.to_owned());
            task.result_summary = Some(summary);
            let settled = Settled::Completed;
            let follow_ups = follow_ups.into_iter().map(|mut next| {
                next.task.parent_task_id.get_or_insert_with(|| task.id.clone());
                Addressed { task: fresh(next.task), ..next }
            });
            let follow_ups = follow_ups.chain(next).collect();
            Step { task, follow_ups, rests: Duration::ZERO, settled }
        }
        Settlement::Failed(failure) => fail(task, lease, &failure, policy, now),
        Settlement::GivenBack { reason } => {
            let task = waiting_again(ended(task, agent, &format!("given back: {reason}"), now));
            Step { task, follow_ups: vec![], rests: Duration::ZERO, settled: Settled::GivenBack }
        }
    }
}

fn fail(task: Task, lease: &Lease, failure: &Failure, policy: &Policy, now: Moment) -> Step {
    let agent = lease.agent.as_str();
    let error = first_chars(&failure.error, MAX_ERROR).to_owned();
    let mut task = ended(task, agent, &format!("failed: {error}"), now);
    task.last_failed_at = Some(now);
    task.last_error = Some(error);
    let tries = match failure.again {
        Again::AtMost(most) => most.unwrap_or(policy.max_retries),
        Again::Never => 0,
    };
    if task.retry_count < tries {
        task.retry_count = task.retry_count.saturating_add(1);
        let after = policy.backoff(task.retry_count);
        let task = waiting_again(task);
        return Step { task, follow_ups: vec![], rests: after, settled: Settled::Retry { after } };
    }
    give_up(task, &lease.queue, agent, failure, policy, now)
}

/// A task is not tried any more: a person is told.
fn give_up(
    mut task: Task,
    queue: &QueueName,
    by: &str,
    failure: &Failure,
    policy: &Policy,
    now: Moment,
) -> Step {
    let next = next_occurrence(&task, queue, now);
    task.status = Status::Failed;
    task.failed_at = Some(now);
    task.failed_by = Some(by.to_owned());
    let escalation = (!task.kind.is_escalation()).then(|| escalation(&task, failure, policy, now));
    let id = escalation.as_ref().map(|next| next.task.id.clone());
    let settled = Settled::Failed { escalation: id };
    // The escalation comes first: its name is told.
    let follow_ups = escalation.into_iter().chain(next).collect();
    Step { task, follow_ups, rests: Duration::ZERO, settled }
}

/// Where a task's JSON names the first of the tasks that come again and again.
const REPEATS: &str = "repeats";

/// Returns the next task of one that comes again and again. What was missed, as while no agent ran, is
/// not made up for. A task that is called off has none.
fn next_occurrence(task: &Task, queue: &QueueName, now: Moment) -> Option<Addressed> {
    let every = i64::try_from(task.repeat_every?.duration().as_secs()).ok()?;
    let due = task.run_at.unwrap_or(task.created_at).0.as_second();
    let missed = now.0.as_second().saturating_sub(due).max(0) / every;
    let next = due.checked_add(every.checked_mul(missed.checked_add(1)?)?)?;
    let next = Moment(Timestamp::from_second(next).ok()?);
    let first = task.rest.get(REPEATS).and_then(Value::as_str).unwrap_or(task.id.as_str());
    let mut again = fresh(task.clone());
    again.rest.insert(REPEATS.into(), json!(first));
    again.id = short_name(first, &next.0.strftime("%Y%m%dT%H%M%SZ").to_string());
    again.created_at = now;
    again.run_at = Some(next);
    again.parent_task_id = Some(task.id.clone());
    again.depends_on.clear();
    again.blocks.clear();
    Some(Addressed { queue: queue.clone(), task: again })
}

/// Returns how much longer a task cannot be claimed, by the clock on the wall: after a failure, or as it
/// is for later.
pub fn not_before(task: &Task, policy: &Policy, now: Moment) -> Duration {
    let until_run = task.run_at.map(|at| at.0.duration_since(now.0));
    let until_run = until_run.and_then(|left| Duration::try_from(left).ok()).unwrap_or_default();
    rests_by_the_wall(task, policy, now).max(until_run)
}

/// The task that tells a person of one that was given up. A task has one, however often it fails.
fn escalation(task: &Task, failure: &Failure, policy: &Policy, now: Moment) -> Addressed {
    let tries = task.retry_count.saturating_add(1);
    let why = match failure.again {
        Again::Never => "it cannot get better by trying again".to_owned(),
        Again::AtMost(_) => format!("it was tried {tries} times"),
    };
    let error = task.last_error.as_deref().unwrap_or_default();
    let kind: Kind = Kind::ESCALATION.parse().expect("it is a name");
    let title = format!("Failed: {}", task.title);
    let title = first_chars(&title, 200);
    let mut escalation = Task::new(escalation_id(&task.id), kind, title, now);
    escalation.priority = Priority::ESCALATION;
    escalation.created_by = task.failed_by.clone().unwrap_or_default();
    escalation.assigned_to = policy.escalations.as_str().to_owned();
    escalation.description = format!(
        "Task `{id}` ({kind}) was given up: {why}.\n\nThe last error:\n\n{error}\n\nOnce the cause \
         is gone, `assay queue retry {id}` lets it wait again.",
        id = task.id,
        kind = task.kind,
    );
    escalation.parent_task_id = Some(task.id.clone());
    escalation.context = task.context.clone();
    escalation.rest.insert("needs_human_review".into(), Value::Bool(true));
    escalation.rest.insert("failed_task_id".into(), json!(task.id));
    Addressed { queue: policy.escalations.clone(), task: escalation }
}

/// Digits of the hash in a name that would get too long.
const HASH_DIGITS: usize = 8;

/// The name of the task that tells a person of another one.
fn escalation_id(id: &TaskId) -> TaskId {
    let whole = format!("escalation-{id}").parse();
    whole.unwrap_or_else(|_| {
        short_name(&format!("escalation-{id}"), &short_hash(id.as_str(), HASH_DIGITS))
    })
}

/// A name with an ending, whose beginning is cut where it would get too long.
fn short_name(start: &str, end: &str) -> TaskId {
    let start = first_chars(start, 100);
    format!("{start}-{end}").parse().expect("it is short enough, and made of names")
}

/// Says whether a task that is there stands in for one that would follow from another.
pub fn stands_in(there: &Task, parent: &TaskId) -> bool {
    let waits = matches!(there.status, Status::Pending | Status::InProgress);
    waits && there.parent_task_id.as_ref() == Some(parent)
}

/// Somebody has called a task off.
pub fn cancel(mut task: Task, by: &str, now: Moment) -> Result<Task, QueueError> {
    match task.status {
        Status::Pending | Status::InProgress => {
            task.status = Status::Cancelled;
            task.failed_at = Some(now);
            task.failed_by = Some(by.to_owned());
            Ok(task)
        }
        status @ (Status::Completed | Status::Failed | Status::Cancelled) => {
            let wanted = "pending and running";
            Err(QueueError::WrongStatus { id: task.id, status, wanted, done: "cancelled" })
        }
    }
}

/// Somebody lets a task be tried again.
pub fn retry(mut task: Task) -> Result<Task, QueueError> {
    match task.status {
        Status::Failed | Status::Cancelled => {
            task.retry_count = 0;
            task.last_failed_at = None;
            task.last_error = None;
            task.failed_at = None;
            task.failed_by = None;
            Ok(waiting_again(task))
        }
        status @ (Status::Pending | Status::InProgress | Status::Completed) => {
            let wanted = "failed and cancelled";
            Err(QueueError::WrongStatus { id: task.id, status, wanted, done: "tried again" })
        }
    }
}

/// Whoever held a task is gone. That counts as a try, or a task that kills its agents would do so
/// for ever. It does not rest, as it may not be to blame, and what it had to rest for an earlier
/// failure was over when it was claimed.
pub fn recover(task: Task, queue: &QueueName, policy: &Policy, now: Moment) -> Step {
    let held_by = task.started_by.clone().unwrap_or_else(|| "nobody".to_owned());
    let mut task = ended(task, &held_by, "the agent is gone", now);
    if task.retry_count < policy.max_retries {
        task.retry_count += 1;
        let (task, settled) = (waiting_again(task), Settled::GivenBack);
        return Step { task, follow_ups: vec![], rests: Duration::ZERO, settled };
    }
    let error = "the agents that worked on it are gone, each time".to_owned();
    let failure = Failure { error, again: Again::AtMost(None) };
    task.last_error = Some(failure.error.clone());
    give_up(task, queue, &held_by, &failure, policy, now)
}

/// A task that was in progress elsewhere waits here.
pub fn set_free(task: Task) -> Task {
    waiting_again(task)
}

/// Makes a task wait that an agent had begun.
fn waiting_again(mut task: Task) -> Task {
    task.status = Status::Pending;
    task.started_at = None;
    task.started_by = None;
    task
}

/// Notes how a try ended.
fn ended(mut task: Task, by: &str, outcome: &str, now: Moment) -> Task {
    let (by, started_at) = (by.to_owned(), task.started_at);
    task.attempts.push(Attempt { by, started_at, ended_at: now, outcome: outcome.to_owned() });
    let excess = task.attempts.len().saturating_sub(MAX_ATTEMPTS);
    task.attempts.drain(..excess);
    task
}

/// How much longer a task rests that says by the clock on the wall when it failed. A failure in
/// the future, as after the clock was moved back, holds nothing, nor does one before the last try.
fn rests_by_the_wall(task: &Task, policy: &Policy, now: Moment) -> Duration {
    let (Some(failed), 1..) = (task.last_failed_at, task.retry_count) else {
        return Duration::ZERO;
    };
    if task.attempts.last().is_some_and(|last| last.ended_at > failed) {
        return Duration::ZERO;
    }
    let passed = now.0.duration_since(failed.0);
    match Duration::try_from(passed) {
        Ok(passed) => policy.backoff(task.retry_count).saturating_sub(passed),
        Err(_) => Duration::ZERO,
    }
}
