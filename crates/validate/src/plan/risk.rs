//! How much has to be checked before a change is let through: [`RiskLevel`].

use serde::{Deserialize, Serialize};

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

/// What has to be run, or done, for a level of risk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequiredCheck {
    /// The first unit command, else the build.
    Smoke,
    /// Unit tests.
    Unit,
    /// Integration tests.
    Integration,
    /// Every test there is.
    FullSuite,
    /// How much of it the tests reach.
    Coverage,
    /// Flows through the whole.
    E2e,
    /// A person's word for this very tree.
    Manual,
}

impl RiskLevel {
    /// Gives what is required.
    pub fn required_checks(self) -> &'static [RequiredCheck] {
        use RequiredCheck::{Coverage, E2e, FullSuite, Integration, Manual, Smoke, Unit};
        match self {
            RiskLevel::Trivial => &[],
            RiskLevel::Low => &[Smoke],
            RiskLevel::Medium => &[Unit, Integration],
            RiskLevel::High => &[Unit, Integration, FullSuite, Coverage],
            RiskLevel::Critical => &[Unit, Integration, FullSuite, Coverage, E2e, Manual],
        }
    }

    /// Finds a level by its name.
    pub fn from_name(name: &str) -> Option<RiskLevel> {
        Some(match name.trim().to_lowercase().as_str() {
            "trivial" => RiskLevel::Trivial,
            "low" => RiskLevel::Low,
            "medium" => RiskLevel::Medium,
            "high" => RiskLevel::High,
            "critical" => RiskLevel::Critical,
            _ => return None,
        })
    }
}
