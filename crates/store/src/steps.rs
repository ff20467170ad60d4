//! What becomes of a task: decided here for every store, so that a store only carries it out.

use std::time::Duration;

use serde_json::{Value, json};

use crate::queue::{Addressed, Again, Failure, Lease, Policy, QueueError, Settled, Settlement};
use crate::task::{Attempt, Kind, Moment, Priority, Status, Task, TaskId};

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

/// Checks a task at the door.
pub fn admit(task: &Task) -> Result<(), QueueError> {
    task.check()?;
    if task.priority == Priority::ESCALATION && !task.kind.is_escalation() {
        return Err(QueueError::NotUrgent { id: task.id.clone() });
    }
    Ok(())
}

/// Makes a task wait as one that is new, whatever it says of itself.
pub fn fresh(mut task: Task) -> Task {
    task.status = Status::Pending;
    task
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
            let follow_ups = follow_ups.collect();
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
    let error: String = failure.error.chars().take(MAX_ERROR).collect();
    let mut task = ended(task, agent, &format!("failed: {error}"), now);
    task.last_failed_at = Some(now);
    task.last_error = Some(error);
    let tries = match failure.again {
        Again::AtMost(most) => most.unwrap_or(policy.max_retries),
        Again::Never => 0,
    };
    if task.retry_count < tries {
        task.retry_count += 1;
        let after = policy.backoff(task.retry_count);
        let task = waiting_again(task);
        return Step { task, follow_ups: vec![], rests: after, settled: Settled::Retry { after } };
    }
    task.status = Status::Failed;
    task.failed_at = Some(now);
    task.failed_by = Some(agent.to_owned());
    let escalation = (!task.kind.is_escalation()).then(|| escalation(&task, failure, policy, now));
    let id = escalation.as_ref().map(|next| next.task.id.clone());
    let settled = Settled::Failed { escalation: id };
    let follow_ups = escalation.into_iter().collect();
    Step { task, follow_ups, rests: Duration::ZERO, settled }
}

/// The task that tells a person of one that was given up. A task has one, however often it fails.
fn escalation(task: &Task, failure: &Failure, policy: &Policy, now: Moment) -> Addressed {
    let tries = task.retry_count + 1;
    let why = match failure.again {
        Again::Never => "it cannot get better by trying again".to_owned(),
        Again::AtMost(_) => format!("it was tried {tries} times"),
    };
    let error = task.last_error.as_deref().unwrap_or_default();
    let kind: Kind = Kind::ESCALATION.parse().expect("it is a name");
    let title: String = format!("Failed: {}", task.title).chars().take(200).collect();
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

/// The name of the task that tells a person of another one.
fn escalation_id(id: &TaskId) -> TaskId {
    let whole = format!("escalation-{id}");
    let name = whole.parse::<TaskId>();
    name.unwrap_or_else(|_| {
        let hash = blake3::hash(id.as_str().as_bytes()).to_hex();
        let start: String = id.as_str().chars().take(80).collect();
        format!("escalation-{start}-{}", &hash[..16]).parse().expect("it is short enough")
    })
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

/// Whoever held a task is gone.
pub fn recover(task: Task, now: Moment) -> Task {
    let held_by = task.started_by.clone().unwrap_or_else(|| "nobody".to_owned());
    waiting_again(ended(task, &held_by, "the agent is gone", now))
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
/// the future, as after the clock was moved back, holds nothing.
pub fn rests_by_the_wall(task: &Task, policy: &Policy, now: Moment) -> Duration {
    let (Some(failed), 1..) = (task.last_failed_at, task.retry_count) else {
        return Duration::ZERO;
    };
    let passed = now.0.duration_since(failed.0);
    match Duration::try_from(passed) {
        Ok(passed) => policy.backoff(task.retry_count).saturating_sub(passed),
        Err(_) => Duration::ZERO,
    }
}
