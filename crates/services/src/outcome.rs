//! Whether something had to be done: [`Told`] and [`Moved`].

/// Whether something had to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// It was told now.
    Now,
    /// It had been told before.
    Before,
}

/// What became of a ticket that was to be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moved {
    /// It was moved.
    Now {
        /// Where it was.
        from: String,
        /// Where it is.
        to: String,
    },
    /// It was there already.
    Before {
        /// Where it is.
        status: String,
    },
}
