//! Why a letter did not arrive, and what follows from that: [`MailError`].

use std::time::Duration;

use assay_base::backoff::Backoff;
use assay_store::disk::DiskError;

use crate::http::ServiceError;
use crate::jira::JiraError;

/// Delays between attempts to deliver a letter.
const BACKOFF: Backoff = Backoff::new(Duration::from_secs(30), Duration::from_secs(60 * 60));

/// How long it rests at the most where a service says for how long.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Why a letter did not arrive.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// GitHub did not take it.
    #[error(transparent)]
    GitHub(#[from] ServiceError),
    /// JIRA did not take it.
    #[error(transparent)]
    Jira(#[from] JiraError),
    /// JIRA has the comment, and did not make the transition.
    #[error(transparent)]
    Transition(JiraError),
    /// Nobody knows the way.
    #[error("{0} is not configured, so nothing can be told there")]
    NotConfigured(&'static str),
    /// It is no letter that this version knows.
    #[error("it is no letter that this version knows: {0}")]
    Unreadable(String),
    /// It cannot be kept track of it.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl MailError {
    /// Says whether trying again later may help.
    pub fn is_passing(&self) -> bool {
        match self {
            MailError::Disk(_) => true,
            // Somebody may configure it.
            MailError::NotConfigured(_) => true,
            MailError::Unreadable(_) => false,
            MailError::GitHub(_) | MailError::Jira(_) | MailError::Transition(_) => {
                self.service_error().is_some_and(|error| {
                    error.is_passing() || error.is_unclear() || is_for_want_of_a_right(error)
                })
            }
        }
    }

    /// Says whether other letters would fare no better with the same service just now.
    pub(super) fn is_about_the_service(&self) -> bool {
        match self {
            MailError::NotConfigured(_) => true,
            MailError::Disk(_) | MailError::Unreadable(_) => false,
            MailError::GitHub(_) | MailError::Jira(_) | MailError::Transition(_) => {
                match self.service_error() {
                    Some(
                        ServiceError::Lost { .. }
                        | ServiceError::Limited { .. }
                        | ServiceError::NoKey { .. },
                    ) => true,
                    // A service that took the comment is not out.
                    Some(ServiceError::Refused { status, .. }) => {
                        *status == 401 || *status >= 500 && !self.is_about_a_transition()
                    }
                    Some(ServiceError::Unreadable { .. }) | None => false,
                }
            }
        }
    }

    /// Returns true if the comment on a ticket was made and its transition was not.
    pub(super) fn is_about_a_transition(&self) -> bool {
        matches!(self, MailError::Transition(_))
    }

    /// Gives how long a letter rests that was tried so often before.
    pub(super) fn rest(&self, tries: u32) -> Duration {
        match self.service_error() {
            // Never nothing, or it would be tried for ever.
            Some(ServiceError::Limited { wait, .. }) => {
                (*wait).clamp(Duration::from_secs(1), A_DAY)
            }
            _ => BACKOFF.delay(tries),
        }
    }

    fn service_error(&self) -> Option<&ServiceError> {
        match self {
            MailError::GitHub(error)
            | MailError::Jira(JiraError::Service(error))
            | MailError::Transition(JiraError::Service(error)) => Some(error),
            MailError::Jira(_)
            | MailError::Transition(_)
            | MailError::NotConfigured(_)
            | MailError::Unreadable(_)
            | MailError::Disk(_) => None,
        }
    }
}

/// Says whether a service refused for want of a right, or hides what is there. A token may be
/// renewed, and a right be given.
fn is_for_want_of_a_right(error: &ServiceError) -> bool {
    match error {
        ServiceError::NoKey { .. } => true,
        ServiceError::Refused { status, .. } => matches!(status, 401 | 403 | 404),
        ServiceError::Lost { .. }
        | ServiceError::Limited { .. }
        | ServiceError::Unreadable { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_rests_twice_as_long_each_time_but_an_hour_at_the_most() {
        let error = MailError::NotConfigured("GitHub");
        let rests = [0, 1, 2, 6, 7, 500].map(|tries| error.rest(tries).as_secs());
        assert_eq!(rests, [30, 60, 120, 1_920, 3_600, 3_600]);
    }

    #[test]
    fn a_limit_says_how_long_to_rest_within_reason() {
        let rest = |wait| {
            let wait = Duration::from_secs(wait);
            let what = "it".to_owned();
            MailError::GitHub(ServiceError::Limited { service: "GitHub", what, wait }).rest(3)
        };
        let rests = [0, 5, 7_000, u64::MAX].map(|wait| rest(wait).as_secs());
        assert_eq!(rests, [1, 5, 7_000, 86_400]);
    }
}
