//! What happened to a change, for those who are to hear of it: [`News`] and [`Announce`].

use assay_store::task::Task;

use crate::log::TaskLog;

/// What happened to a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// It may go.
    Approved {
        /// Why, in a few words.
        summary: String,
    },
    /// It has to be worked on.
    ChangesRequested {
        /// What was found, in a few words.
        summary: String,
    },
    /// A person has to decide.
    Escalated {
        /// Why.
        reason: String,
    },
    /// It was worked on and waits to be reviewed.
    ReadyForReview {
        /// The branch that it is on.
        branch: String,
    },
}

/// Tells somebody of what happened to a change.
///
/// It is told after the task is settled, so it may be told twice or, after a crash, never: who
/// hears of it must take the same news twice, and nothing may depend on it.
pub trait Announce: Send + Sync {
    /// Tells it. What goes wrong is told in the log and holds nothing up.
    fn announce(&self, task: &Task, news: &News, log: &TaskLog<'_>);
}

/// Tells the log.
pub struct InTheLog;

impl Announce for InTheLog {
    fn announce(&self, _task: &Task, news: &News, log: &TaskLog<'_>) {
        log.info(&match news {
            News::Approved { summary } => format!("Approved: {summary}"),
            News::ChangesRequested { summary } => format!("Changes requested: {summary}"),
            News::Escalated { reason } => format!("Escalated to a person: {reason}"),
            News::ReadyForReview { branch } => format!("`{branch}` waits to be reviewed"),
        });
    }
}
