//! The transitions of a task, decided here for every store: a store only writes the result
//! (`Transition`).
//!
//! `validate_new` validates new tasks; `settle`, `recover`, `cancel` and `retry` change existing
//! ones. All functions are pure.

use std::time::Duration;

use assay_base::hash::short_hash;
use assay_base::text::first_chars;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::pulls;
use crate::queue::{
    AttemptFailure, Lease, Policy, QueueError, QueuedTask, RetryLimit, SettleOutcome, TaskResult,
};
use crate::task::{
    Attempt, MAX_TASK, Moment, Priority, QueueName, Task, TaskError, TaskId, TaskKind, TaskStatus,
};

/// The maximum length of a stored error, in characters.
const MAX_ERROR: usize = 4_000;

/// The maximum number of attempts in a task's JSON.
const MAX_ATTEMPTS: usize = 50;

/// The result of a transition, for the store to write.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// The task in its new state.
    pub task: Task,
    /// The follow-up tasks, each with its queue.
    pub follow_ups: Vec<QueuedTask>,
    /// The delay before the task can be claimed; zero if there is none.
    pub backoff: Duration,
    /// The reply to the caller that settled the task.
    pub settled: SettleOutcome,
}

impl Transition {
    /// Returns the step with renamed follow-up tasks. The escalation, if there is one, must be the
    /// first.
    pub(crate) fn with_follow_ups(self, follow_ups: Vec<QueuedTask>) -> Transition {
        let settled = match self.settled {
            SettleOutcome::Failed { escalation: Some(_) } => {
                let escalation = follow_ups.first().map(|next| next.task.id.clone());
                SettleOutcome::Failed { escalation }
            }
            other => other,
        };
        Transition { follow_ups, settled, ..self }
    }
}

/// The key of a task's JSON for the number of its claims.
pub(crate) const FENCE: &str = "fence";

/// The key of a task's JSON for the end of its back-off, by a monotonic clock.
pub(crate) const BACKOFF_UNTIL: &str = "rests";

/// Validates a new task.
pub fn validate_new(task: &Task) -> Result<(), QueueError> {
    task.check()?;
    let size = task.to_json().len();
    if size > MAX_TASK {
        let message = format!("task `{}` has {size} bytes; the limit is {MAX_TASK}", task.id);
        return Err(TaskError::Json(message).into());
    }
    if task.priority == Priority::ESCALATION && !task.kind.is_escalation() {
        return Err(QueueError::ReservedPriority { id: task.id.clone() });
    }
    Ok(())
}

/// Returns the task as a new pending one, without attempts, failures and results.
pub fn reset(mut task: Task) -> Task {
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
    task.rest.remove(BACKOFF_UNTIL);
    make_pending(task)
}

/// Renames the follow-up tasks of a claim whose ids are taken, so that no follow-up is lost to a
/// collision. A follow-up of the same parent that is still pending is not created twice, and
/// neither is the review of a pull request's head, which exists once for all its triggers.
pub fn rename_taken_ids(
    follow_ups: Vec<QueuedTask>,
    parent: &TaskId,
    fence: u64,
    is_taken: impl Fn(&TaskId) -> Result<bool, QueueError>,
) -> Result<Vec<QueuedTask>, QueueError> {
    let mut kept = Vec::new();
    for next in follow_ups {
        if !pulls::is_head_review(&next.task.id) || !is_taken(&next.task.id)? {
            kept.push(next);
        }
    }
    let mut follow_ups = kept;
    for number in 0..follow_ups.len() {
        let taken = follow_ups[number].task.id.clone();
        if !is_taken(&taken)? {
            continue;
        }
        let own = shorten_id(taken.as_str(), &short_hash(format!("{parent} {fence}"), HASH_DIGITS));
        follow_ups[number].task.id = own.clone();
        let needs = follow_ups.iter_mut().flat_map(|next| &mut next.task.depends_on);
        needs.filter(|need| **need == taken).for_each(|need| *need = own.clone());
    }
    Ok(follow_ups)
}

/// Returns the task in progress, started by `agent`.
pub fn start(mut task: Task, agent: &str, now: Moment) -> Task {
    task.status = TaskStatus::InProgress;
    task.started_at = Some(now);
    task.started_by = Some(agent.to_owned());
    task
}

/// Returns the step that follows when an agent settles a task.
pub fn settle(
    task: Task,
    lease: &Lease,
    what: TaskResult,
    policy: &Policy,
    now: Moment,
) -> Transition {
    let agent = lease.agent.as_str();
    match what {
        TaskResult::Completed { summary, context, follow_ups } => {
            let next = next_occurrence(&task, &lease.queue, now);
            let mut task = record_attempt(task, agent, "completed", now);
            task.context.extend(context);
            task.status = TaskStatus::Completed;
            task.completed_at = Some(now);
            task.completed_by = Some(agent.to_owned());
            task.result_summary = Some(summary);
            let settled = SettleOutcome::Completed;
            let follow_ups = follow_ups.into_iter().map(|mut next| {
                next.task.parent_task_id.get_or_insert_with(|| task.id.clone());
                QueuedTask { task: reset(next.task), ..next }
            });
            let follow_ups = follow_ups.chain(next).collect();
            Transition { task, follow_ups, backoff: Duration::ZERO, settled }
        }
        TaskResult::Failed(failure) => fail(task, lease, &failure, policy, now),
        TaskResult::Released { reason } => {
            let task =
                make_pending(record_attempt(task, agent, &format!("given back: {reason}"), now));
            Transition {
                task,
                follow_ups: vec![],
                backoff: Duration::ZERO,
                settled: SettleOutcome::Released,
            }
        }
    }
}

fn fail(
    task: Task,
    lease: &Lease,
    failure: &AttemptFailure,
    policy: &Policy,
    now: Moment,
) -> Transition {
    let agent = lease.agent.as_str();
    let error = first_chars(&failure.error, MAX_ERROR).to_owned();
    let mut task = record_attempt(task, agent, &format!("failed: {error}"), now);
    task.last_failed_at = Some(now);
    task.last_error = Some(error);
    let tries = match failure.retry_limit {
        RetryLimit::AtMost(most) => most.unwrap_or(policy.max_retries),
        RetryLimit::Never => 0,
    };
    if task.retry_count < tries {
        task.retry_count = task.retry_count.saturating_add(1);
        let after = policy.backoff(task.retry_count);
        let task = make_pending(task);
        return Transition {
            task,
            follow_ups: vec![],
            backoff: after,
            settled: SettleOutcome::Retry { after },
        };
    }
    fail_permanently(task, &lease.queue, agent, failure, policy, now)
}

/// Fails a task permanently and escalates it to a person.
fn fail_permanently(
    mut task: Task,
    queue: &QueueName,
    by: &str,
    failure: &AttemptFailure,
    policy: &Policy,
    now: Moment,
) -> Transition {
    let next = next_occurrence(&task, queue, now);
    task.status = TaskStatus::Failed;
    task.failed_at = Some(now);
    task.failed_by = Some(by.to_owned());
    let escalation = (!task.kind.is_escalation()).then(|| escalation(&task, failure, policy, now));
    let id = escalation.as_ref().map(|next| next.task.id.clone());
    let settled = SettleOutcome::Failed { escalation: id };
    // The escalation must be the first: its id is part of the reply.
    let follow_ups = escalation.into_iter().chain(next).collect();
    Transition { task, follow_ups, backoff: Duration::ZERO, settled }
}

/// The key of a task's JSON for the id of the first occurrence of a recurring task.
const FIRST_OCCURRENCE: &str = "repeats";

/// Returns the next occurrence of a recurring task. Missed occurrences, as while no agent ran, are
/// skipped. A cancelled task has no next occurrence.
fn next_occurrence(task: &Task, queue: &QueueName, now: Moment) -> Option<QueuedTask> {
    let every = i64::try_from(task.repeat_every?.duration().as_secs()).ok()?;
    let due = task.run_at.unwrap_or(task.created_at).0.as_second();
    let missed = now.0.as_second().saturating_sub(due).max(0) / every;
    let next = due.checked_add(every.checked_mul(missed.checked_add(1)?)?)?;
    let next = Moment(Timestamp::from_second(next).ok()?);
    let first = task.rest.get(FIRST_OCCURRENCE).and_then(Value::as_str).unwrap_or(task.id.as_str());
    let mut again = reset(task.clone());
    again.rest.insert(FIRST_OCCURRENCE.into(), json!(first));
    again.id = shorten_id(first, &next.0.strftime("%Y%m%dT%H%M%SZ").to_string());
    again.created_at = now;
    again.run_at = Some(next);
    again.parent_task_id = Some(task.id.clone());
    again.depends_on.clear();
    again.blocks.clear();
    Some(QueuedTask { queue: queue.clone(), task: again })
}

/// Returns the time until a task can be claimed, by the wall clock: the longer of the rest of its
/// back-off and the time until its `run_at`.
pub fn time_until_claimable(task: &Task, policy: &Policy, now: Moment) -> Duration {
    let until_run = task.run_at.map(|at| at.0.duration_since(now.0));
    let until_run = until_run.and_then(|left| Duration::try_from(left).ok()).unwrap_or_default();
    remaining_backoff(task, policy, now).max(until_run)
}

/// Returns the task that informs a person of a permanent failure. A task has one escalation,
/// however often it fails.
fn escalation(task: &Task, failure: &AttemptFailure, policy: &Policy, now: Moment) -> QueuedTask {
    let tries = task.retry_count.saturating_add(1);
    let why = match failure.retry_limit {
        RetryLimit::Never => "a retry cannot succeed".to_owned(),
        RetryLimit::AtMost(_) => format!("{tries} attempts failed"),
    };
    let error = task.last_error.as_deref().unwrap_or_default();
    let kind: TaskKind = TaskKind::ESCALATION.parse().expect("it is a name");
    let title = format!("Failed: {}", task.title);
    let title = first_chars(&title, 200);
    let mut escalation = Task::new(escalation_id(&task.id), kind, title, now);
    escalation.priority = Priority::ESCALATION;
    escalation.created_by = task.failed_by.clone().unwrap_or_default();
    escalation.assigned_to = policy.escalations.as_str().to_owned();
    escalation.description = format!(
        "Task `{id}` ({kind}) failed permanently: {why}.\n\nThe last error:\n\n{error}\n\nOnce the \
         cause is fixed, run `assay queue retry {id}`.",
        id = task.id,
        kind = task.kind,
    );
    escalation.parent_task_id = Some(task.id.clone());
    escalation.context = task.context.clone();
    escalation.rest.insert("needs_human_review".into(), Value::Bool(true));
    escalation.rest.insert("failed_task_id".into(), json!(task.id));
    QueuedTask { queue: policy.escalations.clone(), task: escalation }
}

/// The number of hex digits of the hash in a shortened id.
const HASH_DIGITS: usize = 8;

/// Returns the id of a task's escalation.
fn escalation_id(id: &TaskId) -> TaskId {
    let whole = format!("escalation-{id}").parse();
    whole.unwrap_or_else(|_| {
        shorten_id(&format!("escalation-{id}"), &short_hash(id.as_str(), HASH_DIGITS))
    })
}

/// Returns `{start}-{end}` with `start` cut to 100 characters.
fn shorten_id(start: &str, end: &str) -> TaskId {
    let start = first_chars(start, 100);
    format!("{start}-{end}").parse().expect("it is short enough, and made of names")
}

/// Returns true if an existing task replaces a follow-up of `parent` with the same id: it follows
/// from the same parent and is not over.
pub fn is_same_follow_up(there: &Task, parent: &TaskId) -> bool {
    let waits = matches!(there.status, TaskStatus::Pending | TaskStatus::InProgress);
    waits && there.parent_task_id.as_ref() == Some(parent)
}

/// Cancels a task. Fails if the task is over.
pub fn cancel(mut task: Task, by: &str, now: Moment) -> Result<Task, QueueError> {
    match task.status {
        TaskStatus::Pending | TaskStatus::InProgress => {
            task.status = TaskStatus::Cancelled;
            task.failed_at = Some(now);
            task.failed_by = Some(by.to_owned());
            Ok(task)
        }
        status @ (TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled) => {
            let wanted = "pending and running";
            Err(QueueError::WrongStatus { id: task.id, status, wanted, done: "cancelled" })
        }
    }
}

/// Makes a failed or cancelled task pending again, without its failures. Fails for any other
/// status.
pub fn retry(mut task: Task) -> Result<Task, QueueError> {
    match task.status {
        TaskStatus::Failed | TaskStatus::Cancelled => {
            task.retry_count = 0;
            task.last_failed_at = None;
            task.last_error = None;
            task.failed_at = None;
            task.failed_by = None;
            Ok(make_pending(task))
        }
        status @ (TaskStatus::Pending | TaskStatus::InProgress | TaskStatus::Completed) => {
            let wanted = "failed and cancelled";
            Err(QueueError::WrongStatus { id: task.id, status, wanted, done: "retried" })
        }
    }
}

/// Returns the step for a task whose agent is gone. The lost attempt counts as a retry: a task that
/// kills its agents would otherwise do so for ever. There is no back-off, as the task may not be at
/// fault, and a back-off for an earlier failure had ended when the task was claimed.
pub fn recover(task: Task, queue: &QueueName, policy: &Policy, now: Moment) -> Transition {
    let held_by = task.started_by.clone().unwrap_or_else(|| "nobody".to_owned());
    let mut task = record_attempt(task, &held_by, "the agent is gone", now);
    if task.retry_count < policy.max_retries {
        task.retry_count += 1;
        let (task, settled) = (make_pending(task), SettleOutcome::Released);
        return Transition { task, follow_ups: vec![], backoff: Duration::ZERO, settled };
    }
    let error = "every agent that worked on the task ended before it was done".to_owned();
    let failure = AttemptFailure { error, retry_limit: RetryLimit::AtMost(None) };
    task.last_error = Some(failure.error.clone());
    fail_permanently(task, queue, &held_by, &failure, policy, now)
}

/// Returns a task that was in progress in another store as pending.
pub fn release(task: Task) -> Task {
    make_pending(task)
}

/// Returns the task as pending, without a current attempt.
fn make_pending(mut task: Task) -> Task {
    task.status = TaskStatus::Pending;
    task.started_at = None;
    task.started_by = None;
    task
}

/// Records the end of an attempt. The oldest attempts beyond the maximum are dropped.
fn record_attempt(mut task: Task, by: &str, outcome: &str, now: Moment) -> Task {
    let (by, started_at) = (by.to_owned(), task.started_at);
    task.attempts.push(Attempt { by, started_at, ended_at: now, outcome: outcome.to_owned() });
    let excess = task.attempts.len().saturating_sub(MAX_ATTEMPTS);
    task.attempts.drain(..excess);
    task
}

/// Returns the rest of a task's back-off by the wall clock. A failure in the future, as after the
/// clock was set back, causes no back-off, and neither does a failure before the last attempt.
fn remaining_backoff(task: &Task, policy: &Policy, now: Moment) -> Duration {
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
