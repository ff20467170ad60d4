//! What was done for a spec: [`ImplementationPlan`], with the keys that the loop exports into it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::issue::Issue;

/// `implementation_plan.json`: what is in it stays as it is, but for the loop's own keys.
#[derive(Debug, Clone, PartialEq)]
pub struct ImplementationPlan {
    /// All of it, in order.
    pub whole: Map<String, Value>,
}

/// How much depends on a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RiskLevel {
    /// Nothing has to be run.
    Trivial,
    /// It has to build, or its first test to pass.
    Low,
    /// Unit and integration tests.
    Medium,
    /// The whole suite, and coverage.
    High,
    /// All of it, flows through the whole, and a person's word.
    Critical,
}

/// Where a sign-off stands, in the words that are exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignoffStatus {
    /// Nobody looked yet.
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
    /// What is wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub issues_found: Vec<Issue>,
    /// What came back again and again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recurring_issues: Vec<Issue>,
    /// Why a person has to see to it.
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
    /// What came of it.
    pub status: String,
    /// When.
    pub timestamp: String,
    /// What was wrong.
    pub issues: Vec<Issue>,
}

/// `qa_stats`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// How many rounds there were.
    pub total_iterations: u32,
    /// The last of them.
    pub last_iteration: u32,
    /// What came of it.
    pub last_status: String,
    /// How many issues there were of each kind.
    pub issues_by_type: BTreeMap<String, u32>,
}
