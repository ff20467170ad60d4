//! What is wrong with an implementation: [`Issue`].

use assay_checks::check::CheckKind;
use serde::{Deserialize, Serialize};

/// Something that keeps an implementation from being approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issue {
    /// What it is called.
    pub title: String,
    /// What kind of thing it is.
    #[serde(rename = "type")]
    pub kind: IssueKind,
    /// The file that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// How bad it is.
    pub severity: IssueSeverity,
    /// What it says beyond its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The name by which one that the engine made is told again, such as `check:unit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// How the issue can be removed.
    #[serde(default, skip_serializing_if = "Remedy::is_fix")]
    pub remedy: Remedy,
}

/// How an issue can be removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// By evidence alone: the check passes, the finding is gone.
    #[default]
    Fix,
    /// By evidence, or by a person's decision by name.
    FixOrDecision,
    /// By a person's decision alone: nothing that a fixer may change removes the issue.
    Decision,
    /// By a person who edits the spec: a fixer may not, and no decision stands in for the text.
    SpecEdit,
}

impl Remedy {
    /// Returns true if only evidence removes the issue.
    pub fn is_fix(&self) -> bool {
        *self == Remedy::Fix
    }

    /// Returns true if a person's decision by name removes the issue.
    pub fn can_be_decided(self) -> bool {
        match self {
            Remedy::FixOrDecision | Remedy::Decision => true,
            Remedy::Fix | Remedy::SpecEdit => false,
        }
    }

    /// Returns true if a fixer may remove the issue.
    pub fn can_be_fixed(self) -> bool {
        match self {
            Remedy::Fix | Remedy::FixOrDecision => true,
            Remedy::Decision | Remedy::SpecEdit => false,
        }
    }
}

/// What kind of thing is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum IssueKind {
    /// A criterion is not met, or nobody could tell.
    AcceptanceCriteria,
    /// A unit test fails or is missing.
    UnitTest,
    /// An integration test fails or is missing.
    IntegrationTest,
    /// A flow through the whole fails, or nobody went through it.
    E2eTest,
    /// Too little is tested.
    Coverage,
    /// The code is not as it should be.
    CodeQuality,
    /// A failure is not handled.
    ErrorHandling,
    /// Somebody could get in.
    Security,
    /// It takes too long, or too much.
    Performance,
    /// What a repository has a name of its own for.
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
    /// Gives its name.
    pub fn name(&self) -> &str {
        match self {
            IssueKind::Own(name) => name,
            known => KINDS.iter().find(|(kind, _)| kind == known).map_or("", |(_, name)| name),
        }
    }

    /// Finds a kind that is known everywhere by its name.
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

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IssueSeverity {
    /// It can wait.
    Low,
    /// It should be mended.
    Medium,
    /// It has to be mended.
    High,
    /// Nothing else matters before.
    Critical,
}

impl IssueSeverity {
    /// Gives its name.
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
    /// Makes an issue that has to be mended, and that evidence alone removes.
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

    /// Sets the name by which the issue is known again.
    #[must_use]
    pub fn with_key(self, key: impl Into<String>) -> Issue {
        Issue { key: Some(key.into()), ..self }
    }

    /// Sets the sentence that explains the issue.
    #[must_use]
    pub fn with_description(self, description: impl Into<String>) -> Issue {
        Issue { description: Some(description.into()), ..self }
    }

    /// Sets how the issue can be removed.
    #[must_use]
    pub fn with_remedy(self, remedy: Remedy) -> Issue {
        Issue { remedy, ..self }
    }

    /// Returns the name by which the issue is known again and decided about: its key, or else its
    /// title.
    pub fn id(&self) -> &str {
        self.key.as_deref().unwrap_or(&self.title)
    }

    /// Gives the file with its line, such as `src/api.py:42`.
    pub fn place(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.clone(),
        })
    }
}
