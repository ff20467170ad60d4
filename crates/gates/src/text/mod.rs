//! The text form of gates for agents: [`mod@write`] formats it, [`mod@read`] parses it.

pub mod read;
pub mod write;
