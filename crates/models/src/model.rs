//! The interface of a model: [`Model`], and its limits and price ([`ModelDescription`]).

use std::fmt;
use std::time::Duration;

use assay_base::hash::short_hash;
use serde::{Deserialize, Serialize};

use crate::model_spec::model_spec;
use crate::{Failure, FailureClass, Nonce, Price, Prompt, Reply, Usage};

/// The tokens that are added to the bytes of a prompt: roles, the frame of a tool, its description.
const OVERHEAD_TOKENS: u64 = 2_000;

/// A language model that answers prompts.
///
/// A model is called once: it does not retry, does not cache replies and does not check budgets. It
/// never waits longer than the given time, and its results contain no key.
pub trait Model: Send + Sync {
    /// Returns the description of the model.
    fn about(&self) -> &ModelDescription;

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
pub struct ModelDescription {
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
    pub endpoint_hash: String,
    /// True if the model can be offered tools: providers over HTTP can, agents of the command line
    /// cannot.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_tools: bool,
}

impl ModelDescription {
    /// Describes a model by its name, with low limits if the name is unknown.
    pub fn of(id: ModelId) -> ModelDescription {
        // The names of a gateway begin with the maker: `anthropic/claude-…`.
        let known = model_spec(id.model.rsplit('/').next().unwrap_or_default());
        ModelDescription {
            family: family(&id),
            id,
            context_tokens: known.context_tokens,
            max_output_tokens: known.max_output_tokens,
            price: known.price,
            overhead_tokens: OVERHEAD_TOKENS,
            endpoint_hash: String::new(),
            takes_tools: false,
        }
    }

    /// Sets the hash of the address or command. Only a hash is stored, since addresses and
    /// arguments can hold secrets.
    pub(crate) fn with_endpoint(mut self, way: &impl fmt::Debug) -> ModelDescription {
        // The debug format quotes texts, so that one text cannot look like two.
        self.endpoint_hash = short_hash(format!("{way:?}"), 32);
        self
    }

    /// Returns the most tokens that a prompt can use: no token is shorter than a byte.
    pub fn max_usage(&self, prompt: &Prompt) -> Usage {
        let input = (prompt.bytes() as u64).saturating_add(self.overhead_tokens);
        Usage { input, output: self.max_output_for(prompt).into(), ..Usage::default() }
    }

    /// Returns the maximum number of tokens of an answer to a prompt.
    pub fn max_output_for(&self, prompt: &Prompt) -> u32 {
        prompt.max_output_tokens.min(self.max_output_tokens)
    }

    /// Returns the most that a prompt can cost, in millionths of a dollar; `None` if the price is
    /// unknown.
    pub fn max_micro_usd(&self, prompt: &Prompt) -> Option<u64> {
        self.price.map(|price| price.max_cost(self.max_usage(prompt)))
    }
}

/// A model that cannot be called: only its recorded replies are available.
#[derive(Debug)]
pub struct OfflineModel(pub ModelDescription);

impl Model for OfflineModel {
    fn about(&self) -> &ModelDescription {
        &self.0
    }

    fn ask(
        &self,
        _prompt: &Prompt,
        _nonce: &Nonce,
        _time: Duration,
        _heard: &dyn Fn(usize),
    ) -> Result<Reply, Failure> {
        let message = format!("`{}` exists only in the recording and cannot be called", self.0.id);
        Err(Failure::free(FailureClass::NotRecorded, message))
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
        known.map(|(_, family)| (*family).to_owned()).or_else(|| o_series_family(&name))
    };
    let model = id.model.rsplit('/').next().unwrap_or_default();
    let own = || if model.is_empty() { id.provider.clone() } else { model.to_lowercase() };
    by_name(model)
        .or_else(|| by_name(&id.model))
        .or_else(|| by_name(&id.provider))
        .unwrap_or_else(own)
}

/// Returns the family of names such as `o3` and `o4-mini`.
fn o_series_family(name: &str) -> Option<String> {
    let rest = name.strip_prefix('o')?;
    let digit = rest.starts_with(|first: char| first.is_ascii_digit());
    digit.then(|| "gpt".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_families_are_derived_from_names() {
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
            assert_eq!(
                ModelDescription::of(ModelId::new(provider, model)).family,
                expected,
                "{model}"
            );
        }
    }

    #[test]
    fn a_gateway_name_of_a_known_model_is_recognised() {
        let of = |model: &str| ModelDescription::of(ModelId::new("p", model)).price;
        assert!(of("claude-sonnet-4-5").is_some());
        assert_eq!(of("anthropic/claude-sonnet-4.5"), of("claude-sonnet-4-5"));
        assert!(of("openai/gpt-4.1").is_some());
    }

    #[test]
    fn the_maximum_usage_and_cost_of_a_prompt_are_computed() {
        let prompt = Prompt {
            system: "x".repeat(1_000),
            blocks: Vec::new(),
            schema: None,
            max_output_tokens: 100_000,
            thinking_tokens: 0,
            tools: Vec::new(),
            turns: Vec::new(),
        };
        let about = ModelDescription::of(ModelId::new("anthropic", "claude-sonnet-4-5"));
        let most = Usage { input: 3_000, output: 64_000, ..Usage::default() };
        assert_eq!(about.max_usage(&prompt), most);
        assert_eq!(about.max_micro_usd(&prompt), Some(3_000 * 15 / 4 + 64_000 * 15));
    }
}
