//! The `jira` section of the configuration: `JiraConfig` opens the client of JIRA.

use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use assay_agents::config::roster::{AgentConfig, TransitionTrigger};
use assay_sandbox::KeySource;
use assay_services::http::ServerUrl;
use assay_services::jira::{Flavour, Jira};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::service::{ServiceConnection, WebhookSecret, check_private, open_connection};
use super::{key, value_schemas};
use crate::environment::Environment;

/// The default variable of the API token.
const TOKEN: &str = "JIRA_API_TOKEN";

/// The default variable of the user.
const USER: &str = "JIRA_USER";

/// The default variable of the webhook token.
const WEBHOOK_TOKEN: &str = "JIRA_WEBHOOK_TOKEN";

/// The `jira` section as written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JiraConfig {
    /// The environment that the configuration was read in.
    #[serde(skip)]
    environment: Environment,
    /// The address of the server, `https` unless on this machine.
    ///
    /// Default: JIRA is not used.
    url: Option<String>,
    /// The kind of server.
    flavour: FlavourConfig,
    /// The user that the API token belongs to, for the cloud.
    ///
    /// Default: the value of the variable that `user_env` names.
    user: Option<String>,
    /// The environment variable with the user that the API token belongs to.
    user_env: String,
    /// The environment variable with the API token. Not together with `token_command`.
    ///
    /// Default: `JIRA_API_TOKEN`.
    token_env: Option<String>,
    /// The program that prints the API token, with its arguments.
    #[schemars(schema_with = "value_schemas::command")]
    token_command: Option<Vec<String>>,
    /// Only present to be rejected: a key must not be in a file.
    #[schemars(skip)]
    token: Option<serde::de::IgnoredAny>,
    /// The key of the project of new tickets.
    pub project: Option<String>,
    /// The statuses of tickets, as the workflow of the project names them.
    statuses: JiraStatuses,
    /// The environment variable with the token that webhook deliveries carry or are signed with.
    webhook_token_env: String,
}

impl Default for JiraConfig {
    fn default() -> JiraConfig {
        JiraConfig {
            environment: Environment::default(),
            url: None,
            flavour: FlavourConfig::default(),
            user: None,
            user_env: USER.to_owned(),
            token_env: None,
            token_command: None,
            token: None,
            project: None,
            statuses: JiraStatuses::default(),
            webhook_token_env: WEBHOOK_TOKEN.to_owned(),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FlavourConfig {
    /// The cloud of Atlassian.
    #[default]
    Cloud,
    /// A server or data centre.
    Server,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct JiraStatuses {
    /// The status of a ticket in review.
    code_review: String,
    /// The status after an approval.
    approved: String,
    /// The status after a rejection.
    changes_requested: String,
}

impl Default for JiraStatuses {
    fn default() -> JiraStatuses {
        JiraStatuses {
            code_review: "Code Review".to_owned(),
            approved: "Approved".to_owned(),
            changes_requested: "Changes Requested".to_owned(),
        }
    }
}

/// The names of a workflow's steps, for the steps that the configuration can name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepNames {
    /// The step of a ticket whose change is ready for review.
    pub code_review: String,
    /// The step of a ticket whose change is approved.
    pub approved: String,
    /// The step of a ticket whose change needs work.
    pub changes_requested: String,
}

impl StepNames {
    /// Returns the name of a step in the workflow. A name that is not a key of the configuration is
    /// returned as it is.
    pub fn resolve<'a>(&'a self, asked: &'a str) -> &'a str {
        match asked.trim() {
            "code_review" => &self.code_review,
            "approved" => &self.approved,
            "changes_requested" => &self.changes_requested,
            name => name,
        }
    }
}

impl JiraConfig {
    /// Sets the environment that the configuration was read in.
    pub(super) fn in_environment(&mut self, environment: &Environment) {
        self.environment = environment.clone();
    }

    /// Fails if a value of the section cannot be used.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        if self.token.is_some() {
            bail!(
                "`jira.token` in the configuration would store a secret in a file; use `token_env` or \
                 `token_command`"
            );
        }
        if let Some(url) = self.address()? {
            check_private(&url, "jira.url")?;
        }
        self.key()?;
        Ok(())
    }

    /// Returns true if an address is configured.
    pub(crate) fn is_configured(&self) -> bool {
        self.url.is_some()
    }

    fn address(&self) -> anyhow::Result<Option<ServerUrl>> {
        let url = self.url.as_deref().map(str::parse::<ServerUrl>).transpose();
        url.map_err(|why| anyhow!("invalid `jira.url` in the configuration: {why}"))
    }

    /// Returns the source of the API token.
    pub(crate) fn key(&self) -> anyhow::Result<KeySource> {
        let (env, command) = (self.token_env.as_deref(), self.token_command.as_deref());
        let source = key::key_source(
            &self.environment,
            ("token_env", env),
            ("token_command", command),
            Some(TOKEN),
        );
        source.context("invalid section `jira` in the configuration")
    }

    /// Returns the kind of JIRA server: cloud, with the user, or self-hosted.
    pub(crate) fn flavour(&self) -> anyhow::Result<Flavour> {
        match self.flavour {
            FlavourConfig::Server => Ok(Flavour::Server),
            FlavourConfig::Cloud => {
                let name = &self.user_env;
                let user = self.user.clone().or_else(|| self.environment.variable(name));
                let user = user.ok_or_else(|| {
                    anyhow!("missing JIRA user: set the variable `{name}`, or `jira.user`")
                })?;
                Ok(Flavour::Cloud { user })
            }
        }
    }

    /// Opens a client; `None` if JIRA is not configured. A call waits at most `wait` at a time for
    /// a rate limit, and `on_wait` is called with the reason.
    pub fn open(
        &self,
        wait: Duration,
        on_wait: impl Fn(&str) + Send + Sync + 'static,
    ) -> anyhow::Result<Option<Jira>> {
        let Some(url) = self.address()? else { return Ok(None) };
        let ServiceConnection { transport, keys, clock } =
            open_connection(self.environment.clock(), url, self.key()?, wait, on_wait);
        Ok(Some(Jira::new(transport, self.flavour()?, keys, clock)))
    }

    /// Opens a client as [`JiraConfig::open`] does. Fails if JIRA is not configured.
    pub fn required(
        &self,
        wait: Duration,
        on_wait: impl Fn(&str) + Send + Sync + 'static,
    ) -> anyhow::Result<Jira> {
        let opened = self.open(wait, on_wait)?;
        opened.context("JIRA is not configured: set `jira.url` in the configuration")
    }

    /// Returns the webhook secret; `None` if its variable is not set.
    pub fn webhook_secret(&self) -> Option<WebhookSecret> {
        WebhookSecret::in_variable(&self.environment, &self.webhook_token_env)
    }

    /// Returns the status of a ticket whose pull request is to be reviewed.
    pub fn review_status(&self) -> &str {
        &self.statuses.code_review
    }

    /// Returns the names of the workflow's steps; those of `agent` take precedence.
    pub fn step_names(&self, agent: Option<&AgentConfig>) -> StepNames {
        let own = |what: TransitionTrigger, usual: &str| {
            let own = agent.and_then(|agent| agent.jira.get(&what));
            own.map_or(usual, String::as_str).to_owned()
        };
        StepNames {
            code_review: own(TransitionTrigger::CodeReview, &self.statuses.code_review),
            approved: own(TransitionTrigger::Approved, &self.statuses.approved),
            changes_requested: own(
                TransitionTrigger::ChangesRequested,
                &self.statuses.changes_requested,
            ),
        }
    }
}
