//! What has to hold: [`Spec`], read from the spec's folder.

use std::path::PathBuf;

/// A spec.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// Its name, such as `001-login`.
    pub name: String,
    /// Its folder, from the root.
    pub folder: PathBuf,
    /// What has to hold, each once.
    pub criteria: Vec<Criterion>,
    /// How it is verified.
    pub verification: Verification,
}

/// Something that has to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// What it says.
    pub text: String,
    /// Where it stands in `spec.md`, from 1; nothing where it comes from the plan.
    pub line: Option<u32>,
}

/// How a spec says that it is verified.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verification {
    /// Unit tests.
    pub unit: Group,
    /// Integration tests.
    pub integration: Group,
    /// Flows through the whole.
    pub e2e: Group,
    /// How much has to be covered, in percent.
    pub coverage: Option<f64>,
}

/// One group of what is run or done to verify.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Group {
    /// Whether the plan says that it is required.
    pub required: bool,
    /// Commands, each with what is expected of it.
    pub commands: Vec<SpecCommand>,
    /// Steps that a person takes, such as `Register → Verify email → Login`.
    pub manual: Vec<Vec<String>>,
    /// Flows and pages that are named.
    pub flows: Vec<String>,
}

/// A command of a spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecCommand {
    /// The command, as it is written.
    pub command: String,
    /// What is expected of it, in words.
    pub expectation: String,
}
