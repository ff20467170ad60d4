//! Changes of real repositories, through the public API of the crate.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "tests stand outside the house")]

mod digest;
mod generated;
mod hostile;
mod ignored;
mod kinds;
mod lineage;
mod name;
mod numstat;
mod pull;
mod recorded;
mod renames;
mod shown;
mod sketch;
mod snapshot;
mod traps;
mod trees;
mod unified;
mod worktrees;
