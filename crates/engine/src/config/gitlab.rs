//! The `gitlab` section of the configuration: `GitlabConfig` opens the client of GitLab.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use assay_findings::post::ReadyAction;
use assay_sandbox::{KeySource, Keys};
use assay_services::gitlab::{GitLab, PUBLIC_URL, WRITE_LIMITS};
use assay_services::http::{RateLimiter, ServerUrl, SystemClock};
use schemars::JsonSchema;
use serde::Deserialize;

use super::service::check_private;
use super::{key, value_schemas};
use crate::environment::Environment;

/// The variable with the address of the API, as jobs of GitLab have it.
const URL: &str = "CI_API_V4_URL";

/// The default variable of the token.
const TOKEN: &str = "GITLAB_TOKEN";

/// The `gitlab` section as written.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GitlabConfig {
    /// The environment that the configuration was read in.
    #[serde(skip)]
    environment: Environment,
    /// The address of the API, `https` unless on this machine; `https://HOST/api/v4` for a
    /// self-managed GitLab. With a `url`, the default token is not sent.
    ///
    /// Default: `CI_API_V4_URL`, or `https://gitlab.com/api/v4`.
    url: Option<String>,
    /// The environment variable with the token. Not together with `token_command`.
    ///
    /// Default: `GITLAB_TOKEN`, without a `url`.
    token_env: Option<String>,
    /// The program that prints the token, with its arguments.
    #[schemars(schema_with = "value_schemas::command")]
    token_command: Option<Vec<String>>,
    /// The review that is posted on a merge request whose change is ready: a comment, or an approval
    /// if all other conditions hold.
    pub when_ready: ReadyAction,
}

impl GitlabConfig {
    /// Sets the environment that the configuration was read in.
    pub(super) fn in_environment(&mut self, environment: &Environment) {
        self.environment = environment.clone();
    }

    /// Fails if a value of the section cannot be used.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        check_private(&self.url()?, "gitlab.url")?;
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
        url.parse().map_err(|why| anyhow!("invalid `gitlab.url` in the configuration: {why}"))
    }

    /// Returns the source of the token. A configured address needs a configured token, so that the
    /// default token is not sent to another server.
    pub(crate) fn key(&self) -> anyhow::Result<KeySource> {
        let usual = self.url.is_none().then_some(TOKEN);
        let (env, command) = (self.token_env.as_deref(), self.token_command.as_deref());
        key::key_source(&self.environment, ("token_env", env), ("token_command", command), usual)
            .context("invalid section `gitlab` in the configuration")
    }

    /// Returns true if a token is configured. No key command is run.
    pub(crate) fn has_key(&self) -> bool {
        match self.key() {
            Ok(KeySource::Variable { value, .. }) => value.is_some(),
            Ok(KeySource::Command(_)) => true,
            Ok(KeySource::None) | Err(_) => false,
        }
    }

    /// Returns true if the section sets an address or a token.
    pub fn is_configured(&self) -> bool {
        self.url.is_some() || self.token_env.is_some() || self.token_command.is_some()
    }

    /// Opens a client; `None` if there is no token. A call waits at most `wait` at a time for a
    /// rate limit, and `on_wait` is called with the reason.
    pub fn open(
        &self,
        wait: Duration,
        on_wait: impl Fn(&str) + Send + Sync + 'static,
    ) -> anyhow::Result<Option<GitLab>> {
        if !self.has_key() {
            return Ok(None);
        }
        // GitLab limits writes per user, not per project.
        let Some(folder) = self.environment.state_folder() else {
            bail!("cannot store the GitLab write-rate counter: set `HOME` or `XDG_STATE_HOME`");
        };
        let limiter = RateLimiter::in_dir(folder.join("gitlab"), WRITE_LIMITS);
        let clock = Arc::new(SystemClock::new(self.environment.clock(), wait, on_wait));
        Ok(Some(GitLab::new(&self.url()?, Keys::new(self.key()?), limiter, clock)))
    }
}
