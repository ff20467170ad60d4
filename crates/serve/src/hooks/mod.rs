//! Triggers that listen: webhooks of GitHub and JIRA, and `POST /queue` for all other senders.
//!
//! All triggers create the same task, once for each pull request and head commit; [`Hooks`] is
//! their shared state. A delivery is received under limits ([`limits`]), authenticated ([`secret`])
//! and parsed ([`github`], [`jira`], [`queue_endpoint`]), and its task is pushed to the queue
//! together with those of other deliveries ([`task_batcher`]). The answer is reliable
//! ([`hook_answer`]): 2xx means that a task is on the disk, or has the reason that there is none;
//! any other answer means that there is no task, because the request was refused or has to be sent
//! again.
//!
//! Facts of GitHub and JIRA are looked up ([`lookup`]) through clients that
//! [`HookContext::from_settings`] opens. This module does not know how a review is done, nor by
//! which agent.

mod delivery_log;
mod github;
mod hook_answer;
mod jira;
mod limits;
mod lookup;
mod queue_endpoint;
mod secret;
mod task_batcher;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use assay_base::clock::Clock;
use assay_engine::config::agents::AgentSettings;
use assay_engine::config::service::WebhookSecret;
use assay_store::pulls::{Pull, RepositoryName};
use assay_store::queue::Queue;
use assay_store::task::{AgentId, Moment, QueueName};
use axum::Router;
use axum::routing::post;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use self::hook_answer::HookAnswer;
use self::limits::Limits;
use self::task_batcher::TaskBatcher;
use crate::auth::AccessPolicy;

pub use self::secret::{Secret, SecretError};

/// The maximum wait for a service at a time, while the sender of a delivery waits for an answer.
const MAX_SERVICE_WAIT: Duration = Duration::from_secs(2);

/// The maximum time from the end of reading a delivery to its answer: GitHub waits for ten seconds.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(8);

/// The maximum number of concurrent look-ups; further ones wait.
const MAX_LOOKUPS: usize = 8;

/// The settings of the webhooks of GitHub.
#[derive(Debug, Clone)]
pub struct GithubHookSettings {
    /// The repositories whose pull requests are reviewed.
    pub repositories: Vec<RepositoryName>,
    /// The secret that deliveries are signed with; `None` if webhooks of GitHub are not configured.
    pub secret: Option<Secret>,
    /// Pull requests without any of these labels are ignored; if the list is empty, labels do not
    /// matter.
    pub labels: Vec<String>,
}

/// The settings of the webhooks of JIRA.
#[derive(Debug, Clone)]
pub struct JiraHookSettings {
    /// The secret that deliveries carry or are signed with; `None` if webhooks of JIRA are not
    /// configured.
    pub secret: Option<Secret>,
    /// The status in which the pull request of a ticket is reviewed.
    pub status: String,
}

/// The context of the triggers.
pub struct HookContext {
    /// The queue store that receives the tasks.
    pub queue: Arc<dyn Queue>,
    /// The queue of the reviewer.
    pub reviewer: QueueName,
    /// The agents that a request can name, with the queue of each.
    pub agents: BTreeMap<AgentId, QueueName>,
    /// The settings of GitHub.
    pub github: GithubHookSettings,
    /// The settings of JIRA.
    pub jira: JiraHookSettings,
    /// The client that looks up pull requests; without it, only deliveries of GitHub create tasks.
    pub pulls: Option<assay_services::github::GitHub>,
    /// The client that comments on tickets; without it, only the sender of a delivery gets the
    /// reason of a failure.
    pub tickets: Option<assay_services::jira::Jira>,
    /// The clock that sets the time of new tasks.
    pub clock: Clock,
    /// Receives a line for each delivery.
    pub log: Log,
}

impl HookContext {
    /// Builds the configured triggers. Calls `waiting` with the reason of each wait for a service.
    pub fn from_settings(
        settings: &AgentSettings,
        queue: Arc<dyn Queue>,
        waiting: impl Fn(&str) + Send + Sync + Clone + 'static,
        log: Log,
    ) -> anyhow::Result<HookContext> {
        let configuration = &settings.configuration;
        let agents = settings.roster.agents();
        Ok(HookContext {
            queue,
            reviewer: configuration.workflow.reviewer.clone(),
            agents: agents.iter().map(|it| (it.id.clone(), it.queue.clone())).collect(),
            github: GithubHookSettings {
                repositories: configuration.github.repositories.clone(),
                secret: configured_secret(configuration.github.webhook_secret())?,
                labels: configuration.github.labels.clone(),
            },
            jira: JiraHookSettings {
                secret: configured_secret(configuration.jira.webhook_secret())?,
                status: configuration.jira.review_status().to_owned(),
            },
            pulls: configuration.github.open(MAX_SERVICE_WAIT, waiting.clone())?,
            tickets: configuration.jira.open(MAX_SERVICE_WAIT, waiting)?,
            clock: configuration.environment().clock().clone(),
            log,
        })
    }
}

fn configured_secret(configured: Option<WebhookSecret>) -> anyhow::Result<Option<Secret>> {
    let secret = configured
        .map(|WebhookSecret { variable, text }| Secret::new(&text, format!("`{variable}`")));
    secret.transpose().context("cannot authenticate webhooks")
}

/// Receives lines for people. They never contain a secret or a body.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// The triggers. Dropping them pushes the received tasks to the queue.
pub struct Hooks {
    context: HookContext,
    access: AccessPolicy,
    batcher: TaskBatcher,
    limits: Limits,
    lookup_permits: Arc<Semaphore>,
}

impl Hooks {
    /// Creates the triggers. Requests to `POST /queue` have to pass `access`. The file `deliveries`
    /// stores the received deliveries of GitHub.
    pub fn new(context: HookContext, access: AccessPolicy, deliveries: &Path) -> io::Result<Hooks> {
        let (queue, log) = (Arc::clone(&context.queue), Arc::clone(&context.log));
        let batcher = TaskBatcher::start(queue, deliveries, log)?;
        let lookup_permits = Arc::new(Semaphore::new(MAX_LOOKUPS));
        Ok(Hooks { context, access, batcher, limits: Limits::default(), lookup_permits })
    }

    /// Returns the routes of all triggers.
    pub(crate) fn routes(self: &Arc<Hooks>) -> Router {
        Router::new()
            .route("/webhooks/github", post(github::receive))
            .route("/webhooks/jira", post(jira::receive))
            .route("/queue", post(queue_endpoint::receive))
            .with_state(Arc::clone(self))
    }

    /// Queues the review of a pull request.
    async fn review(&self, pull: &Pull, queue: &QueueName, by: &str, until: Instant) -> HookAnswer {
        let task = pull.review(queue, by, Moment::now(&self.context.clock));
        self.batcher.push_task(task, None, until).await
    }

    /// Returns the repositories whose pull requests are reviewed. Fails if none is configured.
    fn repositories(&self) -> Result<&[RepositoryName], HookAnswer> {
        match &self.context.github.repositories[..] {
            [] => Err(HookAnswer::not_configured("not configured: `github.repositories` is empty")),
            some => Ok(some),
        }
    }

    /// Logs the answer to a delivery.
    fn log_answer(&self, from: &str, about: &str, answer: &HookAnswer) {
        (self.context.log)(&format!("{from}: {answer}{about}"));
    }
}
