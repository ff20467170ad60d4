//! `POST /queue`: a request for a review, for instance by a build.

use std::sync::Arc;

use assay_store::pulls::{CommitId, RepositoryName};
use assay_store::task::{AgentId, QueueName};
use axum::extract::{Request, State};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

use super::answer::Answer;
use super::{ANSWER_WITHIN, Hooks};
use crate::pulls;

/// The body of a request for a review.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    #[serde(default)]
    agent_id: Option<String>,
    pr: Value,
    #[serde(default)]
    repo: Option<RepositoryName>,
    #[serde(default)]
    head: Option<CommitId>,
}

impl Ask {
    /// Returns the number of the pull request, which a shell may have put in quotes.
    fn number(&self) -> Result<u64, Answer> {
        let number = match &self.pr {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        let why = "`pr` is no number of a pull request, such as 7 or \"7\"";
        number.filter(|number| *number > 0).ok_or_else(|| Answer::unfit(why))
    }
}

pub(super) async fn receive(State(hooks): State<Arc<Hooks>>, request: Request) -> Answer {
    let answer = match hooks.ask(request).await {
        Ok(answer) | Err(answer) => answer,
    };
    hooks.note("queue", "", &answer);
    answer
}

impl Hooks {
    async fn ask(&self, request: Request) -> Result<Answer, Answer> {
        if !self.door.lets_in(request.headers()) {
            let why = "the header `Authorization: Bearer TOKEN` is missing or wrong";
            return Err(Answer::stranger(why));
        }
        // The content type is ignored, since `curl -d` sends a wrong one: the body is JSON or is
        // refused.
        let (body, _turn) = self.limits.read(request).await?;
        let until = Instant::now() + ANSWER_WITHIN;
        let ask: Ask = serde_json::from_slice(&body).map_err(|error| {
            let example = r#"{"agent_id":"qa","pr":"7"}"#;
            Answer::unreadable(format!("the body is not of the form {example}: {error}"))
        })?;
        let queue = self.queue_of(ask.agent_id.as_deref())?;
        let (number, repository) = (ask.number()?, self.repository(ask.repo)?);
        let pull = self.pull(repository, number, until).await?;
        if ask.head.as_ref().is_some_and(|head| *head != pull.head) {
            let (number, head) = (pull.number, &pull.head);
            return Err(Answer::outdated(format!("the head of #{number} is {head} by now")));
        }
        Ok(self.review(&pull, &queue, "http", until).await)
    }

    /// Returns the queue of the named agent, or that of the reviewer if none is named.
    fn queue_of(&self, agent: Option<&str>) -> Result<QueueName, Answer> {
        let Some(agent) = agent else { return Ok(self.setup.reviewer.clone()) };
        let queue = agent.parse::<AgentId>().ok().and_then(|id| self.setup.agents.get(&id));
        queue.cloned().ok_or_else(|| {
            let names: Vec<&str> = self.setup.agents.keys().map(AgentId::as_str).collect();
            Answer::unfit(format!("`agent_id` is none of {}", names.join(", ")))
        })
    }

    /// Returns the named repository if it is configured, or the only configured one.
    fn repository(&self, named: Option<RepositoryName>) -> Result<RepositoryName, Answer> {
        let repositories = self.repositories()?;
        let names: Vec<&str> = repositories.iter().map(RepositoryName::as_str).collect();
        match (named, repositories) {
            (None, [only]) => Ok(only.clone()),
            (None, _) => Err(Answer::unfit(format!("say `repo`, one of {}", names.join(", ")))),
            (Some(named), _) => pulls::own(repositories, &named)
                .ok_or_else(|| Answer::unfit(format!("`repo` is none of {}", names.join(", ")))),
        }
    }
}
