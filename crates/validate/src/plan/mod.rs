//! The plan of a spec and its progress: [`ImplementationPlan`], with the keys that the loop exports into it.
//!
//! A plan belongs to whoever wrote it: its text stays as it is, letter by letter, but for the
//! loop's own keys. One that cannot be read is told, and never written.

mod export;
mod reading;
mod signoff;

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_store::disk::DiskError;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

pub use self::export::write_export;
pub use self::reading::Subtask;
use crate::issue::{Issue, IssueKind};

/// Where a plan lies in its spec's folder.
pub const NAME: &str = "implementation_plan.json";

/// The keys that the loop writes, and nobody else.
pub const LOOP_KEYS: [&str; 3] = ["qa_signoff", "qa_iteration_history", "qa_stats"];

/// `implementation_plan.json`: what is in it stays as it is, but for the loop's own keys.
#[derive(Debug, Clone, PartialEq)]
pub struct ImplementationPlan {
    /// All of it, as it is written.
    text: String,
    /// The same, read.
    whole: Map<String, Value>,
}

/// The reason why a plan cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// There is none.
    #[error("there is no plan at `{path}`")]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The plan is no text.
    #[error("the plan is not UTF-8 at byte {at}")]
    NotText {
        /// How many bytes of it are text.
        at: usize,
    },
    /// The plan is JSON that ends too early, or is wrong somewhere.
    #[error("the plan cannot be read as JSON: {why}")]
    NotJson {
        /// The error of the JSON reader, with its place.
        why: String,
    },
    /// The plan is JSON of something else.
    #[error("the plan is {found} in JSON, and not an object")]
    NotAnObject {
        /// The kind of value.
        found: &'static str,
    },
    /// The plan's level of risk is none that is known.
    #[error(
        "the plan's `risk_level` is `{found}`, and not one of `trivial`, `low`, `medium`, `high` \
         and `critical`"
    )]
    Risk {
        /// The word of the plan.
        found: String,
    },
    /// One of the above, in a file.
    #[error("could not use `{path}`")]
    In {
        /// The file.
        path: PathBuf,
        /// The error.
        source: Box<PlanError>,
    },
    /// The file cannot be used.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Where a sign-off stands, in the words that are exported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignoffStatus {
    /// Nobody looked yet.
    #[default]
    Pending,
    /// Something is wrong.
    Rejected,
    /// Something was done about it.
    FixesApplied,
    /// All holds.
    Approved,
    /// A person has to see to it.
    HumanEscalation,
}

/// `qa_signoff`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Signoff {
    /// Where it stands.
    pub status: SignoffStatus,
    /// Which round it is.
    pub qa_session: u32,
    /// When.
    pub timestamp: String,
    /// Which groups of tests passed, once approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests_passed: Option<TestsPassed>,
    /// The open issues.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub issues_found: Vec<Issue>,
    /// The issues that came back again and again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recurring_issues: Vec<Issue>,
    /// The reason why a person has to see to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub escalation_reason: Option<String>,
}

/// Which groups of tests passed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestsPassed {
    /// Unit tests.
    pub unit: bool,
    /// Integration tests.
    pub integration: bool,
    /// Flows through the whole.
    pub e2e: bool,
}

/// One entry of `qa_iteration_history`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryEntry {
    /// Which round it was.
    pub iteration: u32,
    /// The outcome, in one word.
    pub status: String,
    /// When.
    pub timestamp: String,
    /// The issues of the round, of which only the members that identify them are exported.
    #[serde(serialize_with = "in_brief")]
    pub issues: Vec<Issue>,
}

fn in_brief<S: Serializer>(issues: &[Issue], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Brief<'a> {
        title: &'a str,
        #[serde(rename = "type")]
        kind: &'a IssueKind,
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
    }
    serializer.collect_seq(issues.iter().map(|issue| Brief {
        title: &issue.title,
        kind: &issue.kind,
        file: issue.file.as_deref(),
        line: issue.line,
    }))
}

/// `qa_stats`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// How many rounds there were.
    pub total_iterations: u32,
    /// The last of them.
    pub last_iteration: u32,
    /// The outcome, in one word.
    pub last_status: String,
    /// How many issues there were of each kind.
    pub issues_by_type: BTreeMap<String, u32>,
}

impl Stats {
    /// Adds up a history.
    pub fn of(history: &[HistoryEntry]) -> Stats {
        let last = history.last();
        let mut issues_by_type = BTreeMap::new();
        for issue in history.iter().flat_map(|entry| &entry.issues) {
            *issues_by_type.entry(issue.kind.name().to_owned()).or_default() += 1;
        }
        Stats {
            total_iterations: u32::try_from(history.len()).unwrap_or(u32::MAX),
            last_iteration: last.map_or(0, |entry| entry.iteration),
            last_status: last.map_or_else(String::new, |entry| entry.status.clone()),
            issues_by_type,
        }
    }
}

impl SignoffStatus {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            SignoffStatus::Pending => "pending",
            SignoffStatus::Rejected => "rejected",
            SignoffStatus::FixesApplied => "fixes_applied",
            SignoffStatus::Approved => "approved",
            SignoffStatus::HumanEscalation => "human_escalation",
        }
    }
}
