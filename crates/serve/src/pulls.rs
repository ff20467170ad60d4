//! Pull requests that somebody asks a review of: whether they are of a repository that is configured
//! ([`own`]), and what there is of them to be reviewed ([`find`]).

use assay_services::github::{GitHub, PullState};
use assay_services::http::ServiceError;
use assay_store::pulls::{Pull, RepositoryName};

/// Why a pull request cannot be reviewed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PullError {
    /// It was merged or given up.
    #[error("{repository}#{number} is closed")]
    Closed {
        /// Its repository.
        repository: RepositoryName,
        /// Its number.
        number: u64,
    },
    /// GitHub does not say what it is.
    #[error(transparent)]
    Service(ServiceError),
}

/// Finds a repository among those that are configured, however it is spelled. Where none is, any is.
pub(crate) fn own(configured: &[RepositoryName], named: &RepositoryName) -> Option<RepositoryName> {
    match configured.is_empty() {
        true => Some(named.clone()),
        false => configured.iter().find(|own| own.is(named)).cloned(),
    }
}

/// Finds an open pull request, as triggers know it.
pub(crate) fn find(
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
