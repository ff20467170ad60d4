//! What a review cost: [`Spent`].

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the models of a review took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// How often a model was asked.
    pub calls: u64,
    /// How many answers were there already, and cost nothing.
    pub kept_answers: u64,
    /// The tokens that were read and written.
    pub tokens: u64,
    /// The dollars that this comes to, where prices are known.
    pub usd: Option<f64>,
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.calls == 1 { "call" } else { "calls" };
        write!(f, "{} {noun}", self.calls)?;
        if self.kept_answers > 0 {
            let noun = if self.kept_answers == 1 { "answer" } else { "answers" };
            write!(f, ", {} {noun} kept from before", self.kept_answers)?;
        }
        write!(f, ", {} tokens", self.tokens)?;
        match self.usd {
            Some(usd) => write!(f, ", ${usd:.4}"),
            None => write!(f, ", price unknown"),
        }
    }
}
