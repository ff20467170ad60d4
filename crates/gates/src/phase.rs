//! The phases of the work that have a gate: [`Phase`].

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The phase of the work that a gate is about.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Milestones, acceptance criteria, decisions and assumptions of a plan.
    PlanStructure,
    /// The diffs in a plan.
    PlanCode,
    /// The documents in a plan.
    PlanDocs,
    /// The written code.
    ImplCode,
    /// The written documents.
    ImplDocs,
    /// The comparison of the plan with the written code.
    Reconcile,
}

/// A text that is no phase.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown phase `{0}`: expected plan-structure, plan-code, plan-docs, impl-code, impl-docs or \
     reconcile"
)]
pub struct UnknownPhase(String);

impl Phase {
    /// All phases, in the order of the work.
    pub const ALL: [Phase; 6] = [
        Phase::PlanStructure,
        Phase::PlanCode,
        Phase::PlanDocs,
        Phase::ImplCode,
        Phase::ImplDocs,
        Phase::Reconcile,
    ];

    /// Returns the name of the phase.
    pub fn name(self) -> &'static str {
        match self {
            Phase::PlanStructure => "plan-structure",
            Phase::PlanCode => "plan-code",
            Phase::PlanDocs => "plan-docs",
            Phase::ImplCode => "impl-code",
            Phase::ImplDocs => "impl-docs",
            Phase::Reconcile => "reconcile",
        }
    }

    /// Returns true if the phase verifies only a plan, and nothing that was written after it.
    pub fn is_of_a_plan(self) -> bool {
        matches!(self, Phase::PlanStructure | Phase::PlanCode | Phase::PlanDocs)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Phase {
    type Err = UnknownPhase;

    fn from_str(text: &str) -> Result<Phase, UnknownPhase> {
        let named = Phase::ALL.into_iter().find(|phase| phase.name() == text);
        named.ok_or_else(|| UnknownPhase(text.to_owned()))
    }
}
