//! Notifications about a change: [`Word`] is the message and [`Announce`] the trait of receivers.
//!
//! The receivers are implemented in `engine`, except `InTheLog`.

use std::sync::Arc;

use assay_store::task::Task;

use crate::change_event::{ChangeEvent, RenderedReview};
use crate::config::roster::AgentConfig;
use crate::log::{Log, TaskLog};
use crate::work::{Failed, Outcome};

/// The receivers of notifications.
pub type Announcers = Arc<[Box<dyn Announce>]>;

/// A notification about a finished task.
#[derive(Debug, Clone, Copy)]
pub struct Word<'a> {
    /// The task.
    pub task: &'a Task,
    /// The agent that worked on the task.
    pub agent: &'a AgentConfig,
    /// The event.
    pub news: &'a ChangeEvent,
    /// The rendered review; `None` if the task was not a review.
    pub review: Option<&'a RenderedReview>,
}

impl<'a> Word<'a> {
    /// Returns the notification for the outcome of a task; `None` if the outcome has no event.
    pub(crate) fn of(task: &'a Task, agent: &'a AgentConfig, outcome: &'a Outcome) -> Option<Self> {
        let review = outcome.review.as_ref();
        outcome.news.as_ref().map(|news| Word { task, agent, news, review })
    }
}

/// A receiver of notifications about a change.
///
/// A task may run again after a crash, and another process may deliver a stored notification: the
/// receiver must accept the same notification twice.
pub trait Announce: Send + Sync {
    /// Stores the notification before the task is settled, and tries to deliver it now. Once the
    /// task is settled, the notification cannot be recreated, and other agents work on the
    /// follow-up tasks. A delivery error delays nothing; an error of storing fails the task, which
    /// is then retried.
    fn keep(&self, word: &Word<'_>, log: &TaskLog<'_>) -> Result<(), Failed>;

    /// Delivers the notification that the task is settled.
    fn announce(&self, word: &Word<'_>, log: &TaskLog<'_>);

    /// Delivers stored notifications that could not be delivered before.
    fn catch_up(&self, log: &Log);
}

/// A receiver that writes notifications to the log of the agent.
pub struct InTheLog;

impl Announce for InTheLog {
    fn keep(&self, _: &Word<'_>, _: &TaskLog<'_>) -> Result<(), Failed> {
        Ok(())
    }

    fn announce(&self, word: &Word<'_>, log: &TaskLog<'_>) {
        log.info(&match word.news {
            ChangeEvent::Approved { summary } => format!("Approved: {summary}"),
            ChangeEvent::NothingToReview { summary } => {
                format!("Nothing to review, and nothing approved: {summary}")
            }
            ChangeEvent::ChangesRequested { summary } => format!("Changes requested: {summary}"),
            ChangeEvent::Escalated { reason } => format!("Escalated to a person: {reason}"),
            ChangeEvent::ReadyForReview { branch, pull: None } => {
                format!("`{branch}` waits to be reviewed")
            }
            ChangeEvent::ReadyForReview { branch, pull: Some(pull) } => {
                format!("`{branch}` waits to be reviewed as {}", pull.url)
            }
        });
    }

    fn catch_up(&self, _: &Log) {}
}
