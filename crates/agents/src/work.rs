//! The trait of task handlers, [`Work`], and their registry by kind, [`Works`].

use std::collections::BTreeMap;

use assay_store::queue::Addressed;
use assay_store::task::{AgentId, Kind, QueueName, Task};
use serde_json::{Map, Value};

use crate::change_event::{ChangeEvent, RenderedReview};
use crate::config::roster::{AgentConfig, Permission};
use crate::log::TaskLog;

/// The handler for one kind of task.
///
/// A handler settles nothing and queues nothing: it returns the outcome of the task, and the worker
/// stores the outcome together with all follow-up tasks. A handler may be aborted at any point and
/// run again from the start.
pub trait Work: Send + Sync {
    /// Returns the permission that an agent needs for this kind of task.
    fn needs(&self) -> Permission;

    /// Works on a task.
    fn work(&self, job: &Job<'_>) -> Result<Outcome, Failed>;
}

/// A task with the agent that works on it.
pub struct Job<'a> {
    /// The task.
    pub task: &'a Task,
    /// The queue of the task.
    pub queue: &'a QueueName,
    /// The agent.
    pub agent: &'a AgentConfig,
    /// The name of the worker, which is one replica of the agent.
    pub worker: &'a AgentId,
    /// The log of the task.
    pub log: &'a TaskLog<'a>,
}

impl Job<'_> {
    /// Returns a non-empty text from the context of the task, or `None`.
    pub fn context(&self, key: &str) -> Option<&str> {
        self.task.context.get(key)?.as_str().filter(|text| !text.is_empty())
    }
}

/// The outcome of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The summary, for people.
    pub summary: String,
    /// The keys to add to the context of the task.
    pub context: Map<String, Value>,
    /// The follow-up tasks.
    pub follow_ups: Vec<Addressed>,
    /// The event to notify other services of; `None` if there is none.
    pub news: Option<ChangeEvent>,
    /// The rendered review; `None` if the task was not a review.
    pub review: Option<RenderedReview>,
}

impl Outcome {
    /// Returns an outcome without follow-up tasks and events.
    pub fn done(summary: impl Into<String>) -> Outcome {
        Outcome {
            summary: summary.into(),
            context: Map::new(),
            follow_ups: Vec::new(),
            news: None,
            review: None,
        }
    }
}

/// The error of a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct Failed {
    /// The error message, with a remedy.
    pub error: String,
    /// True if the error is transient, so that a retry may succeed.
    pub is_passing: bool,
}

impl Failed {
    /// Returns a transient error.
    pub fn passing(error: impl Into<String>) -> Failed {
        Failed { error: error.into(), is_passing: true }
    }

    /// Returns a permanent error, which remains until a person intervenes.
    pub fn lasting(error: impl Into<String>) -> Failed {
        Failed { error: error.into(), is_passing: false }
    }
}

/// The handlers of this program, by kind of task.
#[derive(Default)]
pub struct Works(BTreeMap<&'static str, Box<dyn Work>>);

impl Works {
    /// Adds the handler for a kind.
    pub fn with(mut self, kind: &'static str, work: impl Work + 'static) -> Works {
        self.0.insert(kind, Box::new(work));
        self
    }

    /// Returns the handler for a kind. Fails if there is none, or the agent lacks the permission.
    pub(crate) fn find(&self, kind: &Kind, agent: &AgentConfig) -> Result<&dyn Work, Failed> {
        let Some(work) = self.0.get(kind.as_str()) else {
            let known: Vec<&str> = self.0.keys().copied().collect();
            let known = known.join(", ");
            return Err(Failed::lasting(format!(
                "no agent here knows work of the type `{kind}`; there are: {known}"
            )));
        };
        let needed = work.needs();
        if !agent.may(needed) {
            return Err(Failed::lasting(format!(
                "agent `{}` may not do work of the type `{kind}`: it needs the permission \
                 `{}`, see `permissions` in `config/agents.yaml`",
                agent.id,
                needed.as_str(),
            )));
        }
        Ok(work.as_ref())
    }
}
