//! What comes back: [`Reply`].

use serde::{Deserialize, Serialize};

/// A model's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// What it says; where a schema was asked for, JSON as a rule.
    pub text: String,
    /// What it took.
    pub usage: Usage,
}

/// The tokens that an answer took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Read in full.
    pub input: u64,
    /// Read from the provider's cache.
    #[serde(default)]
    pub cache_read: u64,
    /// Written to the provider's cache.
    #[serde(default)]
    pub cache_write: u64,
    /// Written, thinking included.
    pub output: u64,
}

impl Usage {
    /// Gives all of them.
    pub fn total(self) -> u64 {
        self.input + self.cache_read + self.cache_write + self.output
    }
}
