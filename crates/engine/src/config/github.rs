//! What is configured for GitHub: `github` in the configuration.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use assay_findings::post::WhenReady;
use assay_sandbox::{KeySource, Keys};
use assay_services::github::{GitHub, PUBLIC, Pace};
use assay_services::http::{Patience, ServerUrl, ServiceClock};
use assay_store::pulls::RepositoryName;
use serde::Deserialize;

use super::service::{A_MOMENT, WebhookSecret, check_private};
use super::{PATH, key};
use crate::environment::Environment;

/// Where GitHub's own workflows say that it is.
const URL: &str = "GITHUB_API_URL";

/// Where a token is by habit.
const TOKEN: &str = "GITHUB_TOKEN";

/// Where the secret of its webhooks is by habit.
const WEBHOOK_SECRET: &str = "GITHUB_WEBHOOK_SECRET";

/// What is configured for GitHub, as it is written.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoredGithub {
    /// The environment that the configuration was read in.
    #[serde(skip)]
    environment: Environment,
    /// Where it is; for a company's own, `https://HOST/api/v3`.
    url: Option<String>,
    token_env: Option<String>,
    token_command: Option<Vec<String>>,
    /// The repositories that are worked on.
    pub repositories: Vec<RepositoryName>,
    /// What a pull request gets whose change is ready, where all else allows it.
    pub when_ready: WhenReady,
    /// Only pull requests with one of these labels are reviewed by themselves.
    pub labels: Vec<String>,
    /// The variable with the secret that deliveries of webhooks are signed with.
    webhook_secret_env: Option<String>,
}

impl StoredGithub {
    /// Sets the environment that the configuration was read in.
    pub(super) fn in_environment(&mut self, environment: &Environment) {
        self.environment = environment.clone();
    }

    /// Refuses what cannot be used.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        check_private(&self.url()?, "github.url")?;
        self.key()?;
        Ok(())
    }

    /// Gives where it is.
    pub(crate) fn url(&self) -> anyhow::Result<ServerUrl> {
        let url = self
            .url
            .clone()
            .or_else(|| self.environment.variable(URL))
            .unwrap_or_else(|| PUBLIC.to_owned());
        url.parse().map_err(|why| anyhow!("`github.url` in `{PATH}`: {why}"))
    }

    /// Gives where its token is from. Whoever names an address of their own names the token for it
    /// too: no token goes astray.
    pub(crate) fn key(&self) -> anyhow::Result<KeySource> {
        let usual = self.url.is_none().then_some(TOKEN);
        let (env, command) = (self.token_env.as_deref(), self.token_command.as_deref());
        key::source(&self.environment, ("token_env", env), ("token_command", command), usual)
            .with_context(|| format!("`github` in `{PATH}` cannot be used"))
    }

    /// Prepares to ask it, if there is a token. Somebody waits so long at a time, and is told why.
    pub fn open(
        &self,
        wait: Duration,
        told: impl Fn(&str) + Send + Sync + 'static,
    ) -> anyhow::Result<Option<GitHub>> {
        match self.has_key() {
            true => self.required(wait, told).map(Some),
            false => Ok(None),
        }
    }

    /// Prepares to ask it as [`StoredGithub::open`] does; whoever calls cannot do without it, and is
    /// told of a token that is missing.
    pub fn required(
        &self,
        wait: Duration,
        told: impl Fn(&str) + Send + Sync + 'static,
    ) -> anyhow::Result<GitHub> {
        self.client(self.keys()?, Arc::new(Patience::new(self.environment.clock(), wait, told)))
    }

    /// Prepares to ask it by a clock, once its token is there.
    pub fn with_token(&self, clock: Arc<dyn ServiceClock>) -> anyhow::Result<GitHub> {
        let keys = self.keys()?;
        keys.get(A_MOMENT).context("GitHub cannot be used")?;
        self.client(keys, clock)
    }

    fn keys(&self) -> anyhow::Result<Keys> {
        match self.key()? {
            KeySource::None => bail!(
                "there is no token for `{}`: name it by `github.token_env` or \
                 `github.token_command` in `{PATH}`",
                self.url()?
            ),
            key @ (KeySource::Variable { .. } | KeySource::Command(_)) => Ok(Keys::new(key)),
        }
    }

    fn client(&self, keys: Keys, clock: Arc<dyn ServiceClock>) -> anyhow::Result<GitHub> {
        let url = self.url()?;
        // GitHub counts what is written for a person, not for a repository.
        let Some(folder) = self.environment.state_folder() else {
            bail!("nobody can keep count of what is written: set `HOME` or `XDG_STATE_HOME`");
        };
        Ok(GitHub::new(&url, keys, Pace::kept_in(folder.join("github")), clock))
    }

    /// Returns the secret of its webhooks, if the variable is set.
    pub fn webhook_secret(&self) -> Option<WebhookSecret> {
        let name = self.webhook_secret_env.as_deref().unwrap_or(WEBHOOK_SECRET);
        WebhookSecret::in_variable(&self.environment, name)
    }

    /// Says whether there is a token, as far as that can be told without asking for it.
    pub(crate) fn has_key(&self) -> bool {
        match self.key() {
            Ok(KeySource::Variable { value, .. }) => value.is_some(),
            Ok(KeySource::Command(_)) => true,
            Ok(KeySource::None) | Err(_) => false,
        }
    }

    /// Says whether anything is said about it.
    pub fn is_configured(&self) -> bool {
        let is_named = self.url.is_some() || !self.repositories.is_empty();
        is_named || self.token_env.is_some() || self.token_command.is_some()
    }
}
