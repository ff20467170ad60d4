//! The plan of a spec and its progress: [`ImplementationPlan`], with the keys that the loop exports
//! into it.
//!
//! A plan belongs to its author: its text stays the same byte for byte, except for the loop's own
//! keys. A plan that cannot be parsed is reported, and never written.

mod export;
mod signoff;
mod subtasks;

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_store::durable_fs::DiskError;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

pub use self::export::write_export;
pub use self::subtasks::Subtask;
use crate::issue::{Issue, IssueKind};

/// The file name of a plan in the folder of its spec.
pub const NAME: &str = "implementation_plan.json";

/// The keys that only the loop writes.
pub const LOOP_KEYS: [&str; 3] = ["qa_signoff", "qa_iteration_history", "qa_stats"];

/// `implementation_plan.json`. Its content stays the same, except for the loop's own keys.
#[derive(Debug, Clone, PartialEq)]
pub struct ImplementationPlan {
    /// The text of the file.
    text: String,
    /// The parsed text.
    whole: Map<String, Value>,
}

/// The reason why a plan cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The plan does not exist.
    #[error("missing plan `{path}`")]
    Missing {
        /// The expected path of the plan.
        path: PathBuf,
    },
    /// The plan is not valid UTF-8.
    #[error("the plan is not valid UTF-8 at byte {at}")]
    NotText {
        /// The number of valid bytes before the first invalid one.
        at: usize,
    },
    /// The plan is truncated or invalid JSON.
    #[error("cannot parse the plan as JSON: {why}")]
    NotJson {
        /// The error of the JSON parser, with its position.
        why: String,
    },
    /// The plan is JSON, but not an object.
    #[error("invalid plan: expected a JSON object, found {found}")]
    NotAnObject {
        /// The kind of the JSON value.
        found: &'static str,
    },
    /// The risk level of the plan is unknown.
    #[error(
        "invalid value `{found}` for `risk_level` in the plan: expected `trivial`, `low`, \
         `medium`, `high` or `critical`"
    )]
    Risk {
        /// The value in the plan.
        found: String,
    },
    /// An error of the plan in a file.
    #[error("could not use `{path}`")]
    In {
        /// The path of the file.
        path: PathBuf,
        /// The error of the plan.
        source: Box<PlanError>,
    },
    /// The file cannot be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// The status of a sign-off, in the exported words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignoffStatus {
    /// No review is complete yet.
    #[default]
    Pending,
    /// The review found issues.
    Rejected,
    /// A fixer has changed the tree after a review with issues.
    FixesApplied,
    /// The implementation is approved.
    Approved,
    /// A person has to act.
    HumanEscalation,
}

/// The value of `qa_signoff`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Signoff {
    /// The status of the spec.
    pub status: SignoffStatus,
    /// The number of the round.
    pub qa_session: u32,
    /// The time of the round.
    pub timestamp: String,
    /// The results of the groups of tests; `None` unless the spec is approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests_passed: Option<TestsPassed>,
    /// The open issues.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub issues_found: Vec<Issue>,
    /// The issues that kept recurring.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recurring_issues: Vec<Issue>,
    /// The reason why a person has to act; `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub escalation_reason: Option<String>,
}

/// The results of the groups of tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestsPassed {
    /// True if the unit tests passed.
    pub unit: bool,
    /// True if the integration tests passed.
    pub integration: bool,
    /// True if the end-to-end tests passed.
    pub e2e: bool,
}

/// An entry of `qa_iteration_history`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryEntry {
    /// The number of the round.
    pub iteration: u32,
    /// The status word of the round.
    pub status: String,
    /// The time of the round.
    pub timestamp: String,
    /// The issues of the round, of which only the identifying members are exported.
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

/// The value of `qa_stats`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// The number of rounds.
    pub total_iterations: u32,
    /// The number of the last round.
    pub last_iteration: u32,
    /// The status word of the last round.
    pub last_status: String,
    /// The number of issues of each kind, over all rounds.
    pub issues_by_type: BTreeMap<String, u32>,
}

impl Stats {
    /// Computes the statistics of a history.
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
    /// Returns the name of the status.
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
