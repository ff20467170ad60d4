//! The selection of pull requests to review: [`PullFilter`].

use std::fmt;

use assay_services::github::PullRequest;
use assay_services::http::ServiceError;
use assay_services::jira::Jira;
use assay_store::pulls::{Pull, PullOrigin, TicketKey};
use assay_store::task::TaskStatus;

/// The required status of a ticket, and the client that reads it.
pub struct TicketStatusFilter {
    /// The name of the status, in any case.
    pub name: String,
    /// The client of JIRA.
    pub tickets: Jira,
}

/// The criteria for pull requests to review. Without any, all except drafts are reviewed.
#[derive(Default)]
pub struct PullFilter {
    /// Select pull requests with one of these labels, in any case; if empty, labels do not matter.
    pub labels: Vec<String>,
    /// Select pull requests whose ticket has this status; `None` if tickets do not matter.
    pub status: Option<TicketStatusFilter>,
}

/// The reason that a pull request is not queued, and need not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkipReason {
    /// The pull request is a draft.
    Draft,
    /// The pull request has none of the labels.
    NoLabel,
    /// The pull request names no ticket.
    NoTicket,
    /// The branch names no ticket, and the title does not count: the branch is in the repository,
    /// and the author is not known to belong there.
    NoTicketInBranch,
    /// The branch is in a fork of an outside author, so that a ticket in branch or title does not
    /// count.
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
    AlreadyThere(TaskStatus),
}

impl SkipReason {
    /// Returns an identifier of the reason, for programs.
    pub fn as_str(&self) -> &'static str {
        match self {
            SkipReason::Draft => "draft",
            SkipReason::NoLabel => "no_label",
            SkipReason::NoTicket => "no_ticket",
            SkipReason::NoTicketInBranch => "no_ticket_in_branch",
            SkipReason::FromOutside => "from_outside",
            SkipReason::UnknownTicket(_) => "unknown_ticket",
            SkipReason::OtherStatus { .. } => "other_status",
            SkipReason::AlreadyThere(_) => "already_there",
        }
    }

    /// Returns true if the reason may disappear without a change on GitHub.
    pub(super) fn is_temporary(&self) -> bool {
        match self {
            SkipReason::UnknownTicket(_) | SkipReason::OtherStatus { .. } => true,
            SkipReason::Draft
            | SkipReason::NoLabel
            | SkipReason::NoTicket
            | SkipReason::NoTicketInBranch
            | SkipReason::FromOutside
            | SkipReason::AlreadyThere(_) => false,
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SkipReason::Draft => f.write_str("it is a draft"),
            SkipReason::NoLabel => f.write_str("none of the labels is set"),
            SkipReason::NoTicket => f.write_str("neither its branch nor its title names a ticket"),
            SkipReason::NoTicketInBranch => f.write_str(
                "its branch names no ticket, and its title does not count: the author is not known \
                 to belong to the repository",
            ),
            SkipReason::FromOutside => {
                f.write_str("it is from a fork of an outside author, whose tickets do not count")
            }
            SkipReason::UnknownTicket(ticket) => write!(f, "unknown ticket {ticket}"),
            SkipReason::OtherStatus { ticket, status } => write!(f, "{ticket} is in `{status}`"),
            SkipReason::AlreadyThere(status) => write!(f, "its task already exists ({status})"),
        }
    }
}

impl PullFilter {
    /// Returns the reason that a pull request is not to be reviewed, or `None` if it is.
    pub(super) fn skip_reason(
        &self,
        request: &PullRequest,
        pull: &Pull,
    ) -> Result<Option<SkipReason>, ServiceError> {
        if request.draft {
            return Ok(Some(SkipReason::Draft));
        }
        let is_wanted =
            |label: &String| self.labels.iter().any(|wanted| is_same_name(wanted, label));
        if !self.labels.is_empty() && !request.labels.iter().any(is_wanted) {
            return Ok(Some(SkipReason::NoLabel));
        }
        let Some(wanted) = &self.status else { return Ok(None) };
        let Some(ticket) = pull.ticket() else {
            return Ok(Some(match pull.origin {
                PullOrigin::Inside => SkipReason::NoTicket,
                PullOrigin::OwnBranch => SkipReason::NoTicketInBranch,
                PullOrigin::Outside => SkipReason::FromOutside,
            }));
        };
        Ok(match wanted.tickets.status_of(&ticket)? {
            None => Some(SkipReason::UnknownTicket(ticket)),
            Some(status) if is_same_name(&wanted.name, &status) => None,
            Some(status) => Some(SkipReason::OtherStatus { ticket, status }),
        })
    }
}

/// Compares two names without case: names on GitHub and JIRA never differ in their case alone.
fn is_same_name(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}
