//! Why JIRA did not do what it was asked: [`JiraError`].

use assay_store::pulls::TicketKey;

use crate::http::ServiceError;

/// Why JIRA did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum JiraError {
    /// It could not be asked, or refused.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// A ticket has no such way to go.
    #[error(
        "`{key}` cannot be moved to `{wanted}`: it is in `{status}`, and offered are {}",
        listed(.offered)
    )]
    NoTransition {
        /// The ticket.
        key: TicketKey,
        /// Where it was to go.
        wanted: String,
        /// Where it is.
        status: String,
        /// Which ways there are, each with its end.
        offered: Vec<String>,
    },
    /// A name means several ways.
    #[error("`{wanted}` is not one way for `{key}` but {}; say one of them", listed(.offered))]
    SeveralTransitions {
        /// The ticket.
        key: TicketKey,
        /// Where it was to go.
        wanted: String,
        /// What it could mean.
        offered: Vec<String>,
    },
    /// There is no such field.
    #[error("JIRA has no field `{name}`; it has {}", listed(.alike))]
    NoField {
        /// What it was called.
        name: String,
        /// A few that there are.
        alike: Vec<String>,
    },
    /// A name means several fields.
    #[error("several fields are called `{name}`: say which by its id, {}", listed(.ids))]
    SeveralFields {
        /// What it was called.
        name: String,
        /// Their ids.
        ids: Vec<String>,
    },
    /// A field does not take such a value.
    #[error("the field `{field}` does not take this: {why}")]
    Value {
        /// The field.
        field: String,
        /// What is wrong.
        why: String,
    },
    /// A project has no parts of tickets.
    #[error("the project `{project}` has no kind of ticket that is a part of another")]
    NoSubtasks {
        /// The project.
        project: String,
    },
    /// A ticket may be there or not.
    #[error("it is not clear whether `{summary}` was made; look for it before you make it again")]
    UnclearTicket {
        /// What it was to be called.
        summary: String,
        /// What happened.
        source: ServiceError,
    },
    /// Some tickets were made, and then one was not.
    #[error("`{failed}` was not made; there are {} now, and nothing after it was tried", listed(.made))]
    Half {
        /// Those that were.
        made: Vec<String>,
        /// The one that was not.
        failed: String,
        /// Why.
        source: Box<JiraError>,
    },
}

impl JiraError {
    /// Says whether what was asked for may have been done nevertheless.
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

/// So many names are told.
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
