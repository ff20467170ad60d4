//! The `linear` section of the configuration, and the variables for Linear: `LinearConfig`.

use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use assay_sandbox::KeySource;
use assay_services::http::ServerUrl;
use assay_services::linear::{API_URL, Linear};
use schemars::JsonSchema;
use serde::Deserialize;

use super::service::{ServiceConnection, check_private, open_connection};
use super::{key, value_schemas};
use crate::environment::Environment;

/// The default variable of the API key.
const KEY: &str = "LINEAR_API_KEY";

/// The variable with the team.
const TEAM: &str = "LINEAR_TEAM_ID";

/// The `linear` section as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinearConfig {
    /// The environment that the configuration was read in.
    #[serde(skip)]
    environment: Environment,
    /// The address of the API, `https` unless on this machine.
    ///
    /// Default: the public API of Linear.
    url: Option<String>,
    /// The id or the key of the team of new issues.
    ///
    /// Default: the value of `LINEAR_TEAM_ID`.
    team: Option<String>,
    /// The environment variable with the API key. Not together with `key_command`.
    ///
    /// Default: `LINEAR_API_KEY`.
    key_env: Option<String>,
    /// The program that prints the API key, with its arguments.
    #[schemars(schema_with = "value_schemas::command")]
    key_command: Option<Vec<String>>,
    /// Only present to be rejected: a key must not be in a file.
    #[schemars(skip)]
    key: Option<serde::de::IgnoredAny>,
    /// The workflow states of an issue.
    pub states: LinearStates,
}

/// The workflow states of an issue, by name. An issue is not moved at an event whose state is
/// `None`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinearStates {
    /// The state of an issue whose loop has started. With null, the issue is not moved.
    pub started: Option<String>,
    /// The state of an issue whose implementation is approved. With null, the issue is not moved.
    pub approved: Option<String>,
    /// The state of an issue that a person has to decide. With null, the issue is not moved.
    pub handed_over: Option<String>,
}

impl Default for LinearStates {
    fn default() -> LinearStates {
        LinearStates {
            started: Some("In Review".to_owned()),
            approved: Some("Done".to_owned()),
            handed_over: Some("In Progress".to_owned()),
        }
    }
}

impl LinearConfig {
    /// Sets the environment that the configuration was read in.
    pub(super) fn in_environment(&mut self, environment: &Environment) {
        self.environment = environment.clone();
    }

    /// Fails if a value of the section cannot be used.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        if self.key.is_some() {
            bail!(
                "`linear.key` in the configuration would store a secret in a file; use `key_env` or \
                 `key_command`"
            );
        }
        check_private(&self.address()?, "linear.url")?;
        self.key()?;
        Ok(())
    }

    fn address(&self) -> anyhow::Result<ServerUrl> {
        let url = self.url.as_deref().unwrap_or(API_URL);
        let url = url.trim_end_matches('/').trim_end_matches("/graphql");
        url.parse().map_err(|why| anyhow!("invalid `linear.url` in the configuration: {why}"))
    }

    /// Returns the source of the API key.
    pub(crate) fn key(&self) -> anyhow::Result<KeySource> {
        let (env, command) = (self.key_env.as_deref(), self.key_command.as_deref());
        let source = key::key_source(
            &self.environment,
            ("key_env", env),
            ("key_command", command),
            Some(KEY),
        );
        source.context("invalid section `linear` in the configuration")
    }

    /// Returns true if a key or a team is configured.
    pub(crate) fn is_configured(&self) -> bool {
        let has_key = match self.key() {
            Ok(KeySource::Variable { value, .. }) => value.is_some(),
            Ok(KeySource::Command(_)) => true,
            Ok(KeySource::None) | Err(_) => false,
        };
        has_key || self.team.is_some()
    }

    /// Returns the team of new issues. Fails if none is configured.
    pub(crate) fn team(&self) -> anyhow::Result<String> {
        self.team.clone().or_else(|| self.environment.variable(TEAM)).ok_or_else(|| {
            anyhow!("missing Linear team: set the variable `{TEAM}`, or `linear.team` in the configuration")
        })
    }

    /// Opens a client; `None` if Linear is not configured. A call waits at most `wait` at a time
    /// for a rate limit, and `on_wait` is called with the reason.
    pub(crate) fn open(
        &self,
        wait: Duration,
        on_wait: impl Fn(&str) + Send + Sync + 'static,
    ) -> anyhow::Result<Option<Linear>> {
        if !self.is_configured() {
            return Ok(None);
        }
        let ServiceConnection { transport, keys, clock } =
            open_connection(self.environment.clock(), self.address()?, self.key()?, wait, on_wait);
        Ok(Some(Linear::new(transport, keys, &self.team()?, clock)))
    }
}
