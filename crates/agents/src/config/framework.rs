//! How tasks are worked on: the parts of `config/agent-framework.yaml` that are about agents.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use assay_findings::grade::Grade;
use assay_findings::vote::AutofixClass;
use assay_store::queue::Policy;
use assay_store::task::QueueName;
use serde::{Deserialize, Deserializer};

/// What holds for every task unless its agent says otherwise.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TaskSettings {
    /// Seconds between two looks at a queue of which nothing was heard.
    pub poll_interval: NonZeroU64,
    /// How often a failed task is tried again.
    pub max_retries: u32,
    /// Seconds that a task may take.
    pub timeout: NonZeroU64,
    /// Seconds that a running task has to finish once its agent is told to stop.
    pub stop_grace: u64,
    /// How long a failed task rests.
    pub backoff: TaskBackoff,
}

impl Default for TaskSettings {
    fn default() -> TaskSettings {
        TaskSettings {
            poll_interval: NonZeroU64::new(30).expect("30 is not zero"),
            max_retries: 5,
            timeout: NonZeroU64::new(1800).expect("1800 is not zero"),
            stop_grace: 30,
            backoff: TaskBackoff::default(),
        }
    }
}

/// How long a failed task rests, in seconds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TaskBackoff {
    /// After the first failure.
    pub initial: u64,
    /// How much longer after each further one.
    #[serde(deserialize_with = "at_least_one")]
    pub multiplier: f64,
    /// At the most.
    pub max: u64,
}

impl Default for TaskBackoff {
    fn default() -> TaskBackoff {
        TaskBackoff { initial: 30, multiplier: 2.0, max: 240 }
    }
}

fn at_least_one<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(from)?;
    match number.is_finite() && number >= 1.0 {
        true => Ok(number),
        false => Err(serde::de::Error::custom(format!("{number} is no multiplier of 1 or more"))),
    }
}

/// What keeps queues and agents from going astray.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Safeguards {
    /// How many tasks may wait in a queue.
    pub max_queue_size: usize,
    /// Seconds after which an agent that gave no sign of life is taken for dead.
    pub heartbeat_timeout: NonZeroU64,
    /// Seconds between two looks for what nobody holds any more.
    pub watchdog_interval: NonZeroU64,
}

impl Default for Safeguards {
    fn default() -> Safeguards {
        Safeguards {
            max_queue_size: 100,
            heartbeat_timeout: NonZeroU64::new(600).expect("600 is not zero"),
            watchdog_interval: NonZeroU64::new(60).expect("60 is not zero"),
        }
    }
}

impl Safeguards {
    /// How long a task is held without a sign of life.
    pub fn lease(&self) -> Duration {
        Duration::from_secs(self.heartbeat_timeout.get())
    }
}

/// Where the queue is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QueueSettings {
    /// The database, `postgres://…`; without one, files in the repository.
    pub url: Option<String>,
}

/// What follows from a review, and who gets it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Workflow {
    /// How often a change is sent back before a person decides.
    pub max_review_cycles: NonZeroU32,
    /// Who reviews.
    pub reviewer: QueueName,
    /// Who fixes what nobody else is known to have made.
    pub fixer: QueueName,
    /// Where tasks for a person go.
    pub escalations: QueueName,
    /// Who else gets what is found. The first route that says `to` and applies decides who fixes.
    pub routes: Vec<Route>,
}

/// Where findings of some kind go.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// How bad they are, among the seven levels.
    #[serde(deserialize_with = "severity")]
    pub severity: Grade,
    /// In how many files there are some, at least.
    #[serde(default)]
    pub min_files: usize,
    /// What should happen to one of them.
    #[serde(default)]
    pub autofix: Option<AutofixClass>,
    /// Who fixes, where an agent works on that queue.
    #[serde(default)]
    pub to: Option<QueueName>,
    /// Who is told as well.
    #[serde(default)]
    pub also: Option<QueueName>,
}

fn severity<'de, D: Deserializer<'de>>(from: D) -> Result<Grade, D::Error> {
    let word = String::deserialize(from)?;
    let grade = Grade::from_word(&word);
    match grade.is_unmapped() {
        false => Ok(grade),
        true => Err(serde::de::Error::custom(format!("{word:?} is no severity such as CRITICAL"))),
    }
}

impl Default for Workflow {
    fn default() -> Workflow {
        let name = |name: &str| name.parse().expect("it is a name");
        let route = |severity| Route {
            severity: Grade::from_word(severity),
            min_files: 0,
            autofix: None,
            to: None,
            also: None,
        };
        let senior: Option<QueueName> = Some(name("senior-engineer"));
        Workflow {
            max_review_cycles: NonZeroU32::new(3).expect("3 is not zero"),
            reviewer: name("qa"),
            fixer: name("engineer"),
            escalations: name("architect"),
            routes: vec![
                Route { also: Some(name("architect")), ..route("CRITICAL") },
                Route { min_files: 3, to: senior.clone(), ..route("HIGH") },
                Route { autofix: Some(AutofixClass::Manual), to: senior, ..route("HIGH") },
            ],
        }
    }
}

/// Puts together how a queue treats tasks.
pub fn policy(task: &TaskSettings, safeguards: &Safeguards, workflow: &Workflow) -> Policy {
    Policy {
        initial_backoff: Duration::from_secs(task.backoff.initial),
        backoff_multiplier: task.backoff.multiplier,
        max_backoff: Duration::from_secs(task.backoff.max),
        max_retries: task.max_retries,
        max_queue_size: safeguards.max_queue_size,
        escalations: workflow.escalations.clone(),
    }
}
