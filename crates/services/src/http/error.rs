//! Why a service did not do what it was asked: [`ServiceError`].

use std::time::Duration;

use assay_base::text::first_chars;
use assay_findings::write::plain::one_line;
use assay_sandbox::KeyError;

/// How much of what a service says is told.
const SHOWN: usize = 600;

/// Why a service did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// There is no key for it.
    #[error("{service} cannot be used")]
    NoKey {
        /// The service.
        service: &'static str,
        /// Why there is none.
        source: KeyError,
    },
    /// No answer came.
    #[error("{service} at `{place}` did not answer `{what}`: {why}")]
    Lost {
        /// The service.
        service: &'static str,
        /// Where it should be.
        place: String,
        /// What it was asked.
        what: String,
        /// Why.
        why: String,
        /// Whether it may have done nevertheless what it was asked.
        unclear: bool,
    },
    /// It said no.
    #[error("{service} refused `{what}` with status {status}: {said}{}", hint(*status, said))]
    Refused {
        /// The service.
        service: &'static str,
        /// What it was asked.
        what: String,
        /// The status.
        status: u16,
        /// What it says.
        said: String,
        /// Whether it may have done nevertheless what it was asked.
        unclear: bool,
    },
    /// It sets a limit, and nobody waits that long.
    #[error("{service} sets a limit: `{what}` would have to wait for {} s; try it again later", .wait.as_secs())]
    Limited {
        /// The service.
        service: &'static str,
        /// What it was asked.
        what: String,
        /// How long it would have to be waited for.
        wait: Duration,
    },
    /// Its answer is not what it should be.
    #[error("the answer of {service} to `{what}` cannot be read: {why}")]
    Unreadable {
        /// The service.
        service: &'static str,
        /// What it was asked.
        what: String,
        /// What is wrong with it.
        why: String,
        /// Whether it may have done what it was asked.
        unclear: bool,
    },
}

/// A service that uses more letters than this says itself what is wrong.
const CURT: usize = 40;

/// Says what is likely to be wrong, where a status tells and the service hardly does.
fn hint(status: u16, said: &str) -> &'static str {
    match status {
        _ if said.len() > CURT => "",
        401 => " (the token is wrong, or too old)",
        403 => " (the token has no right to that)",
        404 => " (it is not there, or the token may not see it)",
        _ => "",
    }
}

impl ServiceError {
    /// Says whether what was asked for may have been done nevertheless.
    pub fn is_unclear(&self) -> bool {
        match self {
            ServiceError::Lost { unclear, .. }
            | ServiceError::Refused { unclear, .. }
            | ServiceError::Unreadable { unclear, .. } => *unclear,
            ServiceError::NoKey { .. } | ServiceError::Limited { .. } => false,
        }
    }

    /// Gives the status of a refusal.
    pub fn status(&self) -> Option<u16> {
        match self {
            ServiceError::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Gives what the service said to refuse something.
    pub fn said(&self) -> Option<&str> {
        match self {
            ServiceError::Refused { said, .. } => Some(said),
            _ => None,
        }
    }

    /// Says whether trying again later may help.
    pub fn is_passing(&self) -> bool {
        match self {
            ServiceError::Lost { .. }
            | ServiceError::Limited { .. }
            | ServiceError::Unreadable { .. } => true,
            ServiceError::Refused { status, .. } => *status >= 500,
            ServiceError::NoKey { source, .. } => matches!(source, KeyError::TooLate(_)),
        }
    }
}

/// Gives text of somebody else's in a line of bounded length.
pub(super) fn short(text: &str) -> String {
    one_line(first_chars(text, SHOWN))
}
