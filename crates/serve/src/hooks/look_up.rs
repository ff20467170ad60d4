//! What GitHub is asked and JIRA is told while whoever sent a delivery waits for an answer.
//!
//! Clients block, so each call runs on a thread that may wait; there are only so many at a time, and
//! none is waited for longer than an answer may take.

use std::sync::Arc;

use assay_findings::write::plain::chain;
use assay_services::github::{GitHub, OpenPulls};
use assay_services::http::ServiceError;
use assay_services::jira::{JiraError, Marker};
use assay_store::pulls::{Pull, RepositoryName, TicketKey};
use tokio::time::{Instant, timeout_at};

use super::Hooks;
use super::answer::Answer;
use crate::pulls::{self, PullError};

impl Hooks {
    /// Finds an open pull request.
    pub(super) async fn pull(
        &self,
        repository: RepositoryName,
        number: u64,
        until: Instant,
    ) -> Result<Pull, Answer> {
        let github = self.pulls()?;
        let find = move || {
            pulls::find(&github, &repository, number).map_err(|error| match error {
                PullError::Closed { .. } => Answer::not_there(error.to_string()),
                PullError::Service(error) => service_failed(&error),
            })
        };
        self.look_up(until, find).await
    }

    /// Finds the open pull requests whose branch or title names a ticket, in the repositories whose
    /// pull requests are reviewed.
    pub(super) async fn about_ticket(
        &self,
        key: &TicketKey,
        until: Instant,
    ) -> Result<Vec<Pull>, Answer> {
        let github = self.pulls()?;
        let (key, repositories) = (key.clone(), self.repositories()?.to_vec());
        let find = move || naming(&github, &key, &repositories);
        self.look_up(until, find).await
    }

    /// Comments on a ticket, unless a comment with the same mark is there or nobody can comment.
    pub(super) async fn comment_once(
        &self,
        key: &TicketKey,
        mark: &str,
        text: &str,
        until: Instant,
    ) -> Result<(), Answer> {
        let Some(tickets) = self.setup.tickets.clone() else { return Ok(()) };
        let (key, marker, text) = (key.clone(), Marker::of(mark), text.to_owned());
        let tell = move || {
            let told = tickets.comment_once(&key, &marker, &text);
            told.map(|_| ()).map_err(|error| jira_failed(&error))
        };
        self.look_up(until, tell).await
    }

    /// Asks GitHub or JIRA, on a thread that may wait.
    async fn look_up<T: Send + 'static>(
        &self,
        until: Instant,
        what: impl FnOnce() -> Result<T, Answer> + Send + 'static,
    ) -> Result<T, Answer> {
        let late = |_| Answer::later("what has to be looked up takes too long");
        let turn = timeout_at(until, Arc::clone(&self.look_ups).acquire_owned()).await;
        let turn = turn.map_err(late)?;
        let asked = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            what()
        });
        let answered = timeout_at(until, asked).await.map_err(late)?;
        answered.unwrap_or_else(|_| Err(Answer::no_luck("the look-up broke down")))
    }

    /// Gives where pull requests are looked up.
    fn pulls(&self) -> Result<GitHub, Answer> {
        let why = "not configured: pull requests cannot be looked up without access to GitHub";
        self.setup.pulls.clone().ok_or_else(|| Answer::not_configured(why))
    }
}

/// Finds the open pull requests of repositories that name a ticket.
fn naming(
    github: &GitHub,
    key: &TicketKey,
    repositories: &[RepositoryName],
) -> Result<Vec<Pull>, Answer> {
    let mut found = Vec::new();
    for repository in repositories {
        let open = github.open_pulls(repository, None).map_err(|error| service_failed(&error))?;
        let open = match open {
            // Nobody knows which of the others are about it.
            OpenPulls::Now { more: true, .. } => {
                return Err(Answer::no_luck(format!(
                    "`{repository}` has more open pull requests than are listed; queue the one \
                     that is meant"
                )));
            }
            OpenPulls::Now { pulls, .. } => pulls,
            OpenPulls::Unchanged => Vec::new(),
        };
        let pulls = open.iter().map(|pull| pull.pull(repository));
        found.extend(pulls.filter(|pull| pull.names(key)));
    }
    Ok(found)
}

/// Says what a service's failure is to whoever sent the delivery. No secret is ever in it.
fn service_failed(error: &ServiceError) -> Answer {
    let text = chain(error);
    match error.status() {
        Some(404) => Answer::not_there(text),
        _ if error.is_passing() => Answer::later(text),
        _ => Answer::no_luck(text),
    }
}

fn jira_failed(error: &JiraError) -> Answer {
    match error {
        JiraError::Service(error) => service_failed(error),
        other => Answer::no_luck(chain(other)),
    }
}
