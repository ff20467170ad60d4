//! The configuration of one model: [`ModelConfig`].

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use assay_models::{
    Agent, AgentKind, AgentModel, AgentOutputFormat, Custom, Dialect, HttpModel, Model,
    ModelDescription, ModelId, Price, Provider,
};
use assay_sandbox::{Key, KeySource};
use assay_services::http::ServerUrl;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{key, value_schemas};
use crate::environment::Environment;

/// Micro-dollars per dollar.
pub(super) const MICRO_PER_UNIT: f64 = 1_000_000.0;

/// A model as configured.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend(
    "required" = ["api"],
    "allOf" = [
        {
            "if": { "properties": {
                "api": { "enum": ["anthropic", "openai-chat", "openai-responses"] },
            } },
            "then": { "required": ["model"] },
        },
        {
            "if": { "properties": { "api": { "const": "command" } } },
            "then": { "required": ["run"] },
        },
    ],
))]
pub(super) struct ModelConfig {
    /// The API or the program by which the model is called.
    #[schemars(with = "Api")]
    api: Option<Api>,
    /// The name of the model at its provider. Required for an API over HTTP.
    ///
    /// Default: that of the program.
    #[serde(skip_serializing_if = "String::is_empty")]
    model: String,
    /// The address of the API. With a `url`, the default key is not sent.
    ///
    /// Default: `ANTHROPIC_BASE_URL` or `OPENAI_BASE_URL`, or the provider's address.
    url: Option<String>,
    /// The environment variable with the API key. Not together with `key_command`.
    ///
    /// Default: `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`, without a `url`.
    key_env: Option<String>,
    /// The program that prints the API key, with its arguments. Its timeout is 60 seconds.
    #[schemars(schema_with = "value_schemas::command")]
    key_command: Option<Vec<String>>,
    /// Only present to be rejected: a key must not be in a file.
    #[schemars(skip)]
    key: Option<serde::de::IgnoredAny>,
    /// The number of tokens that the model takes.
    ///
    /// Default: known for well-known models.
    context_tokens: Option<NonZeroU64>,
    /// The maximum length of an answer, in tokens.
    ///
    /// Default: known for well-known models.
    max_output_tokens: Option<NonZeroU32>,
    /// Prices in dollars for a million tokens. Needed for a budget in dollars if the price is not
    /// known.
    ///
    /// Default: known for well-known models.
    usd_per_million: Option<PriceConfig>,
    /// The program of an agent, and further arguments. Required for `command`.
    ///
    /// Default: `claude` or `codex`.
    #[schemars(schema_with = "value_schemas::command")]
    run: Option<Vec<String>>,
    /// Further environment variables of an agent program.
    #[schemars(schema_with = "value_schemas::variables")]
    env: BTreeMap<String, String>,
    /// Seconds without output after which a call fails.
    ///
    /// Default: `models.stall_seconds`.
    stall_seconds: Option<NonZeroU64>,
    /// The position of the answer in the output, for `command`: `text`, or a JSON pointer as in
    /// `json:/result` or `jsonl:/result`.
    ///
    /// Default: `text`.
    #[schemars(regex(pattern = "^(text|jsonl?:.*)$"))]
    answer: Option<String>,
    /// The JSON pointer of the error in the output, for `command`.
    failed: Option<String>,
}

/// The API or the program by which a model is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Api {
    /// The Messages API of Anthropic.
    Anthropic,
    /// The Chat Completions API of OpenAI, which other servers have as well.
    OpenaiChat,
    /// The Responses API of OpenAI.
    OpenaiResponses,
    /// The program `claude`.
    Claude,
    /// The program `codex`.
    Codex,
    /// Any program that takes a prompt.
    Command,
}

impl Api {
    /// Returns the API of a model that is named as its provider names it; `None` for other names.
    pub(super) fn of_model(name: &str) -> Option<Api> {
        let is_openai = name.starts_with("gpt-")
            || name
                .strip_prefix('o')
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        match name {
            name if name.starts_with("claude-") => Some(Api::Anthropic),
            _ if is_openai => Some(Api::OpenaiResponses),
            _ => None,
        }
    }
}

/// Prices in dollars for a million tokens.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PriceConfig {
    /// The price of a million input tokens, in dollars.
    #[schemars(range(min = 0))]
    input: f64,
    /// The price of a million output tokens, in dollars.
    #[schemars(range(min = 0))]
    output: f64,
    /// The price of a million tokens that are read from a cache, in dollars.
    ///
    /// Default: as `input`.
    #[schemars(range(min = 0))]
    cache_read: Option<f64>,
    /// The price of a million tokens that are written to a cache, in dollars.
    ///
    /// Default: as `input`.
    #[schemars(range(min = 0))]
    cache_write: Option<f64>,
}

impl PriceConfig {
    fn is_valid(self) -> bool {
        let prices = [Some(self.input), Some(self.output), self.cache_read, self.cache_write];
        prices.into_iter().flatten().all(|usd| usd.is_finite() && usd >= 0.0)
    }

    fn price(self) -> Price {
        let micro = |usd: f64| (usd * MICRO_PER_UNIT).max(0.0).round() as u64;
        Price {
            input: micro(self.input),
            output: micro(self.output),
            cache_read: micro(self.cache_read.unwrap_or(self.input)),
            cache_write: micro(self.cache_write.unwrap_or(self.input)),
        }
    }
}

impl ModelConfig {
    /// Returns the configuration of a model of a well-known provider.
    pub(super) fn of(api: Api, model: &str) -> ModelConfig {
        ModelConfig { api: Some(api), model: model.to_owned(), ..ModelConfig::default() }
    }

    /// Fails if a value cannot be used. No model is called.
    pub(super) fn check(&self) -> anyhow::Result<Api> {
        if self.key.is_some() {
            bail!("`key` would store a secret in a file; use `key_env` or `key_command`");
        }
        let Some(api) = self.api else {
            bail!(
                "missing `api`: expected anthropic, openai-chat, openai-responses, claude, codex \
                 or command"
            );
        };
        let is_http = matches!(api, Api::Anthropic | Api::OpenaiChat | Api::OpenaiResponses);
        if is_http && self.model.is_empty() {
            bail!("missing `model`, the name of the model");
        }
        if self.usd_per_million.is_some_and(|price| !price.is_valid()) {
            bail!("invalid price in `usd_per_million`: expected an amount in dollars");
        }
        if api == Api::Command && self.run.as_ref().is_none_or(Vec::is_empty) {
            bail!("missing `run`, its command line");
        }
        if api == Api::Command {
            self.custom()?;
        }
        Ok(api)
    }

    /// Creates the model.
    pub(super) fn model(
        &self,
        environment: &Environment,
        name: &str,
        stall: Duration,
    ) -> anyhow::Result<Arc<dyn Model>> {
        let stall = self.stall_seconds.map_or(stall, |seconds| Duration::from_secs(seconds.get()));
        Ok(match self.check()? {
            Api::Anthropic => self.over_http(environment, name, Dialect::Anthropic, stall)?,
            Api::OpenaiChat => self.over_http(environment, name, Dialect::Chat, stall)?,
            Api::OpenaiResponses => self.over_http(environment, name, Dialect::Responses, stall)?,
            Api::Claude => self.agent(environment, "claude", AgentKind::Claude, stall),
            Api::Codex => self.agent(environment, "codex", AgentKind::Codex, stall),
            Api::Command => self.agent(environment, name, AgentKind::Custom(self.custom()?), stall),
        })
    }

    fn description(&self, known: ModelDescription) -> ModelDescription {
        ModelDescription {
            context_tokens: self.context_tokens.map_or(known.context_tokens, NonZeroU64::get),
            max_output_tokens: self
                .max_output_tokens
                .map_or(known.max_output_tokens, NonZeroU32::get),
            price: self.usd_per_million.map(PriceConfig::price).or(known.price),
            ..known
        }
    }

    /// Creates a model that runs an agent's command line.
    fn agent(
        &self,
        environment: &Environment,
        name: &str,
        kind: AgentKind,
        stall: Duration,
    ) -> Arc<dyn Model> {
        let mut run = self.run.clone().unwrap_or_default().into_iter();
        let (program, args) = match kind {
            AgentKind::Claude | AgentKind::Codex => (run.next(), run.collect()),
            // The configuration has the complete command line of a custom agent.
            AgentKind::Custom(_) => (None, Vec::new()),
        };
        let named = self.env.iter().map(|(name, value)| (name.clone(), Key::new(value)));
        let own = kind.variables().iter().filter(|name| !self.env.contains_key(**name));
        let own = own
            .filter_map(|name| Some(((*name).to_owned(), Key::new(&environment.variable(name)?))));
        let variables = named.chain(own).collect();
        let about = self.description(kind.describe(ModelId::new(name, &self.model)));
        let agent = Agent { kind, program, args, variables };
        Arc::new(AgentModel::new(agent, about).with_stall_timeout(stall))
    }

    /// Returns the command line of a custom agent, and the position of its answer.
    fn custom(&self) -> anyhow::Result<Custom> {
        let form = match self.answer.as_deref().unwrap_or("text").split_once(':') {
            None if self.answer.as_deref().is_none_or(|answer| answer == "text") => {
                AgentOutputFormat::Text
            }
            Some(("json", pointer)) => AgentOutputFormat::Json(pointer.to_owned()),
            Some(("jsonl", pointer)) => AgentOutputFormat::JsonLines(pointer.to_owned()),
            _ => bail!("invalid `answer`: expected `text`, `json:/pointer` or `jsonl:/pointer`"),
        };
        let command = self.run.clone().unwrap_or_default();
        Ok(Custom { command, form, failed: self.failed.clone() })
    }

    fn over_http(
        &self,
        environment: &Environment,
        name: &str,
        dialect: Dialect,
        stall: Duration,
    ) -> anyhow::Result<Arc<dyn Model>> {
        let is_anthropic = dialect == Dialect::Anthropic;
        let (maker, address, key, usual) = match is_anthropic {
            true => (
                "anthropic", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "https://api.anthropic.com",
            ),
            false => ("openai", "OPENAI_BASE_URL", "OPENAI_API_KEY", "https://api.openai.com/v1"),
        };
        // A configured address needs a configured key, so that the default key is not sent to
        // another server.
        let (env, command) = (self.key_env.as_deref(), self.key_command.as_deref());
        let variable_by_habit = self.url.is_none().then_some(key);
        let key = key::key_source(
            environment,
            ("key_env", env),
            ("key_command", command),
            variable_by_habit,
        )?;
        let from_environment = || environment.variable(address).filter(|url| !url.is_empty());
        let url = self.url.clone().or_else(from_environment).unwrap_or_else(|| usual.to_owned());
        let has_key = match &key {
            KeySource::Variable { value, .. } => value.is_some(),
            KeySource::Command(_) => true,
            KeySource::None => false,
        };
        if has_key
            && let Ok(url) = url.parse::<ServerUrl>()
            && !url.is_secure()
        {
            let named = match self.url {
                Some(_) => format!("`models.use.{name}.url` in the configuration"),
                None => format!("the variable `{address}`"),
            };
            bail!("{named} would send a key unencrypted to `{url}`: use `https://…`");
        }
        let maker = if self.url.is_some() { name } else { maker };
        let provider = Provider::new(maker, dialect, url.trim_end_matches('/'), key)?;
        let about = self.description(ModelDescription::of(ModelId::new(maker, &self.model)));
        Ok(Arc::new(HttpModel::new(Arc::new(provider), about).with_stall_timeout(stall)))
    }
}

#[cfg(test)]
mod tests {
    use assay_base::clock::Clock;

    use super::*;

    /// Returns the error for a model at an address, with a key in the variable `KEY`.
    fn error(url: Option<&str>, key_env: Option<&str>, variables: &[(&str, &str)]) -> String {
        let variables =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let environment = Environment::new(variables, &Clock::system(), Vec::new);
        let model = ModelConfig {
            url: url.map(str::to_owned),
            key_env: key_env.map(str::to_owned),
            ..ModelConfig::of(Api::Anthropic, "claude-x")
        };
        let made = model.over_http(&environment, "own", Dialect::Anthropic, Duration::from_secs(1));
        made.err().map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn a_key_for_an_unencrypted_remote_url_is_refused() {
        let key = [("KEY", "k")];
        let clear = error(Some("http://models.example/v1"), Some("KEY"), &key);
        assert!(clear.contains("`models.use.own.url`") && clear.contains("https://"), "{clear}");
        let base = [("ANTHROPIC_BASE_URL", "http://proxy.example"), ("ANTHROPIC_API_KEY", "k")];
        let clear = error(None, None, &base);
        assert!(clear.contains("`ANTHROPIC_BASE_URL`"), "{clear}");
        for url in ["https://models.example/v1", "http://localhost:8080", "http://127.0.0.1:1/v1"] {
            assert_eq!(error(Some(url), Some("KEY"), &key), "", "{url}");
        }
        // A server without a key may be anywhere in the network.
        assert_eq!(error(Some("http://models.example/v1"), None, &[]), "");
    }
}
