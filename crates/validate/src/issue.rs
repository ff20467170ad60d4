//! Defects of an implementation: [`Issue`].

use assay_checks::check::CheckKind;
use serde::{Deserialize, Serialize};

/// A defect that blocks the approval of an implementation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issue {
    /// The title of the issue.
    pub title: String,
    /// The kind of the issue.
    #[serde(rename = "type")]
    pub kind: IssueKind,
    /// The path of the file with the defect; `None` if no file is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of the defect, from 1; `None` if no line is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The severity of the issue.
    pub severity: IssueSeverity,
    /// Details beyond the title; `None` if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A proposed fix; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The stable id of an issue that the engine created, such as `check:unit`; `None` for other
    /// issues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The ways in which the issue can be resolved.
    #[serde(default, skip_serializing_if = "Remedy::is_fix")]
    pub remedy: Remedy,
}

/// The ways in which an issue can be resolved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Evidence alone: the check passes, or the finding is gone.
    #[default]
    Fix,
    /// Evidence, or a person's decision by name.
    FixOrDecision,
    /// A person's decision alone: nothing that a fixer may change resolves the issue.
    Decision,
    /// An edit of the spec by a person: a fixer may not edit it, and no decision replaces the text.
    SpecEdit,
}

impl Remedy {
    /// Returns true if only evidence resolves the issue.
    pub fn is_fix(&self) -> bool {
        *self == Remedy::Fix
    }

    /// Returns true if a person's decision by name resolves the issue.
    pub fn can_be_decided(self) -> bool {
        match self {
            Remedy::FixOrDecision | Remedy::Decision => true,
            Remedy::Fix | Remedy::SpecEdit => false,
        }
    }

    /// Returns true if a fixer may resolve the issue.
    pub fn can_be_fixed(self) -> bool {
        match self {
            Remedy::Fix | Remedy::FixOrDecision => true,
            Remedy::Decision | Remedy::SpecEdit => false,
        }
    }
}

/// The kind of an issue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum IssueKind {
    /// A criterion is not met, or could not be judged.
    AcceptanceCriteria,
    /// A unit test fails or is missing.
    UnitTest,
    /// An integration test fails or is missing.
    IntegrationTest,
    /// An end-to-end flow fails, or was not run.
    E2eTest,
    /// The test coverage is too low.
    Coverage,
    /// The code quality is insufficient.
    CodeQuality,
    /// An error is not handled.
    ErrorHandling,
    /// The code has a security vulnerability.
    Security,
    /// The code takes too much time or memory.
    Performance,
    /// A kind that only the repository defines.
    Own(String),
}

impl From<CheckKind> for IssueKind {
    fn from(kind: CheckKind) -> IssueKind {
        match kind {
            CheckKind::Smoke | CheckKind::Unit | CheckKind::FullSuite => IssueKind::UnitTest,
            CheckKind::Integration => IssueKind::IntegrationTest,
            CheckKind::Coverage => IssueKind::Coverage,
            CheckKind::E2e | CheckKind::Manual => IssueKind::E2eTest,
            CheckKind::Criterion => IssueKind::AcceptanceCriteria,
        }
    }
}

/// All kinds with their names.
const KINDS: [(IssueKind, &str); 9] = [
    (IssueKind::AcceptanceCriteria, "acceptance_criteria"),
    (IssueKind::UnitTest, "unit_test"),
    (IssueKind::IntegrationTest, "integration_test"),
    (IssueKind::E2eTest, "e2e_test"),
    (IssueKind::Coverage, "coverage"),
    (IssueKind::CodeQuality, "code_quality"),
    (IssueKind::ErrorHandling, "error_handling"),
    (IssueKind::Security, "security"),
    (IssueKind::Performance, "performance"),
];

impl IssueKind {
    /// Returns the name of the kind.
    pub fn name(&self) -> &str {
        match self {
            IssueKind::Own(name) => name,
            known => KINDS.iter().find(|(kind, _)| kind == known).map_or("", |(_, name)| name),
        }
    }

    /// Returns the built-in kind with a name; `None` if there is none.
    pub fn from_name(name: &str) -> Option<IssueKind> {
        KINDS.iter().find(|(_, known)| *known == name).map(|(kind, _)| kind.clone())
    }
}

impl From<String> for IssueKind {
    fn from(name: String) -> IssueKind {
        IssueKind::from_name(&name).unwrap_or(IssueKind::Own(name))
    }
}

impl From<IssueKind> for String {
    fn from(kind: IssueKind) -> String {
        kind.name().to_owned()
    }
}

/// The severity of an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IssueSeverity {
    /// The fix can wait.
    Low,
    /// The issue should be fixed.
    Medium,
    /// The issue must be fixed.
    High,
    /// The issue must be fixed before all others.
    Critical,
}

impl IssueSeverity {
    /// Returns the name of the severity.
    pub fn name(self) -> &'static str {
        match self {
            IssueSeverity::Low => "low",
            IssueSeverity::Medium => "medium",
            IssueSeverity::High => "high",
            IssueSeverity::Critical => "critical",
        }
    }
}

impl Issue {
    /// Creates an issue of high severity that only evidence resolves.
    pub fn new(title: impl Into<String>, kind: IssueKind) -> Issue {
        Issue {
            title: title.into(),
            kind,
            file: None,
            line: None,
            severity: IssueSeverity::High,
            description: None,
            fix: None,
            key: None,
            remedy: Remedy::Fix,
        }
    }

    /// Sets the stable id of the issue.
    #[must_use]
    pub fn with_key(self, key: impl Into<String>) -> Issue {
        Issue { key: Some(key.into()), ..self }
    }

    /// Sets the sentence that explains the issue.
    #[must_use]
    pub fn with_description(self, description: impl Into<String>) -> Issue {
        Issue { description: Some(description.into()), ..self }
    }

    /// Sets the ways in which the issue can be resolved.
    #[must_use]
    pub fn with_remedy(self, remedy: Remedy) -> Issue {
        Issue { remedy, ..self }
    }

    /// Returns the id of the issue, by which later rounds recognise it and persons decide about it:
    /// its key, or else its title.
    pub fn id(&self) -> &str {
        self.key.as_deref().unwrap_or(&self.title)
    }

    /// Returns the file with its line, such as `src/api.py:42`; `None` if the issue has no file.
    pub fn place(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.clone(),
        })
    }
}
