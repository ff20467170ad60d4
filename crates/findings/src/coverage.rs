//! How much of a change somebody looked at: [`Coverage`].

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What became of each hunk of a change. The parts add up to the change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// Hunks that only patterns on text were held against.
    pub text_only: usize,
    /// Hunks that nobody looked at, by the rule that left them out.
    pub left_out: BTreeMap<String, usize>,
    /// Hunks at which somebody had to look and could not, by the reason.
    #[serde(default)]
    pub failed: BTreeMap<String, usize>,
}

impl Coverage {
    /// Gives the number of hunks.
    pub fn hunks(&self) -> usize {
        let others = self.left_out.values().chain(self.failed.values());
        self.text_only + others.sum::<usize>()
    }

    /// Says whether anybody looked at anything.
    pub fn is_empty(&self) -> bool {
        self.text_only == 0
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hunks = self.hunks();
        write!(f, "{hunks} {}", if hunks == 1 { "hunk" } else { "hunks" })?;
        let text_only = (self.text_only > 0).then(|| format!("{} text only", self.text_only));
        let left_out = self.left_out.iter().map(|(rule, n)| format!("{n} left out ({rule})"));
        let failed = self.failed.iter().map(|(why, n)| format!("{n} failed ({why})"));
        let parts: Vec<String> = text_only.into_iter().chain(left_out).chain(failed).collect();
        if parts.is_empty() { Ok(()) } else { write!(f, ": {}", parts.join(", ")) }
    }
}
