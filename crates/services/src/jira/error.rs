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
        "cannot move `{key}` to `{wanted}`: its status is `{status}`; available transitions: {}",
        format_names(.offered)
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
    #[error(
        "transition `{wanted}` of `{key}` is ambiguous: {}; name one of them",
        format_names(.offered)
    )]
    SeveralTransitions {
        /// The ticket.
        key: TicketKey,
        /// The requested transition.
        wanted: String,
        /// The transitions with this name, each with its target status.
        offered: Vec<String>,
    },
    /// There is no such field.
    #[error("unknown JIRA field `{name}`; known fields: {}", format_names(.alike))]
    NoField {
        /// The requested name.
        name: String,
        /// The names of some existing fields.
        alike: Vec<String>,
    },
    /// Several fields have the requested name.
    #[error("JIRA field `{name}` is ambiguous; use one of the ids {}", format_names(.ids))]
    SeveralFields {
        /// The requested name.
        name: String,
        /// The ids of the fields.
        ids: Vec<String>,
    },
    /// The field does not accept the value.
    #[error("invalid value for field `{field}`: {why}")]
    InvalidValue {
        /// The name of the field.
        field: String,
        /// The reason.
        why: String,
    },
    /// The project has no issue type for subtasks.
    #[error("project `{project}` has no issue type for subtasks")]
    NoSubtasks {
        /// The project.
        project: String,
    },
    /// A ticket may or may not have been created.
    #[error(
        "unknown whether ticket `{summary}` was created; search for the ticket before you create \
         it again"
    )]
    OutcomeUnknown {
        /// The title of the ticket.
        summary: String,
        /// The error of the call.
        source: ServiceError,
    },
    /// Some tickets were created before one failed.
    #[error(
        "ticket `{failed}` was not created; created before: {}; later tickets were skipped",
        format_names(.made)
    )]
    PartlyCreated {
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
    pub fn is_outcome_unknown(&self) -> bool {
        match self {
            JiraError::Service(error) => error.is_outcome_unknown(),
            JiraError::OutcomeUnknown { .. } => true,
            JiraError::PartlyCreated { source, .. } => source.is_outcome_unknown(),
            JiraError::NoTransition { .. }
            | JiraError::SeveralTransitions { .. }
            | JiraError::NoField { .. }
            | JiraError::SeveralFields { .. }
            | JiraError::NoSubtasks { .. }
            | JiraError::InvalidValue { .. } => false,
        }
    }
}

/// The maximum number of names in a message.
const MAX_LISTED: usize = 20;

fn format_names(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<String> =
        names.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(MAX_LISTED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
