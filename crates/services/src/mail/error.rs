//! Errors of a delivery, and their consequences: [`MailError`].

use std::time::Duration;

use assay_base::backoff::Backoff;
use assay_store::disk::DiskError;

use crate::http::ServiceError;
use crate::jira::JiraError;

/// Delays between attempts to deliver a message.
const BACKOFF: Backoff = Backoff::new(Duration::from_secs(30), Duration::from_secs(60 * 60));

/// The maximum delay if a service states one.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The reason why a message was not delivered.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// The call to GitHub failed.
    #[error(transparent)]
    GitHub(#[from] ServiceError),
    /// The call to JIRA failed.
    #[error(transparent)]
    Jira(#[from] JiraError),
    /// The comment was created in JIRA, and the transition failed.
    #[error(transparent)]
    Transition(JiraError),
    /// The service is not configured.
    #[error("{0} is not configured, so nothing can be told there")]
    NotConfigured(&'static str),
    /// The message has a format that this version does not know.
    #[error("it is no letter that this version knows: {0}")]
    Unreadable(String),
    /// The outbox could not be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl MailError {
    /// Returns true if a later retry may succeed.
    pub fn is_passing(&self) -> bool {
        match self {
            MailError::Disk(_) => true,
            // A user may configure the service later.
            MailError::NotConfigured(_) => true,
            MailError::Unreadable(_) => false,
            MailError::GitHub(_) | MailError::Jira(_) | MailError::Transition(_) => {
                self.service_error().is_some_and(|error| {
                    error.is_passing() || error.is_unclear() || is_for_want_of_a_right(error)
                })
            }
        }
    }

    /// Returns true if other messages to the same service would fail just now as well.
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
                    // A service that accepted the comment is not down.
                    Some(ServiceError::Refused { status, .. }) => {
                        *status == 401 || *status >= 500 && !self.is_about_a_transition()
                    }
                    Some(ServiceError::Unreadable { .. }) | None => false,
                }
            }
        }
    }

    /// Returns true if the comment on a ticket was created and its transition failed.
    pub(super) fn is_about_a_transition(&self) -> bool {
        matches!(self, MailError::Transition(_))
    }

    /// Returns the delay before the next attempt, after `tries` failed ones.
    pub(super) fn rest(&self, tries: u32) -> Duration {
        match self.service_error() {
            // The delay is never zero, or the message would be retried without end.
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

/// Returns true if a service refused a call for a missing permission, or hides the object. A token
/// may be renewed, and a permission granted.
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
