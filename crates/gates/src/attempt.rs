//! How far a gate's loop has come: [`Attempt`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the loop stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum LoopState {
    /// This is the first attempt.
    Initial,
    /// An earlier failure is being fixed.
    Retry,
    /// The gate is passed.
    Complete,
}

/// The result of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Reviewed {
    /// All that had to hold does.
    Pass,
    /// Something has to be changed.
    NeedsChanges,
}

/// An attempt to pass a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// Where the loop stands.
    pub state: LoopState,
    /// Which attempt it is, from 1.
    pub iteration: u32,
}

impl Attempt {
    /// Returns what follows from what came of it.
    pub fn after(self, reviewed: Reviewed) -> Attempt {
        match reviewed {
            Reviewed::Pass => Attempt { state: LoopState::Complete, ..self },
            Reviewed::NeedsChanges => {
                Attempt { state: LoopState::Retry, iteration: self.iteration.saturating_add(1) }
            }
        }
    }
}
