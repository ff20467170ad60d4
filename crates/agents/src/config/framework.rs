//! The settings of tasks: the parts of `config/agent-framework.yaml` that concern agents.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::time::Duration;

use assay_findings::grade::Grade;
use assay_findings::severity_schema::severity_schema;
use assay_findings::vote::AutofixClass;
use assay_store::queue::Policy;
use assay_store::task::QueueName;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The defaults for all tasks; an agent may override some of them.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TaskSettings {
    /// Seconds between two polls of a queue that sends no wake-up, and between two heartbeats.
    /// While a task runs, heartbeats are sent at least three times per lease.
    pub poll_interval: NonZeroU64,
    /// The maximum number of retries of a failed task.
    pub max_retries: u32,
    /// The timeout of a task, in seconds.
    pub timeout: NonZeroU64,
    /// Seconds that a running task has to finish after a shutdown request.
    pub stop_grace: u64,
    /// The delay before a failed task is retried.
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

/// The delay before a retry of a failed task.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TaskBackoff {
    /// The delay after the first failure, in seconds.
    pub initial: u64,
    /// The factor by which the delay grows with each further failure.
    #[serde(deserialize_with = "at_least_one")]
    #[schemars(range(min = 1))]
    pub multiplier: f64,
    /// The maximum delay, in seconds.
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
        false => Err(serde::de::Error::custom(format!(
            "invalid multiplier {number}: expected 1 or more"
        ))),
    }
}

/// Limits that protect queues and agents.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Safeguards {
    /// The maximum number of pending tasks in a queue.
    pub max_queue_size: NonZeroUsize,
    /// The length of a lease, in seconds. An agent that sends no heartbeat for so long counts as
    /// dead, and its task can be claimed by another agent.
    pub heartbeat_timeout: NonZeroU64,
    /// Seconds between two recoveries of tasks whose holder is gone.
    pub watchdog_interval: NonZeroU64,
}

impl Default for Safeguards {
    fn default() -> Safeguards {
        Safeguards {
            max_queue_size: NonZeroUsize::new(100).expect("100 is not zero"),
            heartbeat_timeout: NonZeroU64::new(600).expect("600 is not zero"),
            watchdog_interval: NonZeroU64::new(60).expect("60 is not zero"),
        }
    }
}

impl Safeguards {
    /// Returns the duration of a lease that is not renewed.
    pub fn lease(&self) -> Duration {
        Duration::from_secs(self.heartbeat_timeout.get())
    }
}

/// The location of the queue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QueueSettings {
    /// The URL of the queue's database, `postgres://…`; its options `sslmode` and `sslrootcert` are
    /// read.
    ///
    /// Default: the queue is in files below `.agent-communication/`.
    pub url: Option<String>,
}

/// The follow-up of reviews: queues, limits and routes.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Workflow {
    /// The number of times that a change is sent back before a person decides.
    pub max_review_cycles: NonZeroU32,
    /// The queue for reviews.
    pub reviewer: QueueName,
    /// The queue for fixes, unless the author of the change is an agent or a route decides.
    pub fixer: QueueName,
    /// The queue for tasks that need a person.
    pub escalations: QueueName,
    /// The routes of findings. The first applicable route with a `to` decides who fixes.
    ///
    /// Default: CRITICAL findings notify `architect`; HIGH findings in three files or more, or of
    /// the class `manual`, go to `senior-engineer`.
    pub routes: Vec<Route>,
}

/// A rule for the queues that get findings of a severity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The severity of the findings.
    #[serde(deserialize_with = "severity", serialize_with = "severity_word")]
    #[schemars(schema_with = "severity_schema")]
    pub severity: Grade,
    /// The minimum number of files with such findings.
    ///
    /// Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub min_files: usize,
    /// The autofix class that at least one of the findings must have.
    ///
    /// Default: any class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autofix: Option<AutofixClass>,
    /// The queue for the fix, used if an enabled agent works on it. A route without a `to` does not
    /// decide who fixes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<QueueName>,
    /// A queue that is notified as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also: Option<QueueName>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

fn severity_word<S: Serializer>(grade: &Grade, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(grade.word())
}

fn severity<'de, D: Deserializer<'de>>(from: D) -> Result<Grade, D::Error> {
    let word = String::deserialize(from)?;
    let grade = Grade::from_word(&word);
    match grade.is_unmapped() {
        false => Ok(grade),
        true => Err(serde::de::Error::custom(format!(
            "unknown severity {word:?}: expected one such as CRITICAL"
        ))),
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

/// Returns the queue policy for these settings.
pub fn policy(task: &TaskSettings, safeguards: &Safeguards, workflow: &Workflow) -> Policy {
    Policy {
        initial_backoff: Duration::from_secs(task.backoff.initial),
        backoff_multiplier: task.backoff.multiplier,
        max_backoff: Duration::from_secs(task.backoff.max),
        max_retries: task.max_retries,
        max_queue_size: safeguards.max_queue_size.get(),
        escalations: workflow.escalations.clone(),
    }
}
