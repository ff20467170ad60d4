//! Events of a change that other services are notified of: [`ChangeEvent`], and the rendered review
//! ([`RenderedReview`]).

use assay_findings::post::{ReviewDraft, TicketResolutions};
use assay_store::pulls::Pull;

/// An event of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeEvent {
    /// The review approves the change.
    Approved {
        /// The reason of the approval, in a few words.
        summary: String,
    },
    /// The change has no content to review, so nothing is approved and nothing stops it.
    NothingToReview {
        /// The content of the change, in a few words.
        summary: String,
    },
    /// The review asks for changes.
    ChangesRequested {
        /// The findings, in a few words.
        summary: String,
    },
    /// A person has to decide.
    Escalated {
        /// The reason why a person has to decide.
        reason: String,
    },
    /// An agent has worked on the change, which waits for a review.
    ReadyForReview {
        /// The branch of the change.
        branch: String,
        /// The pull request; `None` if the change has none.
        pull: Option<Box<Pull>>,
    },
}

/// A review, as it is posted where the change is discussed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedReview {
    /// The review for the pull request; `None` if the change has none.
    pub draft: Option<Box<ReviewDraft>>,
    /// The comment for the ticket.
    pub ticket: String,
    /// The outcomes of the findings of all reviews, for the comment on the ticket that later reviews
    /// update; `None` if no review found anything.
    pub resolutions: Option<TicketResolutions>,
}
