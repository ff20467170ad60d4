//! Results of idempotent writes: [`CommentOutcome`] and [`TransitionOutcome`].

/// The result of creating a comment once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommentOutcome {
    /// The comment was created now.
    Created,
    /// The comment existed already.
    Existing,
    /// The comment existed with another text, which was replaced.
    Updated,
}

/// The result of moving a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransitionOutcome {
    /// The ticket was moved.
    Moved {
        /// The status before.
        from: String,
        /// The status after.
        to: String,
    },
    /// The ticket was in the requested status already.
    Unchanged {
        /// The status.
        status: String,
    },
}
