//! Errors of a service: [`ServiceError`].

use std::time::Duration;

use assay_base::text::first_chars;
use assay_findings::write::escape::one_line;
use assay_sandbox::KeyError;

/// The maximum length of a shown message of a service, in characters.
const MAX_MESSAGE_CHARS: usize = 600;

/// The reason why a call to a service failed.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// There is no key for the service.
    #[error("cannot use {service}")]
    NoKey {
        /// The name of the service.
        service: &'static str,
        /// The reason why there is no key.
        source: KeyError,
    },
    /// The service did not answer.
    #[error("{service} at `{place}` did not answer `{what}`: {why}")]
    NoResponse {
        /// The name of the service.
        service: &'static str,
        /// The address of the service.
        place: String,
        /// The description of the call.
        what: String,
        /// The cause.
        why: String,
        /// True if the service may have carried out the call nevertheless.
        is_outcome_unknown: bool,
    },
    /// The service refused the call.
    #[error("{service} refused `{what}` with status {status}: {message}{}", hint(*status, message))]
    Refused {
        /// The name of the service.
        service: &'static str,
        /// The description of the call.
        what: String,
        /// The HTTP status.
        status: u16,
        /// The message of the service.
        message: String,
        /// True if the service may have carried out the call nevertheless.
        is_outcome_unknown: bool,
    },
    /// A rate limit applies, and its delay exceeds the maximum wait.
    #[error("{service} rate limit: `{what}` must wait for {} s; retry later", .wait.as_secs())]
    RateLimited {
        /// The name of the service.
        service: &'static str,
        /// The description of the call.
        what: String,
        /// The delay that the rate limit requires.
        wait: Duration,
    },
    /// The answer cannot be parsed.
    #[error("cannot parse the answer of {service} to `{what}`: {why}")]
    InvalidResponse {
        /// The name of the service.
        service: &'static str,
        /// The description of the call.
        what: String,
        /// The fault in the answer.
        why: String,
        /// True if the service may have carried out the call.
        is_outcome_unknown: bool,
    },
}

/// The length of a message, in bytes, above which no hint is added: a longer message explains
/// itself.
const MAX_HINTED_BYTES: usize = 40;

/// Returns the likely cause of a status, if the message of the service is short.
fn hint(status: u16, message: &str) -> &'static str {
    match status {
        _ if message.len() > MAX_HINTED_BYTES => "",
        401 => " (the token is invalid or expired)",
        403 => " (the token lacks a permission)",
        404 => " (it does not exist, or the token has no access)",
        _ => "",
    }
}

impl ServiceError {
    /// Returns true if the call may have been carried out nevertheless.
    pub fn is_outcome_unknown(&self) -> bool {
        match self {
            ServiceError::NoResponse { is_outcome_unknown, .. }
            | ServiceError::Refused { is_outcome_unknown, .. }
            | ServiceError::InvalidResponse { is_outcome_unknown, .. } => *is_outcome_unknown,
            ServiceError::NoKey { .. } | ServiceError::RateLimited { .. } => false,
        }
    }

    /// Returns the status of a refusal, or `None` for other errors.
    pub fn status(&self) -> Option<u16> {
        match self {
            ServiceError::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Returns the message of a refusal, or `None` for other errors.
    pub fn message(&self) -> Option<&str> {
        match self {
            ServiceError::Refused { message, .. } => Some(message),
            _ => None,
        }
    }

    /// Returns true if a later retry may succeed.
    pub fn is_transient(&self) -> bool {
        match self {
            ServiceError::NoResponse { .. }
            | ServiceError::RateLimited { .. }
            | ServiceError::InvalidResponse { .. } => true,
            ServiceError::Refused { status, .. } => *status >= 500,
            ServiceError::NoKey { source, .. } => matches!(source, KeyError::TimedOut(_)),
        }
    }
}

/// Returns untrusted text as one line of bounded length.
pub(super) fn truncate_line(text: &str) -> String {
    one_line(first_chars(text, MAX_MESSAGE_CHARS))
}
