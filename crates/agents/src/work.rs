//! Kinds of work: [`Work`], and the table of them that a worker looks into ([`Works`]).

use std::collections::BTreeMap;

use assay_store::queue::Addressed;
use assay_store::task::{AgentId, Kind, QueueName, Task};
use serde_json::{Map, Value};

use crate::change_event::{ChangeEvent, RenderedReview};
use crate::config::roster::{AgentConfig, Permission};
use crate::log::TaskLog;

/// One kind of work.
///
/// It settles nothing and queues nothing: it says what came of the task, and the worker stores that
/// together with all that follows. It may be broken off at any point and done again from the start.
pub trait Work: Send + Sync {
    /// Says what an agent must be allowed to do for it.
    fn needs(&self) -> Permission;

    /// Does a task.
    fn work(&self, job: &Job<'_>) -> Result<Outcome, Failed>;
}

/// A task and who works on it.
pub struct Job<'a> {
    /// The task.
    pub task: &'a Task,
    /// The queue that it is from.
    pub queue: &'a QueueName,
    /// The agent.
    pub agent: &'a AgentConfig,
    /// The name of this one of its replicas.
    pub worker: &'a AgentId,
    /// What is to be told meanwhile.
    pub log: &'a TaskLog<'a>,
}

impl Job<'_> {
    /// Gives a text of the task's context, if there is one.
    pub fn context(&self, key: &str) -> Option<&str> {
        self.task.context.get(key)?.as_str().filter(|text| !text.is_empty())
    }
}

/// What came of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What came of it, for people.
    pub summary: String,
    /// What is added to its context.
    pub context: Map<String, Value>,
    /// What follows from it.
    pub follow_ups: Vec<Addressed>,
    /// What is to be told of it elsewhere.
    pub news: Option<ChangeEvent>,
    /// The review as it is told there, where it was one.
    pub review: Option<RenderedReview>,
}

impl Outcome {
    /// An outcome from which nothing follows.
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

/// Why a task could not be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct Failed {
    /// Why, and what to do about it.
    pub error: String,
    /// Whether trying again may help.
    pub is_passing: bool,
}

impl Failed {
    /// A failure that may pass.
    pub fn passing(error: impl Into<String>) -> Failed {
        Failed { error: error.into(), is_passing: true }
    }

    /// A failure that stays until somebody does something about it.
    pub fn lasting(error: impl Into<String>) -> Failed {
        Failed { error: error.into(), is_passing: false }
    }
}

/// The kinds of work that agents here know.
#[derive(Default)]
pub struct Works(BTreeMap<&'static str, Box<dyn Work>>);

impl Works {
    /// Adds a kind.
    pub fn with(mut self, kind: &'static str, work: impl Work + 'static) -> Works {
        self.0.insert(kind, Box::new(work));
        self
    }

    /// Finds a kind of work that an agent may do.
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
