//! The selection of pull requests to review: [`Filter`].

use std::fmt;

use assay_services::github::PullRequest;
use assay_services::http::ServiceError;
use assay_services::jira::Jira;
use assay_store::pulls::{Origin, Pull, TicketKey};
use assay_store::task::Status;

/// The required status of a ticket, and the client that reads it.
pub struct InStatus {
    /// The name of the status, in any case.
    pub name: String,
    /// The client of JIRA.
    pub tickets: Jira,
}

/// The criteria for pull requests to review. Without any, all except drafts are reviewed.
#[derive(Default)]
pub struct Filter {
    /// Select pull requests with one of these labels, in any case; if empty, labels do not matter.
    pub labels: Vec<String>,
    /// Select pull requests whose ticket has this status; `None` if tickets do not matter.
    pub status: Option<InStatus>,
}

/// The reason that a pull request is not queued, and need not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PassedOver {
    /// The pull request is a draft.
    Draft,
    /// The pull request has none of the labels.
    NoLabel,
    /// The pull request names no ticket.
    NoTicket,
    /// The pull request is from outside, so that a ticket in it does not count.
    FromOutside,
    /// The ticket does not exist.
    UnknownTicket(TicketKey),
    /// The ticket has another status.
    OtherStatus {
        /// The key of the ticket.
        ticket: TicketKey,
        /// The status of the ticket.
        status: String,
    },
    /// The task exists already, with this status.
    AlreadyThere(Status),
}

impl PassedOver {
    /// Returns an identifier of the reason, for programs.
    pub fn word(&self) -> &'static str {
        match self {
            PassedOver::Draft => "draft",
            PassedOver::NoLabel => "no_label",
            PassedOver::NoTicket => "no_ticket",
            PassedOver::FromOutside => "from_outside",
            PassedOver::UnknownTicket(_) => "unknown_ticket",
            PassedOver::OtherStatus { .. } => "other_status",
            PassedOver::AlreadyThere(_) => "already_there",
        }
    }

    /// Returns true if the reason may disappear without a change on GitHub.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            PassedOver::UnknownTicket(_) | PassedOver::OtherStatus { .. } => true,
            PassedOver::Draft
            | PassedOver::NoLabel
            | PassedOver::NoTicket
            | PassedOver::FromOutside
            | PassedOver::AlreadyThere(_) => false,
        }
    }
}

impl fmt::Display for PassedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PassedOver::Draft => f.write_str("it is a draft"),
            PassedOver::NoLabel => f.write_str("it has none of the labels"),
            PassedOver::NoTicket => f.write_str("neither its branch nor its title names a ticket"),
            PassedOver::FromOutside => {
                f.write_str("it is not from inside, so no ticket that it may name counts")
            }
            PassedOver::UnknownTicket(ticket) => write!(f, "there is no ticket {ticket}"),
            PassedOver::OtherStatus { ticket, status } => write!(f, "{ticket} is in `{status}`"),
            PassedOver::AlreadyThere(status) => write!(f, "its task is there ({status})"),
        }
    }
}

impl Filter {
    /// Returns the reason that a pull request is not to be reviewed, or `None` if it is.
    pub(super) fn passes_over(
        &self,
        request: &PullRequest,
        pull: &Pull,
    ) -> Result<Option<PassedOver>, ServiceError> {
        if request.draft {
            return Ok(Some(PassedOver::Draft));
        }
        let is_wanted = |label: &String| self.labels.iter().any(|wanted| alike(wanted, label));
        if !self.labels.is_empty() && !request.labels.iter().any(is_wanted) {
            return Ok(Some(PassedOver::NoLabel));
        }
        let Some(wanted) = &self.status else { return Ok(None) };
        let Some(ticket) = pull.ticket() else {
            return Ok(Some(match pull.origin {
                Origin::Inside => PassedOver::NoTicket,
                Origin::OwnBranch | Origin::Outside => PassedOver::FromOutside,
            }));
        };
        Ok(match wanted.tickets.status_of(&ticket)? {
            None => Some(PassedOver::UnknownTicket(ticket)),
            Some(status) if alike(&wanted.name, &status) => None,
            Some(status) => Some(PassedOver::OtherStatus { ticket, status }),
        })
    }
}

/// Compares two names without case: names on GitHub and JIRA never differ in their case alone.
fn alike(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}
