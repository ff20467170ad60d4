//! The text that agents read and follow: [`mod@write`] puts a gate into it, [`mod@read`] takes
//! one out of it.

pub mod read;
pub mod write;
