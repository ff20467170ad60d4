//! The trait of task handlers, [`TaskHandler`], and their registry by kind, [`HandlerRegistry`].

use std::collections::BTreeMap;

use assay_store::queue::QueuedTask;
use assay_store::task::{AgentId, QueueName, Task, TaskKind};
use serde_json::{Map, Value};

use crate::change_event::{ChangeEvent, RenderedReview};
use crate::config::roster::{AgentConfig, Permission};
use crate::log::TaskLog;

/// The handler for one kind of task.
///
/// A handler settles nothing and queues nothing: it returns the outcome of the task, and the worker
/// stores the outcome together with all follow-up tasks. A handler may be aborted at any point and
/// run again from the start.
pub trait TaskHandler: Send + Sync {
    /// Returns the permission that an agent needs for this kind of task.
    fn required_permission(&self) -> Permission;

    /// Works on a task.
    fn handle(&self, job: &Job<'_>) -> Result<TaskOutcome, HandlerError>;
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
pub struct TaskOutcome {
    /// The summary, for people.
    pub summary: String,
    /// The keys to add to the context of the task.
    pub context: Map<String, Value>,
    /// The follow-up tasks.
    pub follow_ups: Vec<QueuedTask>,
    /// The event to notify other services of; `None` if there is none.
    pub event: Option<ChangeEvent>,
    /// The rendered review; `None` if the task was not a review.
    pub review: Option<RenderedReview>,
}

impl TaskOutcome {
    /// Returns an outcome without follow-up tasks and events.
    pub fn done(summary: impl Into<String>) -> TaskOutcome {
        TaskOutcome {
            summary: summary.into(),
            context: Map::new(),
            follow_ups: Vec::new(),
            event: None,
            review: None,
        }
    }
}

/// The error of a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct HandlerError {
    /// The error message, with a remedy.
    pub error: String,
    /// True if the error is transient, so that a retry may succeed.
    pub is_transient: bool,
}

impl HandlerError {
    /// Returns a transient error.
    pub fn transient(error: impl Into<String>) -> HandlerError {
        HandlerError { error: error.into(), is_transient: true }
    }

    /// Returns a permanent error, which remains until a person intervenes.
    pub fn permanent(error: impl Into<String>) -> HandlerError {
        HandlerError { error: error.into(), is_transient: false }
    }
}

/// The handlers of this program, by kind of task.
#[derive(Default)]
pub struct HandlerRegistry(BTreeMap<&'static str, Box<dyn TaskHandler>>);

impl HandlerRegistry {
    /// Adds the handler for a kind.
    pub fn with(
        mut self,
        kind: &'static str,
        handler: impl TaskHandler + 'static,
    ) -> HandlerRegistry {
        self.0.insert(kind, Box::new(handler));
        self
    }

    /// Returns the handler for a kind. Fails if there is none, or the agent lacks the permission.
    pub(crate) fn find(
        &self,
        kind: &TaskKind,
        agent: &AgentConfig,
    ) -> Result<&dyn TaskHandler, HandlerError> {
        let Some(handler) = self.0.get(kind.as_str()) else {
            let known: Vec<&str> = self.0.keys().copied().collect();
            let known = known.join(", ");
            return Err(HandlerError::permanent(format!(
                "unknown task type `{kind}`; known types: {known}"
            )));
        };
        let needed = handler.required_permission();
        if !agent.may(needed) {
            return Err(HandlerError::permanent(format!(
                "agent `{}` may not do tasks of type `{kind}`: missing permission `{}`; see \
                 `permissions` in `config/agents.yaml`",
                agent.id,
                needed.as_str(),
            )));
        }
        Ok(handler.as_ref())
    }
}
