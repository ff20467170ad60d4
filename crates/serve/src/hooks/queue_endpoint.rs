//! `POST /queue`: a request for a review, for instance by a build.

use std::sync::Arc;

use assay_store::pulls::{CommitId, RepositoryName};
use assay_store::task::{AgentId, QueueName};
use axum::extract::{Request, State};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

use super::hook_answer::HookAnswer;
use super::{ANSWER_TIMEOUT, Hooks};
use crate::pull_lookup;

/// The body of a request for a review.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct QueueRequest {
    #[serde(default)]
    agent_id: Option<String>,
    pr: Value,
    #[serde(default)]
    repo: Option<RepositoryName>,
    #[serde(default)]
    head: Option<CommitId>,
}

impl QueueRequest {
    /// Returns the number of the pull request, which a shell may have put in quotes.
    fn number(&self) -> Result<u64, HookAnswer> {
        let number = match &self.pr {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        let why = "invalid `pr`: expected the number of a pull request, such as 7 or \"7\"";
        number.filter(|number| *number > 0).ok_or_else(|| HookAnswer::unprocessable(why))
    }
}

pub(super) async fn receive(State(hooks): State<Arc<Hooks>>, request: Request) -> HookAnswer {
    let answer = match hooks.queue_review(request).await {
        Ok(answer) | Err(answer) => answer,
    };
    hooks.log_answer("queue", "", &answer);
    answer
}

impl Hooks {
    async fn queue_review(&self, request: Request) -> Result<HookAnswer, HookAnswer> {
        if !self.access.is_authorized(request.headers()) {
            let why = "the header `Authorization: Bearer TOKEN` is missing or wrong";
            return Err(HookAnswer::unauthorized(why));
        }
        // The content type is ignored, since `curl -d` sends a wrong one: the body is JSON or is
        // refused.
        let (body, _permit) = self.limits.read(request).await?;
        let until = Instant::now() + ANSWER_TIMEOUT;
        let wanted: QueueRequest = serde_json::from_slice(&body).map_err(|error| {
            let example = r#"{"agent_id":"qa","pr":"7"}"#;
            HookAnswer::bad_request(format!("the body is not of the form {example}: {error}"))
        })?;
        let queue = self.queue_of(wanted.agent_id.as_deref())?;
        let (number, repository) = (wanted.number()?, self.repository(wanted.repo)?);
        let pull = self.pull(repository, number, until).await?;
        if wanted.head.as_ref().is_some_and(|head| *head != pull.head) {
            let (number, head) = (pull.number, &pull.head);
            return Err(HookAnswer::conflict(format!("the head of #{number} is now {head}")));
        }
        Ok(self.review(&pull, &queue, "http", until).await)
    }

    /// Returns the queue of the named agent, or that of the reviewer if none is named.
    fn queue_of(&self, agent: Option<&str>) -> Result<QueueName, HookAnswer> {
        let Some(agent) = agent else { return Ok(self.context.reviewer.clone()) };
        let queue = agent.parse::<AgentId>().ok().and_then(|id| self.context.agents.get(&id));
        queue.cloned().ok_or_else(|| {
            let names: Vec<&str> = self.context.agents.keys().map(AgentId::as_str).collect();
            HookAnswer::unprocessable(format!(
                "unknown `agent_id`: expected one of {}",
                names.join(", ")
            ))
        })
    }

    /// Returns the named repository if it is configured, or the only configured one.
    fn repository(&self, named: Option<RepositoryName>) -> Result<RepositoryName, HookAnswer> {
        let repositories = self.repositories()?;
        let names: Vec<&str> = repositories.iter().map(RepositoryName::as_str).collect();
        match (named, repositories) {
            (None, [only]) => Ok(only.clone()),
            (None, _) => Err(HookAnswer::unprocessable(format!(
                "missing `repo`: expected one of {}",
                names.join(", ")
            ))),
            (Some(named), _) => {
                pull_lookup::find_configured(repositories, &named).ok_or_else(|| {
                    HookAnswer::unprocessable(format!(
                        "unknown `repo`: expected one of {}",
                        names.join(", ")
                    ))
                })
            }
        }
    }
}
