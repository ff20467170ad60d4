//! Errors of JIRA: [`JiraError`].

use assay_store::pulls::TicketKey;

use crate::http::ServiceError;

/// The reason why a call to JIRA failed.
#[derive(Debug, thiserror::Error)]
pub enum JiraError {
    /// JIRA could not be called, or refused the call.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// The workflow offers no such transition.
    #[error(
        "`{key}` cannot be moved to `{wanted}`: it is in `{status}`, and offered are {}",
        listed(.offered)
    )]
    NoTransition {
        /// The ticket.
        key: TicketKey,
        /// The requested transition or status.
        wanted: String,
        /// The current status.
        status: String,
        /// The offered transitions, each with its target status.
        offered: Vec<String>,
    },
    /// Several transitions have the requested name.
    #[error("`{wanted}` is not one way for `{key}` but {}; say one of them", listed(.offered))]
    SeveralTransitions {
        /// The ticket.
        key: TicketKey,
        /// The requested transition.
        wanted: String,
        /// The transitions with this name, each with its target status.
        offered: Vec<String>,
    },
    /// There is no such field.
    #[error("JIRA has no field `{name}`; it has {}", listed(.alike))]
    NoField {
        /// The requested name.
        name: String,
        /// The names of some existing fields.
        alike: Vec<String>,
    },
    /// Several fields have the requested name.
    #[error("several fields are called `{name}`: say which by its id, {}", listed(.ids))]
    SeveralFields {
        /// The requested name.
        name: String,
        /// The ids of the fields.
        ids: Vec<String>,
    },
    /// The field does not accept the value.
    #[error("the field `{field}` does not take this: {why}")]
    Value {
        /// The name of the field.
        field: String,
        /// The reason.
        why: String,
    },
    /// The project has no issue type for subtasks.
    #[error("the project `{project}` has no kind of ticket that is a part of another")]
    NoSubtasks {
        /// The project.
        project: String,
    },
    /// A ticket may or may not have been created.
    #[error("it is not clear whether `{summary}` was made; look for it before you make it again")]
    UnclearTicket {
        /// The title of the ticket.
        summary: String,
        /// The error of the call.
        source: ServiceError,
    },
    /// Some tickets were created before one failed.
    #[error("`{failed}` was not made; there are {} now, and nothing after it was tried", listed(.made))]
    Half {
        /// The keys and titles of the created tickets.
        made: Vec<String>,
        /// The title of the ticket that was not created.
        failed: String,
        /// The reason of the failure.
        source: Box<JiraError>,
    },
}

impl JiraError {
    /// Returns true if the call may have been carried out nevertheless.
    pub fn is_unclear(&self) -> bool {
        match self {
            JiraError::Service(error) => error.is_unclear(),
            JiraError::UnclearTicket { .. } => true,
            JiraError::Half { source, .. } => source.is_unclear(),
            JiraError::NoTransition { .. }
            | JiraError::SeveralTransitions { .. }
            | JiraError::NoField { .. }
            | JiraError::SeveralFields { .. }
            | JiraError::NoSubtasks { .. }
            | JiraError::Value { .. } => false,
        }
    }
}

/// The maximum number of names in a message.
const TOLD: usize = 20;

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let told: Vec<String> = names.iter().take(TOLD).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(TOLD) {
        0 => told.join(", "),
        more => format!("{} and {more} more", told.join(", ")),
    }
}
