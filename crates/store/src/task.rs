//! A unit of queued work, [`Task`], and its validated names.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use assay_base::clock::Clock;
use assay_base::text::first_chars;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::interval::Interval;

/// The maximum size of a task that is pushed, in bytes of JSON.
pub const MAX_TASK: usize = 4 << 20;

/// The maximum size of a task that is read, in bytes. A stored task grows while agents work on it,
/// and must not be lost for that.
pub const MAX_STORED: usize = 16 << 20;

/// The maximum length of the name of a task, a queue or an agent, in bytes.
const MAX_NAME: usize = 128;

/// The pattern of such a name in a JSON Schema.
const NAME_PATTERN: &str = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$";

/// The maximum number of characters of a kind or an agent in a generated task id.
const MAX_NAME_PART: usize = 40;

/// The maximum length of a title, in characters.
const MAX_TITLE: usize = 1_000;

/// The reason why a name or a task is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// The name cannot be part of a path.
    #[error(
        "invalid {what} {text:?}: expected 1 to 128 letters, digits, `.`, `_` or `-`, and no \
         leading dot"
    )]
    Name {
        /// The kind of name, such as "queue".
        what: &'static str,
        /// The first 40 characters of the text.
        text: String,
    },
    /// The priority is out of range.
    #[error("invalid priority {given}: expected 1 (first) to 100 (last), or 0 for escalations")]
    Priority {
        /// The given number.
        given: i64,
    },
    /// A text for people is empty or too long.
    #[error("the {what} has {length} characters; expected 1 to {most}")]
    Length {
        /// The name of the field.
        what: &'static str,
        /// The length, in characters.
        length: usize,
        /// The maximum length, in characters.
        most: usize,
    },
    /// The task depends on itself, or blocks itself.
    #[error("task `{0}` depends on itself")]
    DependsOnItself(TaskId),
    /// The named field has control characters.
    #[error("the {0} has control characters")]
    ControlCharacters(&'static str),
    /// The JSON is not valid, or is not that of a task.
    #[error("{0}")]
    Json(String),
}

/// Defines a type for names that are safe as part of a path.
macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $type(Box<str>);

        impl $type {
            /// Returns the name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $type {
            type Err = TaskError;

            fn from_str(text: &str) -> Result<$type, TaskError> {
                check_name($what, text)?;
                Ok($type(text.into()))
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                let text = String::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string", "minLength": 1, "maxLength": MAX_NAME, "pattern": NAME_PATTERN,
                })
            }
        }
    };
}

name!(
    /// The id of a task.
    TaskId,
    "task id"
);
name!(
    /// The name of a queue, which is also the name of its folder.
    QueueName,
    "queue"
);
name!(
    /// The name of an agent, such as `qa-1`.
    AgentId,
    "agent"
);
name!(
    /// The kind of work, such as `review`.
    TaskKind,
    "task type"
);

impl TaskId {
    /// Returns a new id with the time and random digits: `review-qa-1738588800000-a1b2c3`.
    pub fn generate(kind: &TaskKind, who: &str, now: Moment) -> Result<TaskId, TaskError> {
        let mut chance = [0; 3];
        getrandom::fill(&mut chance)
            .map_err(|error| TaskError::Json(format!("cannot read random numbers: {error}")))?;
        let chance: String = chance.iter().map(|byte| format!("{byte:02x}")).collect();
        let start = |text: &'_ str| first_chars(text, MAX_NAME_PART).to_owned();
        let (kind, who) = (start(kind.as_str()), start(who));
        format!("{kind}-{who}-{}-{chance}", now.0.as_millisecond()).parse()
    }
}

impl TaskKind {
    /// The kind of a task that waits for a person.
    pub const ESCALATION: &'static str = "escalation";

    /// The kinds of work that agents support.
    pub const KNOWN: [&'static str; 8] = [
        "architecture", "escalation", "fix", "implementation", "planning", "qa_verification",
        "review", "validation",
    ];

    /// Returns true if agents support this kind of work.
    pub fn is_known(&self) -> bool {
        TaskKind::KNOWN.contains(&self.as_str())
    }

    /// Returns true if a task of this kind waits for a person.
    pub fn is_escalation(&self) -> bool {
        self.as_str() == TaskKind::ESCALATION
    }
}

fn check_name(what: &'static str, text: &str) -> Result<(), TaskError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let safe =
        (1..=MAX_NAME).contains(&text.len()) && !text.starts_with('.') && text.bytes().all(allowed);
    if safe {
        return Ok(());
    }
    Err(TaskError::Name { what, text: first_chars(text, 40).to_owned() })
}

/// The urgency of a task, from 0 to 100: a lower number is claimed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Priority(u8);

impl Priority {
    /// The priority of escalations, which are claimed before all other tasks.
    pub const ESCALATION: Priority = Priority(0);

    /// The default priority.
    pub const DEFAULT: Priority = Priority(50);

    /// Returns the priority as a number from 0 to 100.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl TryFrom<i64> for Priority {
    type Error = TaskError;

    fn try_from(given: i64) -> Result<Priority, TaskError> {
        match u8::try_from(given) {
            Ok(number @ 0..=100) => Ok(Priority(number)),
            _ => Err(TaskError::Priority { given }),
        }
    }
}

impl Default for Priority {
    fn default() -> Priority {
        Priority::DEFAULT
    }
}

impl<'de> Deserialize<'de> for Priority {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Priority, D::Error> {
        i64::deserialize(from)?.try_into().map_err(serde::de::Error::custom)
    }
}

/// The status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// The task waits to be claimed.
    Pending,
    /// An agent holds the lease of the task.
    InProgress,
    /// The task is done.
    Completed,
    /// The task failed permanently.
    Failed,
    /// The task was cancelled.
    Cancelled,
}

impl TaskStatus {
    /// All statuses, in the order of a task's life.
    pub const ALL: [TaskStatus; 5] = [
        TaskStatus::Pending,
        TaskStatus::InProgress,
        TaskStatus::Completed,
        TaskStatus::Failed,
        TaskStatus::Cancelled,
    ];

    /// Returns the status as it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            TaskStatus::Pending => "pending",
            TaskStatus::InProgress => "in_progress",
            TaskStatus::Completed => "completed",
            TaskStatus::Failed => "failed",
            TaskStatus::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TaskStatus {
    type Err = TaskError;

    /// Parses a status in any letter case, with `-` or a space for `_`.
    fn from_str(text: &str) -> Result<TaskStatus, TaskError> {
        let word = text.trim().to_lowercase().replace(['-', ' '], "_");
        let known = TaskStatus::ALL.into_iter().find(|status| status.as_str() == word);
        known.ok_or_else(|| {
            let words = TaskStatus::ALL.map(TaskStatus::as_str).join(", ");
            TaskError::Json(format!("unknown status {text:?}; expected one of {words}"))
        })
    }
}

impl<'de> Deserialize<'de> for TaskStatus {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<TaskStatus, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A timestamp as tasks write it: `2026-02-03T10:00:00.000Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub Timestamp);

impl Moment {
    /// Returns the current time.
    pub fn now(clock: &Clock) -> Moment {
        Moment(clock.now())
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.strftime("%Y-%m-%dT%H:%M:%S%.3fZ"))
    }
}

impl FromStr for Moment {
    type Err = TaskError;

    /// Parses a timestamp. A timestamp without a zone is in UTC.
    fn from_str(text: &str) -> Result<Moment, TaskError> {
        let zoned = text.parse::<Timestamp>().ok();
        let local = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
        let moment = zoned.or_else(|| Some(local()?.timestamp()));
        moment.map(Moment).ok_or_else(|| {
            let text = first_chars(text, 40).to_owned();
            TaskError::Json(format!(
                "invalid time {text:?}: expected one such as \"2026-02-03T10:00:00.000Z\""
            ))
        })
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Moment, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// An ended attempt at a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The name of the agent.
    pub by: String,
    /// The time at which the attempt began; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Moment>,
    /// The time at which the attempt ended.
    pub ended_at: Moment,
    /// The outcome, as text for people.
    pub outcome: String,
}

/// A unit of queued work. Unknown fields of its JSON are preserved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The id of the task.
    pub id: TaskId,
    /// The kind of work.
    #[serde(rename = "type")]
    pub kind: TaskKind,
    /// The status of the task.
    #[serde(default = "pending")]
    pub status: TaskStatus,
    /// The urgency of the task.
    #[serde(default, deserialize_with = "or_default")]
    pub priority: Priority,
    /// The agent, trigger or user that created the task.
    #[serde(default, deserialize_with = "or_default")]
    pub created_by: String,
    /// The queue or agent that the task is for.
    #[serde(default, deserialize_with = "or_default")]
    pub assigned_to: String,
    /// The time at which the task was created.
    pub created_at: Moment,
    /// The title, 1 to 1000 characters.
    pub title: String,
    /// The description of the work.
    #[serde(default, deserialize_with = "or_default")]
    pub description: String,
    /// The tasks that must be completed first.
    #[serde(default, deserialize_with = "or_default")]
    pub depends_on: Vec<TaskId>,
    /// The tasks that depend on this one, as if each named it in `depends_on`.
    #[serde(default, deserialize_with = "or_default")]
    pub blocks: Vec<TaskId>,
    /// The criteria by which the result is accepted.
    #[serde(default, deserialize_with = "or_default")]
    pub acceptance_criteria: Vec<String>,
    /// The results that the work has to produce.
    #[serde(default, deserialize_with = "or_default")]
    pub deliverables: Vec<String>,
    /// Notes of people and agents about the task.
    #[serde(default, deserialize_with = "or_default")]
    pub notes: Vec<String>,
    /// The subject of the work: pull request, branch, ticket, findings.
    #[serde(default, deserialize_with = "or_default")]
    pub context: Map<String, Value>,
    /// The earliest time at which the task can be claimed; `None` for at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_at: Option<Moment>,
    /// The interval between `run_at` and the next occurrence of a recurring task, which is created
    /// when the task is completed or fails permanently; `None` for a task that occurs once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat_every: Option<Interval>,
    /// The number of retries so far.
    #[serde(default, deserialize_with = "or_default")]
    pub retry_count: u32,
    /// The plan for the work, as JSON; `null` if there is none.
    #[serde(default)]
    pub plan: Value,
    /// The time at which the last attempt began; `None` while the task is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Moment>,
    /// The agent of the last attempt; `None` while the task is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_by: Option<String>,
    /// The time at which the task was completed; `None` before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Moment>,
    /// The agent that completed the task; `None` before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_by: Option<String>,
    /// The time of the last failed attempt; `None` if no attempt failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failed_at: Option<Moment>,
    /// The time at which the task failed permanently or was cancelled; `None` otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_at: Option<Moment>,
    /// The agent or user that failed or cancelled the task; `None` otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_by: Option<String>,
    /// The error of the last failed attempt; `None` if no attempt failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// The summary of the result; `None` before the task is completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_summary: Option<String>,
    /// The task that this one follows from; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<TaskId>,
    /// The ended attempts, the oldest first.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// The other fields of the JSON.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

fn pending() -> TaskStatus {
    TaskStatus::Pending
}

/// Deserializes `null` as the default value.
fn or_default<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

impl Task {
    /// Returns a pending task with default values.
    pub fn new(id: TaskId, kind: TaskKind, title: impl Into<String>, created_at: Moment) -> Task {
        Task {
            id,
            kind,
            status: TaskStatus::Pending,
            priority: Priority::DEFAULT,
            created_by: String::new(),
            assigned_to: String::new(),
            created_at,
            title: title.into(),
            description: String::new(),
            depends_on: Vec::new(),
            blocks: Vec::new(),
            acceptance_criteria: Vec::new(),
            deliverables: Vec::new(),
            notes: Vec::new(),
            context: Map::new(),
            run_at: None,
            repeat_every: None,
            retry_count: 0,
            plan: Value::Null,
            started_at: None,
            started_by: None,
            completed_at: None,
            completed_by: None,
            last_failed_at: None,
            failed_at: None,
            failed_by: None,
            last_error: None,
            result_summary: None,
            parent_task_id: None,
            attempts: Vec::new(),
            rest: Map::new(),
        }
    }

    /// Parses a task from JSON and validates it.
    pub fn parse(json: &[u8]) -> Result<Task, TaskError> {
        if json.len() > MAX_STORED {
            let size = json.len();
            return Err(TaskError::Json(format!(
                "the task has {size} bytes; the limit is {MAX_STORED}"
            )));
        }
        // Some editors write a byte order mark at the beginning of a file.
        let json = json.strip_prefix("\u{feff}".as_bytes()).unwrap_or(json);
        let task: Task =
            serde_json::from_slice(json).map_err(|error| TaskError::Json(error.to_string()))?;
        task.check()?;
        Ok(task)
    }

    /// Returns the task as indented JSON.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("a task is JSON");
        json.push('\n');
        json
    }

    /// Validates the rules that types do not enforce: the length and characters of the title, and
    /// no dependency on itself.
    pub fn check(&self) -> Result<(), TaskError> {
        let length = self.title.chars().count();
        if !(1..=MAX_TITLE).contains(&length) {
            return Err(TaskError::Length { what: "title", length, most: MAX_TITLE });
        }
        if self.title.chars().any(char::is_control) {
            return Err(TaskError::ControlCharacters("title"));
        }
        if self.depends_on.contains(&self.id) {
            return Err(TaskError::DependsOnItself(self.id.clone()));
        }
        if self.blocks.contains(&self.id) {
            return Err(TaskError::DependsOnItself(self.id.clone()));
        }
        Ok(())
    }
}
