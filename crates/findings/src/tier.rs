//! The strength of a rule's evidence: [`EvidenceTier`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The strength of the evidence for the finding of a rule, the strongest first. A finding without a
/// tier is certain by its pattern alone, or was made by another reviewer.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Tier")]
pub enum EvidenceTier {
    /// The way of data from an untrusted source to the defect is known.
    Flow,
    /// The data is a parameter of an exported function, whose callers are not known. The finding is
    /// shown and blocks nothing.
    Parameter,
    /// A pattern alone, without any known data: a place where a reader should look. The finding is
    /// counted and is not shown.
    Lead,
}

impl EvidenceTier {
    /// Returns the tier as a word.
    pub fn as_str(self) -> &'static str {
        match self {
            EvidenceTier::Flow => "flow",
            EvidenceTier::Parameter => "parameter",
            EvidenceTier::Lead => "lead",
        }
    }
}
