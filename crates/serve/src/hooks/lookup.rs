//! Requests to GitHub and JIRA that run while the sender of a delivery waits for an answer.
//!
//! Clients block, so each call runs on a thread for blocking work. The number of concurrent calls
//! is limited, and no call is waited for longer than an answer may take.

use std::sync::Arc;

use assay_findings::write::escape::chain;
use assay_services::github::{GitHub, OpenPulls};
use assay_services::http::ServiceError;
use assay_services::jira::{CommentMarker, JiraError};
use assay_store::pulls::{Pull, RepositoryName, TicketKey};
use tokio::time::{Instant, timeout_at};

use super::Hooks;
use super::hook_answer::HookAnswer;
use crate::pull_lookup::{self, PullError};

impl Hooks {
    /// Returns an open pull request.
    pub(super) async fn pull(
        &self,
        repository: RepositoryName,
        number: u64,
        until: Instant,
    ) -> Result<Pull, HookAnswer> {
        let github = self.pulls()?;
        let find = move || {
            pull_lookup::find_open(&github, &repository, number).map_err(|error| match error {
                PullError::Closed { .. } => HookAnswer::not_found(error.to_string()),
                PullError::Service(error) => service_error_answer(&error),
            })
        };
        self.run_lookup(until, find).await
    }

    /// Returns the open pull requests whose branch or title names a ticket, in the configured
    /// repositories.
    pub(super) async fn pulls_of_ticket(
        &self,
        key: &TicketKey,
        until: Instant,
    ) -> Result<Vec<Pull>, HookAnswer> {
        let github = self.pulls()?;
        let (key, repositories) = (key.clone(), self.repositories()?.to_vec());
        let find = move || pulls_naming(&github, &key, &repositories);
        self.run_lookup(until, find).await
    }

    /// Comments on a ticket, unless a comment with the same mark exists or JIRA is not configured.
    pub(super) async fn comment_once(
        &self,
        key: &TicketKey,
        mark: &str,
        text: &str,
        until: Instant,
    ) -> Result<(), HookAnswer> {
        let Some(tickets) = self.context.tickets.clone() else { return Ok(()) };
        let (key, marker, text) = (key.clone(), CommentMarker::from_text(mark), text.to_owned());
        let tell = move || {
            let told = tickets.comment_once(&key, &marker, &text);
            told.map(|_| ()).map_err(|error| jira_error_answer(&error))
        };
        self.run_lookup(until, tell).await
    }

    /// Runs a request to GitHub or JIRA on a thread for blocking work, until the deadline.
    async fn run_lookup<T: Send + 'static>(
        &self,
        until: Instant,
        what: impl FnOnce() -> Result<T, HookAnswer> + Send + 'static,
    ) -> Result<T, HookAnswer> {
        let late = |_| HookAnswer::retry_later("timeout of the look-up on GitHub or JIRA");
        let turn = timeout_at(until, Arc::clone(&self.lookup_permits).acquire_owned()).await;
        let turn = turn.map_err(late)?;
        let asked = tokio::task::spawn_blocking(move || {
            let _permit = turn;
            what()
        });
        let answered = timeout_at(until, asked).await.map_err(late)?;
        answered.unwrap_or_else(|_| Err(HookAnswer::bad_gateway("the look-up panicked")))
    }

    /// Returns the client for pull requests. Fails if GitHub is not configured.
    fn pulls(&self) -> Result<GitHub, HookAnswer> {
        let why = "not configured: pull requests cannot be looked up without access to GitHub";
        self.context.pulls.clone().ok_or_else(|| HookAnswer::not_configured(why))
    }
}

/// Returns the open pull requests of repositories that name a ticket.
fn pulls_naming(
    github: &GitHub,
    key: &TicketKey,
    repositories: &[RepositoryName],
) -> Result<Vec<Pull>, HookAnswer> {
    let mut found = Vec::new();
    for repository in repositories {
        let open =
            github.open_pulls(repository, None).map_err(|error| service_error_answer(&error))?;
        let open = match open {
            // Any of the pull requests that are not listed may name the ticket.
            OpenPulls::Changed { more: true, .. } => {
                return Err(HookAnswer::bad_gateway(format!(
                    "`{repository}` has more open pull requests than are listed; queue the \
                     intended one"
                )));
            }
            OpenPulls::Changed { pulls, .. } => pulls,
            OpenPulls::Unchanged => Vec::new(),
        };
        let pulls = open.iter().map(|pull| pull.pull(repository));
        found.extend(pulls.filter(|pull| pull.names_ticket(key)));
    }
    Ok(found)
}

/// Converts the error of a service into an answer to the sender. The text never contains a secret.
fn service_error_answer(error: &ServiceError) -> HookAnswer {
    let text = chain(error);
    match error.status() {
        Some(404) => HookAnswer::not_found(text),
        _ if error.is_transient() => HookAnswer::retry_later(text),
        _ => HookAnswer::bad_gateway(text),
    }
}

fn jira_error_answer(error: &JiraError) -> HookAnswer {
    match error {
        JiraError::Service(error) => service_error_answer(error),
        other => HookAnswer::bad_gateway(chain(other)),
    }
}
