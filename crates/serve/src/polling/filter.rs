//! Which pull requests are to be reviewed: [`Filter`].

use std::fmt;

use assay_services::github::PullRequest;
use assay_services::http::ServiceError;
use assay_services::jira::Jira;
use assay_store::pulls::{Origin, Pull, TicketKey};
use assay_store::task::Status;

/// How far a ticket has to be, and where that is asked.
pub struct InStatus {
    /// The name of the status, in any case.
    pub name: String,
    /// Where tickets are.
    pub tickets: Jira,
}

/// Which pull requests are to be reviewed: those that are no drafts, as far as nothing else is said.
#[derive(Default)]
pub struct Filter {
    /// Those with one of these labels, in any case; if there are none here, whatever they have.
    pub labels: Vec<String>,
    /// Those whose ticket is that far.
    pub status: Option<InStatus>,
}

/// Why a pull request is not queued, and need not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PassedOver {
    /// It is not meant to be reviewed yet.
    Draft,
    /// It has none of the labels.
    NoLabel,
    /// It names no ticket.
    NoTicket,
    /// Whatever it names does not count.
    FromOutside,
    /// There is no such ticket.
    UnknownTicket(TicketKey),
    /// Its ticket is elsewhere.
    OtherStatus {
        /// The ticket.
        ticket: TicketKey,
        /// Where it is.
        status: String,
    },
    /// Its task is there, or was.
    AlreadyThere(Status),
}

impl PassedOver {
    /// Gives a word for it, for programs.
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

    /// Says whether it may be different though nothing changes on GitHub.
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
    /// Says why a pull request is not to be reviewed, if it is not.
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

/// GitHub and JIRA know no two names that differ in their case alone.
fn alike(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}
