//! The interface of a model: [`Model`], and its limits and price ([`Description`]).

use std::fmt;
use std::time::Duration;

use assay_base::hash::short_hash;
use serde::{Deserialize, Serialize};

use crate::known::known;
use crate::{Class, Failure, Nonce, Price, Prompt, Reply, Usage};

/// The tokens that are added to the bytes of a prompt: roles, the frame of a tool, its description.
const OVERHEAD: u64 = 2_000;

/// A language model that answers prompts.
///
/// A model is called once: it does not retry, does not cache replies and does not check budgets. It
/// never waits longer than the given time, and its results contain no key.
pub trait Model: Send + Sync {
    /// Returns the description of the model.
    fn about(&self) -> &Description;

    /// Returns the name of the model.
    fn id(&self) -> &ModelId {
        &self.about().id
    }

    /// Requests a reply. Calls `heard` with the number of characters received so far.
    fn ask(
        &self,
        prompt: &Prompt,
        nonce: &Nonce,
        time: Duration,
        heard: &dyn Fn(usize),
    ) -> Result<Reply, Failure>;
}

/// The name of a model with that of its provider, `anthropic/claude-sonnet-4-5`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModelId {
    provider: String,
    model: String,
}

impl ModelId {
    /// Creates the name of a model.
    pub fn new(provider: impl Into<String>, model: impl Into<String>) -> ModelId {
        ModelId { provider: provider.into(), model: model.into() }
    }

    /// Returns the name of the provider.
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// Returns the name of the model at its provider.
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

/// The limits, the price and the features of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The name.
    pub id: ModelId,
    /// The family of the model: models of one family make similar mistakes.
    pub family: String,
    /// The maximum number of tokens of the prompt and the answer together.
    pub context_tokens: u64,
    /// The maximum number of tokens of an answer.
    pub max_output_tokens: u32,
    /// The price; `None` if it is unknown.
    pub price: Option<Price>,
    /// The maximum number of tokens that the model reads in addition to a prompt.
    pub overhead_tokens: u64,
    /// A hash of the address or command by which the model is reached, set by the `Model`: one name
    /// may lead to different models at different addresses. A recording does not depend on it.
    #[serde(skip)]
    pub reached: String,
    /// True if the model can be offered tools: providers over HTTP can, agents of the command line
    /// cannot.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_tools: bool,
}

impl Description {
    /// Describes a model by its name, with low limits if the name is unknown.
    pub fn of(id: ModelId) -> Description {
        // The names of a gateway begin with the maker: `anthropic/claude-…`.
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

    /// Sets the hash of the address or command. Only a hash is stored, since addresses and
    /// arguments can hold secrets.
    pub(crate) fn reached_by(mut self, way: &impl fmt::Debug) -> Description {
        // The debug format quotes texts, so that one text cannot look like two.
        self.reached = short_hash(format!("{way:?}"), 32);
        self
    }

    /// Returns the most tokens that a prompt can use: no token is shorter than a byte.
    pub fn most(&self, prompt: &Prompt) -> Usage {
        let input = (prompt.bytes() as u64).saturating_add(self.overhead_tokens);
        Usage { input, output: self.output_for(prompt).into(), ..Usage::default() }
    }

    /// Returns the maximum number of tokens of an answer to a prompt.
    pub fn output_for(&self, prompt: &Prompt) -> u32 {
        prompt.max_output_tokens.min(self.max_output_tokens)
    }

    /// Returns the most that a prompt can cost, in millionths of a dollar; `None` if the price is
    /// unknown.
    pub fn most_micro_usd(&self, prompt: &Prompt) -> Option<u64> {
        self.price.map(|price| price.most(self.most(prompt)))
    }
}

/// A model that cannot be called: only its recorded replies are available.
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

/// Parts of model names, and the families that they belong to. The first match counts.
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

/// Returns the family by the name of the model, or else by that of the provider; otherwise the
/// model is its own family.
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

/// Returns the family of names such as `o3` and `o4-mini`.
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
