//! Who is asked: [`Model`], and what is known of it beforehand ([`Description`]).

use std::fmt;
use std::time::Duration;

use assay_base::hash::short_hash;
use serde::{Deserialize, Serialize};

use crate::known::known;
use crate::{Class, Failure, Nonce, Price, Prompt, Reply, Usage};

/// What is counted beside the bytes of a prompt: roles, the frame of a tool, words about it.
const OVERHEAD: u64 = 2_000;

/// Somebody who answers prompts.
///
/// A model asks once: it does not retry, does not keep answers and does not look at budgets. It
/// never waits longer than the time it was given, and shows no key in what it returns.
pub trait Model: Send + Sync {
    /// Tells what is known of it.
    fn about(&self) -> &Description;

    /// Gives its name.
    fn id(&self) -> &ModelId {
        &self.about().id
    }

    /// Asks it, and tells how many characters came so far while they come.
    fn ask(
        &self,
        prompt: &Prompt,
        nonce: &Nonce,
        time: Duration,
        heard: &dyn Fn(usize),
    ) -> Result<Reply, Failure>;
}

/// A model's name with its provider's, `anthropic/claude-sonnet-4-5`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModelId {
    provider: String,
    model: String,
}

impl ModelId {
    /// Names a model of a provider.
    pub fn new(provider: impl Into<String>, model: impl Into<String>) -> ModelId {
        ModelId { provider: provider.into(), model: model.into() }
    }

    /// Gives the provider's name.
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// Gives the name that the provider knows it by.
    pub fn model(&self) -> &str {
        &self.model
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.model.is_empty() {
            true => f.write_str(&self.provider),
            false => write!(f, "{}/{}", self.provider, self.model),
        }
    }
}

/// What is known of a model before it is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// Its name.
    pub id: ModelId,
    /// Whose kin it is: models of a family err alike.
    pub family: String,
    /// The most tokens that it takes and gives, together.
    pub context_tokens: u64,
    /// The most tokens that it gives.
    pub max_output_tokens: u32,
    /// What it costs, where that is known.
    pub price: Option<Price>,
    /// The tokens that it reads beside a prompt, at the most.
    pub overhead_tokens: u64,
    /// A fingerprint of the way to it, which whoever asks it sets: under one name, another way may
    /// lead to another model. A recording is the same whichever way its answers came.
    #[serde(skip)]
    pub reached: String,
    /// True if the model can be offered tools: providers over HTTP can, agents of the command line
    /// cannot.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_tools: bool,
}

impl Description {
    /// Describes a model by what is known of its name; little is assumed of one that is not known.
    pub fn of(id: ModelId) -> Description {
        // A gateway's names have the maker before them: `anthropic/claude-…`.
        let known = known(id.model.rsplit('/').next().unwrap_or_default());
        Description {
            family: family(&id),
            id,
            context_tokens: known.context_tokens,
            max_output_tokens: known.max_output_tokens,
            price: known.price,
            overhead_tokens: OVERHEAD,
            reached: String::new(),
            takes_tools: false,
        }
    }

    /// Sets the way to it. Only a fingerprint is kept: addresses and arguments can hold secrets.
    pub(crate) fn reached_by(mut self, way: &impl fmt::Debug) -> Description {
        // Written like this, no text can pose as two.
        self.reached = short_hash(format!("{way:?}"), 32);
        self
    }

    /// Gives the most tokens that a prompt can take: no token is shorter than a byte.
    pub fn most(&self, prompt: &Prompt) -> Usage {
        let input = (prompt.bytes() as u64).saturating_add(self.overhead_tokens);
        Usage { input, output: self.output_for(prompt).into(), ..Usage::default() }
    }

    /// Gives the most tokens that may come back for a prompt.
    pub fn output_for(&self, prompt: &Prompt) -> u32 {
        prompt.max_output_tokens.min(self.max_output_tokens)
    }

    /// Gives the most that a prompt can cost, in millionths of a dollar.
    pub fn most_micro_usd(&self, prompt: &Prompt) -> Option<u64> {
        self.price.map(|price| price.most(self.most(prompt)))
    }
}

/// A model that is not there: only what it answered before is known.
#[derive(Debug)]
pub struct Absent(pub Description);

impl Model for Absent {
    fn about(&self) -> &Description {
        &self.0
    }

    fn ask(
        &self,
        _prompt: &Prompt,
        _nonce: &Nonce,
        _time: Duration,
        _heard: &dyn Fn(usize),
    ) -> Result<Reply, Failure> {
        let message = format!("`{}` is on record only, and cannot be asked", self.0.id);
        Err(Failure::free(Class::NotRecorded, message))
    }
}

/// What names hold, and the family that they tell. The first that fits holds.
const FAMILIES: [(&str, &str); 19] = [
    ("deepseek", "deepseek"),
    ("claude", "claude"),
    ("gpt", "gpt"),
    ("codex", "gpt"),
    ("gemini", "gemini"),
    ("gemma", "gemini"),
    ("qwen", "qwen"),
    ("qwq", "qwen"),
    ("codestral", "mistral"),
    ("devstral", "mistral"),
    ("magistral", "mistral"),
    ("mixtral", "mistral"),
    ("mistral", "mistral"),
    ("llama", "llama"),
    ("grok", "grok"),
    ("kimi", "kimi"),
    ("glm", "glm"),
    ("phi", "phi"),
    ("command", "command"),
];

/// Tells a family by the model's name, then by the provider's; otherwise a model is its own.
fn family(id: &ModelId) -> String {
    let by_name = |name: &str| {
        let name = name.to_lowercase();
        let known = FAMILIES.iter().find(|(part, _)| name.contains(part));
        known.map(|(_, family)| (*family).to_owned()).or_else(|| is_o_series(&name))
    };
    let model = id.model.rsplit('/').next().unwrap_or_default();
    let own = || if model.is_empty() { id.provider.clone() } else { model.to_lowercase() };
    by_name(model)
        .or_else(|| by_name(&id.model))
        .or_else(|| by_name(&id.provider))
        .unwrap_or_else(own)
}

/// Knows `o3`, `o4-mini` and such.
fn is_o_series(name: &str) -> Option<String> {
    let rest = name.strip_prefix('o')?;
    let digit = rest.starts_with(|first: char| first.is_ascii_digit());
    digit.then(|| "gpt".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_told_by_names() {
        let cases = [
            ("anthropic", "claude-sonnet-4-5", "claude"),
            ("openrouter", "anthropic/claude-sonnet-4.5", "claude"),
            ("openai", "o4-mini", "gpt"),
            ("ollama", "deepseek-r1-distill-llama", "deepseek"),
            ("ollama", "Qwen3:8b", "qwen"),
            ("claude", "", "claude"),
            ("codex", "", "gpt"),
            ("local", "mine", "mine"),
            ("local", "", "local"),
        ];
        for (provider, model, expected) in cases {
            assert_eq!(Description::of(ModelId::new(provider, model)).family, expected, "{model}");
        }
    }

    #[test]
    fn a_gateways_name_for_a_known_model_is_known() {
        let of = |model: &str| Description::of(ModelId::new("p", model)).price;
        assert!(of("claude-sonnet-4-5").is_some());
        assert_eq!(of("anthropic/claude-sonnet-4.5"), of("claude-sonnet-4-5"));
        assert!(of("openai/gpt-4.1").is_some());
    }

    #[test]
    fn the_most_that_a_prompt_takes_is_known_beforehand() {
        let prompt = Prompt {
            system: "x".repeat(1_000),
            blocks: Vec::new(),
            schema: None,
            max_output_tokens: 100_000,
            thinking_tokens: 0,
            tools: Vec::new(),
            turns: Vec::new(),
        };
        let about = Description::of(ModelId::new("anthropic", "claude-sonnet-4-5"));
        let most = Usage { input: 3_000, output: 64_000, ..Usage::default() };
        assert_eq!(about.most(&prompt), most);
        assert_eq!(about.most_micro_usd(&prompt), Some(3_000 * 15 / 4 + 64_000 * 15));
    }
}
