//! Notifications about a change: [`Notification`] is the message and [`Notifier`] the trait of
//! receivers.
//!
//! The receivers are implemented in `engine`, except `LogNotifier`.

use std::sync::Arc;

use assay_store::task::Task;

use crate::change_event::{ChangeEvent, RenderedReview};
use crate::config::roster::AgentConfig;
use crate::log::{Log, TaskLog};
use crate::task_handler::{HandlerError, TaskOutcome};

/// The receivers of notifications.
pub type Notifiers = Arc<[Box<dyn Notifier>]>;

/// A notification about a finished task.
#[derive(Debug, Clone, Copy)]
pub struct Notification<'a> {
    /// The task.
    pub task: &'a Task,
    /// The agent that worked on the task.
    pub agent: &'a AgentConfig,
    /// The event.
    pub event: &'a ChangeEvent,
    /// The rendered review; `None` if the task was not a review.
    pub review: Option<&'a RenderedReview>,
}

impl<'a> Notification<'a> {
    /// Returns the notification for the outcome of a task; `None` if the outcome has no event.
    pub(crate) fn of(
        task: &'a Task,
        agent: &'a AgentConfig,
        outcome: &'a TaskOutcome,
    ) -> Option<Self> {
        let review = outcome.review.as_ref();
        outcome.event.as_ref().map(|event| Notification { task, agent, event, review })
    }
}

/// A receiver of notifications about a change.
///
/// A task may run again after a crash, and another process may deliver a stored notification: the
/// receiver must accept the same notification twice.
pub trait Notifier: Send + Sync {
    /// Stores the notification before the task is settled, and tries to deliver it now. Once the
    /// task is settled, the notification cannot be recreated, and other agents work on the
    /// follow-up tasks. A delivery error delays nothing; an error of storing fails the task, which
    /// is then retried.
    fn store(&self, notification: &Notification<'_>, log: &TaskLog<'_>)
    -> Result<(), HandlerError>;

    /// Delivers the notification that the task is settled.
    fn notify_settled(&self, notification: &Notification<'_>, log: &TaskLog<'_>);

    /// Delivers stored notifications that could not be delivered before.
    fn deliver_pending(&self, log: &Log);
}

/// A receiver that writes notifications to the log of the agent.
pub struct LogNotifier;

impl Notifier for LogNotifier {
    fn store(&self, _: &Notification<'_>, _: &TaskLog<'_>) -> Result<(), HandlerError> {
        Ok(())
    }

    fn notify_settled(&self, notification: &Notification<'_>, log: &TaskLog<'_>) {
        log.info(&match notification.event {
            ChangeEvent::Approved { summary } => format!("Approved: {summary}"),
            ChangeEvent::NothingToReview { summary } => {
                format!("Nothing to review, and nothing approved: {summary}")
            }
            ChangeEvent::ChangesRequested { summary } => format!("Changes requested: {summary}"),
            ChangeEvent::Escalated { reason } => format!("Escalated to a person: {reason}"),
            ChangeEvent::ReadyForReview { branch, pull: None } => {
                format!("`{branch}` is ready for review")
            }
            ChangeEvent::ReadyForReview { branch, pull: Some(pull) } => {
                format!("`{branch}` is ready for review: {}", pull.url)
            }
        });
    }

    fn deliver_pending(&self, _: &Log) {}
}
