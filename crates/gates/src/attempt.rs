//! The progress of a gate's loop: [`Attempt`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state of a gate's loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(rename = "LoopState")]
pub enum AttemptState {
    /// The first attempt.
    Initial,
    /// An earlier failure is being fixed.
    Retry,
    /// The gate is passed.
    Complete,
}

/// The result of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AttemptResult {
    /// All blocking items passed.
    Pass,
    /// A blocking item failed.
    NeedsChanges,
}

/// An attempt to pass a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// The state of the loop.
    pub state: AttemptState,
    /// The number of the attempt, from 1.
    pub iteration: u32,
}

impl Attempt {
    /// Returns the attempt that follows from a result.
    pub fn after(self, reviewed: AttemptResult) -> Attempt {
        match reviewed {
            AttemptResult::Pass => Attempt { state: AttemptState::Complete, ..self },
            AttemptResult::NeedsChanges => {
                Attempt { state: AttemptState::Retry, iteration: self.iteration.saturating_add(1) }
            }
        }
    }
}
