//! Errors of a delivery, and their consequences: [`DeliveryError`].

use std::time::Duration;

use assay_base::backoff::Backoff;
use assay_store::durable_fs::DiskError;

use crate::http::ServiceError;
use crate::jira::JiraError;

/// Delays between attempts to deliver a message.
const DELIVERY_BACKOFF: Backoff =
    Backoff::new(Duration::from_secs(30), Duration::from_secs(60 * 60));

/// The maximum delay if a service states one.
const MAX_DELAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The reason why a message was not delivered.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    /// The call to GitHub failed.
    #[error(transparent)]
    GitHub(#[from] ServiceError),
    /// The call to JIRA failed.
    #[error(transparent)]
    Jira(#[from] JiraError),
    /// The comment was created in JIRA, and the transition failed.
    #[error(transparent)]
    Transition(JiraError),
    /// The ticket was updated, except for its status comment.
    #[error("the ticket was updated, except for the comment with the outcomes of all findings")]
    Status(#[source] JiraError),
    /// The service is not configured.
    #[error("{0} is not configured, so the message cannot be sent")]
    NotConfigured(&'static str),
    /// The message has a format that this version does not know.
    #[error("this version cannot read the message: {0}")]
    Unreadable(String),
    /// The outbox could not be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl DeliveryError {
    /// Returns true if a later retry may succeed.
    pub fn is_transient(&self) -> bool {
        match self {
            DeliveryError::Disk(_) => true,
            // A user may configure the service later.
            DeliveryError::NotConfigured(_) => true,
            DeliveryError::Unreadable(_) => false,
            DeliveryError::GitHub(_)
            | DeliveryError::Jira(_)
            | DeliveryError::Transition(_)
            | DeliveryError::Status(_) => self.service_error().is_some_and(|error| {
                error.is_transient() || error.is_outcome_unknown() || is_missing_permission(error)
            }),
        }
    }

    /// Returns true if other messages to the same service would fail just now as well.
    pub(super) fn is_service_wide(&self) -> bool {
        match self {
            DeliveryError::NotConfigured(_) => true,
            DeliveryError::Disk(_) | DeliveryError::Unreadable(_) => false,
            DeliveryError::GitHub(_)
            | DeliveryError::Jira(_)
            | DeliveryError::Transition(_)
            | DeliveryError::Status(_) => {
                match self.service_error() {
                    Some(
                        ServiceError::NoResponse { .. }
                        | ServiceError::RateLimited { .. }
                        | ServiceError::NoKey { .. },
                    ) => true,
                    // A service that accepted the comment is not down.
                    Some(ServiceError::Refused { status, .. }) => {
                        *status == 401 || *status >= 500 && !self.is_after_comment()
                    }
                    Some(ServiceError::InvalidResponse { .. }) | None => false,
                }
            }
        }
    }

    /// Returns true if the comment on a ticket was created and its transition failed.
    pub(super) fn is_transition_failure(&self) -> bool {
        matches!(self, DeliveryError::Transition(_))
    }

    /// Returns true if the comment on a ticket was created and a later step failed.
    pub(super) fn is_after_comment(&self) -> bool {
        matches!(self, DeliveryError::Transition(_) | DeliveryError::Status(_))
    }

    /// Returns the delay before the next attempt, after `tries` failed ones.
    pub(super) fn retry_delay(&self, tries: u32) -> Duration {
        match self.service_error() {
            // The delay is never zero, or the message would be retried without end.
            Some(ServiceError::RateLimited { wait, .. }) => {
                (*wait).clamp(Duration::from_secs(1), MAX_DELAY)
            }
            _ => DELIVERY_BACKOFF.delay(tries),
        }
    }

    fn service_error(&self) -> Option<&ServiceError> {
        match self {
            DeliveryError::GitHub(error)
            | DeliveryError::Jira(JiraError::Service(error))
            | DeliveryError::Transition(JiraError::Service(error))
            | DeliveryError::Status(JiraError::Service(error)) => Some(error),
            DeliveryError::Jira(_)
            | DeliveryError::Transition(_)
            | DeliveryError::Status(_)
            | DeliveryError::NotConfigured(_)
            | DeliveryError::Unreadable(_)
            | DeliveryError::Disk(_) => None,
        }
    }
}

/// Returns true if a service refused a call for a missing permission, or hides the object. A token
/// may be renewed, and a permission granted.
fn is_missing_permission(error: &ServiceError) -> bool {
    match error {
        ServiceError::NoKey { .. } => true,
        ServiceError::Refused { status, .. } => matches!(status, 401 | 403 | 404),
        ServiceError::NoResponse { .. }
        | ServiceError::RateLimited { .. }
        | ServiceError::InvalidResponse { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_retry_delay_doubles_up_to_one_hour() {
        let error = DeliveryError::NotConfigured("GitHub");
        let rests = [0, 1, 2, 6, 7, 500].map(|tries| error.retry_delay(tries).as_secs());
        assert_eq!(rests, [30, 60, 120, 1_920, 3_600, 3_600]);
    }

    #[test]
    fn a_rate_limit_sets_the_retry_delay_between_one_second_and_one_day() {
        let rest = |wait| {
            let wait = Duration::from_secs(wait);
            let what = "it".to_owned();
            DeliveryError::GitHub(ServiceError::RateLimited { service: "GitHub", what, wait })
                .retry_delay(3)
        };
        let rests = [0, 5, 7_000, u64::MAX].map(|wait| rest(wait).as_secs());
        assert_eq!(rests, [1, 5, 7_000, 86_400]);
    }
}
