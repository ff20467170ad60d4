//! The text that agents read and follow: [`write`](write) puts a gate into it, [`read`](read) takes
//! one out of it.

pub mod read;
pub mod write;
