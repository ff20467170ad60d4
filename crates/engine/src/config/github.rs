//! The `github` section of the configuration: `GithubConfig` opens the client of GitHub.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use assay_findings::post::ReadyAction;
use assay_sandbox::{KeySource, Keys};
use assay_services::github::{GitHub, PUBLIC_URL, WRITE_LIMITS};
use assay_services::http::{RateLimiter, ServerUrl, ServiceClock, SystemClock};
use assay_store::pulls::RepositoryName;
use schemars::JsonSchema;
use serde::Deserialize;

use super::service::{SHORT_WAIT, WebhookSecret, check_private};
use super::{key, value_schemas};
use crate::environment::Environment;

/// The variable with the address of the API, as GitHub's own workflows set it.
const URL: &str = "GITHUB_API_URL";

/// The default variable of the token.
const TOKEN: &str = "GITHUB_TOKEN";

/// The default variable of the webhook secret.
const WEBHOOK_SECRET: &str = "GITHUB_WEBHOOK_SECRET";

/// The `github` section as written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GithubConfig {
    /// The environment that the configuration was read in.
    #[serde(skip)]
    environment: Environment,
    /// The address of the API, `https` unless on this machine; `https://HOST/api/v3` for GitHub
    /// Enterprise Server. With a `url`, the default token is not sent.
    ///
    /// Default: `GITHUB_API_URL`, or `https://api.github.com`.
    url: Option<String>,
    /// The environment variable with the token. Not together with `token_command`.
    ///
    /// Default: `GITHUB_TOKEN`, without a `url`.
    token_env: Option<String>,
    /// The program that prints the token, with its arguments.
    #[schemars(schema_with = "value_schemas::command")]
    token_command: Option<Vec<String>>,
    /// The repositories that agents and triggers work on, as `owner/name`. Without any, all can be
    /// read and none is pushed to.
    pub repositories: Vec<RepositoryName>,
    /// The review that is posted on a pull request whose change is ready: a comment, or an approval
    /// if all other conditions hold.
    pub when_ready: ReadyAction,
    /// The labels of pull requests that are reviewed automatically; a pull request needs one of
    /// them. Without any, all pull requests are reviewed.
    pub labels: Vec<String>,
    /// The environment variable with the secret that webhook deliveries are signed with.
    webhook_secret_env: String,
}

impl Default for GithubConfig {
    fn default() -> GithubConfig {
        GithubConfig {
            environment: Environment::default(),
            url: None,
            token_env: None,
            token_command: None,
            repositories: Vec::new(),
            when_ready: ReadyAction::default(),
            labels: Vec::new(),
            webhook_secret_env: WEBHOOK_SECRET.to_owned(),
        }
    }
}

impl GithubConfig {
    /// Sets the environment that the configuration was read in.
    pub(super) fn in_environment(&mut self, environment: &Environment) {
        self.environment = environment.clone();
    }

    /// Fails if a value of the section cannot be used.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        check_private(&self.url()?, "github.url")?;
        self.key()?;
        Ok(())
    }

    /// Returns the address of the API.
    pub(crate) fn url(&self) -> anyhow::Result<ServerUrl> {
        let url = self
            .url
            .clone()
            .or_else(|| self.environment.variable(URL))
            .unwrap_or_else(|| PUBLIC_URL.to_owned());
        url.parse().map_err(|why| anyhow!("invalid `github.url` in the configuration: {why}"))
    }

    /// Returns the source of the token. A configured address needs a configured token, so that the
    /// default token is not sent to another server.
    pub(crate) fn key(&self) -> anyhow::Result<KeySource> {
        let usual = self.url.is_none().then_some(TOKEN);
        let (env, command) = (self.token_env.as_deref(), self.token_command.as_deref());
        key::key_source(&self.environment, ("token_env", env), ("token_command", command), usual)
            .context("invalid section `github` in the configuration")
    }

    /// Opens a client; `None` if there is no token. A call waits at most `wait` at a time for a
    /// rate limit, and `on_wait` is called with the reason.
    pub fn open(
        &self,
        wait: Duration,
        on_wait: impl Fn(&str) + Send + Sync + 'static,
    ) -> anyhow::Result<Option<GitHub>> {
        match self.has_key() {
            true => self.required(wait, on_wait).map(Some),
            false => Ok(None),
        }
    }

    /// Opens a client as [`GithubConfig::open`] does, for a caller that needs GitHub. Fails if
    /// there is no token.
    pub fn required(
        &self,
        wait: Duration,
        on_wait: impl Fn(&str) + Send + Sync + 'static,
    ) -> anyhow::Result<GitHub> {
        self.client(
            self.keys()?,
            Arc::new(SystemClock::new(self.environment.clock(), wait, on_wait)),
        )
    }

    /// Opens a client that waits by a clock. Fails if the token is missing.
    pub fn with_token(&self, clock: Arc<dyn ServiceClock>) -> anyhow::Result<GitHub> {
        let keys = self.keys()?;
        keys.get(SHORT_WAIT).context("cannot use GitHub")?;
        self.client(keys, clock)
    }

    fn keys(&self) -> anyhow::Result<Keys> {
        match self.key()? {
            KeySource::None => bail!(
                "missing token for `{}`: set `github.token_env` or `github.token_command` in \
                 the configuration",
                self.url()?
            ),
            key @ (KeySource::Variable { .. } | KeySource::Command(_)) => Ok(Keys::new(key)),
        }
    }

    fn client(&self, keys: Keys, clock: Arc<dyn ServiceClock>) -> anyhow::Result<GitHub> {
        let url = self.url()?;
        // GitHub limits writes per user, not per repository.
        let Some(folder) = self.environment.state_folder() else {
            bail!("cannot store the GitHub write-rate counter: set `HOME` or `XDG_STATE_HOME`");
        };
        Ok(GitHub::new(&url, keys, RateLimiter::in_dir(folder.join("github"), WRITE_LIMITS), clock))
    }

    /// Returns the webhook secret; `None` if its variable is not set.
    pub fn webhook_secret(&self) -> Option<WebhookSecret> {
        WebhookSecret::in_variable(&self.environment, &self.webhook_secret_env)
    }

    /// Returns true if a token is configured. No key command is run.
    pub(crate) fn has_key(&self) -> bool {
        match self.key() {
            Ok(KeySource::Variable { value, .. }) => value.is_some(),
            Ok(KeySource::Command(_)) => true,
            Ok(KeySource::None) | Err(_) => false,
        }
    }

    /// Returns true if the section sets an address, repositories or a token.
    pub fn is_configured(&self) -> bool {
        let is_named = self.url.is_some() || !self.repositories.is_empty();
        is_named || self.token_env.is_some() || self.token_command.is_some()
    }
}
