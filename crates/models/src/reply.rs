//! What comes back: [`Reply`].

use serde::{Deserialize, Serialize};

/// A model's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// What it says; where a schema was asked for, JSON as a rule.
    pub text: String,
    /// What it took.
    pub usage: Usage,
    /// What it cost in millionths of a dollar, where whoever answered says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
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

impl Reply {
    /// Makes an answer that does not say what it cost.
    pub fn new(text: impl Into<String>, usage: Usage) -> Reply {
        Reply { text: text.into(), usage, micro_usd: None }
    }
}

impl Usage {
    /// Gives all of them.
    pub fn total(self) -> u64 {
        self.input + self.cache_read + self.cache_write + self.output
    }

    /// Gives both together.
    pub fn plus(self, other: Usage) -> Usage {
        Usage {
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            output: self.output.saturating_add(other.output),
        }
    }
}
