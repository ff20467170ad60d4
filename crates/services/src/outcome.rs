//! Results of idempotent writes: [`Told`] and [`Moved`].

/// The result of creating a comment once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// The comment was created now.
    Now,
    /// The comment existed already.
    Before,
}

/// The result of moving a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moved {
    /// The ticket was moved.
    Now {
        /// The status before.
        from: String,
        /// The status after.
        to: String,
    },
    /// The ticket was in the requested status already.
    Before {
        /// The status.
        status: String,
    },
}
