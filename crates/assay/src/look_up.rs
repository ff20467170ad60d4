//! What triggers look up: pull requests on GitHub, and tickets in JIRA.

use std::time::Duration;

use assay_agents::work::chain;
use assay_serve::hooks::{LookUpError, Pulls, Tickets};
use assay_services::github::{GitHub, OpenPulls, PullState};
use assay_services::http::ServiceError;
use assay_services::jira::{Jira, JiraError, Marker};
use assay_store::pulls::{Pull, RepositoryName, TicketKey};

/// How long it is waited for a service at a time, while whoever sent a delivery waits for an answer.
pub(crate) const BRIEFLY: Duration = Duration::from_secs(2);

/// Looks up pull requests on GitHub.
pub(crate) struct OnGithub(pub(crate) GitHub);

impl Pulls for OnGithub {
    fn pull(&self, repository: &RepositoryName, number: u64) -> Result<Pull, LookUpError> {
        let found = self.0.pull(repository, number).map_err(|error| service_failed(&error))?;
        match found.state {
            PullState::Open => Ok(found.pull(repository)),
            PullState::Closed => {
                Err(LookUpError::NotThere(format!("{repository}#{number} is closed")))
            }
        }
    }

    fn about_ticket(
        &self,
        key: &TicketKey,
        repositories: &[RepositoryName],
    ) -> Result<Vec<Pull>, LookUpError> {
        let mut found = Vec::new();
        for repository in repositories {
            let open = self.0.open_pulls(repository, None);
            let open = match open.map_err(|error| service_failed(&error))? {
                OpenPulls::Now { pulls, .. } => pulls,
                OpenPulls::Unchanged => Vec::new(),
            };
            let pulls = open.iter().map(|pull| pull.pull(repository));
            found.extend(pulls.filter(|pull| pull.names(key)));
        }
        Ok(found)
    }
}

/// Writes on tickets in JIRA.
pub(crate) struct InJira(pub(crate) Jira);

impl Tickets for InJira {
    fn comment_once(&self, key: &TicketKey, mark: &str, text: &str) -> Result<(), LookUpError> {
        let told = self.0.comment_once(key, &Marker::of(mark), text);
        told.map(|_| ()).map_err(|error| jira_failed(&error))
    }
}

fn service_failed(error: &ServiceError) -> LookUpError {
    let text = chain(error);
    match error.status() {
        Some(404) => LookUpError::NotThere(text),
        _ if error.is_passing() => LookUpError::Away(text),
        _ => LookUpError::Refused(text),
    }
}

fn jira_failed(error: &JiraError) -> LookUpError {
    match error {
        JiraError::Service(error) => service_failed(error),
        other => LookUpError::Refused(chain(other)),
    }
}
