//! Triggers that listen: webhooks of GitHub and JIRA, and `POST /queue` for whatever else asks.
//!
//! All of them make the same task, once for each pull request and head commit: [`Hooks`] is what
//! they share. A delivery comes in under limits ([`limits`]), proves who sent it ([`secret`]), is read
//! ([`github`], [`jira`], [`ask`]), and its task goes to the queue together with those of others
//! ([`intake`]). What is answered is the truth ([`answer`]): with 2xx a task is on the disk, or it is
//! said why there is none; whoever is told anything else has to come again.
//!
//! What GitHub and JIRA know is looked up ([`look_up`]) through clients that [`Setup::configured`]
//! opens. What a review is, and which agent does it, is not known here.

mod answer;
mod ask;
mod deliveries;
mod github;
mod intake;
mod jira;
mod limits;
mod look_up;
mod secret;
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

use self::answer::Answer;
use self::intake::Intake;
use self::limits::Limits;
use crate::door::Door;

pub use self::secret::{Secret, SecretError};

/// The longest wait for a service at a time, while the sender of a delivery waits for an answer.
const BRIEFLY: Duration = Duration::from_secs(2);

/// So long a delivery may take from when it was read to its answer: GitHub waits for ten seconds.
const ANSWER_WITHIN: Duration = Duration::from_secs(8);

/// So many look-ups run at the same time; further ones wait.
const LOOK_UPS: usize = 8;

/// What is known of the webhooks of GitHub.
#[derive(Debug, Clone)]
pub struct Github {
    /// The repositories whose pull requests are reviewed.
    pub repositories: Vec<RepositoryName>,
    /// What deliveries are signed with.
    pub secret: Option<Secret>,
    /// Pull requests without any of these labels are left alone; where there are none, no pull
    /// request is.
    pub labels: Vec<String>,
}

/// What is known of the webhooks of JIRA.
#[derive(Debug, Clone)]
pub struct Jira {
    /// What deliveries carry, or are signed with.
    pub secret: Option<Secret>,
    /// The status of a ticket whose pull request is to be reviewed.
    pub status: String,
}

/// What triggers work with.
pub struct Setup {
    /// Where tasks go.
    pub queue: Arc<dyn Queue>,
    /// The queue of those who review.
    pub reviewer: QueueName,
    /// The agents that can be asked for by name, with the queue of each.
    pub agents: BTreeMap<AgentId, QueueName>,
    /// What is known of GitHub.
    pub github: Github,
    /// What is known of JIRA.
    pub jira: Jira,
    /// Where pull requests are looked up; without it, only GitHub's own deliveries make tasks.
    pub pulls: Option<assay_services::github::GitHub>,
    /// Where tickets are told; without it, only whoever sent a delivery hears what is wrong.
    pub tickets: Option<assay_services::jira::Jira>,
    /// The time of new tasks.
    pub clock: Clock,
    /// Gets a line for each delivery.
    pub log: Log,
}

impl Setup {
    /// Puts together the triggers that are configured. `waiting` is called with the reason for which a
    /// service is waited for.
    pub fn configured(
        settings: &AgentSettings,
        queue: Arc<dyn Queue>,
        waiting: impl Fn(&str) + Send + Sync + Clone + 'static,
        log: Log,
    ) -> anyhow::Result<Setup> {
        let configuration = &settings.configuration;
        let agents = settings.roster.agents();
        Ok(Setup {
            queue,
            reviewer: configuration.workflow.reviewer.clone(),
            agents: agents.iter().map(|it| (it.id.clone(), it.queue.clone())).collect(),
            github: Github {
                repositories: configuration.github.repositories.clone(),
                secret: configured_secret(configuration.github.webhook_secret())?,
                labels: configuration.github.labels.clone(),
            },
            jira: Jira {
                secret: configured_secret(configuration.jira.webhook_secret())?,
                status: configuration.jira.review_status().to_owned(),
            },
            pulls: configuration.github.open(BRIEFLY, waiting.clone())?,
            tickets: configuration.jira.open(BRIEFLY, waiting)?,
            clock: configuration.environment().clock().clone(),
            log,
        })
    }
}

fn configured_secret(configured: Option<WebhookSecret>) -> anyhow::Result<Option<Secret>> {
    let secret = configured
        .map(|WebhookSecret { variable, text }| Secret::new(&text, format!("`{variable}`")));
    secret.transpose().context("webhooks cannot be told from anybody else's")
}

/// Gets lines for people. No secret and no body is ever in them.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// The triggers. When it is dropped, what was taken in is brought to the queue.
pub struct Hooks {
    setup: Setup,
    door: Door,
    intake: Intake,
    limits: Limits,
    look_ups: Arc<Semaphore>,
}

impl Hooks {
    /// Sets triggers up: those who ask have to come through the door, and which deliveries of GitHub
    /// were seen is remembered in a file.
    pub fn new(setup: Setup, door: Door, deliveries: &Path) -> io::Result<Hooks> {
        let (queue, log) = (Arc::clone(&setup.queue), Arc::clone(&setup.log));
        let intake = Intake::start(queue, deliveries, log)?;
        let look_ups = Arc::new(Semaphore::new(LOOK_UPS));
        Ok(Hooks { setup, door, intake, limits: Limits::default(), look_ups })
    }

    /// The ways in.
    pub(crate) fn routes(self: &Arc<Hooks>) -> Router {
        Router::new()
            .route("/webhooks/github", post(github::receive))
            .route("/webhooks/jira", post(jira::receive))
            .route("/queue", post(ask::receive))
            .with_state(Arc::clone(self))
    }

    /// Has a pull request reviewed.
    async fn review(&self, pull: &Pull, queue: &QueueName, by: &str, until: Instant) -> Answer {
        let task = pull.review(queue, by, Moment::now(&self.setup.clock));
        self.intake.take(task, None, until).await
    }

    /// The repositories whose pull requests are reviewed.
    fn repositories(&self) -> Result<&[RepositoryName], Answer> {
        match &self.setup.github.repositories[..] {
            [] => Err(Answer::not_configured("not configured: `github.repositories` is empty")),
            some => Ok(some),
        }
    }

    /// Tells whoever reads the log of a delivery.
    fn note(&self, from: &str, about: &str, answer: &Answer) {
        (self.setup.log)(&format!("{from}: {answer}{about}"));
    }
}
