//! Notifications of what happened to a change: [`Word`] and [`Announce`].

use std::sync::Arc;

use assay_store::task::Task;

use crate::change_event::{ChangeEvent, RenderedReview};
use crate::config::roster::AgentConfig;
use crate::log::{Log, TaskLog};
use crate::work::{Failed, Outcome};

/// Those who tell.
pub type Announcers = Arc<[Box<dyn Announce>]>;

/// What is to be told of a task.
#[derive(Debug, Clone, Copy)]
pub struct Word<'a> {
    /// The task.
    pub task: &'a Task,
    /// Who did it.
    pub agent: &'a AgentConfig,
    /// What happened.
    pub news: &'a ChangeEvent,
    /// The review, where it was one.
    pub review: Option<&'a RenderedReview>,
}

impl<'a> Word<'a> {
    /// Takes it from what came of a task, if something is to be told.
    pub(crate) fn of(task: &'a Task, agent: &'a AgentConfig, outcome: &'a Outcome) -> Option<Self> {
        let review = outcome.review.as_ref();
        outcome.news.as_ref().map(|news| Word { task, agent, news, review })
    }
}

/// Tells somebody of what happened to a change.
///
/// A task may be done again after a crash, and what was kept be told by another process: who hears
/// of it must take the same word twice.
pub trait Announce: Send + Sync {
    /// Keeps what is to be told, and tells it if that can be done now. The task is not settled yet:
    /// once it is, nobody would know of it, and others work on what follows. What cannot be told holds
    /// nothing up; what cannot be kept has the task done again.
    fn keep(&self, word: &Word<'_>, log: &TaskLog<'_>) -> Result<(), Failed>;

    /// Tells that the task is settled.
    fn announce(&self, word: &Word<'_>, log: &TaskLog<'_>);

    /// Tells what was kept and nobody could tell yet.
    fn catch_up(&self, log: &Log);
}

/// Tells the log.
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
