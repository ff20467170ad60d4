//! Pull requests that a trigger names: [`find_configured`] checks that the repository is
//! configured, and [`find_open`] reads the pull request from GitHub.

use assay_services::github::{GitHub, PullState};
use assay_services::http::ServiceError;
use assay_store::pulls::{Pull, RepositoryName};

/// The reason that a pull request cannot be reviewed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PullError {
    /// The pull request is closed or merged.
    #[error("{repository}#{number} is closed")]
    Closed {
        /// The repository of the pull request.
        repository: RepositoryName,
        /// The number of the pull request.
        number: u64,
    },
    /// GitHub did not return the pull request.
    #[error(transparent)]
    Service(ServiceError),
}

/// Returns the configured repository with this name, compared without case. If none is configured,
/// returns the name itself.
pub(crate) fn find_configured(
    configured: &[RepositoryName],
    named: &RepositoryName,
) -> Option<RepositoryName> {
    match configured.is_empty() {
        true => Some(named.clone()),
        false => configured.iter().find(|own| own.is(named)).cloned(),
    }
}

/// Returns an open pull request. Fails if it is closed.
pub(crate) fn find_open(
    github: &GitHub,
    repository: &RepositoryName,
    number: u64,
) -> Result<Pull, PullError> {
    let found = github.pull(repository, number).map_err(PullError::Service)?;
    match found.state {
        PullState::Open => Ok(found.pull(repository)),
        PullState::Closed => Err(PullError::Closed { repository: repository.clone(), number }),
    }
}
