//! The cost of a review: [`ReviewUsage`].

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The cost of the models of a review.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Spent")]
pub struct ReviewUsage {
    /// The number of calls of a model.
    pub calls: u64,
    /// The number of answers from the cache, which cost nothing.
    pub kept_answers: u64,
    /// The number of tokens, input and output together.
    pub tokens: u64,
    /// The cost in US dollars; null if a price is not known.
    pub usd: Option<f64>,
    /// The bytes of all requests and answers; 0 if they were not counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: u64,
    /// True if a call was interrupted, so that the figures are upper bounds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
    /// The cost of each model that was called, in the order of their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelUsage>,
}

/// The cost of one model of a review.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ModelSpent")]
pub struct ModelUsage {
    /// The model with its provider, such as `anthropic/claude-sonnet-4-5`.
    pub model: String,
    /// The number of calls of the model.
    pub calls: u64,
    /// The number of the model's answers from the cache, which cost nothing.
    pub kept_answers: u64,
    /// The number of tokens, input and output together.
    pub tokens: u64,
    /// The cost in US dollars; null if the price of the model is not known.
    pub usd: Option<f64>,
    /// True if a call was interrupted, so that the figures are upper bounds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl fmt::Display for ModelUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ModelUsage { model, calls, kept_answers, tokens, usd, at_most } = self.clone();
        let spent =
            ReviewUsage { calls, kept_answers, tokens, usd, at_most, ..ReviewUsage::default() };
        write!(f, "{model}: {spent}")
    }
}

impl fmt::Display for ReviewUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.calls == 1 { "call" } else { "calls" };
        write!(f, "{} {noun}", self.calls)?;
        if self.kept_answers > 0 {
            let noun = if self.kept_answers == 1 { "answer" } else { "answers" };
            write!(f, ", {} {noun} reused", self.kept_answers)?;
        }
        let bound = if self.at_most { "at most " } else { "" };
        write!(f, ", {bound}{} tokens", self.tokens)?;
        match self.usd {
            Some(usd) => write!(f, ", {bound}${usd:.4}"),
            None => write!(f, ", price unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upper_bound_is_shown_as_at_most() {
        let spent = ReviewUsage {
            calls: 3,
            kept_answers: 1,
            tokens: 800,
            usd: Some(0.25),
            ..ReviewUsage::default()
        };
        assert_eq!(spent.to_string(), "3 calls, 1 answer reused, 800 tokens, $0.2500");
        let bound = ReviewUsage { at_most: true, kept_answers: 0, ..spent };
        assert_eq!(bound.to_string(), "3 calls, at most 800 tokens, at most $0.2500");
        let model =
            ModelUsage { model: "a/b".into(), calls: 1, tokens: 7, ..ModelUsage::default() };
        assert_eq!(model.to_string(), "a/b: 1 call, 7 tokens, price unknown");
    }
}
