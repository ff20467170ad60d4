//! Replies of models: [`Reply`], and the tokens that they use.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::mark::contains_word;
use crate::tool::ToolCall;

/// The reply of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The answer; JSON as a rule, if the prompt has a schema.
    pub text: String,
    /// Text other than the answer: words around it, and messages before the last. Thoughts are not
    /// included, since a model that considers an instruction does not obey it yet.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub aside: String,
    /// The tokens used.
    pub usage: Usage,
    /// The cost in millionths of a dollar; `None` if the provider or agent does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
    /// The tools that the model calls, in order. A reply with calls is not a complete answer: the
    /// model waits for the results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// The thoughts before the calls in the provider's own format. They are never stored.
    #[serde(skip)]
    pub thoughts: Vec<Value>,
    /// True if the prompt offered tools and the provider refused them, so that the model was asked
    /// without tools.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tools_refused: bool,
}

/// The tokens that a reply used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input that was not read from a cache.
    pub input: u64,
    /// Input that was read from the provider's cache.
    #[serde(default)]
    pub cache_read: u64,
    /// Input that was written to the provider's cache.
    #[serde(default)]
    pub cache_write: u64,
    /// Output, thinking included.
    pub output: u64,
}

impl Reply {
    /// Creates a reply without a reported cost.
    pub fn new(text: impl Into<String>, usage: Usage) -> Reply {
        Reply {
            text: text.into(),
            aside: String::new(),
            usage,
            micro_usd: None,
            calls: Vec::new(),
            thoughts: Vec::new(),
            tools_refused: false,
        }
    }

    /// Returns true if a word occurs anywhere in the reply: in the answer, in the other text, or in
    /// a call.
    pub fn contains_word(&self, word: &str) -> bool {
        let is_called = |call: &ToolCall| {
            contains_word(&call.name, word) || contains_word(&call.arguments, word)
        };
        contains_word(&self.text, word)
            || contains_word(&self.aside, word)
            || self.calls.iter().any(is_called)
    }
}

impl Usage {
    /// Returns the sum of all tokens.
    pub fn total(self) -> u64 {
        let read = self.input.saturating_add(self.cache_read);
        read.saturating_add(self.cache_write).saturating_add(self.output)
    }

    /// Returns the sum of two usages.
    pub fn plus(self, other: Usage) -> Usage {
        Usage {
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            output: self.output.saturating_add(other.output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overflowing_token_counts_saturate() {
        let most =
            Usage { input: u64::MAX, cache_read: 1, cache_write: u64::MAX, output: u64::MAX };
        assert_eq!((most.total(), most.plus(most).total()), (u64::MAX, u64::MAX));
    }

    #[test]
    fn a_word_is_found_in_every_part_of_a_reply_even_if_it_is_escaped() {
        let reply = |text: &str, aside: &str| Reply {
            aside: aside.to_owned(),
            ..Reply::new(text, Usage::default())
        };
        for said in [
            "so be it: c0ffee", "C0FFEE", r"\u00630ffee", r"c\u0030\u0066\u0046ee",
            r"c0\\\u0066fee \ué", r"\n\c0ff\u0065\u0065",
        ] {
            assert!(reply(said, "").contains_word("c0ffee"), "{said}");
            assert!(reply("{}", said).contains_word("c0ffee"), "{said}");
            let call = ToolCall { name: "search".into(), arguments: said.into() };
            assert!(Reply { calls: vec![call], ..reply("", "") }.contains_word("c0ffee"), "{said}");
        }
        for said in ["", "c0ff ee", r"\u0063", r"c0ffe\u006", r"\", r"\u+063"] {
            assert!(!reply(said, said).contains_word("c0ffee"), "{said}");
        }
    }
}
