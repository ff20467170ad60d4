//! A unit of queued work: [`Task`], with names that were checked at the door.

use std::fmt;
use std::str::FromStr;

use assay_base::clock::Clock;
use assay_base::text::first_chars;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::interval::Interval;

/// The most bytes that a task may have as JSON when it is put in.
pub const MAX_TASK: usize = 4 << 20;

/// The most that are read: what is there grows while it is worked on, and must not be lost for it.
pub const MAX_STORED: usize = 16 << 20;

/// The longest name of a task, a queue or an agent.
const MAX_NAME: usize = 128;

/// So much of a kind or an agent goes into the name of a task.
const MAX_NAME_PART: usize = 40;

/// The longest title.
const MAX_TITLE: usize = 1_000;

/// Why a text is no name or a value no task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// A name cannot stand in a path.
    #[error(
        "{what} {text:?} is no name: it has 1 to 128 letters, digits, `.`, `_` or `-`, and no dot \
         in front"
    )]
    Name {
        /// What it should name.
        what: &'static str,
        /// What was given, cut short.
        text: String,
    },
    /// A priority is out of range.
    #[error("priority {given} is none: 0 is for escalations, 1 comes first, 100 last")]
    Priority {
        /// What was given.
        given: i64,
    },
    /// A text that people have to read is empty or endless.
    #[error("the {what} has {length} characters; it needs 1 to {most}")]
    Length {
        /// Which text.
        what: &'static str,
        /// How long it is.
        length: usize,
        /// How long it may be.
        most: usize,
    },
    /// A task waits for itself.
    #[error("task `{0}` depends on itself")]
    OnItself(TaskId),
    /// A text has control characters in it.
    #[error("the {0} has control characters in it")]
    Control(&'static str),
    /// It is no JSON, or not that of a task.
    #[error("{0}")]
    Json(String),
}

/// Makes a type for names that are safe as part of a path.
macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $type(Box<str>);

        impl $type {
            /// The name as text.
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
    };
}

name!(
    /// A task's name.
    TaskId,
    "task id"
);
name!(
    /// A queue's name: the folder that its tasks are in.
    QueueName,
    "queue"
);
name!(
    /// An agent's name, such as `qa-1`.
    AgentId,
    "agent"
);
name!(
    /// What kind of work a task is, such as `review`.
    Kind,
    "task type"
);

impl TaskId {
    /// Makes a name that nobody had before, such as `review-qa-1738588800000-a1b2c3`.
    pub fn fresh(kind: &Kind, who: &str, now: Moment) -> Result<TaskId, TaskError> {
        let mut chance = [0; 3];
        getrandom::fill(&mut chance)
            .map_err(|error| TaskError::Json(format!("there are no random numbers: {error}")))?;
        let chance: String = chance.iter().map(|byte| format!("{byte:02x}")).collect();
        let start = |text: &'_ str| first_chars(text, MAX_NAME_PART).to_owned();
        let (kind, who) = (start(kind.as_str()), start(who));
        format!("{kind}-{who}-{}-{chance}", now.0.as_millisecond()).parse()
    }
}

impl Kind {
    /// The kind of a task that waits for a person.
    pub const ESCALATION: &'static str = "escalation";

    /// The kinds of work that agents know.
    pub const KNOWN: [&'static str; 8] = [
        "architecture", "escalation", "fix", "implementation", "planning", "qa_verification",
        "review", "validation",
    ];

    /// Returns true if agents know the kind of work.
    pub fn is_known(&self) -> bool {
        Kind::KNOWN.contains(&self.as_str())
    }

    /// Says whether the task waits for a person.
    pub fn is_escalation(&self) -> bool {
        self.as_str() == Kind::ESCALATION
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

/// How urgent a task is: lower comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Priority(u8);

impl Priority {
    /// What escalations have: before everything else.
    pub const ESCALATION: Priority = Priority(0);

    /// What a task has that says nothing.
    pub const MIDDLE: Priority = Priority(50);

    /// The number.
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
        Priority::MIDDLE
    }
}

impl<'de> Deserialize<'de> for Priority {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Priority, D::Error> {
        i64::deserialize(from)?.try_into().map_err(serde::de::Error::custom)
    }
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It waits.
    Pending,
    /// An agent holds it.
    InProgress,
    /// It is done.
    Completed,
    /// It cannot be done.
    Failed,
    /// Somebody called it off.
    Cancelled,
}

impl Status {
    /// All of them, in the order of a task's life.
    pub const ALL: [Status; 5] =
        [Status::Pending, Status::InProgress, Status::Completed, Status::Failed, Status::Cancelled];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::InProgress => "in_progress",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Status {
    type Err = TaskError;

    /// Reads a status in any case, with `-` or a space for `_`.
    fn from_str(text: &str) -> Result<Status, TaskError> {
        let word = text.trim().to_lowercase().replace(['-', ' '], "_");
        let known = Status::ALL.into_iter().find(|status| status.as_str() == word);
        known.ok_or_else(|| {
            let words = Status::ALL.map(Status::as_str).join(", ");
            TaskError::Json(format!("{text:?} is no status; there are {words}"))
        })
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Status, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A moment as tasks write it: `2026-02-03T10:00:00.000Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub Timestamp);

impl Moment {
    /// Returns the time of day.
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

    /// Reads a moment. One without a zone is in UTC.
    fn from_str(text: &str) -> Result<Moment, TaskError> {
        let zoned = text.parse::<Timestamp>().ok();
        let local = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
        let moment = zoned.or_else(|| Some(local()?.timestamp()));
        moment.map(Moment).ok_or_else(|| {
            let text = first_chars(text, 40).to_owned();
            TaskError::Json(format!("{text:?} is no time such as \"2026-02-03T10:00:00.000Z\""))
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

/// One try at a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Who tried.
    pub by: String,
    /// Since when, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Moment>,
    /// Until when.
    pub ended_at: Moment,
    /// What came of it.
    pub outcome: String,
}

/// A unit of queued work. What it does not know of its JSON, it keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its name.
    pub id: TaskId,
    /// What kind of work it is.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Where it stands.
    #[serde(default = "pending")]
    pub status: Status,
    /// How urgent it is.
    #[serde(default, deserialize_with = "or_default")]
    pub priority: Priority,
    /// Who asked for it.
    #[serde(default, deserialize_with = "or_default")]
    pub created_by: String,
    /// Who is to do it.
    #[serde(default, deserialize_with = "or_default")]
    pub assigned_to: String,
    /// Since when it is there.
    pub created_at: Moment,
    /// What it is called.
    pub title: String,
    /// What is to be done.
    #[serde(default, deserialize_with = "or_default")]
    pub description: String,
    /// What has to be completed before.
    #[serde(default, deserialize_with = "or_default")]
    pub depends_on: Vec<TaskId>,
    /// The tasks that wait for it, as if each named it in `depends_on`.
    #[serde(default, deserialize_with = "or_default")]
    pub blocks: Vec<TaskId>,
    /// When it is done well.
    #[serde(default, deserialize_with = "or_default")]
    pub acceptance_criteria: Vec<String>,
    /// What it has to bring.
    #[serde(default, deserialize_with = "or_default")]
    pub deliverables: Vec<String>,
    /// What somebody noted about it.
    #[serde(default, deserialize_with = "or_default")]
    pub notes: Vec<String>,
    /// What the work is about: pull request, branch, ticket, findings.
    #[serde(default, deserialize_with = "or_default")]
    pub context: Map<String, Value>,
    /// The earliest moment at which it can be claimed; `None` for at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_at: Option<Moment>,
    /// How long after `run_at` the task comes again, once it was completed or given up; `None` for a
    /// task that comes once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat_every: Option<Interval>,
    /// How often it was tried again.
    #[serde(default, deserialize_with = "or_default")]
    pub retry_count: u32,
    /// How it is to be done.
    #[serde(default)]
    pub plan: Value,
    /// When the last try began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Moment>,
    /// Who began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_by: Option<String>,
    /// When it was completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Moment>,
    /// Who completed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_by: Option<String>,
    /// When the last try failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failed_at: Option<Moment>,
    /// When it was given up or called off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_at: Option<Moment>,
    /// Who gave it up or called it off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_by: Option<String>,
    /// Why the last try failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_summary: Option<String>,
    /// The task that this one follows from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<TaskId>,
    /// The tries so far, but for one that is under way.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// What else its JSON says.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

fn pending() -> Status {
    Status::Pending
}

/// Takes `null` for what is not there.
fn or_default<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

impl Task {
    /// A task that waits.
    pub fn new(id: TaskId, kind: Kind, title: impl Into<String>, created_at: Moment) -> Task {
        Task {
            id,
            kind,
            status: Status::Pending,
            priority: Priority::MIDDLE,
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

    /// Reads a task from JSON.
    pub fn parse(json: &[u8]) -> Result<Task, TaskError> {
        if json.len() > MAX_STORED {
            let size = json.len();
            return Err(TaskError::Json(format!("it has {size} bytes, and may have {MAX_STORED}")));
        }
        // Some editors begin a file with a byte order mark.
        let json = json.strip_prefix("\u{feff}".as_bytes()).unwrap_or(json);
        let task: Task =
            serde_json::from_slice(json).map_err(|error| TaskError::Json(error.to_string()))?;
        task.check()?;
        Ok(task)
    }

    /// Writes it as JSON for people and programs.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("a task is JSON");
        json.push('\n');
        json
    }

    /// Checks what its types do not.
    pub fn check(&self) -> Result<(), TaskError> {
        let length = self.title.chars().count();
        if !(1..=MAX_TITLE).contains(&length) {
            return Err(TaskError::Length { what: "title", length, most: MAX_TITLE });
        }
        if self.title.chars().any(char::is_control) {
            return Err(TaskError::Control("title"));
        }
        if self.depends_on.contains(&self.id) {
            return Err(TaskError::OnItself(self.id.clone()));
        }
        if self.blocks.contains(&self.id) {
            return Err(TaskError::OnItself(self.id.clone()));
        }
        Ok(())
    }
}
